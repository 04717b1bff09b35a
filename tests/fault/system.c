/* link: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc */
/* link: -Wl,--wrap=free,--wrap=pthread_create,--wrap=mmap,--wrap=syscall */
/* link: -Wl,--wrap=clock_gettime */
/* Every way to use the library on a system whose calls fail or lie: waits, the
 * process-wide barrier, the affinity mask, the clock.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "process/child.h"

#include "fault/drive.h"

static const pace QUICK = {2, 12};

/* First: the answer of the barrier is found out once per process. */
TEST_LIMIT(the_barrier_is_refused_at_each_step, 120) {
#if defined(__linux__) && !defined(WF_SYS_POSIX)
  if (children_may_start_threads()) run_without_barrier(11);
#endif
}

TEST_LIMIT(the_barrier_is_refused_later, 120) {
#if defined(__linux__) && !defined(WF_SYS_POSIX)
  if (children_may_start_threads()) run_with_barrier_refused_later(5, 11);
#endif
}

TEST_LIMIT(waits_return_without_reason, 120) {
  run_all(WAIT_FAULTS, LENGTH_OF(WAIT_FAULTS), 1, harness_slowdown() == 1 ? 3 : 24,
          QUICK);
}

TEST_LIMIT(clocks_fail_and_jump, 120) {
  run_all(CLOCK_FAULTS, LENGTH_OF(CLOCK_FAULTS), 2, harness_slowdown() == 1 ? 3 : 24,
          QUICK);
}

TEST_LIMIT(the_affinity_mask_is_refused, 120) {
  run_all(AFFINITY_FAULTS, LENGTH_OF(AFFINITY_FAULTS), 0, 3, QUICK);
  CHECK(runs_struck > 0);
}
