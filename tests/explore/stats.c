/* Statistics under the explorer: a thread that asks while others work. Numbers have one
 * writer each and never go down; what is asked when all have ended is exact.
 *
 * SPDX-License-Identifier: MIT */
#include "sched_kit.h"

static void ask(weft_stats *out) {
  *out = (weft_stats)WEFT_STATS_INIT;
  weft_pool_stats(pool, out);
}
static void expect_growth(const weft_stats *before, const weft_stats *after) {
  XP_CHECK(before->tasks <= after->tasks && before->steals <= after->steals);
  XP_CHECK(before->exposes <= after->exposes && before->takeovers <= after->takeovers);
  XP_CHECK(before->injected <= after->injected && before->wakes <= after->wakes);
  XP_CHECK(before->sleeps <= after->sleeps && before->futile <= after->futile);
  XP_CHECK(before->failed_steals <= after->failed_steals);
}

/* No time passes while it asks: a clock of its own is behind those of the others, and
 * sums of times may not wrap around. */
static void ask_twice(void) {
  weft_stats before, after;
  ask(&before);
  ask(&after);
  expect_growth(&before, &after);
  XP_CHECK(after.asleep_ns < UINT64_MAX / 2 && after.searching_ns < UINT64_MAX / 2);
  XP_CHECK(after.working_ns < UINT64_MAX / 2);
  XP_CHECK(after.injected <= 1 && after.steals <= 2 && after.exposes <= 2);
}

static void check_injected(void) {
  weft_stats stats;
  ask(&stats);
  XP_CHECK(stats.injected == 1 && stats.tasks >= 1);
  check_ran_1();
}
static void check_joined(void) {
  weft_stats stats;
  ask(&stats);
  XP_CHECK(stats.steals <= 1 && stats.steals + stats.takeovers <= stats.tasks + 1);
  check_ran_2();
}

SCENARIO(stats_while_injected, .setup = one_worker,
         .threads = {worker_1, inject, ask_twice}, .check = check_injected, .bound = 1,
         .quick_bound = -2)
SCENARIO(stats_of_a_join, .setup = one_worker, .threads = {worker_1, run_join, ask_twice},
         .check = check_joined, .modes = XP_SC | XP_TSO, .bound = 1, .quick_bound = -2)
SCENARIO(stats_of_a_join_ra, .setup = one_worker,
         .threads = {worker_1, run_join, ask_twice}, .check = check_joined,
         .modes = XP_RA, .bound = 1, .quick_bound = -2)
