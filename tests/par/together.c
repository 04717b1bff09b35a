/* The calls inside each other: sorts inside loops inside joins inside a scope on another
 * pool, and all of it under cancellation at any moment.
 *
 * SPDX-License-Identifier: MIT */
#include "support.h"

enum { ROWS = 24, COLUMNS = 5000 };

typedef struct table {
  weft_pool *pools[2];
  uint32_t *cells; /* ROWS x COLUMNS */
  weft_scope *cancel;
  atomic_ulong rows_done;
  unsigned long cancel_after; /* the scope is cancelled after this many rows; 0: never */
} table;

static uint32_t *row_of(const table *t, size_t row) {
  return t->cells + row * COLUMNS;
}

static void fill_table(table *t, uint64_t *random) {
  fill_random(t->cells, sizeof *t->cells * ROWS * COLUMNS, random);
}

static int compare_u32(const void *a, const void *b, void *ctx) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  (void)ctx;
  return (x > y) - (x < y);
}

static bool is_even(const void *elem, void *ctx) {
  (void)ctx;
  return *(const uint32_t *)elem % 2 == 0;
}

static weft_opts cancelled_by(const table *t) {
  weft_opts opts = WEFT_OPTS_INIT;
  opts.cancel = t->cancel;
  return opts;
}

/* A row: sorted in one of three ways, counted, summed and searched. */
static void do_row(table *t, size_t row) {
  weft_opts opts = cancelled_by(t);
  uint32_t *cells = row_of(t, row);
  uint64_t sum = weft_sum_u32(cells, COLUMNS);
  if (row % 3 == 0)
    weft_sort_with(&opts, cells, COLUMNS, sizeof *cells, compare_u32, NULL);
  else if (row % 3 == 1)
    weft_sort_stable_with(&opts, cells, COLUMNS, sizeof *cells, compare_u32, NULL);
  else
    weft_sort_u32_with(&opts, cells, COLUMNS);
  CHECK_EQ(weft_sum_u32(cells, COLUMNS), sum); /* the same elements, sorted or not */
  uint32_t *even = array_of(COLUMNS, sizeof *even);
  size_t kept =
      weft_filter_with(&opts, even, cells, COLUMNS, sizeof *cells, is_even, NULL);
  if (!weft_scope_cancelled(t->cancel)) {
    CHECK(weft_is_sorted_u32(cells, COLUMNS));
    CHECK_EQ(weft_count(cells, COLUMNS, sizeof *cells, is_even, NULL), kept);
    CHECK(weft_all(even, kept, sizeof *even, is_even, NULL));
  } else {
    CHECK(kept <= COLUMNS);
  }
  free(even);
  if (atomic_fetch_add(&t->rows_done, 1) + 1 == t->cancel_after)
    weft_scope_cancel(t->cancel, 7);
}

static void do_rows(size_t begin, size_t end, void *ctx) {
  for (size_t row = begin; row < end; row++) do_row(ctx, row);
}

static void lower_rows(size_t begin, size_t end, void *ctx) {
  do_rows(begin, end, ctx);
}

static void upper_rows(size_t begin, size_t end, void *ctx) {
  do_rows(begin + ROWS / 2, end + ROWS / 2, ctx);
}

static void loop_over_lower(void *ctx) {
  weft_opts opts = cancelled_by(ctx);
  weft_for_with(&opts, ROWS / 2, lower_rows, ctx);
}

static void loop_over_upper(void *ctx) {
  weft_opts opts = cancelled_by(ctx);
  opts.pool = ((table *)ctx)->pools[1]; /* and on to another pool */
  weft_for_with(&opts, ROWS / 2, upper_rows, ctx);
}

static void join_loops(void *ctx) {
  weft_join(loop_over_lower, ctx, loop_over_upper, ctx);
}

