/* Scopes, handles and isolation: the end against the last task, cancelling against
 * spawning, a handle that its waiter frees.
 *
 * SPDX-License-Identifier: MIT */
#include "sched_kit.h"

#include <sched/scope.h>
#include <string.h>

static weft_scope *x_scope; /* of the scenario that runs, for a second thread */
static wf_u32 x_open;

static weft_opts in_pool(void) {
  weft_opts opts = WEFT_OPTS_INIT;
  opts.pool = pool;
  return opts;
}

/* ---- the end of a scope ---- */

static void spawn_and_end(unsigned tasks, weft_order order) {
  weft_scope scope;
  weft_opts opts = in_pool();
  opts.order = order;
  weft_scope_begin_with(&opts, &scope);
  for (unsigned i = 0; i < tasks; i++) weft_spawn(&scope, count_run, NULL);
  XP_CHECK(weft_scope_end(&scope) == 0);
  XP_CHECK(wf_u32_load_relaxed(&x_ran) == tasks);
  done_with_pool();
}

static void scope_of_one(void) {
  spawn_and_end(1, WEFT_ORDER_LIFO);
}
static void scope_of_two(void) {
  spawn_and_end(2, WEFT_ORDER_LIFO);
}
static void fifo_scope_of_two(void) {
  spawn_and_end(2, WEFT_ORDER_FIFO);
}

SCENARIO(scope_end_against_last_task, .setup = one_worker,
         .threads = {worker_1, scope_of_one}, .check = check_ran_1, .quick_bound = 1)
SCENARIO(scope_end_no_barrier, .setup = one_worker, .threads = {worker_1, scope_of_one},
         .check = check_ran_1, .no_barrier = true, .quick_bound = 1)
SCENARIO(scope_end_spurious, .setup = one_worker, .threads = {worker_1, scope_of_one},
         .check = check_ran_1, .spurious = 1, .quick_bound = -2)
LARGE_SCENARIO(scope_end_without_memory, .setup = one_worker,
               .threads = {worker_1, scope_of_one}, .check = check_ran_1,
               .failing_allocations = 2)
LARGE_SCENARIO(scope_of_two_tasks, .setup = one_worker,
               .threads = {worker_1, scope_of_two}, .check = check_ran_2)
LARGE_SCENARIO(scope_taken_over, .setup = one_worker, .threads = {worker_1, scope_of_two},
               .check = check_ran_2, .tick_ns = 3100)
SCENARIO(fifo_scope, .setup = one_worker, .threads = {worker_1, fifo_scope_of_two},
         .check = check_ran_2, .ra_bound = 1, .quick_bound = 1)

/* Batches, which only large pools have: the worker takes two tasks, runs one and keeps
 * the other, which the scope's thread or a second worker may take from it. */
static void batches_on(void) {
  pool->steals_batches = true;
  for (unsigned i = 0; i < pool->slots; i++) pool->workers[i].arena.collects = true;
}
static void one_worker_with_batches(void) {
  one_worker();
  batches_on();
}
static void two_workers_with_batches(void) {
  two_workers();
  batches_on();
}
static void scope_of_four(void) {
  spawn_and_end(4, WEFT_ORDER_LIFO);
}
static void fifo_scope_of_four(void) {
  spawn_and_end(4, WEFT_ORDER_FIFO);
}
LARGE_SCENARIO(batch_against_end, .setup = one_worker_with_batches,
               .threads = {worker_1, scope_of_four}, .check = check_ran_4)
LARGE_SCENARIO(batch_no_barrier, .setup = one_worker_with_batches,
               .threads = {worker_1, scope_of_four}, .check = check_ran_4,
               .no_barrier = true)
LARGE_SCENARIO(batch_of_tickets, .setup = one_worker_with_batches,
               .threads = {worker_1, fifo_scope_of_four}, .check = check_ran_4,
               .no_barrier = true)
LARGE_SCENARIO(batch_without_memory, .setup = one_worker_with_batches,
               .threads = {worker_1, scope_of_four}, .check = check_ran_4,
               .no_barrier = true, .failing_allocations = 2)
SCENARIO(batch_with_two_thieves, .setup = two_workers_with_batches,
         .threads = {worker_1, worker_2, scope_of_four}, .check = check_ran_4,
         .no_barrier = true, .modes = XP_SC | XP_TSO, .bound = 1, .quick_bound = -2)

/* The last two counts of a scope that somebody waits for, by two threads: the waiter sees
 * the work of both. */
static weft_scope counted;
static unsigned work_done[2];

static void two_counts(void) {
  memset(&counted, 0, sizeof counted);
  memset(work_done, 0, sizeof work_done);
  counted.blocks = true;
  wf_word_init(&counted.x_pending, 2);
  wf_once_latch_init((wf_once_latch *)&counted.x_blocked_end);
}
static void finish_one(void) {
  unsigned *mine = &work_done[xp_self() - 1];
  xp_plain_write(mine, sizeof *mine);
  *mine = 1;
  wf_scope_finish(&counted, 1);
}
static void wait_for_both(void) {
  wf_once_latch_wait((wf_once_latch *)&counted.x_blocked_end);
  xp_plain_read(work_done, sizeof work_done);
  XP_CHECK(work_done[0] == 1 && work_done[1] == 1);
}
SCENARIO(last_counts_by_two, .setup = two_counts,
         .threads = {finish_one, finish_one, wait_for_both}, .bound = 3)

