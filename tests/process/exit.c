/* The end of a process: exit from any thread, return from main, abort and signals end it
 * at once, whatever the pools are doing, with the right code and with exit handlers that
 * run once.
 *
 * Each test is a program of its own that another one watches. One that does not end is
 * ended by its watchdog with code 124.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "support.h"

/* How often each program runs: the pool is in another state each time. */
enum { RUNS = 5, CODE = 42 };

static void tell_exit(void) {
  say("the exit handler ran\n");
}

static void check_end(const char *program, int code, unsigned handlers) {
  for (unsigned i = 0; i <= RUNS / harness_slowdown(); i++)
    check_program(program, code, "the exit handler ran", handlers);
}

/* A program, its exit code and the number of runs of its exit handler. */
#define ENDS(name, code, handlers)                                                       \
  static void name(void);                                                                \
  TEST(name) {                                                                           \
    check_end("program_" #name, code, handlers);                                         \
  }                                                                                      \
  TEST_BY_NAME(program_##name) {                                                         \
    REQUIRE(atexit(tell_exit) == 0);                                                     \
    name();                                                                              \
  }                                                                                      \
  static void name(void)

/* Nobody sets it: what waits for it never ends. */
static atomic_bool never;

/* What the pool was given, so that one thread at least is known to be at it. */
static atomic_ulong endless_begun;

static void run_endlessly(void *ctx) {
  (void)ctx;
  atomic_fetch_add(&endless_begun, 1);
  spin_until_true(&never);
}

static void exit_now(void *ctx) {
  (void)ctx;
  exit(CODE);
}

/* Endless joins and scopes, from outside; nobody waits for them. */
static void make_busy(void) {
  static load busy;
  load_start(&busy, NULL);
}

/* ---- from main ---- */

ENDS(main_exits_without_a_pool, CODE, 1) {
  exit(CODE);
}

ENDS(main_exits_with_a_pool_at_rest, CODE, 1) {
  tree_is_right(10);
  exit(CODE);
}

ENDS(main_exits_with_a_sleeping_pool, CODE, 1) {
  weft_config config = WEFT_CONFIG_INIT;
  config.idle = WEFT_IDLE_POWER_SAVING;
  REQUIRE(weft_init(&config) == 0);
  everything_is_right();
  AWAIT(all_asleep(weft_pool_current()));
  exit(CODE);
}

ENDS(main_exits_with_a_busy_pool, CODE, 1) {
  make_busy();
  exit(CODE);
}

ENDS(main_exits_with_several_pools, CODE, 1) {
  weft_pool *pools[3];
  for (unsigned i = 0; i < 3; i++) {
    pools[i] = pool_of(i + 1);
    everything_is_right_in(pools[i]);
    if (i % 2 == 0) CHECK_EQ(weft_pool_detach(pools[i], run_endlessly, NULL), 0);
  }
  AWAIT(atomic_load(&endless_begun) == 2);
  exit(CODE);
}

ENDS(main_exits_with_a_full_queue, CODE, 1) {
  for (int i = 0; i < 10000; i++) CHECK_EQ(weft_detach(run_endlessly, NULL), 0);
  AWAIT(atomic_load(&endless_begun) > 0);
  exit(CODE);
}

ENDS(main_exits_after_a_shutdown, CODE, 1) {
  everything_is_right();
  weft_shutdown();
  exit(CODE);
}

/* `b` is at work on another thread and stays there. */
static void begin_and_stay(void *ctx) {
  atomic_store((atomic_bool *)ctx, true);
  spin_until_true(&never);
}

static void exit_beside_the_other_half(void *ctx) {
  spin_until_true(ctx);
  exit(CODE);
}

ENDS(main_exits_in_a_join, CODE, 1) {
  atomic_bool other_began = false;
  weft_join(exit_beside_the_other_half, &other_began, begin_and_stay, &other_began);
}

ENDS(main_exits_in_a_pool_of_its_own, CODE, 1) {
  weft_pool *pool = pool_of(2);
  weft_pool_run(pool, exit_now, NULL);
}

ENDS(main_exits_in_a_scope, CODE, 1) {
  weft_scope scope;
  weft_scope_begin(&scope);
  for (int i = 0; i < 10; i++) weft_spawn(&scope, run_endlessly, NULL);
  AWAIT(atomic_load(&endless_begun) > 0);
  exit(CODE);
}

/* The harness returns from main when the test has returned. */
ENDS(main_returns_while_detached_work_runs, 0, 1) {
  for (int i = 0; i < 3; i++) CHECK_EQ(weft_detach(run_endlessly, NULL), 0);
  AWAIT(atomic_load(&endless_begun) > 0);
}

ENDS(main_returns_with_a_busy_pool, 0, 1) {
  make_busy();
}

/* ---- from a task ---- */

/* Has the other half run on a started thread while this one waits in the join. */
static void exit_on_another_thread(void *ctx) {
  pairing *pair = ctx;
  if (pthread_equal(pthread_self(), pair->a_thread)) _exit(1);
  exit(CODE);
}

static void wait_for_ever(void *ctx) {
  (void)ctx;
  spin_until_true(&never);
}

ENDS(worker_exits_while_main_is_in_the_join, CODE, 1) {
  pairing pair = {.a_thread = pthread_self()};
  weft_join(wait_for_ever, &pair, exit_on_another_thread, &pair);
}

static void b_begins_and_exits(void *ctx) {
  b_begins(ctx);
  exit(CODE);
}

/* Here main waits asleep, in the library. */
ENDS(worker_exits_while_main_waits_for_it, CODE, 1) {
  pairing pair = {.a_thread = pthread_self()};
  weft_join(a_until_b, &pair, b_begins_and_exits, &pair);
}

ENDS(detached_task_exits, CODE, 1) {
  CHECK_EQ(weft_detach(exit_now, NULL), 0);
  spin_until_true(&never);
}

ENDS(detached_task_exits_in_a_busy_pool, CODE, 1) {
  make_busy();
  CHECK_EQ(weft_detach(exit_now, NULL), 0);
  spin_until_true(&never);
}

ENDS(detached_task_exits_while_the_pool_ends, CODE, 1) {
  weft_pool *pool = pool_of(3);
  CHECK_EQ(weft_pool_detach(pool, exit_now, NULL), 0);
  weft_pool_destroy(pool);
}

ENDS(asynchronous_task_exits_while_main_waits, CODE, 1) {
  weft_handle *handle;
  CHECK_EQ(weft_async(&handle, exit_now, NULL), 0);
  weft_handle_wait(handle);
}

ENDS(scope_task_exits, CODE, 1) {
  weft_scope scope;
  weft_scope_begin(&scope);
  for (int i = 0; i < 10; i++) weft_spawn(&scope, run_endlessly, NULL);
  AWAIT(atomic_load(&endless_begun) > 0);
  weft_spawn(&scope, exit_now, NULL);
  weft_scope_end(&scope);
}

static void exit_while_blocking(void *ctx) {
  (void)ctx;
  weft_blocking_begin();
  exit(CODE);
}

ENDS(blocking_section_exits, CODE, 1) {
  CHECK_EQ(weft_detach(exit_while_blocking, NULL), 0);
  spin_until_true(&never);
}

static void exit_on_end(unsigned worker, void *ctx) {
  (void)worker;
  (void)ctx;
  exit(CODE);
}

/* Main is about to join the very thread that ends the process. */
ENDS(exit_hook_exits, CODE, 1) {
  weft_config config = WEFT_CONFIG_INIT;
  config.threads = 2; /* one started thread: two calls of exit would be undefined */
  config.on_exit = exit_on_end;
  REQUIRE(weft_init(&config) == 0);
  everything_is_right();
  weft_shutdown();
}

/* ---- from another thread ---- */

static void *exit_outside(void *arg) {
  (void)arg;
  exit(CODE);
}

static void *work_and_exit(void *arg) {
  everything_is_right();
  exit_now(arg);
  return NULL;
}

ENDS(outside_thread_exits_while_main_works, CODE, 1) {
  pthread_t thread;
  tree_is_right(4);
  REQUIRE(pthread_create(&thread, NULL, exit_outside, NULL) == 0);
  for (;;) {
    tree_is_right(8);
    scope_is_right(20);
  }
}

ENDS(outside_thread_works_and_exits, CODE, 1) {
  pthread_t thread;
  REQUIRE(pthread_create(&thread, NULL, work_and_exit, NULL) == 0);
  pthread_join(thread, NULL);
}

static void *exit_inside(void *arg) {
  weft_pool_run(NULL, exit_now, arg);
  return NULL;
}

ENDS(guest_exits_in_a_busy_pool, CODE, 1) {
  pthread_t thread;
  make_busy();
  REQUIRE(pthread_create(&thread, NULL, exit_inside, NULL) == 0);
  pthread_join(thread, NULL);
}

/* ---- other ways to end ---- */

static void end_without_handlers(void *ctx) {
  (void)ctx;
  _exit(CODE);
}

ENDS(task_ends_the_process_without_handlers, CODE, 0) {
  make_busy();
  CHECK_EQ(weft_detach(end_without_handlers, NULL), 0);
  spin_until_true(&never);
}

static void tell_quick_exit(void) {
  say("the handler of quick_exit ran\n");
}

static void exit_quickly(void *ctx) {
  (void)ctx;
  quick_exit(CODE);
}

ENDS(task_exits_quickly, CODE, 0) {
  REQUIRE(at_quick_exit(tell_quick_exit) == 0);
  make_busy();
  CHECK_EQ(weft_detach(exit_quickly, NULL), 0);
  spin_until_true(&never);
}

TEST(quick_exit_runs_its_own_handlers_once) {
  check_program("program_task_exits_quickly", CODE, "the handler of quick_exit ran", 1);
}

static void abort_now(void *ctx) {
  (void)ctx;
  abort();
}

ENDS(main_aborts, ABORTED, 0) {
  make_busy();
  abort();
}

/* A worker blocks the signal, and abort gets it through. */
ENDS(task_aborts, ABORTED, 0) {
  CHECK_EQ(weft_detach(abort_now, NULL), 0);
  spin_until_true(&never);
}

static void terminate(void *ctx) {
  (void)ctx;
  REQUIRE(kill(getpid(), SIGTERM) == 0);
}

ENDS(signal_ends_a_busy_process, TERMINATED, 0) {
  make_busy();
  terminate(NULL);
  spin_until_true(&never);
}

/* Sent by a thread that blocks it, to a process whose only other thread is asleep in a
 * join: there it must arrive. */
static void b_begins_and_terminates(void *ctx) {
  b_begins(ctx);
  terminate(NULL);
  spin_until_true(&never);
}

ENDS(signal_from_a_task_ends_the_process, TERMINATED, 0) {
  pairing pair = {.a_thread = pthread_self()};
  weft_join(a_until_b, &pair, b_begins_and_terminates, &pair);
}

/* Main leaves before the process ends, which the last thread does. In a child, because
 * the watchdog of this program is a thread too. */
static void *end_pools_and_leave(void *arg) {
  pthread_join(*(pthread_t *)arg, NULL); /* main is gone */
  if (!everything_is_right()) _exit(1);
  weft_shutdown(); /* sleeping workers would keep the process */
  return NULL;
}

TEST(main_leaves_and_the_process_ends_with_its_last_thread) {
  static pthread_t main_thread;
  if (!children_may_start_threads()) return;
  for (unsigned i = 0; i <= RUNS; i++) {
    pid_t child = fork_here();
    if (child == 0) {
      pthread_t last;
      main_thread = pthread_self();
      if (!everything_is_right()) _exit(1);
      if (i % 2 == 0) weft_shutdown();
      REQUIRE(pthread_create(&last, NULL, end_pools_and_leave, &main_thread) == 0);
      pthread_exit(NULL);
    }
    CHECK_EQ(wait_for_child(child), 0);
  }
}

ENDS(another_program_takes_over_a_busy_process, CODE, 0) {
  make_busy();
  execl("/bin/sh", "sh", "-c", "exit 42", (char *)NULL);
}
