/* Handles for servers: what is asked for against the end of the function; a waiter on its
 * stack, told by one of several handles, against its time limit and its leaving; the
 * limit of the queue, counted exactly; until nothing is left.
 *
 * SPDX-License-Identifier: MIT */
#include "sched_kit.h"

static weft_handle *x_first, *x_second;
static unsigned payload; /* written by the function, read by what follows */
static wf_u32 x_told;

static weft_opts in_pool(void) {
  weft_opts opts = WEFT_OPTS_INIT;
  opts.pool = pool;
  return opts;
}

static void begin(void) {
  payload = 0;
  xp_notified = 0;
  wf_u32_init(&x_told, 0);
  x_first = x_second = NULL;
}

static void with_one_worker(void) {
  one_worker();
  begin();
}
static void with_two_users(void) {
  one_worker_two_users();
  begin();
}

/* The function of a handle: what it writes must be visible to all that comes after. */
static void write_payload(void *ctx) {
  xp_plain_write(&payload, sizeof payload);
  payload = 1;
  count_run(ctx);
}
static void read_payload(void) {
  xp_plain_read(&payload, sizeof payload);
  XP_CHECK(payload == 1);
}
static void follow(void *ctx) {
  read_payload();
  count_run(ctx);
}
static void be_told(void *ctx) {
  (void)ctx;
  read_payload();
  wf_u32_fetch_add_relaxed(&x_told, 1);
}

static weft_handle *start(weft_fn *fn) {
  weft_handle *handle;
  weft_opts opts = in_pool();
  XP_CHECK(weft_async_with(&opts, &handle, fn, NULL) == 0);
  return handle;
}

/* ---- what is asked for ---- */

static void then_and_drop(void) {
  weft_handle *handle = start(write_payload);
  XP_CHECK(weft_handle_then(handle, follow, NULL) == 0);
  weft_handle_drop(handle);
  done_with_pool();
}
static void then_and_wait(void) {
  weft_handle *handle = start(write_payload);
  XP_CHECK(weft_handle_then(handle, follow, NULL) == 0);
  XP_CHECK(weft_handle_wait(handle) == 0);
  read_payload();
  done_with_pool();
}
SCENARIO(then_against_the_end, .setup = with_one_worker,
         .threads = {worker_1, then_and_drop}, .check = check_ran_2, .quick_bound = 1)
LARGE_SCENARIO(then_and_a_wait, .setup = with_one_worker,
               .threads = {worker_1, then_and_wait}, .check = check_ran_2)

/* Without memory for the queue what follows runs on the thread of the function. */
static void then_or_not(void) {
  weft_handle *handle;
  weft_opts opts = in_pool();
  if (weft_async_with(&opts, &handle, write_payload, NULL) == 0) {
    if (weft_handle_then(handle, follow, NULL) != 0) count_run(NULL);
    weft_handle_drop(handle);
  } else {
    count_run(NULL);
    count_run(NULL);
  }
  done_with_pool();
}
SCENARIO(then_without_memory, .setup = with_one_worker,
         .threads = {worker_1, then_or_not}, .check = check_ran_2, .bound = 1,
         .failing_allocations = 2, .quick_bound = -2)

/* The waiting thread goes on when everything that was asked for has happened. */
static void told_before_the_wait_returns(void) {
  weft_handle *handle = start(write_payload);
  XP_CHECK(weft_handle_on_done(handle, be_told, NULL) == 0);
  XP_CHECK(weft_handle_notify(handle, 1) == 0);
  XP_CHECK(weft_handle_wait(handle) == 0);
  XP_CHECK(wf_u32_load_relaxed(&x_told) == 1 && xp_notified == 1);
  done_with_pool();
}
LARGE_SCENARIO(told_before_the_wait_ends, .setup = with_one_worker,
               .threads = {worker_1, told_before_the_wait_returns}, .check = check_ran_1)

/* The function that is called frees the handle, while its maker has given it away. */
static void free_in_call(void *ctx) {
  be_told(ctx);
  if (xp_any(2) == 0)
    weft_handle_drop(x_first);
  else
    XP_CHECK(weft_handle_wait(x_first) == 0);
}
static void give_handle_away(void) {
  weft_handle *handle = start(write_payload);
  x_first = handle;
  XP_CHECK(weft_handle_on_done(handle, free_in_call, NULL) == 0);
  done_with_pool();
}
static void check_told(void) {
  XP_CHECK(wf_u32_load_relaxed(&x_told) == 1);
  check_ran(1);
}
SCENARIO(freed_by_the_function_that_is_called, .setup = with_one_worker,
         .threads = {worker_1, give_handle_away}, .check = check_told, .quick_bound = 1)

/* ---- a waiter and its time ---- */

