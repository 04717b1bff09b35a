/* fork by a thread that is in a pool: the child goes on where it was forked, returns
 * through the calls around it as far as they are its own, and ends with a message where
 * they are not. The parent notices nothing.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "support.h"

#include <fcntl.h>

/* ---- pools in which nothing is taken by others ---- */

/* Of one thread, or of two with the started one kept busy. The second kind shares its
 * tasks as soon as somebody asks for them, which nobody can. */
typedef struct quiet_pool {
  weft_pool *pool;
  atomic_bool began, release;
} quiet_pool;

static void keep_busy(void *ctx) {
  quiet_pool *self = ctx;
  atomic_store(&self->began, true);
  AWAIT(atomic_load(&self->release));
}

enum { QUIET_KINDS = 2 };

static void quiet_start(quiet_pool *self, unsigned kind) {
  atomic_init(&self->began, false);
  atomic_init(&self->release, false);
  self->pool = pool_of(kind + 1);
  if (kind == 0) return;
  CHECK_EQ(weft_pool_detach(self->pool, keep_busy, self), 0);
  AWAIT(atomic_load(&self->began));
}

static void quiet_end(quiet_pool *self) {
  atomic_store(&self->release, true);
  weft_pool_destroy(self->pool);
}

/* ---- a place to fork ---- */

/* Forked inside `place`, which is called in a pool, and back in the test in both
 * processes. */
typedef struct forked {
  pid_t child;
  atomic_uint ran; /* parts around the fork that have run */
  unsigned depth;
  weft_pool *other;
} forked;

static void fork_and_use(forked *f) {
  f->child = fork_here();
  if (f->child == 0 && !everything_is_right()) child_ends(false);
}

/* Calls place in both kinds of quiet pools. Afterwards the child checks that every part
 * has run, goes on using the pool and ends it. */
static void check_place(weft_fn *place, unsigned parts) {
  if (!children_may_start_threads()) return;
  for (unsigned kind = 0; kind < QUIET_KINDS; kind++) {
    quiet_pool quiet;
    quiet_start(&quiet, kind);
    forked f = {.child = -1, .other = pool_of(2)};
    weft_pool_run(quiet.pool, place, &f);
    bool right = CHECK_EQ(atomic_load(&f.ran), parts);
    if (f.child == 0) {
      right = everything_is_right_in(quiet.pool) && right;
      pair_in(f.other);
      weft_pool_destroy(quiet.pool);
      weft_pool_destroy(f.other);
      child_ends(everything_is_right() && right);
    }
    CHECK_MSG(wait_for_child(f.child) == 0, "kind %u", kind);
    weft_pool_destroy(f.other);
    quiet_end(&quiet);
  }
  weft_shutdown();
}

static void run_part(void *ctx) {
  atomic_fetch_add(&((forked *)ctx)->ran, 1);
}

static void fork_part(void *ctx) {
  fork_and_use(ctx);
  run_part(ctx);
}

TEST(fork_in_a_pool) {
  check_place(fork_part, 1);
}

/* ---- joins ---- */

static void fork_in_first_half(void *ctx) {
  weft_join(fork_part, ctx, run_part, ctx);
}

static void fork_in_second_half(void *ctx) {
  weft_join(run_part, ctx, fork_part, ctx);
}

TEST(fork_in_the_first_half_of_a_join) {
  check_place(fork_in_first_half, 2);
}

TEST(fork_in_the_second_half_of_a_join) {
  check_place(fork_in_second_half, 2);
}

/* At the bottom of many joins, each of which has its other half open. */
static void descend(void *ctx) {
  forked *f = ctx;
  if (f->depth-- == 0)
    fork_part(f);
  else
    weft_join(descend, f, run_part, f);
}

static void fork_deep_down(void *ctx) {
  ((forked *)ctx)->depth = 200;
  descend(ctx);
}

TEST(fork_below_many_joins) {
  check_place(fork_deep_down, 201);
}

/* Three forks, and both processes go on after each: eight processes come back. */
static void join_after_fork(void *ctx) {
  fork_part(ctx);
  weft_join(fork_in_first_half, ctx, fork_in_second_half, ctx);
}

static bool wait_for_all_children(void) {
  for (bool right = true;;) {
    int status = 0;
    pid_t got = wait(&status);
    if (got > 0)
      right = CHECK_MSG(status == 0, "%d", status) && right;
    else if (errno != EINTR)
      return right;
  }
}

TEST(fork_again_on_the_way_back) {
  if (!children_may_start_threads()) return;
  quiet_pool quiet;
  quiet_start(&quiet, 0);
  forked f = {.child = -1};
  weft_pool_run(quiet.pool, join_after_fork, &f);
  bool right = CHECK_EQ(atomic_load(&f.ran), 5);
  right = wait_for_all_children() && right;
  if (is_child) child_ends(everything_is_right_in(quiet.pool) && right);
  quiet_end(&quiet);
  weft_shutdown();
}