/* Tasks that must overlap: one of them has to be taken by the worker. */
static void scope_with_meeting(void) {
  weft_scope scope;
  weft_opts opts = in_pool();
  weft_scope_begin_with(&opts, &scope);
  weft_spawn(&scope, meet, NULL);
  weft_spawn(&scope, meet, NULL);
  XP_CHECK(weft_scope_end(&scope) == 0);
  done_with_pool();
}
LARGE_SCENARIO(scope_tasks_must_overlap, .setup = one_worker,
               .threads = {worker_1, scope_with_meeting}, .check = check_ran_2)

/* A task spawns into the scope that it is in. */
static void spawns_another(void *ctx) {
  weft_spawn(weft_scope_current(), count_run, ctx);
  count_run(ctx);
}
static void scope_that_grows(void) {
  weft_scope scope;
  weft_opts opts = in_pool();
  weft_scope_begin_with(&opts, &scope);
  weft_spawn(&scope, spawns_another, NULL);
  XP_CHECK(weft_scope_end(&scope) == 0);
  done_with_pool();
}
LARGE_SCENARIO(task_spawns_into_its_scope, .setup = one_worker,
               .threads = {worker_1, scope_that_grows}, .check = check_ran_2)

/* Another thread, from outside, spawns into a scope that is open. */
static void open_scope(void) {
  one_worker_two_users();
  x_scope = NULL;
  wf_u32_init(&x_open, 0);
}

static void await_open(uint32_t wanted) {
  uint32_t now;
  while ((now = wf_u32_load_acquire(&x_open)) < wanted) wf_sys_wait(&x_open, now);
}
static void tell_open(uint32_t now) {
  wf_u32_store_release(&x_open, now);
  wf_sys_wake_all(&x_open);
}

static void scope_for_others(void) {
  weft_scope scope;
  weft_opts opts = in_pool();
  weft_scope_begin_with(&opts, &scope);
  x_scope = &scope;
  tell_open(1);
  weft_spawn(&scope, count_run, NULL);
  await_open(2);
  XP_CHECK(weft_scope_end(&scope) == 0);
  done_with_pool();
}

static void spawn_from_outside(void) {
  await_open(1);
  weft_spawn(x_scope, count_run, NULL);
  tell_open(2);
  done_with_pool();
}

LARGE_SCENARIO(spawn_from_another_thread, .setup = open_scope,
               .threads = {worker_1, scope_for_others, spawn_from_outside},
               .check = check_ran_2)

/* ---- cancelling ---- */

/* Skipped or run, each task is counted off; what runs after the end does not exist. */
static void scope_that_is_cancelled(void) {
  weft_scope scope;
  weft_opts opts = in_pool();
  weft_scope_begin_with(&opts, &scope);
  x_scope = &scope;
  tell_open(1);
  weft_spawn(&scope, count_run, NULL);
  weft_spawn(&scope, count_run, NULL);
  await_open(2);
  XP_CHECK(weft_scope_end(&scope) == 7);
  done_with_pool();
}

static void cancel_from_outside(void) {
  await_open(1);
  weft_scope_cancel(x_scope, 7);
  tell_open(2);
  done_with_pool();
}

static void check_at_most_2(void) {
  XP_CHECK(wf_u32_load_relaxed(&x_ran) <= 2);
  free_pool();
}

LARGE_SCENARIO(cancel_against_spawn, .setup = open_scope,
               .threads = {worker_1, scope_that_is_cancelled, cancel_from_outside},
               .check = check_at_most_2)

/* Of two threads that cancel, the second one knows that the scope is cancelled as well as
 * the first, and the count of cancelled scopes is down again at the end. */
static void scope_cancelled_twice(void) {
  weft_scope scope;
  weft_opts opts = in_pool();
  weft_scope_begin_with(&opts, &scope);
  x_scope = &scope;
  tell_open(1);
  weft_scope_cancel(&scope, 8);
  XP_CHECK(weft_scope_cancelled(&scope));
  await_open(2);
  int error = weft_scope_end(&scope);
  XP_CHECK(error == 7 || error == 8);
  done_with_pool();
}

static void cancel_and_ask(void) {
  await_open(1);
  weft_scope_cancel(x_scope, 7);
  XP_CHECK(weft_scope_cancelled(x_scope));
  tell_open(2);
  done_with_pool();
}

static void check_none_cancelled(void) {
  XP_CHECK(wf_u32_load_relaxed(&wf_cancelled_scopes.x_count) == 0);
  free_pool();
}

