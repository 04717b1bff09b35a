/* The stacks of waiting threads: a thread that waits for a stolen task runs other tasks
 * on its stack, and those may wait in turn. Uneven trees, small stacks and many callers
 * try to make that deep; how deep it gets is measured and must stay within the limits.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "sched/support.h"

#include <pthread.h>
#include <stdio.h>

/* As in src/sched/worker.c: tasks of anybody up to the first depth, tasks of the thief of
 * one's own up to the second. */
enum { HELP_ANYBODY_DEPTH = 16, HELP_THIEF_DEPTH = 64 };

static atomic_uint deepest_help;
static atomic_ulong deepest_stack;
static _Thread_local const char *stack_start;

static void note_start(unsigned worker, void *ctx) {
  (void)worker;
  (void)ctx;
  stack_start = __builtin_frame_address(0);
}

/* Called in every leaf: how many tasks of others are on this stack, and how long is it?
 */
static void measure(void) {
  unsigned depth = wf_worker_of(wf_self)->help_depth;
  unsigned seen = atomic_load(&deepest_help);
  while (seen < depth && !atomic_compare_exchange_weak(&deepest_help, &seen, depth)) {
  }
  if (stack_start == NULL) return; /* not a started thread */
  keep_largest(&deepest_stack,
               (size_t)(stack_start - (const char *)__builtin_frame_address(0)));
}

static weft_pool *pool_with_stacks(unsigned threads, size_t stack_size) {
  weft_config config = WEFT_CONFIG_INIT;
  config.threads = threads;
  config.stack_size = stack_size;
  config.on_start = note_start;
  atomic_store(&deepest_help, 0);
  atomic_store(&deepest_stack, 0);
  return pool_with(&config);
}

static void check_depth(const char *what) {
  unsigned depth = atomic_load(&deepest_help);
  CHECK_MSG(depth <= HELP_THIEF_DEPTH, "%u tasks of others on one stack", depth);
  printf("  %s: at most %u tasks of others, %lu bytes of a started thread's stack\n",
         what, depth, atomic_load(&deepest_stack));
}

/* 128 KiB is the least on aarch64. Sanitizers make frames many times larger. */
static size_t small_stack(void) {
  return harness_slowdown() == 1 ? 128 * 1024 : 4 * 1024 * 1024;
}

/* ---- uneven trees ---- */

/* The left half is one level shorter, the right half a third; leaves take different
 * times. A thread that waits finds much to steal, and waits again inside. */
typedef struct uneven {
  unsigned depth;
  uint64_t leaves;
} uneven;

static void uneven_run(void *ctx) {
  uneven *self = ctx;
  if (self->depth == 0) {
    measure();
    for (int i = 0; i < 30; i++) wf_sys_relax();
    self->leaves = 1;
    return;
  }
  uneven left = {self->depth - 1, 0}, right = {self->depth / 3, 0};
  weft_join(uneven_run, &left, uneven_run, &right);
  self->leaves = left.leaves + right.leaves;
}

static uint64_t uneven_leaves(unsigned depth) {
  return depth == 0 ? 1 : uneven_leaves(depth - 1) + uneven_leaves(depth / 3);
}

typedef struct load {
  weft_pool *pool;
  weft_fn *fn;
  unsigned depth;
  unsigned long rounds;
} load;

static void run_load(unsigned index, void *arg) {
  const load *l = arg;
  (void)index;
  for (unsigned long i = 0; i < l->rounds; i++) {
    uneven root = {l->depth, 0};
    weft_pool_run(l->pool, l->fn, &root);
    CHECK_EQ(root.leaves, uneven_leaves(l->depth));
  }
}

TEST(v16_uneven_trees_on_small_stacks) {
  for (unsigned threads = 2; threads <= 8; threads *= 2) {
    load l = {pool_with_stacks(threads, small_stack()), uneven_run, 40, scaled(50)};
    harness_run_threads(4, run_load, &l);
    weft_pool_destroy(l.pool);
    check_depth("uneven trees");
  }
}

/* Right-heavy: the forked half is the large one, so what is stolen is almost the whole
 * tree, and its owner waits from the start. */
static void stolen_run(void *ctx) {
  uneven *self = ctx;
  if (self->depth == 0) {
    measure();
    for (int i = 0; i < 30; i++) wf_sys_relax();
    self->leaves = 1;
    return;
  }
  uneven large = {self->depth - 1, 0}, small = {self->depth / 3, 0};
  weft_join(stolen_run, &small, stolen_run, &large);
  self->leaves = large.leaves + small.leaves;
}

TEST(v16_stolen_trees_on_small_stacks) {
  for (unsigned threads = 2; threads <= 8; threads *= 2) {
    load l = {pool_with_stacks(threads, small_stack()), stolen_run, 40, scaled(50)};
    harness_run_threads(4, run_load, &l);
    weft_pool_destroy(l.pool);
    check_depth("stolen trees");
  }
}

/* ---- the limits themselves ---- */

/* Each task of a chain is stolen, and its thief forks the next one and waits: so two
 * threads steal from each other, level by level, as deep as they are allowed to. */
typedef struct leap {
  unsigned depth; /* still to go */
  atomic_bool begun;
} leap;

/* Ends when the other thread has begun the next task. A thread that is beyond the first
 * limit need not come any more, so from there on this leaf only waits for a while. */
static void leap_wait(void *ctx) {
  leap *self = ctx;
  measure();
  AWAIT(atomic_load(&self->begun) || atomic_load(&deepest_help) >= HELP_ANYBODY_DEPTH);
  for (unsigned round = 0; round < 24 && !atomic_load(&self->begun);)
    harness_pause(&round);
}

static void leap_run(void *ctx) {
  leap *self = ctx;
  measure();
  atomic_store(&self->begun, true);
  if (self->depth == 0) return;
  leap next = {.depth = self->depth - 1};
  weft_join(leap_wait, &next, leap_run, &next);
}

/* Two threads and a chain that is longer than both may help: the depth reaches the first
 * limit and does not pass the second. */
TEST(v16_leapfrogging_stops_at_the_limit) {
  for (unsigned long i = 0; i < scaled(20); i++) {
    weft_pool *pool = pool_with_stacks(2, small_stack());
    leap first = {.depth = 4 * HELP_THIEF_DEPTH};
    weft_pool_run(pool, leap_run, &first);
    weft_pool_destroy(pool);
    CHECK(atomic_load(&deepest_help) >= HELP_ANYBODY_DEPTH);
    CHECK(atomic_load(&deepest_help) <= HELP_THIEF_DEPTH);
    if (i < 3) check_depth("leapfrogging");
  }
}
