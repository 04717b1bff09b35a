/* link: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc */
/* link: -Wl,--wrap=free,--wrap=pthread_create,--wrap=mmap,--wrap=syscall */
/* link: -Wl,--wrap=clock_gettime */
/* Waits and clocks that fail at every single call beyond those that tests/long/fault.c
 * strikes with each fault: one fault after the other, the calls one by one, up to the
 * two-thousandth. In parts, none of which takes an hour.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "process/child.h"

#include "fault/drive.h"

enum { FROM = 41, LAST = 2000, HALF = SCENARIO_COUNT / 2 };

TEST_LIMIT(every_wait_in_turn, 3500) {
  run_in_turn(WAIT_FAULTS, LENGTH_OF(WAIT_FAULTS), 0, SCENARIO_COUNT, FROM, LAST);
}

TEST_LIMIT(every_look_at_the_clock_in_turn, 3500) {
  run_in_turn(CLOCK_FAULTS, LENGTH_OF(CLOCK_FAULTS), 0, HALF, FROM, LAST);
}

TEST_LIMIT(every_look_at_the_clock_in_turn_in_algorithms, 3500) {
  run_in_turn(CLOCK_FAULTS, LENGTH_OF(CLOCK_FAULTS), HALF, SCENARIO_COUNT, FROM, LAST);
}
