/* Tasks that hand their worker on (WEFT_TASK_FAST): private forks against sleepers and
 * thieves that take over, a ring that grows under them, and a plain join in between,
 * which leaves bottom elsewhere than where the body expects it.
 *
 * SPDX-License-Identifier: MIT */
#include <explore/engine/explore.h>
#define WF_FAST_PROMISE(condition)                                                       \
  XP_CHECK(condition) /* with guesses, as gcc compiles it */
#include "sched_kit.h"

#include <sched/search.h>
#include <weft/typed_task.h>

WEFT_TASK_FAST(int, count_one, int, value) {
  count_run(NULL);
  return value;
}

WEFT_TASK_FAST(int, meet_other, int, value) {
  meet(NULL);
  return value;
}

/* ---- two calls ---- */

WEFT_TASK_FAST(void, two_calls, bool, must_overlap) {
  int a, b;
  if (must_overlap)
    WEFT_BOTH(a, (meet_other, 1), b, (meet_other, 2));
  else
    WEFT_BOTH(a, (count_one, 1), b, (count_one, 2));
  XP_CHECK(a == 1 && b == 2);
}

static void call_two(void *ctx) {
  two_calls(ctx != NULL);
}

static void run_both(void) {
  weft_pool_run(pool, call_two, NULL);
  done_with_pool();
}

static void run_both_meeting(void) {
  weft_pool_run(pool, call_two, &pool);
  done_with_pool();
}

SCENARIO(fast_sleep_against_fork, .setup = one_worker, .threads = {worker_1, run_both},
         .check = check_ran_2, .invariant = counts_hold, .quick_bound = 1)
SCENARIO(fast_no_barrier, .setup = one_worker, .threads = {worker_1, run_both},
         .check = check_ran_2, .no_barrier = true, .quick_bound = 1)
SCENARIO(fast_taken_over, .setup = one_worker, .threads = {worker_1, run_both},
         .check = check_ran_2, .tick_ns = 3100, .quick_bound = 1)
SCENARIO(fast_halves_must_overlap, .setup = one_worker,
         .threads = {worker_1, run_both_meeting}, .check = check_ran_2, .tick_ns = 3100,
         .quick_bound = 1)

/* ---- what moves bottom ---- */

/* The join in the middle may find its task stolen; then bottom is above both forks. */
WEFT_TASK_FAST(void, join_between, int, unused) {
  count_one_task first;
  int a, b;
  (void)unused;
  WEFT_FORK(count_one, &first, 1);
  fork_two(NULL);
  WEFT_BOTH(a, (count_one, 2), b, (count_one, 3));
  XP_CHECK(a == 2 && b == 3);
  XP_CHECK(WEFT_JOIN(count_one, &first) == 1);
}

static void call_join_between(void *ctx) {
  (void)ctx;
  join_between(0);
}
static void run_join_between(void) {
  weft_pool_run(pool, call_join_between, NULL);
  done_with_pool();
}
static void check_ran_5(void) {
  check_ran(5);
}

LARGE_SCENARIO(fast_join_between, .setup = one_worker,
               .threads = {worker_1, run_join_between}, .check = check_ran_5,
               .tick_ns = 3100)

/* Rings of four: the fifth open fork makes a larger one. */
WEFT_TASK_FAST(int, nest, int, depth) {
  int inner, last;
  if (depth == 0) return 0;
  WEFT_BOTH(inner, (nest, depth - 1), last, (count_one, 1));
  return inner + last;
}

static void call_nest(void *ctx) {
  (void)ctx;
  XP_CHECK(nest(5) == 5);
}
static void run_nest(void) {
  weft_pool_run(pool, call_nest, NULL);
  done_with_pool();
}

LARGE_SCENARIO(fast_ring_grows, .setup = one_worker, .threads = {worker_1, run_nest},
               .check = check_ran_5, .tick_ns = 3100)
LARGE_SCENARIO(fast_ring_cannot_grow, .setup = one_worker,
               .threads = {worker_1, run_nest}, .check = check_ran_5,
               .failing_allocations = 1, .tick_ns = 3100)

/* The first fork of a guest is public, and opens the pins. The next two are private. A
 * thief that takes over may come between each of the owner's stores to bottom: then only
 * their own orders show it the tasks below. The thief is a worker that takes over once
 * and runs one task, not a whole thread. */
static void call_nest_twice(void *ctx) {
  (void)ctx;
  XP_CHECK(nest(1) == 1);
  XP_CHECK(nest(2) == 2);
}
static void run_nest_twice(void) {
  weft_pool_run(pool, call_nest_twice, NULL);
  done_with_pool();
}

static void take_over_and_run_one(void *ctx) {
  (void)ctx;
  (void)wf_search_take_over(&pool->workers[1]);
  (void)weft_yield();
}
static void thief(void) {
  XP_CHECK(wf_deque_prepare(&pool->workers[1].deque) == 0);
  wf_guest_run_as(&pool->workers[1], take_over_and_run_one, NULL);
}

SCENARIO(fast_forks_under_take_over, .setup = one_worker,
         .threads = {run_nest_twice, thief}, .check = check_ran_3, .quick_bound = 1)

/* ---- trees: who waits for a stolen task begins others meanwhile ---- */

WEFT_TASK_FAST(int, branch, int, depth) {
  int a, b;
  if (depth == 0) return WEFT_CALL(count_one, 1);
  WEFT_BOTH(a, (branch, depth - 1), b, (branch, depth - 1));
  return a + b;
}

static void call_branch(void *ctx) {
  (void)ctx;
  XP_CHECK(branch(2) == 4);
}
static void run_branch(void) {
  weft_pool_run(pool, call_branch, NULL);
  done_with_pool();
}

LARGE_SCENARIO(fast_tree, .setup = one_worker, .threads = {worker_1, run_branch},
               .check = check_ran_4, .tick_ns = 3100)
SCENARIO(fast_tree_of_three, .setup = two_workers,
         .threads = {worker_1, worker_2, run_branch}, .check = check_ran_4, .bound = 1,
         .modes = XP_SC | XP_TSO, .tick_ns = 3100, .quick_bound = -2)
