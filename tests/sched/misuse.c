/* Misuse of scopes, handles and sections: each ends the program with a sentence that
 * names the call; and weft_set_fatal_handler, which gets that sentence instead.
 *
 * The tests by name are the programs that misbehave; others run them and look on.
 *
 * SPDX-License-Identifier: MIT */
#include "support.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Pools of programs that end in between, where a leak checker finds them. */
static weft_pool *kept_pool;

static weft_pool *keep_pool(unsigned threads) {
  kept_pool = pool_of(threads);
  return kept_pool;
}

/* Runs fn(ctx) on a thread that is in no pool. */
typedef struct thread_call {
  weft_fn *fn;
  void *ctx;
} thread_call;

static void *run_thread_call(void *arg) {
  const thread_call *call = arg;
  call->fn(call->ctx);
  return NULL;
}

static void run_on_thread(weft_fn *fn, void *ctx) {
  thread_call call = {fn, ctx};
  pthread_t thread;
  REQUIRE(pthread_create(&thread, NULL, run_thread_call, &call) == 0);
  pthread_join(thread, NULL);
}

/* ---- scopes that nobody ends ---- */

static atomic_ulong forgotten_ran;

/* Without tasks: another thread that runs one, in memory which is used again, can do
 * anything before the message comes. */
static __attribute__((noinline)) void forget_a_scope(void) {
  weft_scope scope;
  weft_scope_begin(&scope);
}

/* Its scope is further down the stack, or only a little. */
static __attribute__((noinline)) void forget_a_lower_scope(void) {
  struct {
    weft_scope scope;
    volatile char above[2000];
  } frame;
  frame.above[0] = 0;
  weft_scope_begin(&frame.scope);
}

static __attribute__((noinline)) void forget_a_nearby_scope(void) {
  struct {
    weft_scope scope;
    volatile char above[80];
  } frame;
  frame.above[0] = 0;
  weft_scope_begin(&frame.scope);
}

static void use_a_scope(void *ctx) {
  weft_scope scope;
  (void)ctx;
  weft_scope_begin(&scope);
  weft_spawn(&scope, count_one, &forgotten_ran);
  weft_scope_end(&scope);
}

TEST_BY_NAME(forget_the_end) {
  forget_a_scope();
  forget_a_scope();
}
TEST_BY_NAME(forget_the_end_nearby) {
  forget_a_nearby_scope();
  forget_a_scope();
}
TEST_BY_NAME(forget_the_end_in_a_loop) {
  for (int i = 0; i < 3; i++) {
    weft_scope scope;
    weft_scope_begin(&scope);
  }
}
TEST_BY_NAME(forget_the_end_and_begin_elsewhere) {
  forget_a_lower_scope();
  use_a_scope(NULL);
}
TEST_BY_NAME(forget_the_end_before_a_shutdown) {
  forget_a_lower_scope();
  weft_shutdown();
}

static void forget_inside(void *ctx) {
  (void)ctx;
  forget_a_lower_scope();
  use_a_scope(NULL);
}

TEST_BY_NAME(forget_the_end_in_a_pool) {
  weft_pool_run(keep_pool(2), forget_inside, NULL);
}

/* Scopes of one function in any order of their addresses, of callers, and on the heap. */
static __attribute__((noinline)) void nest_scopes(unsigned depth) {
  weft_scope scopes[3];
  weft_scope *heap = malloc(sizeof *heap);
  REQUIRE(heap != NULL);
  weft_scope *order[4] = {&scopes[1], heap, &scopes[0], &scopes[2]};
  for (int i = 0; i < 4; i++) {
    weft_scope_begin(order[i]);
    weft_spawn(order[i], count_one, &forgotten_ran);
  }
  if (depth > 0) nest_scopes(depth - 1);
  for (int i = 3; i >= 0; i--) CHECK_EQ(weft_scope_end(order[i]), 0);
  free(heap);
}

static void nest_scopes_inside(void *ctx) {
  (void)ctx;
  nest_scopes(5);
}

TEST(many_scopes_are_no_mistake) {
  weft_pool *pool = pool_of(3);
  atomic_store(&forgotten_ran, 0);
  for (unsigned depth = 0; depth < 20; depth += 5) nest_scopes(depth);
  weft_pool_run(pool, nest_scopes_inside, NULL);
  CHECK_EQ(atomic_load(&forgotten_ran), 4 * (1 + 6 + 11 + 16 + 6));
  weft_pool_destroy(pool);
  weft_shutdown();
}

