/* scenarios_task.h - joins, scopes, handles, graphs, detached work, broadcasts,
 * isolation, blocking sections.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_FAULT_SCENARIOS_TASK_H
#define TESTS_FAULT_SCENARIOS_TASK_H

#include "fault/scenario.h"

/* ---- joins ---- */

typedef struct rungs {
  unsigned depth, count;
} rungs;

static void one_rung(void *ctx) {
  ((rungs *)ctx)->count = 1;
}

/* Every level's fork waits in the deque while the levels below run. */
static void climb_down(void *ctx) {
  rungs *self = ctx;
  if (self->depth == 0) return;
  rungs below = {self->depth - 1, 0}, side = {0, 0};
  weft_join(climb_down, &below, one_rung, &side);
  self->count = below.count + side.count;
}

static int deep_joins(weft_pool *pool) {
  (void)pool;
  rungs top = {300, 0};
  climb_down(&top);
  return top.count == 300 ? 0 : WRONG;
}

static int invoked_functions(weft_pool *pool) {
  atomic_ulong ran = 0;
  weft_call calls[50];
  (void)pool;
  for (unsigned i = 0; i < 50; i++) calls[i] = (weft_call){count_one, &ran};
  weft_invoke(calls, 50);
  return all_ran(&ran, 50);
}

static void isolated_tree(void *ctx) {
  tree_count(ctx);
}

static int isolated_joins(weft_pool *pool) {
  (void)pool;
  tree root = {7, 0};
  weft_isolate(isolated_tree, &root);
  return root.leaves == 128 ? 0 : WRONG;
}

/* ---- detached work ---- */

static int detach_some(weft_pool *pool, weft_lane lane, int times) {
  atomic_ulong ran = 0;
  unsigned long accepted = 0;
  weft_opts opts = opts_on(pool);
  int status = 0;
  opts.lane = lane;
  for (int i = 0; i < times; i++) {
    const int one = weft_detach_with(&opts, count_one, &ran);
    if (one == 0) accepted++;
    if (status == 0) status = one;
  }
  AWAIT(atomic_load(&ran) >= accepted);
  return all_ran(&ran, accepted) == 0 ? status : WRONG;
}

static int detach_one(weft_pool *pool) {
  return detach_some(pool, WEFT_LANE_NORMAL, 1);
}

static int detach_many(weft_pool *pool) {
  return detach_some(pool, WEFT_LANE_NORMAL, 300);
}

static int detach_background(weft_pool *pool) {
  return detach_some(pool, WEFT_LANE_BACKGROUND, 100);
}

static int detach_inside(weft_pool *pool) {
  return detach_some(pool, WEFT_LANE_NORMAL, 20);
}

static int detach_nothing(weft_pool *pool) {
  return weft_pool_detach(pool, NULL, NULL);
}

/* ---- handles ---- */

static void count_and_join(void *ctx) {
  if (leaves_of(3) == 8) count_one(ctx);
}

static int async_some(weft_pool *pool, weft_lane lane, int times, bool drop) {
  atomic_ulong ran = 0;
  unsigned long accepted = 0;
  weft_opts opts = opts_on(pool);
  int status = 0;
  opts.lane = lane;
  for (int i = 0; i < times; i++) {
    weft_handle *handle = NULL;
    const int one = weft_async_with(&opts, &handle, count_and_join, &ran);
    if ((one == 0) != (handle != NULL)) return WRONG;
    if (one == 0) accepted++;
    if (status == 0) status = one;
    if (drop || one != 0)
      weft_handle_drop(handle);
    else if (weft_handle_wait(handle) != 0)
      return WRONG;
  }
  AWAIT(atomic_load(&ran) >= accepted);
  return all_ran(&ran, accepted) == 0 ? status : WRONG;
}

static int async_and_wait(weft_pool *pool) {
  return async_some(pool, WEFT_LANE_NORMAL, 20, false);
}

static int async_and_drop(weft_pool *pool) {
  return async_some(pool, WEFT_LANE_NORMAL, 20, true);
}

static int async_background(weft_pool *pool) {
  return async_some(pool, WEFT_LANE_BACKGROUND, 20, false);
}

