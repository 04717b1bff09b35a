/* weft_yield: runs one task if there is one, from wherever it is called, in the order
 * that it promises, and not when the stack is short.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "stack_use.h"

#include <alloca.h>

/* ---- nothing to do ---- */

static void yield_in_vain(void *ctx) {
  (void)ctx;
  for (int i = 0; i < 100; i++) CHECK(!weft_yield());
}

TEST(nothing_to_run) {
  in_pools(yield_in_vain, NULL);
  weft_scope scope;
  weft_pool *pool = pool_of(2);
  weft_opts opts = opts_on(pool);
  weft_scope_begin_with(&opts, &scope);
  yield_in_vain(NULL);
  CHECK_EQ(weft_scope_end(&scope), 0);
  weft_pool_destroy(pool);
}

/* "Outside a pool it takes part in the global one if that runs": it does not start it. */
TEST(outside_without_a_global_pool) {
  unsigned baseline = harness_thread_count();
  yield_in_vain(NULL);
  CHECK_EQ(harness_thread_count(), baseline);
  CHECK_EQ(weft_init(NULL), 0); /* and so it can still be started */
  weft_shutdown();
}

/* ---- one task at a time ---- */

typedef struct runs {
  pthread_t thread; /* where they must run */
  unsigned ran;
} runs;

static void run_here(void *ctx) {
  runs *r = ctx;
  CHECK(pthread_equal(pthread_self(), r->thread));
  r->ran++;
}

/* Other threads are busy. */
static void yield_detached(void *ctx) {
  runs r = {pthread_self(), 0};
  (void)ctx;
  for (unsigned long round = 0; round < scaled(100); round++) {
    r.ran = 0;
    for (int i = 0; i < 3; i++) CHECK_EQ(weft_detach(run_here, &r), 0);
    for (unsigned i = 1; i <= 3; i++) {
      CHECK(weft_yield());
      CHECK_EQ(r.ran, i);
    }
    CHECK(!weft_yield());
    weft_handle *handle;
    CHECK_EQ(weft_async(&handle, run_here, &r), 0);
    CHECK(weft_yield());
    CHECK_EQ(r.ran, 4);
    CHECK(weft_handle_done(handle));
    CHECK_EQ(weft_handle_wait(handle), 0);
    CHECK(!weft_yield());
  }
}

static void yield_spawned(void *ctx) {
  runs r = {pthread_self(), 0};
  (void)ctx;
  for (unsigned long round = 0; round < scaled(100); round++) {
    weft_scope scope;
    r.ran = 0;
    weft_scope_begin(&scope);
    for (int i = 0; i < 3; i++) weft_spawn(&scope, run_here, &r);
    CHECK(weft_yield());
    CHECK_EQ(r.ran, 1);
    CHECK(weft_yield());
    CHECK_EQ(r.ran, 2);
    CHECK_EQ(weft_scope_end(&scope), 0);
    CHECK_EQ(r.ran, 3);
    CHECK(!weft_yield());
  }
}

TEST(one_task_at_a_time) {
  for (unsigned threads = 2; threads <= 3; threads++) {
    gate plug = {0};
    weft_pool *pool = pool_of(threads);
    plug_threads(&plug, pool);
    weft_pool_run(pool, yield_detached, NULL);
    weft_pool_run(pool, yield_spawned, NULL);
    unplug(&plug);
    weft_pool_destroy(pool);
  }
}

TEST(from_outside_in_the_global_pool) {
  gate plug = {0};
  weft_config config = WEFT_CONFIG_INIT;
  config.threads = 2;
  REQUIRE(weft_init(&config) == 0);
  plug_threads(&plug, weft_pool_current());
  yield_detached(NULL);
  CHECK_EQ(weft_worker_index(), -1);
  unplug(&plug);
  weft_shutdown();
}

/* On the only started thread, which is the one that would run them later. */
TEST(from_a_started_thread) {
  for (unsigned threads = 1; threads <= 2; threads++) {
    weft_pool *pool = pool_of(threads);
    run_on_started(pool, yield_detached, NULL);
    run_on_started(pool, yield_spawned, NULL);
    weft_pool_destroy(pool);
  }
}