/* ---- arguments that are NULL ---- */

static void nothing_to_do(void *ctx) {
  (void)ctx;
}

/* By name, and by variables of which the compiler knows nothing. */
static weft_fn *volatile no_function;
static weft_scope *volatile no_scope;

TEST_BY_NAME(join_with_null) {
  weft_join(nothing_to_do, NULL, NULL, NULL);
}
TEST_BY_NAME(join_null_first) {
  weft_join(NULL, NULL, nothing_to_do, NULL);
}
TEST_BY_NAME(join_with_no_function) {
  weft_join(nothing_to_do, NULL, no_function, NULL);
}

static void join_no_function(void *ctx) {
  (void)ctx;
  weft_join(no_function, NULL, nothing_to_do, NULL);
}

TEST_BY_NAME(join_no_function_in_a_pool) {
  weft_pool_run(keep_pool(2), join_no_function, NULL);
}
TEST_BY_NAME(spawn_into_null) {
  weft_spawn(no_scope, nothing_to_do, NULL);
}
TEST_BY_NAME(spawn_copy_into_null) {
  weft_spawn_copy(no_scope, "", 1, nothing_to_do);
}
TEST_BY_NAME(spawn_null) {
  weft_scope scope;
  weft_scope_begin(&scope);
  weft_spawn(&scope, no_function, NULL);
}
TEST_BY_NAME(begin_null) {
  weft_scope_begin(no_scope);
}
TEST_BY_NAME(end_null) {
  weft_scope_end(no_scope);
}
TEST_BY_NAME(cancel_null) {
  weft_scope_cancel(no_scope, 1);
}

/* ---- scopes that have ended ---- */

TEST_BY_NAME(end_twice) {
  weft_scope scope;
  weft_scope_begin(&scope);
  weft_scope_end(&scope);
  weft_scope_end(&scope);
}

static void end_it_twice(void *ctx) {
  (void)ctx;
  weft_scope scope;
  weft_scope_begin(&scope);
  weft_scope_end(&scope);
  weft_scope_end(&scope);
}

TEST_BY_NAME(end_twice_in_a_pool) {
  weft_pool_run(keep_pool(2), end_it_twice, NULL);
}

/* The second end comes while another scope of the thread is open. */
TEST_BY_NAME(end_twice_inside_another) {
  weft_scope outer, inner;
  weft_scope_begin(&outer);
  weft_scope_begin(&inner);
  weft_scope_end(&inner);
  weft_scope_end(&inner);
}

TEST_BY_NAME(spawn_after_the_end) {
  weft_scope scope;
  weft_scope_begin(&scope);
  weft_scope_end(&scope);
  weft_spawn(&scope, do_nothing, NULL);
}

TEST_BY_NAME(spawn_copy_after_the_end) {
  weft_scope scope;
  int args = 1;
  weft_scope_begin(&scope);
  weft_scope_end(&scope);
  weft_spawn_copy(&scope, &args, sizeof args, do_nothing);
}

static void spawn_into(void *ctx) {
  weft_spawn(ctx, do_nothing, NULL);
}

/* From a thread that believed the scope to be open. */
TEST_BY_NAME(spawn_after_the_end_from_outside) {
  weft_scope scope;
  weft_scope_begin(&scope);
  weft_scope_end(&scope);
  run_on_thread(spawn_into, &scope);
}

TEST_BY_NAME(cancel_after_the_end) {
  weft_scope scope;
  weft_scope_begin(&scope);
  weft_scope_end(&scope);
  weft_scope_cancel(&scope, 1);
}

/* ---- the wrong thread, the wrong order ---- */

static void end_it(void *ctx) {
  weft_scope_end(ctx);
}

TEST_BY_NAME(end_by_a_thread_in_no_pool) {
  weft_scope scope;
  weft_scope_begin(&scope);
  run_on_thread(end_it, &scope);
}

static void end_it_in_the_pool(void *ctx) {
  weft_pool_run(kept_pool, end_it, ctx);
}

TEST_BY_NAME(end_by_another_guest) {
  weft_opts opts = opts_on(keep_pool(2));
  weft_scope scope;
  weft_scope_begin_with(&opts, &scope);
  run_on_thread(end_it_in_the_pool, &scope);
}