/* ---- scopes ---- */

static void fork_in_empty_scope(void *ctx) {
  weft_scope scope;
  weft_scope_begin(&scope);
  fork_part(ctx);
  CHECK_EQ(weft_scope_end(&scope), 0);
}

TEST(fork_in_a_scope_without_tasks) {
  check_place(fork_in_empty_scope, 1);
}

/* None of the tasks has begun: each process runs all of them. */
static void fork_beside_tasks_in(void *ctx, weft_order order) {
  weft_opts opts = WEFT_OPTS_INIT;
  weft_scope scope;
  opts.order = order;
  weft_scope_begin_with(&opts, &scope);
  for (int i = 0; i < 10; i++) weft_spawn(&scope, run_part, ctx);
  fork_part(ctx);
  for (int i = 0; i < 10; i++) weft_spawn(&scope, run_part, ctx);
  CHECK_EQ(weft_scope_end(&scope), 0);
}

static void fork_beside_tasks(void *ctx) {
  fork_beside_tasks_in(ctx, WEFT_ORDER_LIFO);
}

static void fork_beside_ordered_tasks(void *ctx) {
  fork_beside_tasks_in(ctx, WEFT_ORDER_FIFO);
}

TEST(fork_in_a_scope_with_tasks_that_wait) {
  check_place(fork_beside_tasks, 21);
  check_place(fork_beside_ordered_tasks, 21);
}

/* The fork is in a task, run by the thread that ends the scope. */
static void fork_in_task(void *ctx) {
  weft_scope scope;
  weft_scope_begin(&scope);
  for (int i = 0; i < 5; i++) weft_spawn(&scope, run_part, ctx);
  weft_spawn(&scope, fork_part, ctx);
  for (int i = 0; i < 5; i++) weft_spawn(&scope, run_part, ctx);
  CHECK_EQ(weft_scope_end(&scope), 0);
}

TEST(fork_in_a_task_of_a_scope) {
  check_place(fork_in_task, 11);
}

/* ---- other calls ---- */

static void fork_in_other_pool(void *ctx) {
  weft_pool_run(((forked *)ctx)->other, fork_in_first_half, ctx);
}

static void fork_isolated(void *ctx) {
  weft_isolate(fork_in_first_half, ctx);
}

static void fork_while_blocking(void *ctx) {
  weft_blocking_begin();
  fork_part(ctx);
  weft_blocking_end();
  weft_join(run_part, ctx, run_part, ctx);
}

TEST(fork_in_two_pools_at_once) {
  if (!children_may_start_threads()) return;
  for (int i = 0; i < 10; i++) {
    quiet_pool outer, inner;
    quiet_start(&outer, 1);
    quiet_start(&inner, (unsigned)i % QUIET_KINDS);
    forked f = {.child = -1, .other = inner.pool};
    weft_pool_run(outer.pool, fork_in_other_pool, &f);
    bool right = CHECK_EQ(atomic_load(&f.ran), 2);
    if (f.child == 0) {
      right = everything_is_right_in(inner.pool) && right;
      right = everything_is_right_in(outer.pool) && right;
      weft_pool_destroy(outer.pool);
      weft_pool_destroy(inner.pool);
      child_ends(right);
    }
    CHECK_EQ(wait_for_child(f.child), 0);
    quiet_end(&inner);
    quiet_end(&outer);
  }
}

TEST(fork_in_isolation) {
  check_place(fork_isolated, 2);
}

TEST(fork_in_a_blocking_section) {
  check_place(fork_while_blocking, 3);
}

/* ---- on threads of the pool ---- */

/* The child is that thread alone, and ends there. */
static void fork_on_worker(void *ctx) {
  for (int use_exit = 0; use_exit <= 1; use_exit++) {
    pid_t child = fork_here();
    if (child == 0) {
      weft_pool *pool = pool_of(3);
      bool right = everything_is_right() && everything_is_right_in(pool);
      pair_in(pool);
      weft_pool_destroy(pool);
      if (use_exit) exit(right ? 0 : 1);
      child_ends(right);
    }
    CHECK_EQ(wait_for_child(child), 0);
  }
  count_one(ctx);
}

static void fork_on_thread(unsigned index, unsigned count, void *ctx) {
  (void)index;
  (void)count;
  fork_on_worker(ctx);
}

