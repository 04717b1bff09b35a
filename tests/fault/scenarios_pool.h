/* scenarios_pool.h - pools: making, configuring, ending, entering, forking.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_FAULT_SCENARIOS_POOL_H
#define TESTS_FAULT_SCENARIOS_POOL_H

#include "fault/scenario.h"
#include "process/child.h"

/* ---- life ---- */

/* A pool that was made with a fault under way is whole, whatever threads it has. */
static int make_use_end(const weft_config *config) {
  weft_pool *pool = NULL;
  const int status = weft_pool_create(&pool, config);
  if (status != 0) return pool == NULL ? status : WRONG;
  unsigned depth = 6;
  bool right = pool != NULL;
  weft_pool_run(pool, check_tree_task, &depth);
  weft_pool_destroy(pool);
  return right ? 0 : WRONG;
}

static int create_default(weft_pool *none) {
  (void)none;
  return make_use_end(NULL);
}

static int create_of(unsigned threads) {
  weft_config config = WEFT_CONFIG_INIT;
  config.threads = threads;
  return make_use_end(&config);
}

static int create_1(weft_pool *none) {
  (void)none;
  return create_of(1);
}

static int create_5(weft_pool *none) {
  (void)none;
  return create_of(5);
}

static int create_large(weft_pool *none) {
  (void)none;
  weft_config config = small_config();
  config.guests = 200;
  config.blocking = 20;
  config.deque_capacity = 10000;
  return make_use_end(&config);
}

static int create_small_stacks(weft_pool *none) {
  (void)none;
  weft_config config = small_config();
  config.stack_size = (size_t)128 * 1024 * harness_slowdown() * harness_slowdown();
  return make_use_end(&config);
}

static void hook_joins(unsigned worker, void *ctx) {
  (void)worker;
  if (leaves_of(3) == 8) atomic_fetch_add((atomic_ulong *)ctx, 1);
}

static int create_with_hooks(weft_pool *none) {
  (void)none;
  atomic_ulong calls = 0;
  weft_config config = small_config();
  config.on_start = hook_joins;
  config.on_exit = hook_joins;
  config.hook_ctx = &calls;
  const int status = make_use_end(&config);
  const unsigned long made = atomic_load(&calls); /* two for each thread there was */
  return made % 2 == 0 && made <= 4 ? status : WRONG;
}

static int create_bound(weft_pool *none) {
  (void)none;
  weft_config config = small_config();
  config.bind = WEFT_BIND_THREADS;
  const int status = make_use_end(&config);
  config.bind = WEFT_BIND_CORES;
  config.threads = 0;
  return status != 0 ? status : make_use_end(&config);
}

static void count_pool(unsigned index, unsigned count, void *ctx) {
  if (index < count && leaves_of(3) == 8) atomic_fetch_add((atomic_ulong *)ctx, 1);
}

static int create_per_node(weft_pool *none) {
  (void)none;
  weft_pool *pools[64];
  unsigned count = 64;
  const int status = weft_pool_per_node(pools, &count, NULL);
  if (status != 0) return status;
  atomic_ulong calls = 0;
  weft_pools_run(pools, count, count_pool, &calls);
  for (unsigned i = 0; i < count; i++) weft_pool_destroy(pools[i]);
  return atomic_load(&calls) == count ? 0 : WRONG;
}

static int create_nonsense(weft_pool *none) {
  (void)none;
  weft_pool *pool;
  weft_config config = small_config();
  config.threads = WEFT_MAX_THREADS + 1;
  if (weft_pool_create(&pool, &config) != WEFT_EINVAL || pool != NULL) return WRONG;
  config = small_config();
  config.struct_size = 3;
  return make_use_end(&config);
}

static int create_by_nonsense_in_environment(weft_pool *none) {
  (void)none;
  memory_is_exempt = true;
  setenv("WEFT_NUM_THREADS", "12monkeys", 1);
  setenv("WEFT_IDLE", "never", 1);
  memory_is_exempt = false;
  const int status = make_use_end(NULL);
  unsetenv("WEFT_NUM_THREADS");
  unsetenv("WEFT_IDLE");
  return status;
}

static int init_and_shutdown(weft_pool *none) {
  (void)none;
  weft_config config = small_config();
  const int status = weft_init(&config);
  const bool right = leaves_of(6) == 64;
  weft_shutdown();
  return right ? status : WRONG;
}

static int init_twice(weft_pool *none) {
  (void)none;
  weft_config config = small_config();
  int status = weft_init(&config);
  if (status == 0 && weft_init(&config) != WEFT_EBUSY) status = WRONG;
  weft_shutdown();
  return status;
}

static int global_by_a_join(weft_pool *none) {
  (void)none;
  const bool right = leaves_of(8) == 256;
  weft_shutdown();
  return right ? 0 : WRONG;
}

