/* Two copies of weft in one process do not disturb each other: the program's own, linked
 * statically, and that of a plugin, either the shared libweft or compiled into it.
 *
 * `here` is what the program's copy does, `there` the plugin's. To each copy the threads
 * of the other one are threads from outside.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "support.h"

#include "plugin/load.h"

enum { HERE_THREADS = 3, THERE_THREADS = 4 };

/* Runs a test with each kind of plugin, and with the threads of both copies counted. */
static void with_plugin(void (*test)(const plugin *there)) {
  for (unsigned kind = 0; kind < PLUGIN_KINDS; kind++) {
    unsigned baseline = harness_thread_count();
    weft_config config = WEFT_CONFIG_INIT;
    config.threads = HERE_THREADS;
    REQUIRE(weft_init(&config) == 0);
    loaded l = load_plugin(kind);
    CHECK_EQ(l.calls->init(THERE_THREADS), 0); /* not busy: this copy has no pool yet */
    CHECK_EQ(harness_thread_count(), baseline + HERE_THREADS - 1 + THERE_THREADS - 1);
    test(l.calls);
    l.calls->shutdown();
    CHECK_EQ(harness_thread_count(), baseline + HERE_THREADS - 1);
    unload_plugin(&l);
    everything_is_right();
    weft_shutdown();
    CHECK_EQ(harness_thread_count(), baseline);
  }
}

static bool there_is_right(const plugin *there) {
  bool right = CHECK_EQ(there->tree(8), 256);
  return CHECK_EQ(there->scope(30), 30) && right;
}

/* ---- whose is what ---- */

typedef struct whose {
  const plugin *there;
  const void *here_pool, *there_pool;
} whose;

/* Inside here, outside there. */
static void check_inside_here(void *ctx) {
  const whose *w = ctx;
  CHECK_EQ(weft_worker_index(), 0);
  CHECK_EQ(w->there->worker_index(), -1);
  CHECK_EQ(weft_pool_current(), w->here_pool);
  CHECK_EQ(w->there->pool(), w->there_pool);
  CHECK_EQ(weft_thread_count(), HERE_THREADS);
  CHECK_EQ(w->there->thread_count(), THERE_THREADS);
}

/* Inside there, outside here: the first caller is number 0. */
static void check_inside_there(void *ctx) {
  const whose *w = ctx;
  CHECK_EQ(w->there->worker_index(), 0);
  CHECK_EQ(weft_worker_index(), -1);
  CHECK_EQ(weft_pool_current(), w->here_pool);
  CHECK_EQ(w->there->pool(), w->there_pool);
}

static void check_inside_both(void *ctx) {
  const whose *w = ctx;
  CHECK_EQ(w->there->worker_index(), 0);
  CHECK_EQ(weft_worker_index(), 0);
  CHECK(weft_scope_current() == NULL); /* a scope there is none here */
}

static void enter_there(void *ctx) {
  const whose *w = ctx;
  w->there->join(check_inside_both, ctx, do_nothing, NULL);
}

static void check_whose(const plugin *there) {
  whose w = {there, weft_pool_current(), there->pool()};
  CHECK(w.here_pool != w.there_pool);
  CHECK_EQ(weft_worker_index(), -1);
  CHECK_EQ(there->worker_index(), -1);
  weft_pool_run(NULL, check_inside_here, &w);
  there->join(check_inside_there, &w, do_nothing, NULL);
  weft_pool_run(NULL, enter_there, &w);
  CHECK_EQ(weft_worker_index(), -1);
  CHECK_EQ(there->worker_index(), -1);
}

TEST(each_copy_has_its_own_pool_and_numbers) {
  with_plugin(check_whose);
}

/* ---- in turn ---- */

static void use_in_turn(const plugin *there) {
  for (unsigned long i = 0; i < scaled(300); i++) {
    there_is_right(there);
    everything_is_right();
  }
}

TEST(copies_used_in_turn) {
  with_plugin(use_in_turn);
}

/* One copy is shut down and started again while the other one works. */
static void restart_in_turn(const plugin *there) {
  for (unsigned long i = 0; i < scaled(100); i++) {
    weft_shutdown();
    there_is_right(there);
    everything_is_right();
    there->shutdown();
    everything_is_right();
    there_is_right(there);
  }
  /* With the threads that with_plugin counts. */
  there->shutdown();
  CHECK_EQ(there->init(THERE_THREADS), 0);
  weft_config config = WEFT_CONFIG_INIT;
  config.threads = HERE_THREADS;
  weft_shutdown();
  REQUIRE(weft_init(&config) == 0);
}

TEST(copies_end_on_their_own) {
  with_plugin(restart_in_turn);
}

/* ---- nested ---- */

/* A tree whose levels are joins of the two copies in turn. */
typedef struct mixed {
  const plugin *there;
  unsigned depth;
  uint64_t leaves;
} mixed;

static void grow_mixed(void *ctx) {
  mixed *node = ctx;
  if (node->depth == 0) {
    node->leaves = 1;
    return;
  }
  const plugin *there = node->there;
  mixed left = {there, node->depth - 1, 0}, right = {there, node->depth - 1, 0};
  /* The second half may run elsewhere; this thread's numbers are what they were. */
  int here_index = weft_worker_index(), there_index = there->worker_index();
  if (node->depth % 2 == 0)
    weft_join(grow_mixed, &left, grow_mixed, &right);
  else
    there->join(grow_mixed, &left, grow_mixed, &right);
  CHECK_EQ(weft_worker_index(), here_index);
  CHECK_EQ(there->worker_index(), there_index);
  node->leaves = left.leaves + right.leaves;
}