static void end_inside_own_scope(void *ctx) {
  weft_scope own;
  weft_scope_begin(&own);
  weft_scope_end(ctx);
}

TEST_BY_NAME(end_by_a_thread_with_a_scope) {
  weft_scope scope;
  weft_scope_begin(&scope);
  run_on_thread(end_inside_own_scope, &scope);
}

/* By a task on another thread. */
TEST_BY_NAME(end_by_a_task) {
  weft_opts opts = opts_on(keep_pool(2));
  weft_scope scope;
  weft_scope_begin_with(&opts, &scope);
  weft_spawn(&scope, end_it, &scope);
  for (;;) harness_linger(1000);
}

TEST_BY_NAME(end_in_the_wrong_order) {
  weft_scope outer, inner;
  weft_scope_begin(&outer);
  weft_scope_begin(&inner);
  weft_scope_end(&outer);
}

TEST_BY_NAME(end_in_the_wrong_order_across_pools) {
  weft_opts opts = opts_on(keep_pool(2));
  weft_scope outer, inner;
  weft_scope_begin(&outer);
  weft_scope_begin_with(&opts, &inner);
  weft_scope_end(&outer);
}

static weft_scope left_open; /* its memory is there when its function has gone */

static void leave_a_scope_open(void *ctx) {
  (void)ctx;
  weft_scope_begin(&left_open);
}

TEST_BY_NAME(leave_a_pool_with_an_open_scope) {
  weft_pool_run(keep_pool(2), leave_a_scope_open, NULL);
}

/* ---- what a function has left open ---- */

static weft_scope left_open;

static void leave_scope_open(void *ctx) {
  (void)ctx;
  weft_scope_begin(&left_open);
}

static void leave_section_open(void *ctx) {
  (void)ctx;
  weft_blocking_begin();
}

static void leave_scope_open_everywhere(unsigned index, unsigned count, void *ctx) {
  (void)index;
  (void)count;
  (void)ctx;
  weft_scope mine;
  weft_scope_begin(&mine);
}

static void spawn_and_end(weft_fn *fn) {
  weft_scope scope;
  weft_scope_begin(&scope);
  weft_spawn(&scope, fn, NULL);
  weft_scope_end(&scope);
}

TEST_BY_NAME(spawned_task_leaves_a_scope_open) {
  spawn_and_end(leave_scope_open);
}

TEST_BY_NAME(spawned_task_leaves_a_section_open) {
  spawn_and_end(leave_section_open);
}

/* Waits for ever, were it not for the message. */
static void detach_and_wait(weft_fn *fn) {
  REQUIRE(weft_pool_detach(keep_pool(2), fn, NULL) == 0);
  for (;;) pause();
}

TEST_BY_NAME(detached_function_leaves_a_scope_open) {
  detach_and_wait(leave_scope_open);
}

TEST_BY_NAME(detached_function_leaves_a_section_open) {
  detach_and_wait(leave_section_open);
}

TEST_BY_NAME(handle_leaves_a_scope_open) {
  weft_handle *handle;
  REQUIRE(weft_async(&handle, leave_scope_open, NULL) == 0);
  weft_handle_wait(handle);
}

TEST_BY_NAME(isolated_function_leaves_a_scope_open) {
  weft_isolate(leave_scope_open, NULL);
}

TEST_BY_NAME(broadcast_leaves_a_scope_open) {
  weft_broadcast(leave_scope_open_everywhere, NULL);
}

/* ---- pools that would end themselves ---- */

static void destroy_it(void *ctx) {
  weft_pool_destroy(ctx);
}

TEST_BY_NAME(destroy_from_a_spawned_task) {
  weft_opts opts = opts_on(keep_pool(2));
  weft_scope scope;
  weft_scope_begin_with(&opts, &scope);
  weft_spawn(&scope, destroy_it, kept_pool);
  weft_scope_end(&scope);
}

TEST_BY_NAME(destroy_from_a_scope) {
  weft_opts opts = opts_on(keep_pool(2));
  weft_scope scope;
  weft_scope_begin_with(&opts, &scope);
  weft_pool_destroy(kept_pool);
}

TEST_BY_NAME(destroy_from_a_handle) {
  weft_opts opts = opts_on(keep_pool(2));
  weft_handle *handle;
  REQUIRE(weft_async_with(&opts, &handle, destroy_it, kept_pool) == 0);
  for (;;) harness_linger(1000);
}

