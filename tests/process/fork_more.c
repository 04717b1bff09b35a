/* More about fork: another thread of the child is the first to use a pool that the
 * forking thread is in, and scopes that other threads are changing at that moment. And
 * the end by a fatal handler, whose exit handlers use weft.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "support.h"

/* ---- another thread of the child comes first ---- */

/* The places of the pool are those of the parent's threads, but the forking thread stands
 * in one of them, and goes on there when the other thread has used the pool. */
typedef struct forked {
  weft_pool *pool; /* NULL: the global one */
  pid_t child;
} forked;

static void *use_first(void *arg) {
  forked *f = arg;
  return everything_is_right_in(f->pool) ? f : NULL;
}

static void fork_and_let_others_begin(void *ctx) {
  forked *f = ctx;
  f->child = fork_here();
  if (f->child != 0) return;
  pthread_t other;
  void *right = NULL;
  REQUIRE(pthread_create(&other, NULL, use_first, f) == 0);
  REQUIRE(pthread_join(other, &right) == 0);
  if (right == NULL || !everything_is_right()) child_ends(false);
}

static void fork_in_scope(void *ctx) {
  weft_scope scope;
  weft_scope_begin(&scope);
  fork_and_let_others_begin(ctx);
  CHECK_EQ(weft_scope_end(&scope), 0);
}

static void fork_in_isolation(void *ctx) {
  weft_isolate(fork_in_scope, ctx);
}

/* Both processes come back from the place, use the pool and end it. */
static void check_others_first(weft_pool *pool, weft_fn *place) {
  forked f = {.pool = pool};
  weft_pool_run(pool, place, &f);
  bool right = everything_is_right_in(pool);
  if (f.child != 0) CHECK_EQ(wait_for_child(f.child), 0);
  if (pool != NULL)
    weft_pool_destroy(pool);
  else
    weft_shutdown();
  if (f.child == 0) child_ends(everything_is_right() && right);
}

TEST(another_thread_of_the_child_is_the_first_in_the_pool) {
  static weft_fn *const places[] = {fork_and_let_others_begin, fork_in_scope,
                                    fork_in_isolation};
  if (!children_may_start_threads()) return;
  for (unsigned i = 0; i < sizeof places / sizeof places[0]; i++) {
    for (unsigned threads = 1; threads <= 3; threads++)
      check_others_first(pool_of(threads), places[i]);
    check_others_first(NULL, places[i]);
  }
}

/* ---- a FIFO scope that others are changing ---- */

/* Tasks of the scope spawn into it all the time, so that at the fork the list of its
 * tasks is often locked or half changed. The child inherits that, and not the thread that
 * would put it right. */
typedef struct growing {
  weft_scope scope;
  atomic_ulong steps;
  atomic_bool stop;
} growing;

static void grow_on(void *ctx) {
  growing *g = ctx;
  atomic_fetch_add(&g->steps, 1);
  if (atomic_load(&g->stop)) return;
  weft_spawn(&g->scope, do_nothing, NULL);
  weft_spawn(&g->scope, grow_on, g);
}

/* The child goes on, or ends with a message that says why it cannot. It does not hang or
 * crash. */
static bool spawn_in_child(growing *g) {
  pid_t child = fork_here();
  if (child == 0) {
    weft_spawn(&g->scope, do_nothing, NULL);
    child_ends(true);
  }
  int result = wait_for_child(child);
  return CHECK_MSG(result == 0 || result == ABORTED, "%d", result);
}

TEST(fork_in_a_fifo_scope_that_others_spawn_into) {
  if (!children_may_start_threads()) return;
  uint64_t random = harness_seed();
  static growing g;
  weft_pool *pool = pool_of(3);
  weft_opts opts = WEFT_OPTS_INIT;
  opts.pool = pool;
  opts.order = WEFT_ORDER_FIFO;
  weft_scope_begin_with(&opts, &g.scope);
  for (int i = 0; i < 2; i++) weft_spawn(&g.scope, grow_on, &g);
  for (unsigned i = 0; i < 200 / harness_slowdown(); i++) {
    /* The other threads change the scope, each time at another place. */
    unsigned long seen = atomic_load(&g.steps);
    AWAIT(atomic_load(&g.steps) > seen);
    for (uint64_t k = harness_random(&random) % 1000; k > 0; k--) wf_sys_relax();
    if (!spawn_in_child(&g)) break;
  }
  atomic_store(&g.stop, true);
  CHECK_EQ(weft_scope_end(&g.scope), 0);
  everything_is_right_in(pool);
  weft_pool_destroy(pool);
}

/* ---- a fatal handler that leaves by exit ---- */

/* "The handler may leave by exit": the exit handlers then find no lock of weft held. */
enum { CODE = 33 };

static bool told_before;

static void leave_by_exit(const char *message, void *ctx) {
  (void)ctx;
  say(message);
  say("\n");
  if (told_before) _exit(CODE); /* exit must not be called in an exit handler */
  told_before = true;
  exit(CODE);
}

static void shut_down_inside(void *ctx) {
  (void)ctx;
  weft_shutdown();
}

static void err_in_the_global_pool(void (*exit_handler)(void)) {
  REQUIRE(atexit(exit_handler) == 0);
  weft_set_fatal_handler(leave_by_exit, NULL);
  weft_pool_run(NULL, shut_down_inside, NULL);
}

/* The pool still runs, and this thread is inside. */
static void start_again(void) {
  if (weft_init(NULL) == WEFT_EBUSY) say("the exit handler ran\n");
}

TEST_BY_NAME(program_exit_handler_starts_the_pool) {
  err_in_the_global_pool(start_again);
}

/* The same mistake again, so it is reported again. */
static void shut_down_again(void) {
  say("the exit handler ran\n");
  weft_shutdown();
}

TEST_BY_NAME(program_exit_handler_ends_the_pool) {
  err_in_the_global_pool(shut_down_again);
}

TEST(exit_handlers_use_weft_after_a_fatal_handler) {
  for (unsigned i = 0; i <= 5 / harness_slowdown(); i++) {
    check_program("program_exit_handler_starts_the_pool", CODE, "the exit handler ran",
                  1);
    check_program("program_exit_handler_starts_the_pool", CODE, "weft_shutdown: ", 1);
    check_program("program_exit_handler_ends_the_pool", CODE, "the exit handler ran", 1);
    check_program("program_exit_handler_ends_the_pool", CODE, "weft_shutdown: ", 2);
  }
}

/* ---- typed tasks that a thread outside has open ---- */

WEFT_TASK(long, fib, long, n) {
  if (n < 2) return n;
  fib_task left;
  fib_fork(&left, n - 1);
  long right = fib(n - 2);
  return fib_join(&left) + right;
}

/* Nobody takes tasks in a pool of one thread: both processes make the calls. */
TEST(fork_between_a_typed_fork_and_its_join) {
  weft_config config = WEFT_CONFIG_INIT;
  fib_task a, b, c;
  if (!children_may_start_threads()) return;
  config.threads = 1;
  REQUIRE(weft_init(&config) == 0);
  fib_fork(&a, 10);
  fib_fork(&b, 11);
  pid_t child = fork_here();
  fib_fork(&c, 9);
  bool right = fib_join(&c) == 34;
  right = everything_is_right() && right;
  right = fib_join(&b) == 89 && right;
  right = fib_join(&a) == 55 && right;
  right = fib(12) == 144 && right;
  if (child == 0) child_ends(everything_is_right() && right);
  CHECK(right);
  CHECK_EQ(wait_for_child(child), 0);
  weft_shutdown();
}
