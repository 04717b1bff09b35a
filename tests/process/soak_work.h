/* soak_work.h - what the callers of soak.c do: every feature of the library, each with a
 * result that is known. Memory or threads may be refused at any moment; a call then
 * returns the status that its header names, and everything else must still be right.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_PROCESS_SOAK_WORK_H
#define TESTS_PROCESS_SOAK_WORK_H

#include "support.h"

#include <stdatomic.h>
#include <weft.h>

enum { POOLS = 3, LENGTH = 5000 };

/* The pools that all callers share; the last one is NULL and means the global pool. */
static weft_pool *shared_pools[POOLS];

/* A caller: nothing here is allocated, because memory may be refused. */
typedef struct caller {
  uint64_t random;
  unsigned index;
  weft_pool *pool; /* of this round */
  int64_t numbers[LENGTH];
  atomic_ulong ran;
  atomic_ulong detached, done; /* functions handed over, functions run */
  unsigned long refused;       /* calls that said that they got no memory or thread */
} caller;

static uint64_t draw(caller *self, uint64_t below) {
  return harness_random(&self->random) % below;
}

static weft_opts opts_of(caller *self) {
  weft_opts opts = WEFT_OPTS_INIT;
  opts.pool = self->pool;
  return opts;
}

/* 0: it worked. A refusal is counted; any other status is wrong. */
static bool worked(caller *self, int status) {
  if (status == 0) return true;
  if (CHECK_MSG(status == WEFT_ENOMEM || status == WEFT_EAGAIN, "status %d", status))
    self->refused++;
  return false;
}

static void count_run(void *ctx) {
  atomic_fetch_add(&((caller *)ctx)->ran, 1);
}

/* ---- fork and join ---- */

typedef struct branch {
  unsigned depth;
  bool blocks;
  uint64_t leaves;
} branch;

static void grow(void *ctx) {
  branch *self = ctx;
  self->leaves = 1;
  if (self->depth == 0) return;
  if (self->blocks && self->depth == 3) {
    weft_blocking_begin();
    harness_linger(20);
    weft_blocking_end();
  }
  branch left = {self->depth - 1, self->blocks, 0}, right = left;
  weft_join(grow, &left, grow, &right);
  self->leaves = left.leaves + right.leaves;
}

static void check_join(caller *self, bool blocks) {
  branch root = {(unsigned)draw(self, blocks ? 6 : 12), blocks, 0};
  if (self->pool != NULL)
    weft_pool_run(self->pool, grow, &root);
  else
    grow(&root);
  CHECK_EQ(root.leaves, UINT64_C(1) << root.depth);
}

static void check_join_alone(caller *self) {
  check_join(self, false);
}

static void check_join_that_blocks(caller *self) {
  check_join(self, true);
}

/* ---- loops and algorithms ---- */

static void add_range(size_t begin, size_t end, void *ctx) {
  atomic_ulong sum = 0;
  for (size_t i = begin; i < end; i++) sum += i;
  atomic_fetch_add(&((caller *)ctx)->ran, sum);
}

static void check_for(caller *self) {
  weft_opts opts = opts_of(self);
  size_t n = (size_t)draw(self, 20000) + 1;
  atomic_store(&self->ran, 0);
  weft_for_with(&opts, n, add_range, self);
  CHECK_EQ(atomic_load(&self->ran), n * (n - 1) / 2);
}

static int by_value(const void *a, const void *b, void *ctx) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  (void)ctx;
  return (x > y) - (x < y);
}

static void check_sort(caller *self) {
  weft_opts opts = opts_of(self);
  size_t n = (size_t)draw(self, LENGTH) + 1;
  uint64_t before = 0, after = 0;
  for (size_t i = 0; i < n; i++) {
    self->numbers[i] = (int64_t)draw(self, 1 << 20);
    before += (uint64_t)self->numbers[i];
  }
  if (draw(self, 2) == 0)
    weft_sort_with(&opts, self->numbers, n, sizeof *self->numbers, by_value, NULL);
  else
    weft_sort_i64_with(&opts, self->numbers, n);
  for (size_t i = 0; i < n; i++) {
    after += (uint64_t)self->numbers[i];
    if (i > 0 && !CHECK(self->numbers[i - 1] <= self->numbers[i])) return;
  }
  CHECK_EQ(after, before);
}

static void check_sum(caller *self) {
  weft_opts opts = opts_of(self);
  for (size_t i = 0; i < LENGTH; i++) self->numbers[i] = (int64_t)i;
  CHECK_EQ(weft_sum_i64_with(&opts, self->numbers, LENGTH),
           (int64_t)LENGTH * (LENGTH - 1) / 2);
}

static bool is_even(const void *elem, void *ctx) {
  (void)ctx;
  return *(const int64_t *)elem % 2 == 0;
}

static void square(void *out, const void *in, void *ctx) {
  int64_t value = *(const int64_t *)in;
  (void)ctx;
  *(int64_t *)out = value * value;
}

static void check_iterator(caller *self) {
  int64_t n = (int64_t)draw(self, 5000), expected = 0;
  for (int64_t i = 0; i < n; i += 2) expected += i * i;
  weft_iter it = weft_iter_range(0, n);
  weft_iter_filter(&it, is_even, NULL);
  weft_iter_map(&it, sizeof(int64_t), square, NULL);
  weft_opts opts = opts_of(self);
  weft_iter_options(&it, &opts);
  CHECK_EQ(weft_iter_sum_i64(&it), expected);
}

/* ---- scopes, handles, detached work ---- */