static void destroy_in_a_broadcast(unsigned index, unsigned count, void *ctx) {
  (void)index;
  (void)count;
  weft_pool_destroy(ctx);
}

TEST_BY_NAME(destroy_from_a_broadcast) {
  weft_opts opts = opts_on(keep_pool(2));
  weft_broadcast_with(&opts, destroy_in_a_broadcast, kept_pool);
}

static void shut_down(void *ctx) {
  (void)ctx;
  weft_shutdown();
}

TEST_BY_NAME(shutdown_from_a_spawned_task) {
  weft_scope scope;
  weft_scope_begin(&scope);
  weft_spawn(&scope, shut_down, NULL);
  weft_scope_end(&scope);
}

TEST_BY_NAME(shutdown_from_a_scope) {
  weft_scope scope;
  weft_scope_begin(&scope);
  weft_shutdown();
}

TEST_BY_NAME(shutdown_from_a_handle) {
  weft_handle *handle;
  REQUIRE(weft_async(&handle, shut_down, NULL) == 0);
  for (;;) harness_linger(1000);
}

/* ---- waiting for oneself ---- */

typedef struct own_handle {
  _Atomic(weft_handle *) handle;
} own_handle;

static void wait_for(void *ctx) {
  weft_handle_wait(ctx);
}

static weft_handle *handle_of(own_handle *own) {
  AWAIT(atomic_load(&own->handle) != NULL);
  return atomic_load(&own->handle);
}

static void wait_for_oneself(void *ctx) {
  wait_for(handle_of(ctx));
}

/* On the same thread: `a` of a join is on top of its caller. */
static void wait_for_oneself_in_a_join(void *ctx) {
  weft_join(wait_for, handle_of(ctx), do_nothing, NULL);
}

static void wait_for_oneself_isolated(void *ctx) {
  weft_isolate(wait_for, handle_of(ctx));
}

/* In a pool of one thread a task of a scope runs on top of its end. */
static void wait_for_oneself_in_a_scope(void *ctx) {
  weft_scope scope;
  weft_scope_begin(&scope);
  weft_spawn(&scope, wait_for, handle_of(ctx));
  weft_scope_end(&scope);
}

static void make_it_wait(weft_pool *pool, weft_fn *fn) {
  own_handle own = {NULL};
  weft_opts opts = opts_on(pool);
  weft_handle *handle;
  REQUIRE(weft_async_with(&opts, &handle, fn, &own) == 0);
  atomic_store(&own.handle, handle);
  for (;;) harness_linger(1000);
}

TEST_BY_NAME(wait_for_itself) {
  make_it_wait(keep_pool(2), wait_for_oneself);
}

TEST_BY_NAME(wait_for_itself_in_a_join) {
  make_it_wait(keep_pool(2), wait_for_oneself_in_a_join);
}

TEST_BY_NAME(wait_for_itself_isolated) {
  make_it_wait(keep_pool(2), wait_for_oneself_isolated);
}

TEST_BY_NAME(wait_for_itself_in_a_scope) {
  make_it_wait(keep_pool(1), wait_for_oneself_in_a_scope);
}

/* The function runs on the thread that waits for it, and waits for it once more. */
TEST_BY_NAME(wait_for_itself_on_the_waiter) {
  static gate plug;
  own_handle own = {NULL};
  weft_handle *handle;
  weft_opts opts = opts_on(keep_pool(2));
  plug_threads(&plug, kept_pool);
  REQUIRE(weft_async_with(&opts, &handle, wait_for_oneself, &own) == 0);
  atomic_store(&own.handle, handle);
  weft_handle_wait(handle);
}

/* ---- sections ---- */

static void end_a_section(void *ctx) {
  (void)ctx;
  weft_blocking_end();
}

static void end_a_section_twice(void *ctx) {
  (void)ctx;
  weft_blocking_begin();
  weft_blocking_end();
  weft_blocking_end();
}

TEST_BY_NAME(end_no_section) {
  weft_pool_run(keep_pool(2), end_a_section, NULL);
}

TEST_BY_NAME(end_no_section_on_a_started_thread) {
  run_on_started(keep_pool(2), end_a_section, NULL);
}

TEST_BY_NAME(end_a_section_too_often) {
  run_on_started(keep_pool(2), end_a_section_twice, NULL);
}

