/* link: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc */
/* link: -Wl,--wrap=free,--wrap=pthread_create,--wrap=mmap,--wrap=syscall */
/* link: -Wl,--wrap=clock_gettime */
/* Every way to use the library when the system starts no more threads.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "process/child.h"

#include "fault/drive.h"

static const pace QUICK = {5, 5};

TEST_LIMIT(every_thread_is_refused_in_turn, 120) {
  run_all(THREAD_FAULTS, LENGTH_OF(THREAD_FAULTS), 0, harness_slowdown() == 1 ? 1 : 2,
          QUICK);
}
