/* weft in exit handlers: every call gives its result there, after any history of the
 * global pool, and what cannot work is reported.
 *
 * Each test is a separate program, which prints "right" once for each handler that got
 * what it wanted. The watchdog of the harness only watches tests, so the programs call
 * exit from inside of one; those that return from main set an alarm instead.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "support.h"

static void tell(bool right) {
  if (!right) _exit(1); /* the failed check has been printed */
  say("right\n");
}

/* A program that prints "right" `times` times and ends with code 0. */
#define ENDS_RIGHT(name, times)                                                          \
  static void name(void);                                                                \
  TEST(name) {                                                                           \
    check_program("program_" #name, 0, "right\n", times);                                \
  }                                                                                      \
  TEST_BY_NAME(program_##name) {                                                         \
    name();                                                                              \
  }                                                                                      \
  static void name(void)

static void join_at_exit(void) {
  tell(tree_is_right(10));
}

static void scope_at_exit(void) {
  tell(scope_is_right(100));
}

static void async_at_exit(void) {
  tell(async_is_right());
}

static void detach_at_exit(void) {
  atomic_ulong ran = 0;
  for (int i = 0; i < 100; i++) CHECK_EQ(weft_detach(count_one, &ran), 0);
  weft_shutdown(); /* runs what is left */
  tell(CHECK_EQ(atomic_load(&ran), 100));
}

static void broadcast_at_exit(void) {
  tell(broadcast_is_right());
}

static void pool_at_exit(void) {
  weft_pool *pool = pool_of(3);
  bool right = everything_is_right_in(pool);
  pair_in(pool);
  weft_pool_destroy(pool);
  tell(right);
}

static void shutdown_at_exit(void) {
  weft_shutdown();
  tell(true);
}

static void pair_at_exit(void) {
  join_pairing(NULL); /* the pool has its threads still, or again */
  tell(true);
}

/* All handlers; they run in the reverse order, so that the first ones come after a
 * shutdown. */
enum { HANDLERS = 8 };

static void register_all(void) {
  static void (*const handlers[HANDLERS])(void) = {
      join_at_exit,      scope_at_exit, async_at_exit, pair_at_exit,
      broadcast_at_exit, pool_at_exit,  join_at_exit,  detach_at_exit};
  for (int i = 0; i < HANDLERS; i++) REQUIRE(atexit(handlers[i]) == 0);
}

/* ---- each call alone: it is the first one of the process ---- */

#define FIRST_CALL(name)                                                                 \
  ENDS_RIGHT(name##_is_the_first_call, 1) {                                              \
    REQUIRE(atexit(name) == 0);                                                          \
    exit(0);                                                                             \
  }

FIRST_CALL(join_at_exit)
FIRST_CALL(scope_at_exit)
FIRST_CALL(async_at_exit)
FIRST_CALL(detach_at_exit)
FIRST_CALL(broadcast_at_exit)
FIRST_CALL(pool_at_exit)
FIRST_CALL(shutdown_at_exit)

/* ---- all calls, after different histories ---- */

ENDS_RIGHT(all_calls_with_handlers_from_before_the_first_use, HANDLERS) {
  register_all();
  everything_is_right();
  exit(0);
}

ENDS_RIGHT(all_calls_with_handlers_from_after_the_first_use, HANDLERS) {
  everything_is_right();
  register_all();
  exit(0);
}

ENDS_RIGHT(all_calls_with_handlers_from_both_sides, 2 * HANDLERS) {
  register_all();
  everything_is_right();
  register_all();
  exit(0);
}

ENDS_RIGHT(all_calls_after_a_shutdown, HANDLERS) {
  register_all();
  everything_is_right();
  weft_shutdown();
  exit(0);
}

ENDS_RIGHT(all_calls_after_several_shutdowns_at_exit, HANDLERS + 3) {
  REQUIRE(atexit(shutdown_at_exit) == 0);
  register_all();
  REQUIRE(atexit(shutdown_at_exit) == 0);
  REQUIRE(atexit(shutdown_at_exit) == 0);
  everything_is_right();
  exit(0);
}

ENDS_RIGHT(all_calls_in_a_pool_that_sleeps, HANDLERS) {
  weft_config config = WEFT_CONFIG_INIT;
  config.idle = WEFT_IDLE_POWER_SAVING;
  REQUIRE(weft_init(&config) == 0);
  everything_is_right();
  register_all();
  AWAIT(all_asleep(weft_pool_current()));
  exit(0);
}

/* A shutdown would find guests in the pool, so only the calls that need none. */
static void use_at_exit(void) {
  tell(tree_is_right(10) && scope_is_right(100) && async_is_right());
}

ENDS_RIGHT(calls_in_a_pool_that_is_busy, 1) {
  static load busy;
  load_start(&busy, NULL);
  REQUIRE(atexit(use_at_exit) == 0);
  exit(0);
}

/* ---- after main has returned ---- */

ENDS_RIGHT(all_calls_after_main_has_returned, HANDLERS) {
  register_all();
  everything_is_right();
  alarm(HARNESS_DEFAULT_LIMIT * harness_slowdown());
}

ENDS_RIGHT(first_calls_after_main_has_returned, HANDLERS) {
  register_all();
  alarm(HARNESS_DEFAULT_LIMIT * harness_slowdown());
}

/* Destructors of the program itself come after all exit handlers. */
static bool destructor_is_armed;

__attribute__((destructor)) static void use_in_destructor(void) {
  if (!destructor_is_armed || is_child) return;
  join_at_exit();
  scope_at_exit();
  async_at_exit();
  detach_at_exit();
}

ENDS_RIGHT(calls_in_a_destructor, 4 + HANDLERS) {
  destructor_is_armed = true;
  everything_is_right();
  register_all();
  exit(0);
}

ENDS_RIGHT(first_calls_in_a_destructor, 4) {
  destructor_is_armed = true;
  exit(0);
}

/* ---- handlers that run on a thread of the pool ---- */

static void exit_now(void *ctx) {
  (void)ctx;
  exit(0);
}

static void wait_for_ever(void *ctx) {
  (void)ctx;
  static atomic_bool never;
  spin_until_true(&never);
}

ENDS_RIGHT(calls_when_a_detached_task_exits, 1) {
  REQUIRE(atexit(use_at_exit) == 0);
  CHECK_EQ(weft_detach(exit_now, NULL), 0);
  wait_for_ever(NULL);
}

ENDS_RIGHT(calls_when_the_second_half_of_a_join_exits, 1) {
  REQUIRE(atexit(use_at_exit) == 0);
  weft_join(wait_for_ever, NULL, exit_now, NULL);
}

ENDS_RIGHT(calls_when_a_guest_exits, 1) {
  REQUIRE(atexit(use_at_exit) == 0);
  weft_pool_run(NULL, exit_now, NULL);
}

ENDS_RIGHT(calls_when_a_scope_is_open, 1) {
  weft_scope scope;
  REQUIRE(atexit(use_at_exit) == 0);
  weft_scope_begin(&scope);
  for (int i = 0; i < 10; i++) weft_spawn(&scope, do_nothing, NULL);
  exit(0);
}

ENDS_RIGHT(calls_when_a_scope_task_exits, 1) {
  weft_scope scope;
  REQUIRE(atexit(use_at_exit) == 0);
  weft_scope_begin(&scope);
  weft_spawn(&scope, exit_now, NULL);
  weft_scope_end(&scope);
}

static void *exit_outside(void *arg) {
  exit_now(arg);
  return NULL;
}

ENDS_RIGHT(all_calls_when_another_thread_exits, HANDLERS) {
  pthread_t thread;
  everything_is_right();
  register_all();
  REQUIRE(pthread_create(&thread, NULL, exit_outside, NULL) == 0);
  pthread_join(thread, NULL);
}

/* ---- what cannot work is reported ---- */

static void shut_down_silently(void) {
  weft_shutdown();
}

/* The handler runs inside the pool, which therefore cannot end. */
TEST_BY_NAME(program_shutdown_inside) {
  REQUIRE(atexit(shut_down_silently) == 0);
  weft_pool_run(NULL, exit_now, NULL);
}

TEST_BY_NAME(program_shutdown_on_a_worker) {
  REQUIRE(atexit(shut_down_silently) == 0);
  CHECK_EQ(weft_detach(exit_now, NULL), 0);
  wait_for_ever(NULL);
}

TEST(shutdown_by_a_handler_inside_the_pool_is_reported) {
  check_program("program_shutdown_inside", ABORTED, "weft_shutdown: ", 1);
  check_program("program_shutdown_on_a_worker", ABORTED, "weft_shutdown: ", 1);
}
