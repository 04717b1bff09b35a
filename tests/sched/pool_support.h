/* support.h - what the tests of pools and tasks share: waiting, pools in one line, work
 * whose result is known.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_POOL_SUPPORT_H
#define TESTS_POOL_SUPPORT_H

#include "harness/harness.h"
#include "sched/pool.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <weft/join.h>
#include <weft/pool.h>
#include <weft/task.h>

/* Waits for what other threads bring about. If they never do, the watchdog tells. */
#define AWAIT(condition)                                                                 \
  do {                                                                                   \
    while (!(condition)) sched_yield();                                                  \
  } while (0)

/* An amount of work, smaller where programs run slower. */
static inline unsigned long scaled(unsigned long n) {
  unsigned long slower = harness_slowdown();
  return n / (slower * slower) + 1;
}

/* ---- pools ---- */

static inline weft_pool *pool_with(const weft_config *config) {
  weft_pool *pool = NULL;
  REQUIRE(weft_pool_create(&pool, config) == 0);
  REQUIRE(pool != NULL);
  return pool;
}

static inline weft_pool *pool_of(unsigned threads) {
  weft_config config = WEFT_CONFIG_INIT;
  config.threads = threads;
  return pool_with(&config);
}

/* A pool whose workers go to sleep almost at once. */
static inline weft_pool *sleepy_pool_of(unsigned threads) {
  weft_config config = WEFT_CONFIG_INIT;
  config.threads = threads;
  config.idle = WEFT_IDLE_POWER_SAVING;
  return pool_with(&config);
}

/* Are all started threads registered as sleeping? */
static inline bool all_asleep(const weft_pool *pool) {
  return wf_counters_sleeping(wf_counters_load(&pool->sleep.counters)) ==
         wf_pool_started(pool);
}

/* ---- work ---- */

static inline void do_nothing(void *ctx) {
  (void)ctx;
}

static inline void count_one(void *ctx) {
  atomic_fetch_add((atomic_ulong *)ctx, 1);
}

/* A binary tree; every node is a join. */
typedef struct tree {
  unsigned depth;
  uint64_t leaves; /* the result: 2 to the power of depth */
} tree;

static inline void tree_count(void *ctx) {
  tree *node = ctx;
  if (node->depth == 0) {
    node->leaves = 1;
    return;
  }
  tree left = {node->depth - 1, 0}, right = {node->depth - 1, 0};
  weft_join(tree_count, &left, tree_count, &right);
  node->leaves = left.leaves + right.leaves;
}

/* Counts a tree in the current pool and checks the result. */
static inline void check_tree(unsigned depth) {
  tree root = {depth, 0};
  tree_count(&root);
  CHECK_EQ(root.leaves, (uint64_t)1 << depth);
}

static inline void check_tree_task(void *ctx) {
  check_tree(*(const unsigned *)ctx);
}

/* Counts a tree in a pool. */
static inline void check_tree_in(weft_pool *pool, unsigned depth) {
  weft_pool_run(pool, check_tree_task, &depth);
}

/* ---- a join that must overlap ---- */

/* `a` is a long leaf: no fork and no join, so its thread answers nobody. It ends when `b`
 * has begun, which must then be on another thread. */
typedef struct pairing {
  pthread_t a_thread;
  atomic_bool b_began;
} pairing;

static inline void a_until_b(void *ctx) {
  pairing *pair = ctx;
  AWAIT(atomic_load(&pair->b_began));
}

static inline void b_begins(void *ctx) {
  pairing *pair = ctx;
  CHECK(!pthread_equal(pthread_self(), pair->a_thread));
  atomic_store(&pair->b_began, true);
}

static inline void join_pairing(void *ctx) {
  (void)ctx;
  pairing pair = {.a_thread = pthread_self()};
  weft_join(a_until_b, &pair, b_begins, &pair);
}

#endif
