/* fork, every state of the parent against every use in the child.
 *
 * Each state is a program of its own, so that "never used" is true, and forks one child
 * for each action. The children of the states inside a task end there.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "support.h"

/* ---- actions ---- */

/* What the children find, besides the global pool; NULL where weft was never used. */
static weft_pool *inherited;

/* Is the forking thread in the global pool, which then cannot end? */
static bool forked_inside;

static bool just_end(void) {
  return true; /* by _exit */
}

static bool exit_normally(void) {
  exit(0);
}

static bool become_another_program(void) {
  execl("/bin/sh", "sh", "-c", "exit 0", (char *)NULL);
  return false;
}

static bool use_join(void) {
  return tree_is_right(10);
}

static bool use_scope(void) {
  return scope_is_right(100);
}

static bool use_detach(void) {
  return detach_is_right(100);
}

static bool use_async(void) {
  return async_is_right() && async_is_right();
}

static bool use_broadcast(void) {
  return broadcast_is_right();
}

static bool use_inherited(void) {
  if (inherited == NULL) return true;
  pair_in(inherited);
  return everything_is_right_in(inherited);
}

static bool destroy(void) {
  weft_pool_destroy(inherited);
  if (forked_inside) return tree_is_right(4);
  weft_shutdown();
  return everything_is_right();
}

static bool use_and_destroy(void) {
  return use_join() && use_scope() && use_inherited() && destroy();
}

static bool use_new_pool(void) {
  weft_pool *pool = pool_of(3);
  bool right = everything_is_right_in(pool);
  pair_in(pool);
  weft_pool_destroy(pool);
  return right;
}

static bool fork_again(void) {
  return CHECK_EQ(run_child(use_everything, NULL), 0);
}

static bool use_and_fork_again(void) {
  return everything_is_right() && fork_again() && everything_is_right();
}

static bool use_and_exit(void) {
  if (everything_is_right()) exit(0);
  return false;
}

typedef struct action {
  const char *name;
  bool (*run)(void);
  bool exits, starts_threads;
} action;

static const action actions[] = {
    {"_exit", just_end, false, false},
    {"exit", exit_normally, true, false},
    {"exec", become_another_program, false, false},
    {"join", use_join, false, true},
    {"scope", use_scope, false, true},
    {"detach", use_detach, false, true},
    {"async", use_async, false, true},
    {"broadcast", use_broadcast, false, true},
    {"use of an inherited pool", use_inherited, false, true},
    {"destroy", destroy, false, true},
    {"use and destroy", use_and_destroy, false, true},
    {"new pool", use_new_pool, false, true},
    {"fork", fork_again, false, true},
    {"use and fork", use_and_fork_again, false, true},
    {"use and exit", use_and_exit, true, true},
};

/* ---- children ---- */

static bool exit_is_possible = true; /* C forbids a second call of exit */
static bool all_right = true;

static void run_action(const char *state, const action *act) {
  if (act->exits && !exit_is_possible) return;
  if (act->starts_threads && !FORKS_FREELY) return;
  pid_t child = fork_here();
  if (child == 0) _exit(act->run() ? 0 : 1);
  int result = wait_for_child(child);
  all_right = CHECK_MSG(result == 0, "%s in the child of a parent that is %s: %d",
                        act->name, state, result) &&
              all_right;
}

static void run_actions(const char *state) {
  for (size_t i = 0; i < sizeof actions / sizeof *actions; i++)
    run_action(state, &actions[i]);
}

/* ---- states ---- */