TEST_BY_NAME(leave_a_pool_in_a_section) {
  weft_pool_run(keep_pool(2), leave_section_open, NULL);
}

/* ---- what the onlookers see ---- */

/* The message has the name of the call in front; names alone are also in the stack that
 * the harness prints. */
static void check_death(const char *test, const char *call) {
  char output[8192], expected[64];
  int status = harness_run_self("ulimit -c 0;", test, output, sizeof output);
  CHECK_MSG(status == 128 + SIGABRT, "%s ended with %d", test, status);
  snprintf(expected, sizeof expected, "%s: ", call);
  CHECK_MSG(strstr(output, expected) != NULL, "%s printed: %s", test, output);
}

TEST(misuse_of_scopes) {
  check_death("end_twice", "weft_scope_end");
  check_death("end_twice_in_a_pool", "weft_scope_end");
  check_death("end_twice_inside_another", "weft_scope_end");
  check_death("spawn_after_the_end", "weft_spawn");
  check_death("spawn_copy_after_the_end", "weft_spawn_copy");
  check_death("spawn_after_the_end_from_outside", "weft_spawn");
  check_death("cancel_after_the_end", "weft_scope_cancel");
  check_death("end_by_a_thread_in_no_pool", "weft_scope_end");
  check_death("end_by_another_guest", "weft_scope_end");
  check_death("end_by_a_thread_with_a_scope", "weft_scope_end");
  check_death("end_by_a_task", "weft_scope_end");
  check_death("end_in_the_wrong_order", "weft_scope_end");
  check_death("end_in_the_wrong_order_across_pools", "weft_scope_end");
  check_death("leave_a_pool_with_an_open_scope", "weft_pool_run");
}

TEST(arguments_that_are_null) {
  check_death("join_with_null", "weft_join");
  check_death("join_null_first", "weft_join");
  check_death("join_with_no_function", "weft_join");
  check_death("join_no_function_in_a_pool", "weft_join");
  check_death("spawn_into_null", "weft_spawn");
  check_death("spawn_copy_into_null", "weft_spawn_copy");
  check_death("spawn_null", "weft_spawn");
  check_death("begin_null", "weft_scope_begin");
  check_death("end_null", "weft_scope_end");
  check_death("cancel_null", "weft_scope_cancel");
}

/* AddressSanitizer reports such a scope itself, when its memory is read. */
TEST(scopes_that_nobody_ends) {
  check_death("forget_the_end_in_a_loop", "weft_scope_begin");
  if (harness_slowdown() > 1) return;
  check_death("forget_the_end", "weft_scope_begin");
  check_death("forget_the_end_nearby", "weft_scope_begin");
  check_death("forget_the_end_and_begin_elsewhere", "weft_scope_begin");
  check_death("forget_the_end_in_a_pool", "weft_scope_begin");
  check_death("forget_the_end_before_a_shutdown", "weft_shutdown");
}

TEST(what_functions_leave_open) {
  check_death("spawned_task_leaves_a_scope_open", "weft_scope_begin");
  check_death("spawned_task_leaves_a_section_open", "weft_blocking_begin");
  check_death("detached_function_leaves_a_scope_open", "weft_scope_begin");
  check_death("detached_function_leaves_a_section_open", "weft_blocking_begin");
  check_death("handle_leaves_a_scope_open", "weft_scope_begin");
  check_death("isolated_function_leaves_a_scope_open", "weft_scope_begin");
  check_death("broadcast_leaves_a_scope_open", "weft_scope_begin");
}

TEST(misuse_of_pools) {
  check_death("destroy_from_a_spawned_task", "weft_pool_destroy");
  check_death("destroy_from_a_scope", "weft_pool_destroy");
  check_death("destroy_from_a_handle", "weft_pool_destroy");
  check_death("destroy_from_a_broadcast", "weft_pool_destroy");
  check_death("shutdown_from_a_spawned_task", "weft_shutdown");
  check_death("shutdown_from_a_scope", "weft_shutdown");
  check_death("shutdown_from_a_handle", "weft_shutdown");
}

TEST(misuse_of_handles) {
  check_death("wait_for_itself", "weft_handle_wait");
  check_death("wait_for_itself_in_a_join", "weft_handle_wait");
  check_death("wait_for_itself_isolated", "weft_handle_wait");
  check_death("wait_for_itself_in_a_scope", "weft_handle_wait");
  check_death("wait_for_itself_on_the_waiter", "weft_handle_wait");
}

