/* Sleeping against everything that wakes: injected work, forks that are private,
 * broadcasts, latches, the end. The workers are those of the library, in a pool without
 * threads of its own.
 *
 * SPDX-License-Identifier: MIT */
#include "sched_kit.h"

/* ---- injected work ---- */

static void inject_background(void) {
  XP_CHECK(wf_pool_inject(pool, WEFT_LANE_BACKGROUND, count_run, NULL, NULL) == 0);
  done_with_pool();
}

static void inject_two(void) {
  XP_CHECK(wf_pool_inject(pool, WEFT_LANE_NORMAL, count_run, NULL, NULL) == 0);
  inject();
}

SCENARIO(sleep_against_inject, .setup = one_worker, .threads = {worker_1, inject},
         .check = check_ran_1, .invariant = counts_hold, .bound = 3, .quick_bound = 2)
SCENARIO(sleep_against_inject_spurious, .setup = one_worker,
         .threads = {worker_1, inject}, .check = check_ran_1, .spurious = 2, .bound = 3,
         .ra_bound = 2, .quick_bound = 2)
SCENARIO(sleep_against_inject_no_barrier, .setup = one_worker,
         .threads = {worker_1, inject}, .check = check_ran_1, .no_barrier = true,
         .bound = 3, .ra_bound = 2, .quick_bound = 2)
SCENARIO(sleep_against_inject_twice, .setup = one_worker,
         .threads = {worker_1, inject_two}, .check = check_ran_2,
         .invariant = counts_hold, .bound = 3, .ra_bound = 2, .quick_bound = 1)
SCENARIO(sleep_against_two_injectors, .setup = one_worker_two_users,
         .threads = {worker_1, inject, inject}, .check = check_ran_2, .quick_bound = 1)
SCENARIO(two_sleepers_against_inject, .setup = two_workers,
         .threads = {worker_1, worker_2, inject}, .check = check_ran_1,
         .invariant = counts_hold, .quick_bound = 1)
SCENARIO(sleep_against_background, .setup = one_worker,
         .threads = {worker_1, inject_background}, .check = check_ran_1, .bound = 3,
         .ra_bound = 2, .quick_bound = 1)
SCENARIO(sleep_against_both_lanes, .setup = one_worker_two_users,
         .threads = {worker_1, inject, inject_background}, .check = check_ran_2,
         .quick_bound = -2)

/* The lane has room for one worker: the second sleeps although it is not empty. The pool
 * ends when both functions have run. */
static void two_workers_two_functions(void) {
  make_pool(3, 1, 2);
}
static void run_and_leave(void *ctx) {
  count_run(ctx);
  done_with_pool();
}
static void inject_background_twice(void) {
  for (int i = 0; i < 2; i++)
    XP_CHECK(wf_pool_inject(pool, WEFT_LANE_BACKGROUND, run_and_leave, NULL, NULL) == 0);
}
LARGE_SCENARIO(background_has_no_room, .setup = two_workers_two_functions,
               .threads = {worker_1, worker_2, inject_background_twice},
               .check = check_ran_2)

/* Injected functions that must overlap: the one that was woken wakes the next before it
 * runs what it has found. */
LARGE_SCENARIO(cascade_of_injected, .setup = two_workers,
               .threads = {worker_1, worker_2, inject_meeting}, .check = check_ran_2)

/* ---- the end ---- */

static void only_end(void) {
  done_with_pool();
}

SCENARIO(sleep_against_end, .setup = one_worker, .threads = {worker_1, only_end},
         .check = free_pool, .invariant = counts_hold, .bound = 3)
SCENARIO(two_sleepers_against_end, .setup = two_workers,
         .threads = {worker_1, worker_2, only_end}, .check = free_pool, .quick_bound = 1)
SCENARIO(sleep_against_end_spurious, .setup = one_worker, .threads = {worker_1, only_end},
         .check = free_pool, .spurious = 2, .bound = 3, .ra_bound = 2, .quick_bound = 2)

/* ---- forks ---- */

SCENARIO(sleep_against_fork, .setup = one_worker, .threads = {worker_1, run_join},
         .check = check_ran_2, .invariant = counts_hold, .quick_bound = 1)
SCENARIO(sleep_against_fork_no_barrier, .setup = one_worker,
         .threads = {worker_1, run_join}, .check = check_ran_2, .no_barrier = true,
         .quick_bound = 1)
SCENARIO(take_over_from_fork, .setup = one_worker, .threads = {worker_1, run_join},
         .check = check_ran_2, .tick_ns = 3100, .quick_bound = 1)
SCENARIO(sleep_against_fork_spurious, .setup = one_worker,
         .threads = {worker_1, run_join}, .check = check_ran_2, .spurious = 1,
         .quick_bound = -2)

/* Both halves return only when both run: a fork that nobody sees would wait for ever, and
 * so would a joiner that is not woken. */
SCENARIO(halves_must_overlap, .setup = one_worker, .threads = {worker_1, run_meeting},
         .check = check_ran_2, .quick_bound = 1)