static int global_by_a_scope(weft_pool *none) {
  (void)none;
  atomic_ulong ran = 0;
  weft_scope scope;
  weft_scope_begin(&scope);
  for (int i = 0; i < 20; i++) weft_spawn(&scope, count_one, &ran);
  const int status = weft_scope_end(&scope);
  weft_shutdown();
  return status != 0 ? WRONG : all_ran(&ran, 20);
}

static int global_by_a_handle(weft_pool *none) {
  (void)none;
  atomic_ulong ran = 0;
  weft_handle *handle = NULL;
  int status = weft_async(&handle, count_one, &ran);
  if (status == 0 && weft_handle_wait(handle) != 0) status = WRONG;
  weft_shutdown();
  return all_ran(&ran, status == 0) == 0 ? status : WRONG;
}

static int global_by_detaching(weft_pool *none) {
  (void)none;
  atomic_ulong ran = 0;
  const int status = weft_detach(count_one, &ran);
  weft_shutdown();
  return all_ran(&ran, status == 0) == 0 ? status : WRONG;
}

/* Detached work is still there when the pool ends. */
static int end_with_work(weft_pool *none) {
  (void)none;
  weft_config config = small_config();
  weft_pool *pool;
  atomic_ulong ran = 0;
  unsigned long accepted = 0;
  int status = weft_pool_create(&pool, &config);
  if (status != 0) return status;
  for (int i = 0; i < 100; i++) {
    const int one = weft_pool_detach(pool, count_one, &ran);
    if (one == 0) accepted++;
    if (status == 0) status = one;
  }
  weft_pool_destroy(pool);
  return all_ran(&ran, accepted) == 0 ? status : WRONG;
}

/* ---- entering ---- */

static int run_inside(weft_pool *pool) {
  uint64_t leaves = 0;
  (void)pool;
  leaves = leaves_of(8);
  return leaves == 256 ? 0 : WRONG;
}

static void count_tree(void *ctx) {
  tree_count(ctx);
}

static int run_from_outside(weft_pool *pool) {
  tree root = {8, 0};
  weft_pool_run(pool, count_tree, &root);
  return root.leaves == 256 ? 0 : WRONG;
}

static void make_inside(void *ctx) {
  *(int *)ctx = create_of(2);
}

static int pool_inside_a_pool(weft_pool *pool) {
  int status = WRONG;
  weft_pool_run(pool, make_inside, &status);
  return status;
}

typedef struct visit {
  weft_pool *there;
  uint64_t leaves;
} visit;

static void visit_there(void *ctx) {
  visit *v = ctx;
  tree root = {6, 0};
  weft_pool_run(v->there, count_tree, &root);
  v->leaves = root.leaves + leaves_of(6);
}

static int two_pools(weft_pool *pool) {
  weft_config config = small_config();
  visit v = {pool, 0};
  weft_pool *other;
  const int status = weft_pool_create(&other, &config);
  if (status != 0) return status;
  weft_pool_run(other, visit_there, &v);
  weft_pool_destroy(other);
  return v.leaves == 128 ? 0 : WRONG;
}

static void be_a_guest(unsigned index, void *arg) {
  visit *v = arg;
  tree root = {index % 4 + 2, 0};
  for (int i = 0; i < 5; i++) weft_pool_run(v->there, count_tree, &root);
  if (root.leaves != (uint64_t)1 << root.depth) v->leaves = 1;
}

/* More callers than places: some are served by started threads, if they can be. */
static int many_guests(weft_pool *pool) {
  visit v = {pool, 0};
  run_exempt_threads(6, be_a_guest, &v);
  return v.leaves == 0 ? 0 : WRONG;
}

static int statistics(weft_pool *pool) {
  weft_stats stats = WEFT_STATS_INIT;
  const int status = run_from_outside(pool);
  weft_pool_stats(pool, &stats);
  return stats.struct_size == sizeof stats ? status : WRONG;
}

static int numbers(weft_pool *pool) {
  (void)pool;
  const bool right = weft_thread_count() >= 1 && weft_worker_limit() >= 1 &&
                     weft_worker_index() < (int)weft_worker_limit() + 1100;
  return right ? 0 : WRONG;
}

/* ---- a child of fork, in which the fault is under way ---- */

/* The exit code of the child says whether the fault struck there. */
enum { CHILD_RIGHT = 0, CHILD_WRONG = 1, CHILD_STRUCK = 2 };

