/* Steered wake-ups: the mask is narrowed before the wake-up and given back after it, in
 * every schedule, also with calls that the system refuses and waits that return without
 * reason. The engine has two CPUs; a thread runs on CPU 0 if its mask has it.
 *
 * SPDX-License-Identifier: MIT */
#include "sched_kit.h"

static const uint64_t ALL_CPUS = 3;

static void steered(unsigned threads, unsigned guests, unsigned users) {
  kit_steer = WEFT_STEER_ON;
  make_pool(threads, guests, users);
  kit_steer = WEFT_STEER_OFF;
}
static void one_steered(void) {
  steered(2, 1, 1);
}
static void two_steered(void) {
  steered(3, 1, 1);
}

/* All threads have ended: each has the CPUs that it began with. */
static void check_masks(uint32_t ran, unsigned threads) {
  for (unsigned i = 1; i <= threads; i++) XP_CHECK(xp_thread_cpus(i) == ALL_CPUS);
  check_ran(ran);
}
static void check_1_of_2(void) {
  check_masks(1, 2);
}
static void check_2_of_2(void) {
  check_masks(2, 2);
}
static void check_1_of_3(void) {
  check_masks(1, 3);
}

SCENARIO(steered_by_inject, .setup = one_steered, .threads = {worker_1, inject},
         .check = check_1_of_2, .invariant = counts_hold, .quick_bound = 1)
SCENARIO(steered_spurious, .setup = one_steered, .threads = {worker_1, inject},
         .check = check_1_of_2, .spurious = 2, .quick_bound = 1)
SCENARIO(steered_two_sleepers, .setup = two_steered,
         .threads = {worker_1, worker_2, inject}, .check = check_1_of_3, .quick_bound = 1)
/* The guest waits for a half that the worker runs, and is woken by it. */
SCENARIO(steered_guest, .setup = one_steered, .threads = {worker_1, run_meeting},
         .check = check_2_of_2, .quick_bound = 1)

/* A refusal switches it off. A mask that was narrowed and cannot be set back stays as it
 * is: then only what ran counts. */
SCENARIO(steering_refused, .setup = one_steered, .threads = {worker_1, inject},
         .check = check_ran_1, .failing_masks = 1, .quick_bound = 1)
SCENARIO(steering_refused_twice, .setup = one_steered, .threads = {worker_1, run_meeting},
         .check = check_ran_2, .failing_masks = 2, .quick_bound = -2)