SCENARIO(halves_must_overlap_no_barrier, .setup = one_worker,
         .threads = {worker_1, run_meeting}, .check = check_ran_2, .no_barrier = true,
         .quick_bound = 1)
SCENARIO(halves_must_overlap_taken_over, .setup = one_worker,
         .threads = {worker_1, run_meeting}, .check = check_ran_2, .tick_ns = 3100,
         .quick_bound = 1)
LARGE_SCENARIO(halves_must_overlap_two_workers, .setup = two_workers,
               .threads = {worker_1, worker_2, run_meeting}, .check = check_ran_2)

/* Woken workers wake others, as in large pools. */
static void two_workers_in_trees(void) {
  two_workers();
  pool->wakes_in_trees = true;
}
LARGE_SCENARIO(halves_must_overlap_in_trees, .setup = two_workers_in_trees,
               .threads = {worker_1, worker_2, run_meeting}, .check = check_ran_2)
LARGE_SCENARIO(cascade_of_injected_in_trees, .setup = two_workers_in_trees,
               .threads = {worker_1, worker_2, inject_meeting}, .check = check_ran_2)

/* The same when the pins are open: nobody is told of the second fork, so that one of the
 * sleepers must see it. One looks for both: once more if the other comes meanwhile. */
static void fork_and_fork_meeting(void *ctx) {
  fork_two(ctx);
  fork_meeting(ctx);
}
static void run_later_meeting(void) {
  weft_pool_run(pool, fork_and_fork_meeting, NULL);
  done_with_pool();
}
LARGE_SCENARIO(one_look_for_two_sleepers, .setup = two_workers,
               .threads = {worker_1, worker_2, run_later_meeting}, .check = check_ran_4)

/* The system refuses the barrier from some moment on: there are no take-overs any more,
 * and sleepers look again. Whether halves overlap is then left to chance until owners
 * know of it; that everything runs is not. */
SCENARIO(sleep_against_inject_barrier_ends, .setup = one_worker,
         .threads = {worker_1, inject}, .check = check_ran_1, .invariant = counts_hold,
         .barrier_ends = true, .bound = 3, .ra_bound = 2, .quick_bound = 2)
SCENARIO(sleep_against_fork_barrier_ends, .setup = one_worker,
         .threads = {worker_1, run_join}, .check = check_ran_2, .invariant = counts_hold,
         .barrier_ends = true, .ra_bound = 1, .quick_bound = -2)
SCENARIO(take_over_from_fork_barrier_ends, .setup = one_worker,
         .threads = {worker_1, run_join}, .check = check_ran_2, .barrier_ends = true,
         .tick_ns = 3100, .ra_bound = 1, .quick_bound = 1)
SCENARIO(sleep_against_end_barrier_ends, .setup = one_worker,
         .threads = {worker_1, only_end}, .check = free_pool, .barrier_ends = true,
         .bound = 3, .ra_bound = 2, .quick_bound = 2)

/* When they know of it, every fork is public at once: halves overlap as ever. */
static void one_worker_refused(void) {
  one_worker();
  for (unsigned i = 0; i < pool->slots; i++) {
    wf_deque_make_eager(&pool->workers[i].deque);
    wf_deque_make_eager(&pool->workers[i].spawned);
  }
}
SCENARIO(halves_must_overlap_after_refusal, .setup = one_worker_refused,
         .threads = {worker_1, run_meeting}, .check = check_ran_2, .barrier_ends = true,
         .ra_bound = 1, .quick_bound = -2)

/* A guest leaves its place and comes back while a worker looks at it. */
static void run_join_twice(void) {
  weft_pool_run(pool, fork_two, NULL);
  run_join();
}
LARGE_SCENARIO(guest_comes_back, .setup = one_worker,
               .threads = {worker_1, run_join_twice}, .check = check_ran_4)

/* Two guests, one after the other in the same place, or side by side. */
LARGE_SCENARIO(two_guests, .setup = one_worker_two_users,
               .threads = {worker_1, run_join, run_join}, .check = check_ran_4)

/* ---- broadcasts ---- */

static void broadcast_inside(void *ctx) {
  weft_broadcast(count_each, ctx);
}

static void run_broadcast(void) {
  weft_pool_run(pool, broadcast_inside, NULL);
  done_with_pool();
}

SCENARIO(sleep_against_broadcast, .setup = one_worker,
         .threads = {worker_1, run_broadcast}, .check = check_ran_2, .quick_bound = 1)
SCENARIO(sleep_against_broadcast_spurious, .setup = one_worker,
         .threads = {worker_1, run_broadcast}, .check = check_ran_2, .spurious = 1,
         .quick_bound = -2)
LARGE_SCENARIO(two_sleepers_against_broadcast, .setup = two_workers,
               .threads = {worker_1, worker_2, run_broadcast}, .check = check_ran_3)
LARGE_SCENARIO(two_broadcasts, .setup = one_worker_two_users,
               .threads = {worker_1, run_broadcast, run_broadcast}, .check = check_ran_4)