static void count_through_copy(void *ctx) {
  count_one(*(atomic_ulong **)ctx);
}

/* All are started before the first is waited for. */
static int async_many(weft_pool *pool) {
  enum { HANDLES = 50 };
  weft_handle *handles[HANDLES];
  atomic_ulong ran = 0;
  unsigned long accepted = 0;
  weft_opts opts = opts_on(pool);
  int status = 0;
  for (int i = 0; i < HANDLES; i++) {
    const int one = weft_async_with(&opts, &handles[i], count_and_join, &ran);
    if (one == 0) accepted++;
    if (status == 0) status = one;
  }
  for (int i = 0; i < HANDLES; i++)
    if (handles[i] != NULL && weft_handle_wait(handles[i]) != 0) return WRONG;
  return all_ran(&ran, accepted) == 0 ? status : WRONG;
}

/* What follows on handles: what was accepted happens, whatever memory is missing. */
static int async_and_then(weft_pool *pool) {
  atomic_ulong ran = 0;
  unsigned long accepted = 0;
  weft_opts opts = opts_on(pool);
  int status = 0;
  for (int i = 0; i < 20; i++) {
    weft_handle *handle = NULL;
    int one = weft_async_with(&opts, &handle, count_and_join, &ran);
    if (status == 0) status = one;
    if (one != 0) continue;
    accepted++;
    for (int way = 0; way < 2; way++) {
      one = way == 0 ? weft_handle_then(handle, count_one, &ran)
                     : weft_handle_on_done(handle, count_one, &ran);
      if (one == 0) accepted++;
      if (status == 0) status = one;
    }
    if (i % 2 == 0)
      weft_handle_drop(handle);
    else if (weft_handle_wait_for(handle, UINT64_MAX) != 0)
      return WRONG;
  }
  AWAIT(atomic_load(&ran) >= accepted);
  return all_ran(&ran, accepted) == 0 ? status : WRONG;
}

static int async_copies(weft_pool *pool) {
  enum { HANDLES = 20 };
  weft_handle *handles[HANDLES];
  atomic_ulong ran = 0, *counted = &ran;
  size_t n = 0;
  weft_opts opts = opts_on(pool);
  int status = 0;
  for (int i = 0; i < HANDLES; i++) {
    const int one = weft_async_copy_with(&opts, &handles[n], &counted, sizeof counted,
                                         count_through_copy);
    if (one == 0) n++;
    if (status == 0) status = one;
  }
  if (n > 0 && weft_handle_wait_any(handles, n) >= n) return WRONG;
  if (weft_handle_wait_all(handles, n) != 0) return WRONG;
  return all_ran(&ran, n) == 0 ? status : WRONG;
}

/* ---- scopes ---- */

static int spawn_some(weft_pool *pool, weft_order order, int times) {
  atomic_ulong ran = 0;
  weft_opts opts = opts_on(pool);
  weft_scope scope;
  opts.order = order;
  weft_scope_begin_with(&opts, &scope);
  for (int i = 0; i < times; i++) weft_spawn(&scope, count_and_join, &ran);
  if (weft_scope_end(&scope) != 0) return WRONG;
  return all_ran(&ran, (unsigned long)times);
}

static int scope_of_nothing(weft_pool *pool) {
  return spawn_some(pool, WEFT_ORDER_LIFO, 0);
}

static int scope_of_some(weft_pool *pool) {
  return spawn_some(pool, WEFT_ORDER_LIFO, 20);
}

static int scope_of_many(weft_pool *pool) {
  return spawn_some(pool, WEFT_ORDER_LIFO, 1500);
}

static int scope_in_order(weft_pool *pool) {
  return spawn_some(pool, WEFT_ORDER_FIFO, 100);
}

enum { LARGEST_COPY = 6000 };

typedef struct copied {
  atomic_ulong *ran;
  unsigned char bytes[LARGEST_COPY - sizeof(atomic_ulong *)];
} copied;

static copied copy_source; /* of the one spawner */

static void check_copy(const copied *copy, size_t size) {
  bool right = true;
  for (size_t i = 0; i + offsetof(copied, bytes) < size; i++)
    if (copy->bytes[i] != (unsigned char)(i * 7)) right = false;
  if (right) atomic_fetch_add(copy->ran, 1);
}

