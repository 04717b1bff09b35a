/* link: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc */
/* link: -Wl,--wrap=free,--wrap=pthread_create,--wrap=mmap,--wrap=syscall */
/* link: -Wl,--wrap=clock_gettime */
/* Every way to use the library when memory runs out, at each request in turn.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "process/child.h"

#include "fault/drive.h"

/* Part of all runs; tests/long/fault.c makes the others. */
static const pace QUICK = {12, 60};

TEST_LIMIT(every_request_is_refused_in_turn, 120) {
  run_all(MEMORY_FAULTS, 1, 0, harness_slowdown() == 1 ? 1 : 2, QUICK);
}

TEST_LIMIT(mappings_are_refused_too, 120) {
  run_all(&MEMORY_FAULTS[1], 1, BEFORE_PAR, 4, QUICK);
}

TEST_LIMIT(only_mappings_are_refused, 120) {
  run_all(MAP_FAULTS, LENGTH_OF(MAP_FAULTS), 0, 1, QUICK);
}

TEST(joins_loops_and_scopes_ask_for_no_memory) {
  check_no_requests(harness_slowdown() == 1 ? 10 : 2);
}
