/* Wake-ups that are held back because as many threads are awake as there are CPUs: the
 * watcher looks again, and nothing is lost. All pools here have one CPU.
 *
 * SPDX-License-Identifier: MIT */
#include "sched_kit.h"

static void on_one_cpu(unsigned threads, unsigned guests, unsigned users) {
  kit_cpus = 1;
  make_pool(threads, guests, users);
  kit_cpus = 0;
}

static void one_worker_one_cpu(void) {
  on_one_cpu(2, 1, 1);
}
static void two_workers_one_cpu(void) {
  on_one_cpu(3, 1, 1);
}
static void one_worker_two_guests(void) {
  on_one_cpu(2, 2, 2);
}

/* Nobody is left as the watcher when the pool is at rest. */
static void check_unwatched_2(void) {
  XP_CHECK(wf_u32_load_relaxed(&pool->sleep.x_watched) == 0);
  check_ran_2();
}

/* ---- forks whose halves must overlap ---- */

SCENARIO(held_back_halves_overlap, .setup = one_worker_one_cpu,
         .threads = {worker_1, run_meeting}, .check = check_unwatched_2,
         .invariant = counts_hold, .quick_bound = 1)
SCENARIO(held_back_halves_overlap_no_barrier, .setup = one_worker_one_cpu,
         .threads = {worker_1, run_meeting}, .check = check_unwatched_2,
         .no_barrier = true, .quick_bound = 1)
SCENARIO(held_back_halves_overlap_spurious, .setup = one_worker_one_cpu,
         .threads = {worker_1, run_meeting}, .check = check_unwatched_2, .spurious = 1,
         .quick_bound = -2)
LARGE_SCENARIO(held_back_with_two_workers, .setup = two_workers_one_cpu,
               .threads = {worker_1, worker_2, run_meeting}, .check = check_unwatched_2)

/* ---- forks that may run one after the other ---- */

SCENARIO(held_back_and_not_needed, .setup = one_worker_one_cpu,
         .threads = {worker_1, run_join}, .check = check_unwatched_2,
         .invariant = counts_hold, .quick_bound = 1)
LARGE_SCENARIO(held_back_by_two_guests, .setup = one_worker_two_guests,
               .threads = {worker_1, run_join, run_join}, .check = check_ran_4)

/* ---- injected work: the chain of wake-ups is held back, the first one is not ---- */

LARGE_SCENARIO(held_back_chain, .setup = two_workers_one_cpu,
               .threads = {worker_1, worker_2, inject_meeting},
               .check = check_unwatched_2)

/* ---- what the watcher must not leave: broadcasts, injected work, the end ---- */

static void fork_then_broadcast(void *ctx) {
  weft_join(count_run, NULL, count_run, NULL);
  weft_broadcast(count_each, ctx);
}
static void run_fork_then_broadcast(void) {
  weft_pool_run(pool, fork_then_broadcast, NULL);
  done_with_pool();
}
LARGE_SCENARIO(broadcast_to_the_watcher, .setup = one_worker_one_cpu,
               .threads = {worker_1, run_fork_then_broadcast}, .check = check_ran_4)

static void run_join_then_inject(void) {
  weft_pool_run(pool, fork_two, NULL);
  XP_CHECK(wf_pool_inject(pool, WEFT_LANE_NORMAL, count_run, NULL, NULL) == 0);
  done_with_pool();
}
LARGE_SCENARIO(inject_to_the_watcher, .setup = one_worker_one_cpu,
               .threads = {worker_1, run_join_then_inject}, .check = check_ran_3)