/* From outside: sleeps, is told or is late; and if it is late it waits again. */
static void wait_with_limit(void) {
  weft_handle *handle = start(write_payload);
  if (weft_handle_wait_for(handle, 1000) != 0)
    XP_CHECK(weft_handle_wait_for(handle, UINT64_MAX) == 0);
  read_payload();
  done_with_pool();
}
/* As a guest, which helps. */
static void wait_with_limit_inside(void *ctx) {
  (void)ctx;
  weft_handle *handle = start(write_payload);
  if (weft_handle_wait_for(handle, 1000) != 0) XP_CHECK(weft_handle_wait(handle) == 0);
  read_payload();
}
static void guest_with_limit(void) {
  weft_pool_run(pool, wait_with_limit_inside, NULL);
  done_with_pool();
}
SCENARIO(limit_against_the_end, .setup = with_one_worker,
         .threads = {worker_1, wait_with_limit}, .check = check_ran_1, .quick_bound = 1)
SCENARIO(limit_spurious, .setup = with_one_worker, .threads = {worker_1, wait_with_limit},
         .check = check_ran_1, .spurious = 1, .bound = 1, .quick_bound = -2)
LARGE_SCENARIO(limit_of_a_guest, .setup = with_one_worker,
               .threads = {worker_1, guest_with_limit}, .check = check_ran_1)

/* ---- any of two ---- */

static void wait_for_any_of(weft_handle *const *both, size_t n) {
  size_t found = weft_handle_wait_any(both, n);
  XP_CHECK(found < n && weft_handle_done(both[found]));
}

/* The same function for both, but only the first writes. */
static void any_of_two(void) {
  weft_handle *both[] = {start(write_payload), start(count_run)};
  wait_for_any_of(both, 2);
  if (weft_handle_done(both[0])) read_payload();
  weft_handle_drop(both[0]);
  weft_handle_drop(both[1]);
  done_with_pool();
}
static void any_of_the_same(void) {
  weft_handle *one = start(write_payload);
  weft_handle *both[] = {one, one};
  wait_for_any_of(both, 2);
  read_payload();
  weft_handle_drop(one);
  done_with_pool();
}
static void any_of_two_with_limit(void) {
  weft_handle *both[] = {start(write_payload), start(count_run)};
  size_t found = weft_handle_wait_any_for(both, 2, 1000);
  if (found == SIZE_MAX) found = weft_handle_wait_any_for(both, 2, UINT64_MAX);
  XP_CHECK(found < 2 && weft_handle_done(both[found]));
  weft_handle_drop(both[0]);
  weft_handle_drop(both[1]);
  done_with_pool();
}
static void any_of_two_inside(void *ctx) {
  (void)ctx;
  weft_handle *both[] = {start(write_payload), start(count_run)};
  wait_for_any_of(both, 2);
  weft_handle_drop(both[0]);
  weft_handle_drop(both[1]);
}
static void guest_any_of_two(void) {
  weft_pool_run(pool, any_of_two_inside, NULL);
  done_with_pool();
}
static void with_two_workers(void) {
  two_workers();
  begin();
}
SCENARIO(any_of_the_same_twice, .setup = with_one_worker,
         .threads = {worker_1, any_of_the_same}, .check = check_ran_1, .quick_bound = 1)
LARGE_SCENARIO(any_of_two_handles, .setup = with_one_worker,
               .threads = {worker_1, any_of_two}, .check = check_ran_2)
LARGE_SCENARIO(any_of_two_until_a_time, .setup = with_one_worker,
               .threads = {worker_1, any_of_two_with_limit}, .check = check_ran_2)
LARGE_SCENARIO(any_of_two_as_a_guest, .setup = with_one_worker,
               .threads = {worker_1, guest_any_of_two}, .check = check_ran_2)
SCENARIO(any_of_two_at_once, .setup = with_two_workers,
         .threads = {worker_1, worker_2, any_of_two}, .check = check_ran_2,
         .modes = XP_SC | XP_TSO, .bound = 1, .quick_bound = -2)

/* A thread of the pool waits for what nobody else can run. */
static void wait_on_worker(void *ctx) {
  weft_handle *handle = start(write_payload);
  XP_CHECK(weft_handle_wait_for(handle, 1) == 0);
  read_payload();
  count_run(ctx);
}
static void inject_waiting(void) {
  XP_CHECK(weft_pool_detach(pool, wait_on_worker, NULL) == 0);
  done_with_pool();
}
SCENARIO(worker_runs_it_itself, .setup = with_one_worker,
         .threads = {worker_1, inject_waiting}, .check = check_ran_2, .quick_bound = 1)

/* ---- the limit ---- */

static wf_u32 x_taken;