static void take_16(void *ctx) {
  check_copy(ctx, 16);
}

static void take_1000(void *ctx) {
  check_copy(ctx, 1000);
}

static void take_3000(void *ctx) {
  check_copy(ctx, 3000);
}

static void take_6000(void *ctx) {
  check_copy(ctx, 6000);
}

static int copy_some(weft_pool *pool, size_t size, weft_fn *fn) {
  atomic_ulong ran = 0;
  weft_opts opts = opts_on(pool);
  weft_scope scope;
  weft_scope_begin_with(&opts, &scope);
  copy_source.ran = &ran;
  for (size_t i = 0; i < sizeof copy_source.bytes; i++)
    copy_source.bytes[i] = (unsigned char)(i * 7);
  for (int i = 0; i < 20; i++) weft_spawn_copy(&scope, &copy_source, size, fn);
  if (weft_scope_end(&scope) != 0) return WRONG;
  return all_ran(&ran, 20);
}

static int copies_of_16(weft_pool *pool) {
  return copy_some(pool, 16, take_16);
}

static int copies_of_1000(weft_pool *pool) {
  return copy_some(pool, 1000, take_1000);
}

static int copies_of_3000(weft_pool *pool) {
  return copy_some(pool, 3000, take_3000);
}

static int copies_of_6000(weft_pool *pool) {
  return copy_some(pool, 6000, take_6000);
}

typedef struct sprout {
  weft_scope *scope;
  atomic_ulong *ran;
  unsigned depth;
} sprout;

static void grow_sprout(void *ctx) {
  const sprout *self = ctx;
  sprout next = {self->scope, self->ran, self->depth - 1};
  atomic_fetch_add(self->ran, 1);
  for (int i = 0; i < 2 && self->depth > 0; i++)
    weft_spawn_copy(self->scope, &next, sizeof next, grow_sprout);
}

static int tasks_that_spawn(weft_pool *pool) {
  atomic_ulong ran = 0;
  weft_opts opts = opts_on(pool);
  weft_scope scope;
  weft_scope_begin_with(&opts, &scope);
  sprout root = {&scope, &ran, 6};
  weft_spawn_copy(&scope, &root, sizeof root, grow_sprout);
  if (weft_scope_end(&scope) != 0) return WRONG;
  return all_ran(&ran, 127);
}

static void scope_inside(void *ctx) {
  atomic_ulong *ran = ctx;
  weft_scope scope;
  weft_scope_begin(&scope);
  for (int i = 0; i < 4; i++) weft_spawn(&scope, count_one, ran);
  if (weft_scope_end(&scope) == 0) count_one(ran);
}

static int scopes_in_scopes(weft_pool *pool) {
  atomic_ulong ran = 0;
  weft_opts opts = opts_on(pool);
  weft_scope scope;
  weft_scope_begin_with(&opts, &scope);
  for (int i = 0; i < 10; i++) weft_spawn(&scope, scope_inside, &ran);
  if (weft_scope_end(&scope) != 0) return WRONG;
  return all_ran(&ran, 50);
}

static int cancelled_scope(weft_pool *pool) {
  atomic_ulong ran = 0;
  weft_opts opts = opts_on(pool);
  weft_scope scope;
  weft_scope_begin_with(&opts, &scope);
  weft_scope_cancel(&scope, 17);
  for (int i = 0; i < 20; i++) {
    weft_spawn(&scope, count_one, &ran);
    weft_spawn_copy(&scope, &copy_source, 1000, take_1000);
  }
  return weft_scope_end(&scope) == 17 ? all_ran(&ran, 0) : WRONG;
}

typedef struct open_scope {
  weft_scope scope;
  atomic_ulong ran;
} open_scope;

static void spawn_from_elsewhere(unsigned index, void *arg) {
  open_scope *open = arg;
  (void)index;
  for (int i = 0; i < 10; i++) weft_spawn(&open->scope, count_one, &open->ran);
}

static int spawns_by_others(weft_pool *pool) {
  open_scope open = {.ran = 0};
  weft_opts opts = opts_on(pool);
  weft_scope_begin_with(&opts, &open.scope);
  run_exempt_threads(3, spawn_from_elsewhere, &open);
  if (weft_scope_end(&open.scope) != 0) return WRONG;
  return all_ran(&open.ran, 30);
}