static void do_table(table *t, unsigned long cancel_after, uint64_t *random) {
  weft_opts opts = WEFT_OPTS_INIT;
  weft_scope scope;
  opts.pool = t->pools[0];
  t->cancel = &scope;
  t->cancel_after = cancel_after;
  atomic_store(&t->rows_done, 0);
  fill_table(t, random);
  weft_scope_begin_with(&opts, &scope);
  weft_spawn(&scope, join_loops, t);
  CHECK_EQ(weft_scope_end(&scope), cancel_after != 0 ? 7 : 0);
  if (cancel_after == 0) CHECK_EQ(atomic_load(&t->rows_done), ROWS);
}

static void with_pools(unsigned first, unsigned second, unsigned long cancel_after) {
  uint64_t random = harness_seed();
  table t = {.pools = {pool_of(first), pool_of(second)}};
  t.cells = array_of(ROWS * COLUMNS, sizeof *t.cells);
  for (unsigned long i = 0; i < scaled(20); i++)
    do_table(&t, cancel_after == 0 ? 0 : 1 + (cancel_after + i) % ROWS, &random);
  free(t.cells);
  weft_pool_destroy(t.pools[0]);
  weft_pool_destroy(t.pools[1]);
}

TEST(sorts_in_loops_in_joins_in_a_scope_on_another_pool) {
  for (unsigned i = 0; i < THREADS_COUNT; i++)
    with_pools(THREADS[i], THREADS[(i + 1) % THREADS_COUNT], 0);
}

TEST(all_of_it_under_cancellation) {
  for (unsigned i = 0; i < THREADS_COUNT; i++)
    with_pools(THREADS[i], THREADS[(i + 1) % THREADS_COUNT], 1 + i);
}

/* Somebody else cancels, at any moment. */
typedef struct canceller {
  weft_scope *scope;
  unsigned delay;
} canceller;

static void cancel_later(void *ctx) {
  const canceller *c = ctx;
  for (volatile unsigned i = 0; i < c->delay; i++) continue;
  weft_scope_cancel(c->scope, 9);
}

/* A sort that is cancelled anywhere keeps its elements. */
static void sort_beside_a_canceller(weft_pool *pool, size_t n, unsigned delay, int way) {
  weft_opts opts = WEFT_OPTS_INIT;
  uint64_t random = harness_seed() + delay;
  uint32_t *a = array_of(n, sizeof *a);
  weft_scope scope;
  canceller c = {&scope, delay};
  fill_random(a, n * sizeof *a, &random);
  uint64_t sum = 0, mixed = 0;
  for (size_t i = 0; i < n; i++) {
    sum += a[i];
    mixed ^= (uint64_t)a[i] * 0x9E3779B97F4A7C15u;
  }
  opts.pool = pool;
  weft_scope_begin_with(&opts, &scope);
  weft_spawn(&scope, cancel_later, &c);
  opts.cancel = &scope;
  if (way == 0)
    weft_sort_with(&opts, a, n, sizeof *a, compare_u32, NULL);
  else if (way == 1)
    weft_sort_stable_with(&opts, a, n, sizeof *a, compare_u32, NULL);
  else
    weft_sort_u32_with(&opts, a, n);
  bool whole = !weft_scope_cancelled(&scope);
  CHECK_EQ(weft_scope_end(&scope), 9);
  if (whole) CHECK(weft_is_sorted_u32(a, n));
  for (size_t i = 0; i < n; i++) {
    sum -= a[i];
    mixed ^= (uint64_t)a[i] * 0x9E3779B97F4A7C15u;
  }
  CHECK_EQ(sum, 0);
  CHECK_EQ(mixed, 0);
  free(a);
}

TEST(cancelled_sorts_keep_their_elements) {
  for (unsigned i = 0; i < THREADS_COUNT; i++) {
    weft_pool *pool = pool_of(THREADS[i]);
    for (unsigned long k = 0; k < scaled(60); k++)
      sort_beside_a_canceller(pool, 100000, (unsigned)(k * k * 400), (int)(k % 3));
    weft_pool_destroy(pool);
  }
}