static void limit_of_one(void) {
  with_two_users();
  pool->queue_limit = 1;
  wf_u32_init(&x_taken, 0);
}
static void submit_one(void) {
  int status = weft_pool_detach(pool, count_run, NULL);
  XP_CHECK(status == 0 || status == WEFT_EAGAIN);
  if (status == 0) wf_u32_fetch_add_relaxed(&x_taken, 1);
  XP_CHECK(wf_word_peek(&pool->x_queued) <= 1);
  done_with_pool();
}
/* Submits, runs it by waiting, and must find room then unless the other has taken it. */
static void submit_and_wait(void) {
  weft_handle *handle;
  weft_opts opts = in_pool();
  int status = weft_async_with(&opts, &handle, count_run, NULL);
  XP_CHECK(status == 0 || status == WEFT_EAGAIN);
  if (status == 0) {
    wf_u32_fetch_add_relaxed(&x_taken, 1);
    XP_CHECK(weft_handle_wait(handle) == 0);
  }
  done_with_pool();
}
static void check_taken(void) {
  XP_CHECK(wf_word_load_relaxed(&pool->x_queued) == 0);
  XP_CHECK(wf_u32_load_relaxed(&x_taken) >= 1);
  check_ran(wf_u32_load_relaxed(&x_taken));
}
SCENARIO(limit_of_two_producers, .setup = limit_of_one,
         .threads = {worker_1, submit_one, submit_one}, .check = check_taken,
         .ra_bound = 1, .quick_bound = 1)
LARGE_SCENARIO(limit_against_a_waiting_thread, .setup = limit_of_one,
               .threads = {worker_1, submit_one, submit_and_wait}, .check = check_taken)

/* Exact: with one thread, what has begun leaves room at once. */
static void submit_next(void *ctx) {
  count_run(ctx);
  if (wf_u32_load_relaxed(&x_ran) < 3)
    XP_CHECK(weft_pool_detach(pool, submit_next, NULL) == 0);
}
static void limit_of_one_alone(void) {
  with_one_worker();
  pool->queue_limit = 1;
}
static void submit_first(void) {
  XP_CHECK(weft_pool_detach(pool, submit_next, NULL) == 0);
  done_with_pool();
}
SCENARIO(limit_from_inside, .setup = limit_of_one_alone,
         .threads = {worker_1, submit_first}, .check = check_ran_3, .quick_bound = 1)

/* ---- until nothing is left ---- */

static void submit_more(void *ctx) {
  XP_CHECK(weft_pool_detach(pool, write_payload, NULL) == 0);
  count_run(ctx);
}
static void wait_idle(void) {
  XP_CHECK(weft_pool_detach(pool, submit_more, NULL) == 0);
  weft_pool_wait_idle(pool);
  read_payload();
  XP_CHECK(wf_u32_load_relaxed(&x_ran) == 2);
  done_with_pool();
}
LARGE_SCENARIO(idle_against_work_that_submits_more, .setup = with_one_worker,
               .threads = {worker_1, wait_idle}, .check = check_ran_2)

/* Two wait; each sees its own work done, whoever was at the last of it. */
static wf_u32 x_own[2];

static void two_wait_idle(void) {
  with_two_users();
  wf_u32_init(&x_own[0], 0);
  wf_u32_init(&x_own[1], 0);
}
static void do_own(void *ctx) {
  wf_u32_store_relaxed((wf_u32 *)ctx, 1);
  count_run(NULL);
}
static void wait_idle_for_own(void) {
  wf_u32 *own = &x_own[xp_self() - 2];
  XP_CHECK(weft_pool_detach(pool, do_own, own) == 0);
  weft_pool_wait_idle(pool);
  XP_CHECK(wf_u32_load_relaxed(own) == 1);
  done_with_pool();
}
LARGE_SCENARIO(idle_for_two, .setup = two_wait_idle,
               .threads = {worker_1, wait_idle_for_own, wait_idle_for_own},
               .check = check_ran_2)

/* A function that the waiting thread runs counts until it has returned; the queue's entry
 * for it may be taken at the same time. */
static void async_for_another(void) {
  weft_handle *handle = start(write_payload);
  x_first = handle;
  wf_u32_store_release(&x_told, 1);
  wf_sys_wake_all(&x_told);
  XP_CHECK(weft_handle_wait(handle) == 0);
  done_with_pool();
}
static void idle_after_async(void) {
  while (wf_u32_load_acquire(&x_told) == 0) wf_sys_wait(&x_told, 0);
  weft_pool_wait_idle(pool);
  read_payload();
  XP_CHECK(wf_u32_load_relaxed(&x_ran) == 1);
  done_with_pool();
}
LARGE_SCENARIO(idle_against_a_waiting_thread, .setup = with_two_users,
               .threads = {worker_1, async_for_another, idle_after_async},
               .check = check_ran_1)