static bool mixed_is_right(const plugin *there, unsigned depth) {
  mixed root = {there, depth, 0};
  grow_mixed(&root);
  return CHECK_EQ(root.leaves, (uint64_t)1 << depth);
}

static void use_nested(const plugin *there) {
  for (unsigned long i = 0; i < scaled(300); i++) {
    mixed_is_right(there, (unsigned)i % 9);
    mixed_is_right(there, 9);
  }
}

TEST(joins_of_two_copies_inside_each_other) {
  with_plugin(use_nested);
}

/* The other half of a join `here` is taken by a thread of `here`, that of a join `there`
 * by a thread of `there`: each copy wakes its own threads. */
typedef struct visit {
  const plugin *there;
  pairing pair;
} visit;

static void b_begins_there(void *ctx) {
  visit *v = ctx;
  CHECK(v->there->worker_index() >= 1);
  CHECK_EQ(weft_worker_index(), -1);
  b_begins(&v->pair);
}

static void a_until_b_there(void *ctx) {
  a_until_b(&((visit *)ctx)->pair);
}

static void pair_there(void *ctx) {
  visit *v = ctx;
  v->pair.a_thread = pthread_self();
  v->there->join(a_until_b_there, v, b_begins_there, v);
}

static void pair_both(const plugin *there) {
  for (unsigned long i = 0; i < scaled(100); i++) {
    visit v = {.there = there};
    pair_there(&v);
    pair_in(NULL);
    visit inside = {.there = there};
    weft_pool_run(NULL, pair_there, &inside); /* a task of here waits for one of there */
  }
}

TEST(each_copy_wakes_its_own_threads) {
  with_plugin(pair_both);
}

/* ---- scopes of both ---- */

typedef struct two_scopes {
  const plugin *there;
  weft_scope *scope;
  atomic_ulong ran;
} two_scopes;

static void count_here(void *ctx) {
  two_scopes *s = ctx;
  atomic_fetch_add(&s->ran, 1);
  tree_is_right(3);
}

/* On a thread of there, which spawns into the scope of here. */
static void spawn_here(void *ctx) {
  two_scopes *s = ctx;
  weft_spawn(s->scope, count_here, s);
}

static void spawn_there(void *ctx) {
  two_scopes *s = ctx;
  s->there->spawn_all(10, spawn_here, s);
}

static void use_scopes(const plugin *there) {
  for (unsigned long i = 0; i < scaled(200); i++) {
    weft_scope scope;
    two_scopes s = {.there = there, .scope = &scope};
    weft_scope_begin(&scope);
    for (int k = 0; k < 10; k++) weft_spawn(&scope, spawn_there, &s);
    CHECK_EQ(weft_scope_end(&scope), 0);
    CHECK_EQ(atomic_load(&s.ran), 100);
  }
}

TEST(scopes_of_two_copies_inside_each_other) {
  with_plugin(use_scopes);
}

/* ---- at the same time ---- */

static void use_on_thread(unsigned index, void *arg) {
  const plugin *there = arg;
  for (unsigned long i = 0; i < scaled(200); i++) {
    switch ((i + index) % 4) {
    case 0:
      everything_is_right();
      break;
    case 1:
      there_is_right(there);
      break;
    case 2:
      mixed_is_right(there, 7);
      break;
    default:
      weft_pool_run(NULL, do_nothing, NULL);
      there->join(do_nothing, NULL, do_nothing, NULL);
    }
  }
}

static void use_at_the_same_time(const plugin *there) {
  harness_run_threads(6, use_on_thread, (void *)(uintptr_t)there);
}

TEST(copies_used_at_the_same_time) {
  with_plugin(use_at_the_same_time);
}

/* ---- fork with both ---- */

static bool use_both(void *arg) {
  const plugin *there = arg;
  bool right = everything_is_right() && there_is_right(there);
  right = mixed_is_right(there, 8) && right;
  weft_shutdown();
  right = there_is_right(there) && right;
  there->shutdown();
  return mixed_is_right(there, 8) && right;
}

/* Inside here, or inside both; the child ends there. */
static void fork_inside(void *ctx) {
  const plugin *there = ctx;
  pid_t child = fork_here();
  if (child == 0) {
    bool right = everything_is_right() && there_is_right(there);
    child_ends(mixed_is_right(there, 8) && right);
  }
  CHECK_EQ(wait_for_child(child), 0);
}

static void fork_inside_both(void *ctx) {
  const plugin *there = ctx;
  there->join(fork_inside, ctx, do_nothing, NULL);
}

static void fork_with_both(const plugin *there) {
  if (!children_may_start_threads()) return;
  void *ctx = (void *)(uintptr_t)there;
  for (unsigned i = 0; i < 20 / harness_slowdown(); i++) {
    CHECK_EQ(run_child(use_both, ctx), 0);
    mixed_is_right(there, 8);
    weft_pool_run(NULL, fork_inside, ctx);
    weft_pool_run(NULL, fork_inside_both, ctx);
    fork_inside_both(ctx);
  }
}

TEST(fork_with_both_copies) {
  with_plugin(fork_with_both);
}
