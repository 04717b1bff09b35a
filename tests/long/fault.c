/* link: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc */
/* link: -Wl,--wrap=free,--wrap=pthread_create,--wrap=mmap,--wrap=syscall */
/* link: -Wl,--wrap=clock_gettime */
/* All scenarios of tests/fault with all faults, at every call.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "process/child.h"

#include "fault/drive.h"

/* Requests and threads are few, waits and looks at the clock many. */
static const pace EACH = {ULONG_MAX, ULONG_MAX}, MANY = {40, 2000};

TEST_LIMIT(the_barrier_is_refused_at_each_step, 1800) {
#if defined(__linux__) && !defined(WF_SYS_POSIX)
  if (children_may_start_threads()) run_without_barrier(1);
#endif
}

TEST_LIMIT(the_barrier_is_refused_later, 1800) {
#if defined(__linux__) && !defined(WF_SYS_POSIX)
  if (children_may_start_threads()) run_with_barrier_refused_later(0, 1);
#endif
}

TEST_LIMIT(every_request_is_refused_in_turn, 1800) {
  run_all(MEMORY_FAULTS, LENGTH_OF(MEMORY_FAULTS), 0, 1, EACH);
}

TEST_LIMIT(only_mappings_are_refused, 1800) {
  run_all(MAP_FAULTS, LENGTH_OF(MAP_FAULTS), 0, 1, EACH);
}

TEST_LIMIT(every_thread_is_refused_in_turn, 1800) {
  run_all(THREAD_FAULTS, LENGTH_OF(THREAD_FAULTS), 0, 1, EACH);
}

TEST_LIMIT(the_affinity_mask_is_refused, 1800) {
  run_all(AFFINITY_FAULTS, LENGTH_OF(AFFINITY_FAULTS), 0, 1, EACH);
  CHECK(runs_struck > 0);
}

TEST_LIMIT(waits_return_without_reason, 1800) {
  run_all(WAIT_FAULTS, LENGTH_OF(WAIT_FAULTS), 0, 1, MANY);
}

TEST_LIMIT(clocks_fail_and_jump, 1800) {
  run_all(CLOCK_FAULTS, LENGTH_OF(CLOCK_FAULTS), 0, 1, MANY);
}

TEST_LIMIT(joins_loops_and_scopes_ask_for_no_memory, 600) {
  check_no_requests(1000);
}