TEST(misuse_of_sections) {
  check_death("end_no_section", "weft_blocking_end");
  check_death("end_no_section_on_a_started_thread", "weft_blocking_end");
  check_death("end_a_section_too_often", "weft_blocking_end");
  check_death("leave_a_pool_in_a_section", "weft_pool_run");
}

/* ---- a handler of one's own ---- */

typedef struct handled {
  pthread_t culprit;
  const char *call;
} handled;

static void check_message(const char *message, const handled *expected) {
  bool is_right = pthread_equal(pthread_self(), expected->culprit) &&
                  strncmp(message, expected->call, strlen(expected->call)) == 0 &&
                  strlen(message) > strlen(expected->call) + 2;
  printf("told: %s\n", message);
  fflush(stdout);
  if (!is_right) _exit(1);
}

static void leave_by_exit(const char *message, void *ctx) {
  check_message(message, ctx);
  exit(7);
}

static void just_return(const char *message, void *ctx) {
  check_message(message, ctx);
}

static jmp_buf way_out;

static void leave_by_longjmp(const char *message, void *ctx) {
  check_message(message, ctx);
  longjmp(way_out, 1);
}

static handled by_main(const char *call) {
  return (handled){pthread_self(), call};
}

TEST_BY_NAME(handler_that_exits) {
  handled expected = by_main("weft_scope_end");
  weft_set_fatal_handler(leave_by_exit, &expected);
  weft_pool_run(keep_pool(2), end_it_twice, NULL);
}

/* On a started thread: the handler runs there. */
static void note_culprit_and_err(void *ctx) {
  handled *expected = ctx;
  expected->culprit = pthread_self();
  weft_blocking_end();
}

TEST_BY_NAME(handler_on_another_thread) {
  handled expected = by_main("weft_blocking_end");
  weft_set_fatal_handler(leave_by_exit, &expected);
  run_on_started(keep_pool(2), note_culprit_and_err, &expected);
}

TEST_BY_NAME(handler_that_returns) {
  handled expected = by_main("weft_scope_end");
  weft_set_fatal_handler(just_return, &expected);
  weft_pool_run(keep_pool(2), end_it_twice, NULL);
}

TEST_BY_NAME(handler_that_jumps) {
  static handled expected;
  expected = by_main("weft_scope_cancel");
  weft_set_fatal_handler(leave_by_longjmp, &expected);
  if (setjmp(way_out) == 0) {
    weft_scope scope;
    weft_scope_begin(&scope);
    weft_scope_end(&scope);
    weft_scope_cancel(&scope, 1);
    _exit(1);
  }
  /* Another pool can be used. */
  check_tree_in(keep_pool(2), 6);
  _exit(9);
}

TEST_BY_NAME(handler_that_was_removed) {
  handled expected = by_main("weft_scope_end");
  weft_set_fatal_handler(leave_by_exit, &expected);
  weft_set_fatal_handler(NULL, NULL);
  weft_pool_run(keep_pool(2), end_it_twice, NULL);
}

static int status_of(const char *test, char *output, size_t size) {
  return harness_run_self("ulimit -c 0;", test, output, size);
}

TEST(the_fatal_handler) {
  char output[8192];
  CHECK_EQ(status_of("handler_that_exits", output, sizeof output), 7);
  CHECK_MSG(strstr(output, "told: weft_scope_end") != NULL, "%s", output);
  CHECK_EQ(status_of("handler_on_another_thread", output, sizeof output), 7);
  CHECK_MSG(strstr(output, "told: weft_blocking_end") != NULL, "%s", output);
  CHECK_EQ(status_of("handler_that_returns", output, sizeof output), 128 + SIGABRT);
  CHECK_MSG(strstr(output, "told: weft_scope_end") != NULL, "%s", output);
  CHECK_EQ(status_of("handler_that_jumps", output, sizeof output), 9);
  CHECK_MSG(strstr(output, "told: weft_scope_cancel") != NULL, "%s", output);
  CHECK_EQ(status_of("handler_that_was_removed", output, sizeof output), 128 + SIGABRT);
  CHECK_MSG(strstr(output, "weft_scope_end: ") != NULL, "%s", output);
  CHECK_MSG(strstr(output, "told: ") == NULL, "%s", output);
}