static void spawn_all(void *ctx) {
  caller *self = ctx;
  weft_scope scope;
  unsigned long tasks = (unsigned long)draw(self, 200);
  atomic_store(&self->ran, 0);
  weft_scope_begin(&scope);
  for (unsigned long i = 0; i < tasks; i++) weft_spawn(&scope, count_run, self);
  CHECK_EQ(weft_scope_end(&scope), 0);
  CHECK_EQ(atomic_load(&self->ran), tasks);
}

static void check_scope(caller *self) {
  if (self->pool != NULL)
    weft_pool_run(self->pool, spawn_all, self);
  else
    spawn_all(self);
}

static void check_isolated(caller *self) {
  weft_isolate(spawn_all, self);
}

static void check_handles(caller *self) {
  enum { MOST = 8 };
  weft_handle *handles[MOST];
  weft_opts opts = opts_of(self);
  size_t made = 0;
  atomic_store(&self->ran, 0);
  while (made < MOST) {
    if (!worked(self, weft_async_with(&opts, &handles[made], count_run, self))) break;
    made++;
  }
  for (size_t i = 0; i < made; i++) CHECK_EQ(weft_handle_wait(handles[i]), 0);
  CHECK_EQ(atomic_load(&self->ran), made);
}

static void count_done(void *ctx) {
  atomic_fetch_add(&((caller *)ctx)->done, 1);
}

static void check_detached(caller *self) {
  weft_opts opts = opts_of(self);
  if (draw(self, 3) == 0) opts.lane = WEFT_LANE_BACKGROUND;
  for (int i = 0; i < 20; i++)
    if (worked(self, weft_detach_with(&opts, count_done, self)))
      atomic_fetch_add(&self->detached, 1);
}

static void count_worker(unsigned index, unsigned count, void *ctx) {
  (void)index;
  (void)count;
  count_run(ctx);
}

static void check_broadcast(caller *self) {
  weft_opts opts = opts_of(self);
  atomic_store(&self->ran, 0);
  weft_broadcast_with(&opts, count_worker, self);
  CHECK(atomic_load(&self->ran) >= 1);
}

/* ---- graphs and pipelines ---- */

static void check_graph(caller *self) {
  weft_graph *graph = NULL;
  weft_node *nodes[4];
  weft_opts opts = opts_of(self);
  if (!worked(self, weft_graph_create(&graph))) return;
  bool whole = true;
  for (int i = 0; i < 4; i++) {
    nodes[i] = weft_graph_add(graph, "node", count_run, self);
    whole = whole && nodes[i] != NULL;
  }
  for (int i = 1; i < 3 && whole; i++)
    whole = worked(self, weft_graph_edge(graph, nodes[0], nodes[i])) &&
            worked(self, weft_graph_edge(graph, nodes[i], nodes[3]));
  atomic_store(&self->ran, 0);
  if (whole && worked(self, weft_graph_run_with(&opts, graph)))
    CHECK_EQ(atomic_load(&self->ran), 4);
  if (!whole) self->refused++;
  weft_graph_destroy(graph);
}

static int make_item(void *item, size_t number, void *ctx) {
  (void)ctx;
  *(size_t *)item = number;
  return number < 100 ? 0 : WEFT_END;
}

static int take_item(void *item, size_t number, void *ctx) {
  CHECK_EQ(*(size_t *)item, number);
  count_run(ctx);
  return 0;
}

static void check_pipeline(caller *self) {
  const weft_stage stages[] = {{WEFT_STAGE_ORDERED, make_item, NULL},
                               {WEFT_STAGE_PARALLEL, take_item, self},
                               {WEFT_STAGE_SERIAL_BLOCKING, take_item, self}};
  weft_opts opts = opts_of(self);
  atomic_store(&self->ran, 0);
  if (worked(self, weft_pipeline_with(&opts, sizeof(size_t), 0, stages, 3)))
    CHECK_EQ(atomic_load(&self->ran), 200);
}

/* ---- pools and traces ---- */

static void check_own_pool(caller *self) {
  weft_config config = WEFT_CONFIG_INIT;
  weft_pool *pool = NULL;
  config.threads = (unsigned)draw(self, 6) + 1;
  if (!worked(self, weft_pool_create(&pool, &config))) return;
  branch root = {8, false, 0};
  weft_pool_run(pool, grow, &root);
  CHECK_EQ(root.leaves, 256);
  weft_pool_destroy(pool);
}

/* One trace at a time; the others find it busy. */
static void check_trace(caller *self) {
  char path[64];
  snprintf(path, sizeof path, "/tmp/weft-soak-%ld.json", (long)getpid());
  int status = weft_trace_start(path);
  if (status == WEFT_EBUSY || !worked(self, status)) return;
  check_join(self, false);
  check_for(self);
  weft_trace_stop();
  unlink(path);
}

typedef void action(caller *self);

static void play_round(caller *self) {
  static action *const ACTIONS[] = {check_join_alone, check_join_that_blocks,
                                    check_for,        check_for,
                                    check_sort,       check_sum,
                                    check_iterator,   check_scope,
                                    check_isolated,   check_handles,
                                    check_detached,   check_broadcast,
                                    check_graph,      check_pipeline,
                                    check_own_pool,   check_join_alone};
  enum { COUNT = sizeof ACTIONS / sizeof *ACTIONS };
  self->pool = shared_pools[draw(self, POOLS)];
  if (self->index == 0 && draw(self, 10) == 0)
    check_trace(self);
  else
    ACTIONS[draw(self, COUNT)](self);
}

#endif