static void isolated_scope(void *ctx) {
  *(int *)ctx = spawn_some(NULL, WEFT_ORDER_LIFO, 20);
}

static int scope_in_isolation(weft_pool *pool) {
  (void)pool;
  int status = WRONG;
  weft_isolate(isolated_scope, &status);
  return status;
}

/* ---- every thread ---- */

typedef struct census {
  atomic_ulong calls, threads;
} census;

static void be_counted(unsigned index, unsigned count, void *ctx) {
  census *c = ctx;
  if (index < count) atomic_fetch_add(&c->calls, 1);
  atomic_store(&c->threads, count);
}

static int broadcast_somewhere(weft_pool *pool) {
  census c = {0, 0};
  weft_opts opts = opts_on(pool);
  weft_broadcast_with(&opts, be_counted, &c);
  return atomic_load(&c.calls) == atomic_load(&c.threads) ? 0 : WRONG;
}

static void broadcast_task(void *ctx) {
  if (broadcast_somewhere(NULL) == 0) count_one(ctx);
}

static int broadcasts_by_tasks(weft_pool *pool) {
  atomic_ulong ran = 0;
  weft_opts opts = opts_on(pool);
  weft_scope scope;
  weft_scope_begin_with(&opts, &scope);
  for (int i = 0; i < 4; i++) weft_spawn(&scope, broadcast_task, &ran);
  if (weft_scope_end(&scope) != 0) return WRONG;
  return all_ran(&ran, 4);
}

/* ---- letting others through ---- */

static int yields(weft_pool *pool) {
  atomic_ulong ran = 0;
  weft_scope scope;
  weft_opts opts = opts_on(pool);
  weft_scope_begin_with(&opts, &scope);
  for (int i = 0; i < 10; i++) weft_spawn(&scope, count_one, &ran);
  for (int i = 0; i < 10; i++) weft_yield();
  return weft_scope_end(&scope) == 0 ? all_ran(&ran, 10) : WRONG;
}

static void block_a_while(void *ctx) {
  weft_blocking_begin();
  sched_yield();
  weft_blocking_end();
  count_one(ctx);
}

static int blocking_sections(weft_pool *pool) {
  atomic_ulong ran = 0;
  weft_opts opts = opts_on(pool);
  weft_scope scope;
  weft_scope_begin_with(&opts, &scope);
  for (int i = 0; i < 10; i++) weft_spawn(&scope, block_a_while, &ran);
  return weft_scope_end(&scope) == 0 ? all_ran(&ran, 10) : WRONG;
}

static int blocking_here(weft_pool *pool) {
  atomic_ulong ran = 0;
  (void)pool;
  block_a_while(&ran);
  return leaves_of(6) == 64 ? all_ran(&ran, 1) : WRONG;
}

/* ---- graphs ---- */

/* One node before twenty, which come before a last one; in each run all count themselves.
 */
static int build_fan(weft_graph *g, atomic_ulong *ran) {
  weft_node *first = weft_graph_add(g, "first", count_one, ran);
  weft_node *last = weft_graph_add(g, "last", count_one, ran);
  int status = first != NULL && last != NULL ? 0 : WEFT_ENOMEM;
  for (int i = 0; i < 20 && status == 0; i++) {
    weft_node *node = weft_graph_add(g, NULL, count_one, ran);
    status = node != NULL ? weft_graph_edge(g, first, node) : WEFT_ENOMEM;
    if (status == 0) status = weft_graph_edge(g, node, last);
  }
  return status;
}

static int graph_of_some(weft_pool *pool) {
  atomic_ulong ran = 0;
  weft_opts opts = opts_on(pool);
  weft_graph *g;
  int status = weft_graph_create(&g);
  if (status != 0) return g == NULL ? status : WRONG;
  status = build_fan(g, &ran);
  for (unsigned long run = 1; run <= 3 && status == 0; run++)
    if (weft_graph_run_with(&opts, g) != 0 || all_ran(&ran, 22 * run) != 0)
      status = WRONG;
  weft_graph_destroy(g);
  return status;
}

