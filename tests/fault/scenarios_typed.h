/* scenarios_typed.h - typed tasks, handles, loops and functions; progress and traces.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_FAULT_SCENARIOS_TYPED_H
#define TESTS_FAULT_SCENARIOS_TYPED_H

#include "fault/scenarios_par.h"

#include <stdio.h>
#include <unistd.h>

/* ---- tasks ---- */

WEFT_TASK(uint64_t, typed_leaves, unsigned, depth) {
  if (depth == 0) return 1;
  typed_leaves_task left;
  typed_leaves_fork(&left, depth - 1);
  uint64_t right = typed_leaves(depth - 1);
  return typed_leaves_join(&left) + right;
}

static int typed_tasks(weft_pool *pool) {
  (void)pool;
  return is_true(typed_leaves(8) == 256);
}

/* More forks open than the deque has room for. */
static int typed_tasks_open(weft_pool *pool) {
  enum { OPEN = 40 };
  typed_leaves_task tasks[OPEN];
  uint64_t sum = 0;
  (void)pool;
  for (unsigned i = 0; i < OPEN; i++) typed_leaves_fork(&tasks[i], i % 3);
  for (unsigned i = OPEN; i-- > 0;) sum += typed_leaves_join(&tasks[i]);
  return is_true(sum == 14 * 1 + 13 * 2 + 13 * 4);
}

WEFT_ASYNC(uint64_t, typed_sum, uint64_t, a, uint64_t, b) {
  return a + b;
}

static int typed_handles(weft_pool *pool) {
  weft_opts opts = opts_on(pool);
  typed_sum_handle handle;
  int status = typed_sum_async_with(&opts, &handle, 40, 2);
  if (status != 0) return handle.handle == NULL ? status : WRONG;
  return is_true(typed_sum_wait(handle) == 42);
}

/* ---- loops and functions ---- */

WEFT_LOOP(typed_hits, i, unsigned char *, hits) {
  hits[i]++;
}
WEFT_SUM_LOOP(typed_row_sum, uint64_t, i, const uint32_t *, a) {
  return a[i];
}

static int typed_loops(weft_pool *pool) {
  (void)pool;
  fill_arrays();
  typed_hits(ROWS, hits_of);
  if (typed_row_sum(ROWS, source) != (uint64_t)ROWS * (ROWS - 1) / 2) return WRONG;
  return each_hit_once();
}

static inline uint64_t twice_as_wide(uint32_t x, void *ctx) {
  (void)ctx;
  return 2 * (uint64_t)x;
}
static inline bool is_odd_row(uint32_t x, void *ctx) {
  (void)ctx;
  return x % 2 != 0;
}
static inline uint64_t add_row(uint64_t sum, uint32_t x, void *ctx) {
  (void)ctx;
  return sum + x;
}
static inline uint64_t add_sums(uint64_t a, uint64_t b, void *ctx) {
  (void)ctx;
  return a + b;
}
static inline bool row_is_less(const uint32_t *a, const uint32_t *b, void *ctx) {
  (void)ctx;
  return *a < *b;
}
WEFT_MAP(typed_map, uint32_t, uint64_t, twice_as_wide)
WEFT_FILTER(typed_filter, uint32_t, is_odd_row)
WEFT_FIND(typed_find, uint32_t, is_odd_row)
WEFT_COUNT(typed_count, uint32_t, is_odd_row)
WEFT_FOLD(typed_fold, uint64_t, uint32_t, 0, add_row, add_sums)
WEFT_SCAN(typed_scan, uint64_t, 0, add_sums)
WEFT_SORT(typed_sort, uint32_t, row_is_less)

static int typed_functions(weft_pool *pool) {
  (void)pool;
  fill_arrays();
  typed_map(wide_target, source, ROWS, NULL);
  for (size_t i = 0; i < ROWS; i++)
    if (wide_target[i] != 2 * (uint64_t)source[i]) return WRONG;
  bool right = typed_filter(target, source, ROWS, NULL) == ROWS / 2 &&
               typed_count(source, ROWS, NULL) == ROWS / 2 &&
               source[typed_find(source, ROWS, NULL)] % 2 != 0 &&
               typed_fold(source, ROWS, NULL) == (uint64_t)ROWS * (ROWS - 1) / 2;
  typed_scan(wide_target, wide_source, ROWS, NULL);
  right = right && wide_target[ROWS - 1] == (uint64_t)ROWS * (ROWS - 1) / 2;
  typed_sort_stable(source, ROWS, NULL);
  return is_true(right && ascends(source, ROWS) == 0);
}

static int typed_sorts(weft_pool *pool) {
  (void)pool;
  fill_arrays();
  typed_sort(source, ROWS, NULL);
  return ascends(source, ROWS);
}

/* ---- progress and traces ---- */

static void add_progress(size_t begin, size_t end, void *ctx) {
  weft_progress_add(ctx, end - begin);
}

static int progresses(weft_pool *pool) {
  weft_progress *progress;
  weft_progress_state state = WEFT_PROGRESS_STATE_INIT;
  (void)pool;
  int status = weft_progress_begin(&progress, "rows", ROWS);
  weft_for(ROWS, add_progress, progress); /* NULL is allowed */
  if (status != 0) return progress == NULL ? status : WRONG;
  weft_progress_get(progress, &state);
  weft_progress_end(progress);
  return is_true(state.done == ROWS);
}

/* Where a track, the file or its thread cannot be had, less is in the file, or there is
 * none; the program goes on. */
static int traces(weft_pool *pool) {
  char path[64];
  (void)snprintf(path, sizeof path, "/tmp/weft-fault-%ld.json", (long)getpid());
  int status = weft_trace_start(path);
  bool right = leaves_of(6) == 64;
  (void)pool;
  weft_trace_stop();
  (void)remove(path);
  if (status == WEFT_EAGAIN || status == WEFT_EIO || status == WEFT_ENOMEM)
    status = 0; /* what failed was its own; a thread may lack memory, too */
  return right ? status : WRONG;
}

/* clang-format off */
static const scenario TYPED_SCENARIOS[] = {
    {"typed tasks", typed_tasks, IN_POOL, ONLY_OK, 0, true},
    {"typed tasks from outside", typed_tasks, WITH_GLOBAL, ONLY_OK, 0, false},
    {"typed tasks, many open", typed_tasks_open, IN_POOL, ONLY_OK, 0, false},
    {"typed tasks, many open outside", typed_tasks_open, WITH_GLOBAL, ONLY_OK, 0, false},
    {"typed handle", typed_handles, AT_POOL, OR_ENOMEM, 0, false},
    {"typed handle inside", typed_handles, IN_POOL, OR_ENOMEM, 0, false},
    {"typed loops", typed_loops, IN_POOL, ONLY_OK, 0, true},
    {"typed functions", typed_functions, IN_POOL, ONLY_OK, 0, false},
    {"typed sort", typed_sorts, IN_POOL, ONLY_OK, 0, false},
    {"progress", progresses, IN_POOL, OR_ENOMEM, 0, false},
    {"trace", traces, IN_POOL, ONLY_OK, 0, false},
};
/* clang-format on */

#endif
