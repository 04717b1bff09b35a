/* support.h - what the tests of the scheduler share: waiting, pools in one line, work
 * whose result is known, gates, threads that are kept busy, and marks that count calls.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_SCHED_SUPPORT_H
#define TESTS_SCHED_SUPPORT_H

#include "harness/harness.h"
#include "sched/pool.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <weft/join.h>
#include <weft/pool.h>
#include <weft/scope.h>
#include <weft/task.h>

/* Waits for what other threads bring about. If they never do, the watchdog ends the test.
 */
#define AWAIT(condition)                                                                 \
  do {                                                                                   \
    unsigned await_round = 0;                                                            \
    while (!(condition)) harness_pause(&await_round);                                    \
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
  return wf_sleep_sleeping(pool) == wf_pool_started(pool);
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

/* ---- calls with options, and time ---- */

static inline weft_opts opts_on(weft_pool *pool) {
  weft_opts opts = WEFT_OPTS_INIT;
  opts.pool = pool;
  return opts;
}

static inline void spin(unsigned times) {
  for (unsigned i = 0; i < times; i++) wf_sys_relax();
}

/* Lets other threads run for a while. Never needed for a test to pass: it gives a defect
 * the chance to show. */
static inline void give_others_time(void) {
  harness_linger(100);
}

/* ---- calls on threads of one's choice ---- */

typedef struct started_call {
  weft_fn *fn;
  void *ctx;
  atomic_bool done;
} started_call;

static inline void run_started_call(void *ctx) {
  started_call *call = ctx;
  call->fn(call->ctx);
  atomic_store(&call->done, true);
}

/* Runs fn(ctx) on a started thread of the pool. The caller waits without taking part. */
static inline void run_on_started(weft_pool *pool, weft_fn *fn, void *ctx) {
  started_call call = {.fn = fn, .ctx = ctx};
  REQUIRE(weft_pool_detach(pool, run_started_call, &call) == 0);
  AWAIT(atomic_load(&call.done));
}

/* Calls fn(ctx) in pools of several sizes, in ordinary ones and in those whose deques
 * must grow at once; by a caller from outside and by a started thread. */
static inline void in_pools(weft_fn *fn, void *ctx) {
  static const unsigned sizes[] = {1, 2, 3, 8};
  for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    for (unsigned capacity = 0; capacity <= 2; capacity += 2) {
      weft_config config = WEFT_CONFIG_INIT;
      config.threads = sizes[i];
      config.deque_capacity = capacity;
      weft_pool *pool = pool_with(&config);
      weft_pool_run(pool, fn, ctx);
      run_on_started(pool, fn, ctx);
      weft_pool_destroy(pool);
    }
  }
}

/* ---- gates ---- */

/* A place where tasks stand until it is opened. */
typedef struct gate {
  atomic_uint inside; /* how many have come */
  atomic_uint left;   /* how many have gone, and touch the gate no more */
  atomic_bool is_open;
} gate;

static inline void gate_pass(void *ctx) {
  gate *g = ctx;
  atomic_fetch_add(&g->inside, 1);
  AWAIT(atomic_load(&g->is_open));
  atomic_fetch_add(&g->left, 1);
}

static inline void gate_open(gate *g) {
  atomic_store(&g->is_open, true);
}

/* Keeps every started thread of a pool busy, from here until unplug. */
static inline void plug_threads(gate *plug, weft_pool *pool) {
  unsigned started = wf_pool_started(pool);
  for (unsigned i = 0; i < started; i++)
    REQUIRE(weft_pool_detach(pool, gate_pass, plug) == 0);
  AWAIT(atomic_load(&plug->inside) == started);
}

static inline void unplug(gate *plug) {
  gate_open(plug);
  AWAIT(atomic_load(&plug->left) == atomic_load(&plug->inside));
}

/* ---- marks ---- */

/* Each task has a mark of its own, a plain byte: so a task that runs twice at once, or
 * whose work is not visible to the thread that waits, is a data race that
 * ThreadSanitizer reports. */
static inline void mark(void *ctx) {
  unsigned char *own = ctx;
  ++*own;
}

static inline unsigned char *marks_of(size_t count) {
  unsigned char *marks = calloc(count + 1, 1);
  REQUIRE(marks != NULL);
  return marks;
}

/* Every mark was made exactly `times`; they start again from 0. */
static inline void check_marks(unsigned char *marks, size_t count, unsigned times) {
  for (size_t i = 0; i < count; i++)
    if (marks[i] != times) {
      CHECK_MSG(false, "task %zu of %zu ran %d times, not %u", i, count, marks[i], times);
      break;
    }
  memset(marks, 0, count);
}

/* A mark that also checks in which pool its task runs. */
typedef struct spot {
  weft_pool *pool;
  unsigned runs;
} spot;

static inline void run_spot(void *ctx) {
  spot *own = ctx;
  CHECK_EQ(weft_pool_current(), own->pool);
  CHECK(weft_worker_index() >= 0);
  own->runs++;
}

static inline spot *spots_of(size_t count, weft_pool *pool) {
  spot *spots = malloc((count + 1) * sizeof *spots);
  REQUIRE(spots != NULL);
  for (size_t i = 0; i < count; i++) spots[i] = (spot){pool, 0};
  return spots;
}

static inline void check_spots(const spot *spots, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (!CHECK_MSG(spots[i].runs == 1, "spot %zu of %zu: %u runs", i, count,
                   spots[i].runs))
      break;
}

/* ---- largest values ---- */

static inline void keep_largest(atomic_ulong *largest, unsigned long value) {
  unsigned long seen = atomic_load(largest);
  while (seen < value && !atomic_compare_exchange_weak(largest, &seen, value)) {
  }
}

/* How many are in a section at once, and the most that ever were. */
typedef struct crowd {
  atomic_ulong now, most;
} crowd;

static inline void crowd_enter(crowd *c) {
  keep_largest(&c->most, atomic_fetch_add(&c->now, 1) + 1);
}

static inline void crowd_leave(crowd *c) {
  atomic_fetch_sub(&c->now, 1);
}

#endif