/* clang-format off */
static const scenario TASK_SCENARIOS[] = {
    {"deep joins", deep_joins, IN_POOL, ONLY_OK, 0, true},
    {"invoked functions", invoked_functions, IN_POOL, ONLY_OK, 0, true},
    {"invoked from outside", invoked_functions, WITH_GLOBAL, ONLY_OK, 0, true},
    {"isolated joins", isolated_joins, IN_POOL, ONLY_OK, 0, true},
    {"isolated joins from outside", isolated_joins, WITH_GLOBAL, ONLY_OK, 0, true},
    {"detach one", detach_one, AT_POOL, OR_ENOMEM, 0, false},
    {"detach many", detach_many, AT_POOL, OR_ENOMEM, 0, false},
    {"detach background", detach_background, AT_POOL, OR_ENOMEM, 0, false},
    {"detach inside", detach_inside, IN_POOL, OR_ENOMEM, 0, false},
    {"detach nothing", detach_nothing, AT_POOL, ONLY_OK, WEFT_EINVAL, true},
    {"async, wait", async_and_wait, AT_POOL, OR_ENOMEM, 0, false},
    {"async, wait inside", async_and_wait, IN_POOL, OR_ENOMEM, 0, false},
    {"async, drop", async_and_drop, AT_POOL, OR_ENOMEM, 0, false},
    {"async background", async_background, IN_POOL, OR_ENOMEM, 0, false},
    {"async many", async_many, AT_POOL, OR_ENOMEM, 0, false},
    {"async, then", async_and_then, AT_POOL, OR_ENOMEM, 0, false},
    {"async, then inside", async_and_then, IN_POOL, OR_ENOMEM, 0, false},
    {"async copies", async_copies, AT_POOL, OR_ENOMEM, 0, false},
    {"async copies inside", async_copies, IN_POOL, OR_ENOMEM, 0, false},
    {"scope of nothing", scope_of_nothing, IN_POOL, ONLY_OK, 0, true},
    {"scope from outside", scope_of_nothing, AT_POOL, ONLY_OK, 0, true},
    {"scope of some", scope_of_some, IN_POOL, ONLY_OK, 0, false},
    {"scope of some from outside", scope_of_some, AT_POOL, ONLY_OK, 0, false},
    {"scope of many", scope_of_many, IN_POOL, ONLY_OK, 0, false},
    {"scope in order", scope_in_order, IN_POOL, ONLY_OK, 0, false},
    {"copies of 16 bytes", copies_of_16, IN_POOL, ONLY_OK, 0, false},
    {"copies of 1000 bytes", copies_of_1000, IN_POOL, ONLY_OK, 0, false},
    {"copies of 3000 bytes", copies_of_3000, IN_POOL, ONLY_OK, 0, false},
    {"copies of 6000 bytes", copies_of_6000, AT_POOL, ONLY_OK, 0, false},
    {"tasks that spawn", tasks_that_spawn, IN_POOL, ONLY_OK, 0, false},
    {"scopes in scopes", scopes_in_scopes, IN_POOL, ONLY_OK, 0, false},
    {"cancelled scope", cancelled_scope, IN_POOL, ONLY_OK, 0, false},
    {"spawns by others", spawns_by_others, AT_POOL, ONLY_OK, 0, false},
    {"scope in isolation", scope_in_isolation, IN_POOL, ONLY_OK, 0, false},
    {"graph", graph_of_some, IN_POOL, OR_ENOMEM, 0, false},
    {"graph from outside", graph_of_some, AT_POOL, OR_ENOMEM, 0, false},
    {"broadcast", broadcast_somewhere, AT_POOL, ONLY_OK, 0, true},
    {"broadcast inside", broadcast_somewhere, IN_POOL, ONLY_OK, 0, true},
    {"broadcasts by tasks", broadcasts_by_tasks, IN_POOL, ONLY_OK, 0, false},
    {"yields", yields, IN_POOL, ONLY_OK, 0, false},
    {"blocking sections", blocking_sections, IN_POOL, ONLY_OK, 0, false},
    {"blocking here", blocking_here, IN_POOL, ONLY_OK, 0, true},
};
/* clang-format on */

#endif