TEST(fork_on_threads_of_the_pool) {
  if (!children_may_start_threads()) return;
  atomic_ulong ran = 0;
  for (int i = 0; i < 5; i++) {
    weft_pool *pool = pool_of(3);
    weft_opts opts = WEFT_OPTS_INIT;
    opts.pool = pool;
    CHECK_EQ(weft_pool_detach(pool, fork_on_worker, &ran), 0);
    CHECK_EQ(weft_pool_detach(pool, fork_on_worker, &ran), 0);
    check_tree_in(pool, 10);
    weft_broadcast_with(&opts, fork_on_thread, &ran); /* three threads */
    everything_is_right_in(pool);
    weft_pool_destroy(pool);
  }
  CHECK_EQ(atomic_load(&ran), 25);
}

/* A child that returns from the function has nothing left to do: its only thread has no
 * pool to go back to, and with it the process ends. */
static void fork_and_return(void *ctx) {
  pid_t child = fork_here();
  if (child == 0) return;
  CHECK_EQ(wait_for_child(child), 0);
  count_one(ctx);
}

/* Also if it has started threads of its own meanwhile. */
static void fork_use_and_return(void *ctx) {
  pid_t child = fork_here();
  if (child == 0) {
    weft_handle *handle;
    atomic_ulong used = 0;
    if (weft_async(&handle, count_one, &used) != 0) _exit(2);
    if (weft_handle_wait(handle) != 0 || atomic_load(&used) != 1) _exit(3);
    return;
  }
  CHECK_EQ(wait_for_child(child), 0);
  count_one(ctx);
}

static void fork_and_come_back(weft_fn *fn) {
  for (unsigned threads = 1; threads <= 3; threads++) {
    atomic_ulong ran = 0;
    weft_pool *pool = pool_of(threads);
    for (int i = 0; i < 5; i++) CHECK_EQ(weft_pool_detach(pool, fn, &ran), 0);
    weft_pool_destroy(pool);
    CHECK_EQ(atomic_load(&ran), 5);
  }
}

TEST(fork_on_a_thread_of_the_pool_and_return) {
  fork_and_come_back(fork_and_return);
}

TEST(fork_on_a_thread_of_the_pool_use_it_and_return) {
  if (!children_may_start_threads()) return;
  fork_and_come_back(fork_use_and_return);
}

/* The second half of a join, on the thread that took it. */
typedef struct taken {
  pairing pair;
  atomic_ulong ran;
} taken;

static void fork_in_taken_half(void *ctx) {
  taken *t = ctx;
  b_begins(&t->pair);
  fork_on_worker(&t->ran);
}

static void join_with_taken_half(void *ctx) {
  taken *t = ctx;
  t->pair.a_thread = pthread_self();
  weft_join(a_until_b, &t->pair, fork_in_taken_half, t);
}

TEST(fork_in_a_half_that_was_taken) {
  if (!children_may_start_threads()) return;
  for (int i = 0; i < 5; i++) {
    weft_pool *pool = pool_of(2);
    taken t = {.ran = 0};
    weft_pool_run(pool, join_with_taken_half, &t);
    CHECK_EQ(atomic_load(&t.ran), 1);
    weft_pool_destroy(pool);
  }
}

/* ---- what the child cannot finish ---- */

/* Another thread has the second half, or the task, until it is told to go on. */
typedef struct unfinished {
  pthread_t home;
  atomic_bool began, go_on;
  pid_t child;
} unfinished;

static void begin_elsewhere(void *ctx) {
  unfinished *u = ctx;
  REQUIRE(!pthread_equal(u->home, pthread_self()));
  atomic_store(&u->began, true);
  AWAIT(atomic_load(&u->go_on));
}

static void fork_when_begun(void *ctx) {
  unfinished *u = ctx;
  AWAIT(atomic_load(&u->began));
  u->child = fork_here();
  if (u->child == 0) {
    if (!tree_is_right(8)) child_ends(false); /* what it begins itself it can finish */
    return;
  }
  printf("the child has ended: %d\n", wait_for_child(u->child));
  atomic_store(&u->go_on, true);
}

static void leave_with(const char *message, void *ctx) {
  (void)ctx;
  say(message);
  say("\n");
  _exit(33);
}

static void set_fatal_handler(void *ctx) {
  (void)ctx;
  weft_set_fatal_handler(leave_with, NULL);
}

TEST_BY_NAME(program_join_taken_by_others) {
  unfinished u = {.home = pthread_self()};
  weft_join(fork_when_begun, &u, begin_elsewhere, &u);
  REQUIRE(u.child != 0);
  tree_is_right(10);
}

TEST_BY_NAME(program_join_taken_with_handler) {
  set_fatal_handler(NULL);
  unfinished u = {.home = pthread_self()};
  weft_join(fork_when_begun, &u, begin_elsewhere, &u);
  REQUIRE(u.child != 0);
}

static void scope_taken_by_others(void) {
  unfinished u = {.home = pthread_self()};
  weft_scope scope;
  weft_scope_begin(&scope);
  weft_spawn(&scope, begin_elsewhere, &u);
  fork_when_begun(&u);
  CHECK_EQ(weft_scope_end(&scope), 0);
  REQUIRE(u.child != 0);
  everything_is_right();
}

