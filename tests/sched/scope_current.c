/* weft_scope_current: the scope that code is in goes with the code, not with the thread.
 * Tasks, halves of joins and calls into other pools keep it wherever they run; detached
 * and asynchronous functions are in none, wherever they run.
 *
 * SPDX-License-Identifier: MIT */
#include "support.h"

#include <pthread.h>

/* ---- on one thread ---- */

static void begin_and_end(void *ctx) {
  weft_scope outer, inner;
  CHECK_EQ(weft_scope_current(), ctx);
  weft_scope_begin(&outer);
  CHECK_EQ(weft_scope_current(), &outer);
  weft_scope_begin(&inner);
  CHECK_EQ(weft_scope_current(), &inner);
  CHECK_EQ(weft_scope_end(&inner), 0);
  CHECK_EQ(weft_scope_current(), &outer);
  CHECK_EQ(weft_scope_end(&outer), 0);
  CHECK_EQ(weft_scope_current(), ctx);
}

TEST(between_begin_and_end) {
  begin_and_end(NULL);
  in_pools(begin_and_end, NULL);
  weft_shutdown();
}

/* ---- trees of tasks and joins ---- */

typedef struct tree_in_scope {
  weft_scope *scope;
  unsigned depth;
} tree_in_scope;

static void join_and_check(void *ctx) {
  const tree_in_scope *self = ctx;
  CHECK_EQ(weft_scope_current(), self->scope);
  if (self->depth == 0) return;
  tree_in_scope below = {self->scope, self->depth - 1};
  weft_join(join_and_check, &below, join_and_check, &below);
  CHECK_EQ(weft_scope_current(), self->scope);
}

/* Joins and scopes in turn, so that threads that wait run code of many scopes. */
static void nest_and_check(void *ctx) {
  const tree_in_scope *self = ctx;
  CHECK_EQ(weft_scope_current(), self->scope);
  if (self->depth == 0) {
    tree_in_scope joins = {self->scope, 4};
    join_and_check(&joins);
    return;
  }
  weft_scope scope;
  tree_in_scope below = {&scope, self->depth - 1};
  weft_scope_begin(&scope);
  for (int i = 0; i < 3; i++) weft_spawn(&scope, nest_and_check, &below);
  nest_and_check(&below);
  weft_join(nest_and_check, &below, nest_and_check, &below);
  CHECK_EQ(weft_scope_end(&scope), 0);
  CHECK_EQ(weft_scope_current(), self->scope);
}

static void nest_from_nothing(void *ctx) {
  tree_in_scope top = {NULL, 3};
  (void)ctx;
  for (unsigned long i = 0; i < scaled(20); i++) nest_and_check(&top);
}

static void nest_from_outside(unsigned index, void *arg) {
  (void)index;
  weft_pool_run(arg, nest_from_nothing, NULL);
}

TEST(tasks_and_joins_keep_their_scope) {
  in_pools(nest_from_nothing, NULL);
  for (unsigned threads = 2; threads <= 8; threads *= 2) {
    weft_pool *pool = pool_of(threads);
    harness_run_threads(4, nest_from_outside, pool);
    weft_pool_destroy(pool);
  }
}

/* ---- strangers on a waiting thread ---- */

typedef struct stranger {
  pthread_t waiter;
  weft_scope *scope; /* of the stranger */
  atomic_bool ran, begun, other_begun;
} stranger;

static void check_as_stranger(void *ctx) {
  stranger *s = ctx;
  CHECK(pthread_equal(pthread_self(), s->waiter));
  CHECK_EQ(weft_scope_current(), s->scope);
  begin_and_end(s->scope);
  atomic_store(&s->ran, true);
}

/* On the started thread: a scope whose task only the waiting thread can run. */
static void scope_for_the_waiter(void *ctx) {
  stranger *s = ctx;
  weft_scope scope;
  weft_scope_begin(&scope);
  s->scope = &scope;
  weft_spawn(&scope, check_as_stranger, s);
  atomic_store(&s->begun, true);
  AWAIT(atomic_load(&s->ran));
  CHECK_EQ(weft_scope_end(&scope), 0);
}

TEST(a_waiting_thread_runs_a_task_of_another_scope) {
  weft_pool *pool = pool_of(2);
  weft_opts opts = opts_on(pool);
  for (unsigned long i = 0; i < scaled(500); i++) {
    stranger s = {.waiter = pthread_self()};
    weft_scope scope;
    weft_scope_begin_with(&opts, &scope);
    weft_spawn(&scope, scope_for_the_waiter, &s);
    AWAIT(atomic_load(&s.begun));
    CHECK_EQ(weft_scope_end(&scope), 0);
    CHECK(atomic_load(&s.ran));
    CHECK_EQ(weft_scope_current(), NULL);
  }
  weft_pool_destroy(pool);
}

/* Two started threads: one keeps the scope open, the other has a join that is in no
 * scope, whose second half only the waiting thread can run. */
static void stay_in_the_scope(void *ctx) {
  stranger *s = ctx;
  atomic_store(&s->begun, true);
  AWAIT(atomic_load(&s->ran));
}

static void first_half_in_no_scope(void *ctx) {
  stranger *s = ctx;
  CHECK_EQ(weft_scope_current(), NULL);
  atomic_store(&s->other_begun, true);
  AWAIT(atomic_load(&s->ran));
}