static int in_a_child(bool (*fn)(weft_pool *pool), weft_pool *pool) {
  if (!FORKS_FREELY) return 0;
  memory_is_exempt = true;
  const pid_t child = fork_here();
  memory_is_exempt = false;
  if (child == 0) {
    const bool right = fn(pool);
    const bool struck = faults_disarm() > 0;
    _exit(!right ? CHILD_WRONG : struck ? CHILD_STRUCK : CHILD_RIGHT);
  }
  const int code = wait_for_child(child);
  if (code == CHILD_STRUCK) {
    atomic_fetch_add(&faults.hits, 1);
    atomic_fetch_add(&memory_faults.refused, 1);
  }
  return code == CHILD_RIGHT || code == CHILD_STRUCK ? 0 : WRONG;
}

static bool child_uses_pool(weft_pool *pool) {
  return run_from_outside(pool) == 0 && run_from_outside(pool) == 0;
}

static bool child_spawns(weft_pool *pool) {
  atomic_ulong ran = 0;
  weft_scope scope;
  weft_opts opts = opts_on(pool);
  weft_scope_begin_with(&opts, &scope);
  for (int i = 0; i < 20; i++) weft_spawn(&scope, count_one, &ran);
  return weft_scope_end(&scope) == 0 && atomic_load(&ran) == 20;
}

static bool child_detaches_and_ends(weft_pool *pool) {
  atomic_ulong ran = 0;
  const int status = weft_pool_detach(pool, count_one, &ran);
  if (status != 0 && status != WEFT_ENOMEM) return false;
  weft_pool_destroy(pool);
  return atomic_load(&ran) == (status == 0);
}

static bool child_makes_pool(weft_pool *pool) {
  (void)pool;
  const int status = create_of(2);
  return status == 0 || status == WEFT_ENOMEM;
}

static int fork_and_use(weft_pool *pool) {
  return in_a_child(child_uses_pool, pool);
}

static int fork_and_spawn(weft_pool *pool) {
  return in_a_child(child_spawns, pool);
}

static int fork_and_end(weft_pool *pool) {
  return in_a_child(child_detaches_and_ends, pool);
}

static int fork_and_make(weft_pool *pool) {
  return in_a_child(child_makes_pool, pool);
}

/* clang-format off */
static const scenario POOL_SCENARIOS[] = {
    {"create default", create_default, ALONE, OR_ENOMEM, 0, false},
    {"create of 1 thread", create_1, ALONE, OR_ENOMEM, 0, false},
    {"create of 5 threads", create_5, ALONE, OR_ENOMEM, 0, false},
    {"create large", create_large, ALONE, OR_ENOMEM, 0, false},
    {"create with small stacks", create_small_stacks, ALONE, OR_ENOMEM, 0, false},
    {"create with hooks", create_with_hooks, ALONE, OR_ENOMEM, 0, false},
    {"create bound", create_bound, ALONE, OR_ENOMEM, 0, false},
    {"create for each node", create_per_node, ALONE, OR_ENOMEM, 0, false},
    {"create nonsense", create_nonsense, ALONE, ONLY_OK, WEFT_EINVAL, false},
    {"nonsense in the environment", create_by_nonsense_in_environment, ALONE, OR_ENOMEM, 0, false},
    {"init and shutdown", init_and_shutdown, ALONE, OR_ENOMEM, 0, false},
    {"init twice", init_twice, ALONE, OR_ENOMEM, 0, false},
    {"global pool by a join", global_by_a_join, ALONE, ONLY_OK, 0, false},
    {"global pool by a scope", global_by_a_scope, ALONE, ONLY_OK, 0, false},
    {"global pool by a handle", global_by_a_handle, ALONE, OR_ENOMEM, 0, false},
    {"global pool by detaching", global_by_detaching, ALONE, OR_ENOMEM, 0, false},
    {"end with work", end_with_work, ALONE, OR_ENOMEM, 0, false},
    {"join inside", run_inside, IN_POOL, ONLY_OK, 0, true},
    {"run from outside", run_from_outside, AT_POOL, ONLY_OK, 0, true},
    {"join from outside", run_inside, WITH_GLOBAL, ONLY_OK, 0, true},
    {"pool inside a pool", pool_inside_a_pool, AT_POOL, OR_ENOMEM, 0, false},
    {"two pools", two_pools, AT_POOL, OR_ENOMEM, 0, false},
    {"more callers than places", many_guests, AT_POOL, ONLY_OK, 0, false},
    {"statistics", statistics, AT_POOL, ONLY_OK, 0, true},
    {"numbers", numbers, WITH_GLOBAL, ONLY_OK, 0, true},
    {"fork, use", fork_and_use, AT_POOL, ONLY_OK, 0, false},
    {"fork, spawn", fork_and_spawn, AT_POOL, ONLY_OK, 0, false},
    {"fork, detach, end", fork_and_end, AT_POOL, ONLY_OK, 0, false},
    {"fork, make a pool", fork_and_make, AT_POOL, ONLY_OK, 0, false},
};
/* clang-format on */

#endif
