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

/* ---- helpers that sleep, and are called away ---- */

/* Workers 1 and 2 wait for latches of their own. The thread from outside forks a task
 * that must be run by one of them, and then calls worker 1 away: it sets its latch. The
 * task sets the latch of worker 2. */
static wf_latch latches[2];
static wf_u32 x_begun;

static void set_latch_of(unsigned index) {
  if (wf_latch_set(&latches[index - 1])) wf_sleep_wake_worker(pool, index);
}

static void call_away_1(void) {
  set_latch_of(1);
}

static void two_helpers(void) {
  two_workers();
  for (int i = 0; i < 2; i++) wf_latch_init(&latches[i]);
  wf_u32_init(&x_begun, 0);
}

static void wait_as_helper(void *ctx) {
  wf_worker *worker = (wf_worker *)ctx;
  wf_worker_wait(worker, &latches[worker->index - 1], NULL, "wait_as_helper");
}
static void helper_1(void) {
  wf_worker_run_thread(&pool->workers[1], wait_as_helper);
}
static void helper_2(void) {
  wf_worker_run_thread(&pool->workers[2], wait_as_helper);
}

static void call_away_and_await(void *ctx) {
  (void)ctx;
  set_latch_of(1);
  while (wf_u32_load_acquire(&x_begun) == 0) wf_sys_relax();
}
static void begin_and_release(void *ctx) {
  wf_u32_store_release(&x_begun, 1);
  set_latch_of(2);
  count_run(ctx);
}
static void fork_for_helpers(void *ctx) {
  weft_join(call_away_and_await, ctx, begin_and_release, ctx);
}

/* The fork is public: its poster wakes a helper, perhaps the one that is called away. */
static void run_for_helpers(void) {
  weft_pool_run(pool, fork_for_helpers, NULL);
  done_with_pool();
}
LARGE_SCENARIO(helper_called_away, .setup = two_helpers,
               .threads = {helper_1, helper_2, run_for_helpers}, .check = check_ran_1)

/* The fork is private, and nobody is told: one of the two looks for both. If that is the
 * one that is called away, it does not look for the other, but wakes it. */
static void fork_privately_for_helpers(void *ctx) {
  fork_two(ctx);
  fork_for_helpers(ctx);
}
static void run_privately_for_helpers(void) {
  weft_pool_run(pool, fork_privately_for_helpers, NULL);
  done_with_pool();
}
LARGE_SCENARIO(looker_called_away, .setup = two_helpers,
               .threads = {helper_1, helper_2, run_privately_for_helpers},
               .check = check_ran_3)

/* Worker 1 is called away, and then calls worker 2 away. While worker 1 looks, worker 2
 * relies on it. There is no task, so when worker 2 is woken it sleeps again at once; if
 * worker 1 looked for it again, it would wake it again, and so on for ever. Until worker
 * 1 has gone there are two wake-ups at most: its own by the latch, and one by which it
 * leaves. */
static void wait_and_release(void *ctx) {
  wait_as_helper(ctx);
  XP_CHECK(wf_u64_load_relaxed(&pool->sleep.x_wakes) <= 2);
  set_latch_of(2);
}
static void helper_1_first(void) {
  wf_worker_run_thread(&pool->workers[1], wait_and_release);
}
SCENARIO(looker_gets_away, .setup = two_helpers,
         .threads = {helper_1_first, helper_2, call_away_1}, .check = free_pool,
         .bound = 3, .ra_bound = 2, .quick_bound = 2)

/* The poster reaches for worker 1, which a third thread has called away. */
static void await_begun(void *ctx) {
  (void)ctx;
  while (wf_u32_load_acquire(&x_begun) == 0) wf_sys_relax();
}
static void fork_and_await(void *ctx) {
  weft_join(await_begun, ctx, begin_and_release, ctx);
}
static void run_and_await(void) {
  weft_pool_run(pool, fork_and_await, NULL);
  done_with_pool();
}
SCENARIO(helper_lost_to_its_latch, .modes = XP_SC, .bound = 1, .setup = two_helpers,
         .threads = {helper_1, helper_2, run_and_await, call_away_1},
         .check = check_ran_1)

/* The same if an idle worker relies on the look of a helper. It ends with the pool. */
static void idle_2(void) {
  worker_2();
}
LARGE_SCENARIO(looker_of_idle_called_away, .setup = two_helpers,
               .threads = {helper_1, idle_2, run_privately_for_helpers},
               .check = check_ran_3)

/* ---- pools with several groups of idle workers ---- */

/* The same races without a jobs event counter, and with counts in two places. */
SCENARIO(sleep_against_inject_in_groups, .setup = two_groups,
         .threads = {worker_8, inject}, .check = check_ran_1, .invariant = counts_hold,
         .bound = 3, .quick_bound = 2)
SCENARIO(sleep_against_end_in_groups, .setup = two_groups,
         .threads = {worker_8, only_end}, .check = free_pool, .invariant = counts_hold,
         .bound = 3, .quick_bound = 2)
SCENARIO(two_sleepers_against_inject_in_groups, .setup = two_groups,
         .threads = {worker_1, worker_8, inject}, .check = check_ran_1,
         .invariant = counts_hold, .quick_bound = 1)
SCENARIO(sleep_against_fork_in_groups, .setup = two_groups,
         .threads = {worker_8, run_join}, .check = check_ran_2, .invariant = counts_hold,
         .quick_bound = 1)
SCENARIO(halves_must_overlap_in_groups, .setup = two_groups,
         .threads = {worker_8, run_meeting}, .check = check_ran_2, .quick_bound = 1)
LARGE_SCENARIO(halves_must_overlap_two_groups, .setup = two_groups,
               .threads = {worker_1, worker_8, run_meeting}, .check = check_ran_2)
LARGE_SCENARIO(cascade_of_injected_in_groups, .setup = two_groups,
               .threads = {worker_1, worker_8, inject_meeting}, .check = check_ran_2)
LARGE_SCENARIO(one_look_for_two_groups, .setup = two_groups,
               .threads = {worker_1, worker_8, run_later_meeting}, .check = check_ran_4)

/* ---- the barrier is refused ---- */

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