/* "True if it ran one": a function that its waiter has run already is none. */
static void yield_after_waiting(void *ctx) {
  static runs r, detached; /* if it fails, some run later */
  (void)ctx;
  r = detached = (runs){pthread_self(), 0};
  for (unsigned long round = 0; round < scaled(100); round++) {
    weft_handle *handle;
    CHECK_EQ(weft_async(&handle, run_here, &r), 0);
    CHECK_EQ(weft_handle_wait(handle), 0);
    CHECK_EQ(r.ran, round + 1);
    CHECK(!weft_yield());
    CHECK_EQ(weft_async(&handle, run_here, &r), 0);
    CHECK_EQ(weft_detach(run_here, &detached), 0);
    CHECK_EQ(weft_handle_wait(handle), 0);
    CHECK(weft_yield());
    CHECK_EQ(detached.ran, round + 1);
    r.ran = (unsigned)round + 1;
  }
}

TEST(handles_that_were_waited_for_are_not_run_again) {
  gate plug = {0};
  weft_pool *pool = pool_of(2);
  plug_threads(&plug, pool);
  weft_pool_run(pool, yield_after_waiting, NULL);
  unplug(&plug);
  weft_pool_destroy(pool);
}

/* ---- own tasks, those of others, then detached work ---- */

static void yield_in_order(void *ctx) {
  runs spawned = {pthread_self(), 0}, detached = {pthread_self(), 0};
  (void)ctx;
  for (unsigned long round = 0; round < scaled(100); round++) {
    weft_scope scope;
    spawned.ran = detached.ran = 0;
    CHECK_EQ(weft_detach(run_here, &detached), 0);
    weft_scope_begin(&scope);
    weft_spawn(&scope, run_here, &spawned);
    CHECK_EQ(weft_detach(run_here, &detached), 0);
    CHECK(weft_yield());
    CHECK_EQ(spawned.ran, 1);
    CHECK_EQ(detached.ran, 0);
    CHECK(weft_yield());
    CHECK_EQ(detached.ran, 1);
    CHECK(weft_yield());
    CHECK_EQ(detached.ran, 2);
    CHECK(!weft_yield());
    CHECK_EQ(weft_scope_end(&scope), 0);
  }
}

TEST(own_tasks_come_first) {
  gate plug = {0};
  weft_pool *pool = pool_of(2);
  plug_threads(&plug, pool);
  weft_pool_run(pool, yield_in_order, NULL);
  unplug(&plug);
  weft_pool_destroy(pool);
}

/* The other thread has spawned and forked something and then stands in a long function:
 * yielding finds it. */
typedef struct others {
  atomic_bool begun;
  atomic_ulong ran;
} others;

static void stay_until_two_ran(void *ctx) {
  others *o = ctx;
  atomic_store(&o->begun, true);
  AWAIT(atomic_load(&o->ran) == 2);
}

static void count_for_others(void *ctx) {
  atomic_fetch_add(&((others *)ctx)->ran, 1);
}

static void leave_work_to_others(void *ctx) {
  weft_scope scope;
  weft_scope_begin(&scope);
  weft_spawn(&scope, count_for_others, ctx);
  weft_join(stay_until_two_ran, ctx, count_for_others, ctx);
  CHECK_EQ(weft_scope_end(&scope), 0);
}

static void yield_for_others(void *ctx) {
  others *o = ctx;
  unsigned long successes = 0;
  while (atomic_load(&o->ran) < 2) successes += weft_yield();
  CHECK_EQ(successes, 2);
}

TEST(tasks_of_other_threads) {
  for (unsigned long i = 0; i < scaled(300); i++) {
    others o = {.begun = false};
    weft_pool *pool = pool_of(2);
    CHECK_EQ(weft_pool_detach(pool, leave_work_to_others, &o), 0);
    AWAIT(atomic_load(&o.begun));
    weft_pool_run(pool, yield_for_others, &o);
    weft_pool_destroy(pool);
  }
}

/* ---- in weft_isolate: only work of its own ---- */

static void yield_isolated(void *ctx) {
  runs *outside = ctx;
  runs inside = {pthread_self(), 0};
  weft_scope scope;
  CHECK(!weft_yield());
  CHECK_EQ(outside->ran, 0);
  weft_scope_begin(&scope);
  weft_spawn(&scope, run_here, &inside);
  CHECK(weft_yield());
  CHECK_EQ(inside.ran, 1);
  CHECK(!weft_yield());
  weft_spawn(&scope, run_here, &inside);
  CHECK_EQ(weft_scope_end(&scope), 0);
  CHECK_EQ(inside.ran, 2);
  CHECK(!weft_yield());
  CHECK_EQ(outside->ran, 0);
}