SCENARIO(cancel_against_cancel, .setup = open_scope,
         .threads = {scope_cancelled_twice, cancel_and_ask},
         .check = check_none_cancelled, .bound = 4, .ra_bound = 3, .quick_bound = 2)

/* The error of a scope around comes with what was written before it was cancelled, and so
 * does the news that it is. */
static unsigned reason;

static void check_reason(void) {
  xp_plain_read(&reason, sizeof reason);
  XP_CHECK(reason == 1);
}

static void scope_in_cancelled_scope(void) {
  weft_scope scope, inner;
  weft_opts opts = in_pool();
  weft_scope_begin_with(&opts, &scope);
  x_scope = &scope;
  tell_open(1);
  weft_scope_begin_with(&opts, &inner);
  if (weft_scope_cancelled(&inner)) check_reason();
  if (weft_scope_end(&inner) == 7) check_reason();
  await_open(2);
  XP_CHECK(weft_scope_end(&scope) == 7);
  done_with_pool();
}

static void cancel_with_reason(void) {
  await_open(1);
  xp_plain_write(&reason, sizeof reason);
  reason = 1;
  cancel_from_outside();
}

SCENARIO(error_of_scope_around, .setup = open_scope,
         .threads = {scope_in_cancelled_scope, cancel_with_reason}, .check = free_pool,
         .bound = 3, .ra_bound = 2, .quick_bound = 1)

static void cancels_itself(void *ctx) {
  weft_scope_cancel(weft_scope_current(), 5);
  count_run(ctx);
}
static void scope_cancelled_by_task(void) {
  weft_scope scope;
  weft_opts opts = in_pool();
  weft_scope_begin_with(&opts, &scope);
  weft_spawn(&scope, count_run, NULL);
  weft_spawn(&scope, cancels_itself, NULL);
  int error = weft_scope_end(&scope);
  XP_CHECK(error == 5);
  done_with_pool();
}
LARGE_SCENARIO(cancelled_by_a_task, .setup = one_worker,
               .threads = {worker_1, scope_cancelled_by_task}, .check = check_at_most_2)

/* ---- handles ---- */

static void async_and_wait(void) {
  weft_handle *handle;
  weft_opts opts = in_pool();
  if (weft_async_with(&opts, &handle, count_run, NULL) == 0)
    XP_CHECK(weft_handle_wait(handle) == 0);
  else
    count_run(NULL);
  XP_CHECK(wf_u32_load_relaxed(&x_ran) == 1);
  done_with_pool();
}

static void async_and_drop(void) {
  weft_handle *handle;
  weft_opts opts = in_pool();
  XP_CHECK(weft_async_with(&opts, &handle, count_run, NULL) == 0);
  weft_handle_drop(handle);
  done_with_pool();
}

static void async_and_poll(void) {
  weft_handle *handle;
  weft_opts opts = in_pool();
  XP_CHECK(weft_async_with(&opts, &handle, count_run, NULL) == 0);
  while (!weft_handle_done(handle)) wf_sys_relax();
  XP_CHECK(wf_u32_load_relaxed(&x_ran) == 1);
  weft_handle_drop(handle);
  done_with_pool();
}

SCENARIO(handle_freed_by_waiter, .setup = one_worker,
         .threads = {worker_1, async_and_wait}, .check = check_ran_1, .quick_bound = 1)
SCENARIO(handle_waiter_spurious, .setup = one_worker,
         .threads = {worker_1, async_and_wait}, .check = check_ran_1, .spurious = 2,
         .quick_bound = -2)
SCENARIO(handle_without_memory, .setup = one_worker,
         .threads = {worker_1, async_and_wait}, .check = check_ran_1,
         .failing_allocations = 1, .quick_bound = 1)
SCENARIO(handle_dropped, .setup = one_worker, .threads = {worker_1, async_and_drop},
         .check = check_ran_1, .bound = 3, .ra_bound = 2, .quick_bound = 1)
SCENARIO(handle_polled, .setup = one_worker, .threads = {worker_1, async_and_poll},
         .check = check_ran_1, .quick_bound = 1)
LARGE_SCENARIO(two_handles, .setup = one_worker_two_users,
               .threads = {worker_1, async_and_drop, async_and_drop},
               .check = check_ran_2)

/* ---- isolation ---- */

static void isolated_fork(void *ctx) {
  weft_isolate(fork_two, ctx);
}
static void run_isolated(void) {
  weft_pool_run(pool, isolated_fork, NULL);
  done_with_pool();
}
SCENARIO(isolated_join, .setup = one_worker, .threads = {worker_1, run_isolated},
         .check = check_ran_2, .quick_bound = 1)

/* ---- more callers than places ---- */

static void one_place_two_users(void) {
  make_pool(2, 1, 2);
}
static void run_one(void) {
  weft_pool_run(pool, count_run, NULL);
  done_with_pool();
}
LARGE_SCENARIO(caller_without_a_place, .setup = one_place_two_users,
               .threads = {worker_1, run_one, run_one}, .check = check_ran_2)