static void join_in_no_scope(void *ctx) {
  weft_join(first_half_in_no_scope, ctx, check_as_stranger, ctx);
}

TEST(a_waiting_thread_runs_a_join_of_no_scope) {
  weft_pool *pool = pool_of(3);
  weft_opts opts = opts_on(pool);
  for (unsigned long i = 0; i < scaled(500); i++) {
    stranger s = {.waiter = pthread_self()};
    weft_handle *others;
    weft_scope scope;
    weft_scope_begin_with(&opts, &scope);
    weft_spawn(&scope, stay_in_the_scope, &s);
    AWAIT(atomic_load(&s.begun));
    REQUIRE(weft_async(&others, join_in_no_scope, &s) == 0);
    AWAIT(atomic_load(&s.other_begun));
    CHECK_EQ(weft_scope_current(), &scope);
    CHECK_EQ(weft_scope_end(&scope), 0);
    CHECK(atomic_load(&s.ran));
    CHECK_EQ(weft_handle_wait(others), 0);
  }
  weft_pool_destroy(pool);
}

/* ---- functions that are in no scope ---- */

/* Also cancelling does not reach them. */
static void check_no_scope(void *ctx) {
  atomic_ulong ran = 0;
  weft_scope scope;
  CHECK_EQ(weft_scope_current(), NULL);
  weft_scope_begin(&scope);
  CHECK(!weft_scope_cancelled(&scope));
  weft_spawn(&scope, count_one, &ran);
  CHECK_EQ(weft_scope_end(&scope), 0);
  CHECK_EQ(atomic_load(&ran), 1);
  count_one(ctx);
}

/* By started threads. */
TEST(detached_and_asynchronous_functions_are_in_no_scope) {
  for (unsigned threads = 1; threads <= 3; threads++) {
    atomic_ulong ran = 0;
    weft_pool *pool = pool_of(threads);
    weft_opts opts = opts_on(pool);
    for (unsigned long i = 0; i < scaled(300); i++) {
      weft_handle *handle;
      weft_scope scope;
      weft_scope_begin_with(&opts, &scope);
      weft_scope_cancel(&scope, 1);
      CHECK_EQ(weft_detach(check_no_scope, &ran), 0);
      CHECK_EQ(weft_async(&handle, check_no_scope, &ran), 0);
      CHECK_EQ(weft_scope_end(&scope), 1);
      CHECK_EQ(weft_handle_wait(handle), 0);
    }
    weft_pool_destroy(pool);
    CHECK_EQ(atomic_load(&ran), 2 * scaled(300));
  }
}

/* By a thread inside a scope, because no other is free. */
TEST(asynchronous_functions_on_a_waiter_inside_a_scope) {
  gate plug = {0};
  atomic_ulong ran = 0;
  weft_scope scope;
  weft_handle *handle;
  weft_pool *pool = pool_of(2);
  weft_opts opts = opts_on(pool);
  plug_threads(&plug, pool);
  weft_scope_begin_with(&opts, &scope);
  weft_scope_cancel(&scope, 1);
  CHECK_EQ(weft_async(&handle, check_no_scope, &ran), 0);
  CHECK_EQ(weft_handle_wait(handle), 0);
  CHECK_EQ(atomic_load(&ran), 1);
  CHECK_EQ(weft_scope_current(), &scope);
  CHECK_EQ(weft_scope_end(&scope), 1);
  unplug(&plug);
  weft_pool_destroy(pool);
}

TEST(detached_functions_in_a_yield_inside_a_scope) {
  gate plug = {0};
  atomic_ulong ran = 0;
  weft_scope scope;
  weft_pool *pool = pool_of(2);
  weft_opts opts = opts_on(pool);
  plug_threads(&plug, pool);
  weft_scope_begin_with(&opts, &scope);
  weft_scope_cancel(&scope, 1);
  CHECK_EQ(weft_detach(check_no_scope, &ran), 0);
  CHECK(weft_yield());
  CHECK_EQ(atomic_load(&ran), 1);
  CHECK_EQ(weft_scope_current(), &scope);
  CHECK_EQ(weft_scope_end(&scope), 1);
  unplug(&plug);
  weft_pool_destroy(pool);
}

/* ---- calls ---- */

static void check_it_is(void *ctx) {
  begin_and_end(ctx);
}

static void isolated_is(void *ctx) {
  weft_isolate(check_it_is, ctx);
}

TEST(calls_keep_the_scope) {
  weft_pool *pool = pool_of(2), *other = pool_of(2);
  weft_opts opts = opts_on(pool);
  weft_scope scope;
  weft_scope_begin_with(&opts, &scope);
  weft_pool_run(NULL, check_it_is, &scope);
  weft_pool_run(pool, check_it_is, &scope);
  weft_pool_run(other, check_it_is, &scope);
  weft_pool_run(other, isolated_is, &scope);
  weft_isolate(check_it_is, &scope);
  weft_blocking_begin();
  CHECK_EQ(weft_scope_current(), &scope);
  weft_blocking_end();
  CHECK_EQ(weft_scope_current(), &scope);
  CHECK_EQ(weft_scope_end(&scope), 0);
  weft_pool_destroy(pool);
  weft_pool_destroy(other);
}