static void isolate_between_tasks(void *ctx) {
  (void)ctx;
  for (unsigned long round = 0; round < scaled(100); round++) {
    runs outside = {pthread_self(), 0};
    weft_scope scope;
    CHECK_EQ(weft_detach(run_here, &outside), 0);
    weft_scope_begin(&scope);
    weft_spawn(&scope, run_here, &outside);
    weft_isolate(yield_isolated, &outside);
    CHECK_EQ(outside.ran, 0);
    CHECK(weft_yield());
    CHECK(weft_yield());
    CHECK(!weft_yield());
    CHECK_EQ(outside.ran, 2);
    CHECK_EQ(weft_scope_end(&scope), 0);
  }
}

TEST(isolated_code_runs_only_its_own) {
  gate plug = {0};
  weft_pool *pool = pool_of(2);
  plug_threads(&plug, pool);
  weft_pool_run(pool, isolate_between_tasks, NULL);
  unplug(&plug);
  weft_pool_destroy(pool);
}

/* ---- the stack ---- */

/* More than half of the stack is in use: nothing is put on top of it. */
__attribute__((noinline)) static void yield_far_down(const own_stack *stack,
                                                     const runs *detached) {
  size_t used = stack_used(stack);
  volatile char *below = alloca(stack->size / 2 + 1024 - used);
  below[0] = 1;
  CHECK(!weft_yield());
  CHECK_EQ(detached->ran, 0);
  below[0] = 2;
}

static void yield_with_little_stack(void *ctx) {
  own_stack stack = find_own_stack();
  runs detached = {pthread_self(), 0};
  (void)ctx;
  CHECK_EQ(weft_detach(run_here, &detached), 0);
  yield_far_down(&stack, &detached);
  CHECK(weft_yield()); /* now there is room */
  CHECK_EQ(detached.ran, 1);
}

static void enter_and_yield(void *ctx) {
  weft_pool_run(ctx, yield_with_little_stack, NULL);
}

TEST(half_of_the_stack_stays_free) {
  for (unsigned threads = 1; threads <= 2; threads++) {
    gate plug = {0};
    weft_config config = WEFT_CONFIG_INIT;
    config.threads = threads;
    config.stack_size = scaled_stack(256 * 1024);
    weft_pool *pool = pool_with(&config);
    run_on_started(pool, yield_with_little_stack, NULL);
    plug_threads(&plug, pool);
    run_with_stack(scaled_stack(256 * 1024), enter_and_yield, pool);
    unplug(&plug);
    weft_pool_destroy(pool);
  }
}

/* Tasks that yield in turn, each on top of the one before, until there is no room. */
static atomic_ulong deepest_beyond_half;
static _Thread_local own_stack here;

static void yield_on_top(void *ctx) {
  if (here.top == NULL) here = find_own_stack();
  size_t used = stack_used(&here);
  if (used > here.size / 2) keep_largest(&deepest_beyond_half, used - here.size / 2);
  weft_yield();
  count_one(ctx);
}

TEST(yields_on_top_of_each_other) {
  for (unsigned threads = 1; threads <= 3; threads++) {
    atomic_ulong ran = 0;
    unsigned long jobs = scaled(100000);
    weft_config config = WEFT_CONFIG_INIT;
    config.threads = threads;
    config.stack_size = scaled_stack(128 * 1024);
    weft_pool *pool = pool_with(&config);
    atomic_store(&deepest_beyond_half, 0);
    for (unsigned long i = 0; i < jobs; i++)
      if (weft_pool_detach(pool, yield_on_top, &ran) != 0) CHECK(false);
    weft_pool_destroy(pool);
    CHECK_EQ(atomic_load(&ran), jobs);
    /* A task may begin when half is just free; its own frames come on top. */
    CHECK_MSG(atomic_load(&deepest_beyond_half) <= scaled_stack(4096),
              "%lu bytes beyond half", atomic_load(&deepest_beyond_half));
  }
}
