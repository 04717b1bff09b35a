/* WEFT_LOOP_2D (weft/typed_loop.h, src/par/loop/cells.c): every cell once, for matrices
 * of all shapes, ranges of rows and columns, options, and numbers of cells that overflow.
 *
 * SPDX-License-Identifier: MIT */
#include "par/loop/everywhere.h"

WEFT_LOOP_2D(mark_cell, r, c, unsigned char *, marks, size_t, cols) {
  marks[r * cols + c]++;
}
WEFT_LOOP_2D(no_arguments, r, c) {
  CHECK(r < 3 && c < 4);
}

static const size_t SIDES[] = {0,  1,  2,  3,   7,   31,  32,  33,  63,
                               64, 65, 97, 255, 256, 257, 511, 513, 1000};
enum { SIDES_COUNT = sizeof SIDES / sizeof SIDES[0] };

static void mark_matrices(void *ctx) {
  (void)ctx;
  for (unsigned i = 0; i < SIDES_COUNT; i++)
    for (unsigned j = 0; j < SIDES_COUNT; j++) {
      size_t rows = SIDES[i], cols = SIDES[j], n = rows * cols;
      if (n > 70000 / harness_slowdown()) continue;
      unsigned char *marks = marks_of(n);
      weft_opts opts = option_set((i + j) % OPTION_SETS);
      mark_cell(rows, cols, marks, cols);
      check_marks(marks, n, 1);
      mark_cell_with(&opts, rows, cols, marks, cols);
      check_marks(marks, n, 1);
      free(marks);
    }
  no_arguments(3, 4);
}

TEST(every_cell_once) {
  everywhere(mark_matrices, NULL);
}

/* Blocks of every length: parts of rows, rows, and both. */
TEST(blocks_of_every_length) {
  enum { ROWS = 35, COLS = 259 };
  unsigned char *marks = marks_of(ROWS * COLS);
  for (size_t length = 1; length < scaled(600); length++) {
    weft_opts opts = WEFT_OPTS_FIXED(length);
    opts.max_len = length;
    mark_cell_with(&opts, ROWS, COLS, marks, COLS);
    check_marks(marks, ROWS * COLS, 1);
  }
  free(marks);
  weft_shutdown();
}

static void mark_ranges(void *ctx) {
  enum { ROWS = 70, COLS = 300 };
  uint64_t random = harness_seed();
  unsigned char *marks = marks_of(ROWS * COLS);
  (void)ctx;
  for (unsigned long round = 0; round < scaled(60); round++) {
    size_t r0 = (size_t)(harness_random(&random) % (ROWS + 1));
    size_t r1 = (size_t)(harness_random(&random) % (ROWS + 1));
    size_t c0 = (size_t)(harness_random(&random) % (COLS + 1));
    size_t c1 = (size_t)(harness_random(&random) % (COLS + 1));
    weft_opts opts = option_set((unsigned)round % OPTION_SETS);
    memset(marks, 0, ROWS * COLS);
    mark_cell_range(r0, r1, c0, c1, marks, COLS);
    mark_cell_range_with(&opts, r0, r1, c0, c1, marks, COLS);
    for (size_t r = 0; r < ROWS; r++)
      for (size_t c = 0; c < COLS; c++) {
        bool inside = r >= r0 && r < r1 && c >= c0 && c < c1;
        if (!CHECK_EQ(marks[r * COLS + c], inside ? 2 : 0)) return;
      }
  }
  free(marks);
}

TEST(ranges_of_rows_and_columns) {
  everywhere(mark_ranges, NULL);
}

/* Few cells that take long are shared: both must run at the same time. */
WEFT_LOOP_2D(meet, r, c, atomic_uint *, arrived) {
  (void)r, (void)c;
  atomic_fetch_add(arrived, 1);
  AWAIT(atomic_load(arrived) == 2);
}

TEST(cells_of_one_row_or_column_run_at_the_same_time) {
  weft_pool *pool = pool_of(2);
  weft_opts opts = opts_on(pool);
  atomic_uint arrived = 0;
  meet_with(&opts, 2, 1, &arrived);
  atomic_store(&arrived, 0);
  meet_with(&opts, 1, 2, &arrived);
  weft_pool_destroy(pool);
}

/* ---- more cells than size_t has numbers ---- */

WEFT_LOOP_2D(cancel_at, r, c, weft_scope *, scope, size_t, row, size_t, col) {
  if (r == row && c == col) weft_scope_cancel(scope, 5);
}

static void cancel_huge(void *ctx) {
  static const size_t HUGE_SIDES[][2] = {{SIZE_MAX, SIZE_MAX},
                                         {SIZE_MAX, 2},
                                         {SIZE_MAX / 2 + 1, 2},
                                         {2, SIZE_MAX},
                                         {SIZE_MAX / 3, 40}};
  (void)ctx;
  for (unsigned i = 0; i < sizeof HUGE_SIDES / sizeof HUGE_SIDES[0]; i++) {
    weft_opts opts = WEFT_OPTS_INIT;
    weft_scope scope;
    weft_scope_begin(&scope);
    opts.cancel = &scope;
    opts.max_len = 1 << 16;
    cancel_at_with(&opts, HUGE_SIDES[i][0], HUGE_SIDES[i][1], &scope, 0, 1);
    CHECK_EQ(weft_scope_end(&scope), 5);
  }
}

TEST(matrices_whose_cells_have_no_numbers) {
  weft_pool *pool = pool_of(2);
  weft_pool_run(pool, cancel_huge, NULL);
  weft_pool_destroy(pool);
}

static void cancel_at_each_row(void *ctx) {
  (void)ctx;
  for (size_t when = 0; when < 100; when++) {
    unsigned char marks[10] = {0};
    weft_opts opts = option_set((unsigned)when % OPTION_SETS);
    weft_scope scope;
    weft_scope_begin(&scope);
    opts.cancel = &scope;
    cancel_at_with(&opts, 100, 300, &scope, when, when * 2);
    mark_cell_with(&opts, 2, 5, marks, 5); /* cancelled already */
    check_marks(marks, 10, 0);
    CHECK_EQ(weft_scope_end(&scope), 5);
  }
}

TEST(cancelled_at_each_row) {
  everywhere(cancel_at_each_row, NULL);
}