/* The state as a test, and as the program that the test runs. */
#define STATE(name)                                                                      \
  static void name(void);                                                                \
  TEST(name) {                                                                           \
    check_program("program_" #name, 0, "the parent is right\n", 1);                      \
  }                                                                                      \
  TEST_BY_NAME(program_##name) {                                                         \
    name();                                                                              \
  }                                                                                      \
  static void name(void)

static void tell_parent(bool right) {
  if (right && all_right) say("the parent is right\n");
}

static void use_and_make_pool(weft_idle idle) {
  weft_config config = WEFT_CONFIG_INIT;
  config.idle = idle;
  REQUIRE(weft_init(&config) == 0);
  config.threads = 4;
  inherited = pool_with(&config);
  REQUIRE(everything_is_right() && everything_is_right_in(inherited));
}

/* The parent works as before, and everything ends. */
static void check_parent(void) {
  bool right = everything_is_right();
  if (inherited != NULL) {
    right = everything_is_right_in(inherited) && right;
    pair_in(inherited);
  }
  weft_pool_destroy(inherited);
  weft_shutdown();
  right = CHECK_EQ(harness_thread_count(), 1) && right;
  tell_parent(right);
}

STATE(never_used) {
  run_actions("without a pool");
  check_parent();
}

STATE(shut_down) {
  use_and_make_pool(WEFT_IDLE_DEFAULT);
  weft_pool_destroy(inherited);
  inherited = NULL;
  weft_shutdown();
  run_actions("without its pools");
  check_parent();
}

STATE(idle) {
  use_and_make_pool(WEFT_IDLE_LOW_LATENCY); /* the threads look for work for long */
  for (size_t i = 0; i < sizeof actions / sizeof *actions; i++) {
    REQUIRE(everything_is_right() && everything_is_right_in(inherited));
    run_action("idle", &actions[i]);
  }
  check_parent();
}

STATE(asleep) {
  use_and_make_pool(WEFT_IDLE_POWER_SAVING);
  AWAIT(all_asleep(weft_pool_current()) && all_asleep(inherited));
  run_actions("asleep");
  CHECK(all_asleep(weft_pool_current()) && all_asleep(inherited));
  check_parent();
}

/* Guests and started threads of both pools are at work, and there is a queue. */
STATE(busy) {
  static load global_load, own_load;
  static atomic_bool stop;
  static atomic_ulong ran;
  use_and_make_pool(WEFT_IDLE_DEFAULT);
  load_start(&global_load, NULL);
  load_start(&own_load, inherited);
  for (int i = 0; i < 3; i++)
    CHECK_EQ(weft_pool_detach(inherited, spin_until_true, &stop), 0);
  for (int i = 0; i < 1000; i++)
    CHECK_EQ(weft_pool_detach(inherited, count_one, &ran), 0);
  run_actions("busy");
  atomic_store(&stop, true);
  load_stop(&own_load);
  load_stop(&global_load);
  check_parent();
  CHECK_EQ(atomic_load(&ran), 1000);
}

/* A thread in no pool forks while main is in one. */
static void *run_actions_outside(void *arg) {
  run_actions("inside, with a thread that is not");
  return arg;
}

static void start_and_wait(void *ctx) {
  pthread_t thread;
  (void)ctx;
  REQUIRE(pthread_create(&thread, NULL, run_actions_outside, NULL) == 0);
  pthread_join(thread, NULL);
}

STATE(main_is_inside) {
  use_and_make_pool(WEFT_IDLE_DEFAULT);
  weft_pool_run(NULL, start_and_wait, NULL);
  check_parent();
}

static void run_actions_inside(void *ctx) {
  forked_inside = true;
  run_actions(ctx);
  forked_inside = false;
}

static const char guest[] = "a guest", first[] = "in the first half of a join",
                  worker[] = "on a worker", opener[] = "in the body of a scope",
                  spawned[] = "in a task of a scope";

STATE(inside_as_a_guest) {
  use_and_make_pool(WEFT_IDLE_DEFAULT);
  weft_pool_run(NULL, run_actions_inside, (void *)(uintptr_t)guest);
  check_parent();
}

STATE(inside_a_join) {
  use_and_make_pool(WEFT_IDLE_DEFAULT);
  weft_join(run_actions_inside, (void *)(uintptr_t)first, do_nothing, NULL);
  check_parent();
}

/* Main waits until the other thread has finished with it, which then is no main. */
typedef struct errand {
  atomic_bool done;
} errand;

static void run_errand(void *ctx) {
  run_actions_inside((void *)(uintptr_t)worker);
  atomic_store(&((errand *)ctx)->done, true);
}

STATE(inside_on_a_worker) {
  errand e = {false};
  use_and_make_pool(WEFT_IDLE_DEFAULT);
  CHECK_EQ(weft_detach(run_errand, &e), 0);
  spin_until_true(&e.done);
  check_parent();
}

STATE(inside_an_asynchronous_task) {
  errand e = {false};
  weft_handle *handle;
  use_and_make_pool(WEFT_IDLE_DEFAULT);
  CHECK_EQ(weft_async(&handle, run_errand, &e), 0);
  CHECK_EQ(weft_handle_wait(handle), 0);
  CHECK(atomic_load(&e.done));
  check_parent();
}

STATE(inside_a_scope) {
  weft_scope scope;
  use_and_make_pool(WEFT_IDLE_DEFAULT);
  weft_scope_begin(&scope);
  run_actions_inside((void *)(uintptr_t)opener);
  weft_spawn(&scope, run_actions_inside, (void *)(uintptr_t)spawned);
  CHECK_EQ(weft_scope_end(&scope), 0);
  check_parent();
}

/* ---- in an exit handler ---- */

static void run_actions_at_exit(void) {
  exit_is_possible = false;
  run_actions("in an exit handler");
  bool right = everything_is_right();
  weft_pool_destroy(inherited);
  weft_shutdown();
  tell_parent(right);
  if (!right || !all_right) _exit(1);
}

STATE(at_exit) {
  REQUIRE(atexit(run_actions_at_exit) == 0);
  use_and_make_pool(WEFT_IDLE_DEFAULT);
  exit(0); /* from here, where the watchdog still watches */
}

STATE(at_exit_without_a_pool) {
  REQUIRE(atexit(run_actions_at_exit) == 0);
  exit(0);
}