TEST_BY_NAME(program_scope_taken_by_others) {
  scope_taken_by_others();
}

TEST_BY_NAME(program_scope_taken_with_handler) {
  set_fatal_handler(NULL);
  scope_taken_by_others();
}

/* Is there a line with both words? The name of this program is in the output too. */
static bool has_line_with(const char *text, const char *word, const char *other) {
  for (; (text = strstr(text, word)) != NULL; text += strlen(word)) {
    const char *rest = strstr(text, other), *end = strchr(text, '\n');
    if (rest != NULL && (end == NULL || rest < end)) return true;
  }
  return false;
}

/* The child ends with a message: which call cannot end, and why. The parent goes on. */
static void check_unfinished(const char *program, const char *call, const char *end) {
  if (!children_may_start_threads()) return;
  for (unsigned i = 0; i <= 5 / harness_slowdown(); i++) {
    static char output[1 << 16];
    int code = harness_run_self("WEFT_NUM_THREADS=3", program, output, sizeof output);
    CHECK_EQ(code, 0);
    CHECK_MSG(has_line_with(output, call, "fork"), "%s", output);
    CHECK_MSG(strstr(output, end) != NULL, "%s", output);
  }
}

TEST(a_join_that_others_have_taken_is_reported_in_the_child) {
  check_unfinished("program_join_taken_by_others", "weft_join", "has ended: 134\n");
  check_unfinished("program_join_taken_with_handler", "weft_join", "has ended: 33\n");
}

TEST(a_scope_that_others_have_taken_is_reported_in_the_child) {
  check_unfinished("program_scope_taken_by_others", "weft_scope_end", "has ended: 134\n");
  check_unfinished("program_scope_taken_with_handler", "weft_scope_end",
                   "has ended: 33\n");
}

/* ---- anywhere in a tree ---- */

/* A tree of joins on all threads of a pool, one leaf of which forks. The child comes back
 * with the right result if no other thread had taken a part of what is around it.
 * Otherwise it ends with a message. It never hangs, and never has a wrong result. */
typedef struct leafy {
  unsigned depth, number;
  uint64_t leaves;
  struct planted *plant;
} leafy;

typedef struct planted {
  unsigned forks_at;
  pthread_t home;
  atomic_int child; /* as returned by fork */
} planted;

static void fork_in_leaf(planted *plant) {
  pid_t child = fork_here();
  if (child == 0) {
    int nowhere = open("/dev/null", O_WRONLY);
    REQUIRE(nowhere >= 0 && dup2(nowhere, STDERR_FILENO) >= 0);
    /* Only the first thread of the tree comes back from it. */
    if (!pthread_equal(plant->home, pthread_self())) child_ends(tree_is_right(6));
  }
  atomic_store(&plant->child, (int)child);
}

static void grow(void *ctx) {
  leafy *node = ctx;
  if (node->depth == 0) {
    if (node->number == node->plant->forks_at) fork_in_leaf(node->plant);
    for (int i = 0; i < 100; i++) wf_sys_relax(); /* long enough for others to come */
    node->leaves = 1;
    return;
  }
  leafy left = {node->depth - 1, node->number * 2, 0, node->plant};
  leafy right = {node->depth - 1, node->number * 2 + 1, 0, node->plant};
  weft_join(grow, &left, grow, &right);
  node->leaves = left.leaves + right.leaves;
}

TEST(fork_in_any_leaf_of_a_tree) {
  if (!children_may_start_threads()) return;
  enum { DEPTH = 10 };
  uint64_t random = harness_seed();
  unsigned finished = 0, told = 0;
  for (unsigned i = 0; i < 200 / harness_slowdown(); i++) {
    weft_pool *pool = i % 2 == 0 ? pool_of(3) : sleepy_pool_of(2);
    planted plant = {.forks_at = (unsigned)harness_random(&random) % (1u << DEPTH),
                     .home = pthread_self()};
    leafy root = {DEPTH, 0, 0, &plant};
    atomic_init(&plant.child, -1);
    pair_in(pool); /* its threads have begun */
    weft_pool_run(pool, grow, &root);
    if (atomic_load(&plant.child) == 0) {
      bool right = root.leaves == 1u << DEPTH && everything_is_right_in(pool);
      weft_pool_destroy(pool);
      child_ends(right);
    }
    CHECK_EQ(root.leaves, 1u << DEPTH);
    int result = wait_for_child((pid_t)atomic_load(&plant.child));
    CHECK_MSG(result == 0 || result == ABORTED, "%d", result);
    finished += result == 0;
    told += result == ABORTED;
    everything_is_right_in(pool);
    weft_pool_destroy(pool);
  }
  printf("  %u children came back, %u were told that they cannot\n", finished, told);
}
