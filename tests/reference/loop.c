/* reference/loop.c - examples of weft/loop.h, weft/opts.h and weft/typed_loop.h.
 *
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>
#include <weft.h>

#include "example.h"

/* example: weft_for */
static void scale(size_t begin, size_t end, void *ctx) {
  double *a = ctx;
  for (size_t i = begin; i < end; i++) a[i] *= 2;
}

EXAMPLE(loop_for) {
  double a[1000];
  for (int i = 0; i < 1000; i++) a[i] = i;
  weft_for(1000, scale, a);
  assert(a[0] == 0 && a[999] == 1998);
}

/* example: weft_for_with, weft_opts, WEFT_OPTS_INIT, WEFT_OPTS_FIXED */
static void add_one(size_t begin, size_t end, void *ctx) {
  int *a = ctx;
  for (size_t i = begin; i < end; i++) a[i]++;
}

EXAMPLE(loop_for_with) {
  int a[1000] = {0};
  weft_opts o = WEFT_OPTS_INIT;
  o.max_workers = 2; /* at most two threads */
  o.max_len = 100;   /* in blocks of at most 100 */
  weft_for_with(&o, 1000, add_one, a);

  weft_opts fixed = WEFT_OPTS_FIXED(250); /* four blocks of 250 */
  weft_for_with(&fixed, 1000, add_one, a);
  assert(a[0] == 2 && a[999] == 2);
}

/* example: weft_try_for */
static int all_positive(size_t begin, size_t end, void *ctx) {
  const double *a = ctx;
  for (size_t i = begin; i < end; i++)
    if (a[i] <= 0) return (int)i; /* any number that is not 0 */
  return 0;
}

EXAMPLE(loop_try_for) {
  double a[1000];
  for (int i = 0; i < 1000; i++) a[i] = 1;
  assert(weft_try_for(1000, all_positive, a) == 0);
  a[700] = a[300] = -1;
  assert(weft_try_for(1000, all_positive, a) == 300); /* always the lowest index */
}

/* example: weft_for_each */
struct person {
  const char *name;
  size_t length;
};

static void measure(void *elem, size_t index, void *ctx) {
  struct person *p = elem;
  (void)index, (void)ctx;
  p->length = strlen(p->name);
}

EXAMPLE(loop_for_each) {
  struct person people[] = {{"Ada", 0}, {"Grace", 0}, {"Barbara", 0}};
  weft_for_each(people, 3, sizeof *people, measure, NULL);
  assert(people[1].length == 5);
}

/* example: weft_try_for_each */
static int parse_digit(void *elem, size_t index, void *ctx) {
  char *c = elem;
  (void)index, (void)ctx;
  if (*c < '0' || *c > '9') return WEFT_EINVAL;
  *c = (char)(*c - '0');
  return 0;
}

EXAMPLE(loop_try_for_each) {
  char good[] = "0123", bad[] = "01x3";
  assert(weft_try_for_each(good, 4, 1, parse_digit, NULL) == 0 && good[3] == 3);
  assert(weft_try_for_each(bad, 4, 1, parse_digit, NULL) == WEFT_EINVAL);
}

/* example: weft_chunks */
static void sum_chunk(void *first, size_t count, size_t chunk_index, void *ctx) {
  const int *a = first;
  int *sums = ctx;
  for (size_t i = 0; i < count; i++) sums[chunk_index] += a[i];
}

EXAMPLE(loop_chunks) {
  int a[10] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, sums[3] = {0};
  weft_chunks(a, 10, sizeof *a, 4, sum_chunk, sums); /* 4, 4 and 2 elements */
  assert(sums[0] == 4 && sums[1] == 4 && sums[2] == 2);
}

/* example: weft_for_step */
static void cross_out(size_t i, void *ctx) {
  char *is_composite = ctx;
  is_composite[i] = 1;
}

EXAMPLE(loop_for_step) {
  char is_composite[30] = {0};
  weft_for_step(6, 30, 3, cross_out, is_composite); /* 6, 9, 12, ... */
  assert(!is_composite[3] && is_composite[6] && is_composite[27]);
}

/* example: weft_for_2d */
struct table {
  int cell[100][60];
};

static void number_cells(size_t r0, size_t r1, size_t c0, size_t c1, void *ctx) {
  struct table *t = ctx;
  for (size_t r = r0; r < r1; r++)
    for (size_t c = c0; c < c1; c++) t->cell[r][c] = (int)(r * 60 + c);
}

EXAMPLE(loop_for_2d) {
  static struct table t;
  weft_for_2d(100, 60, 16, 16, number_cells, &t); /* tiles of 16 x 16 */
  assert(t.cell[99][59] == 5999);
}

/* example: WEFT_LOOP, WEFT_SIMD */
WEFT_LOOP(saxpy, i, float, a, const float *, x, float *, y) {
  y[i] += a * x[i];
}

EXAMPLE(typed_loop) {
  float x[1000], y[1000] = {0};
  for (int i = 0; i < 1000; i++) x[i] = (float)i;
  saxpy(1000, 2.0f, x, y);
  saxpy_range(10, 20, 1.0f, x, y); /* only the elements 10 to 19 */
  assert(y[9] == 18 && y[10] == 30 && y[999] == 1998);
}

/* example: WEFT_LOOP_2D */
WEFT_LOOP_2D(transpose, r, c, int *, to, const int *, from) {
  to[c * 20 + r] = from[r * 30 + c];
}

EXAMPLE(typed_loop_2d) {
  int from[20 * 30], to[30 * 20];
  for (int i = 0; i < 600; i++) from[i] = i;
  transpose(20, 30, to, from); /* rows, columns, arguments */
  assert(to[1] == 30 && to[599] == 599);
}

/* example: WEFT_TRY_LOOP */
WEFT_TRY_LOOP(check_even, i, const int *, a) {
  return a[i] % 2 == 0 ? 0 : (int)i;
}

EXAMPLE(typed_try_loop) {
  int a[100];
  for (int i = 0; i < 100; i++) a[i] = 2 * i;
  assert(check_even(100, a) == 0);
  a[70] = a[20] = 1;
  assert(check_even(100, a) == 20);
}

/* example: WEFT_SUM_LOOP */
WEFT_SUM_LOOP(dot, double, i, const double *, x, const double *, y) {
  return x[i] * y[i];
}

EXAMPLE(typed_sum_loop) {
  double x[1000], y[1000];
  for (int i = 0; i < 1000; i++) x[i] = 0.5, y[i] = 2;
  assert(dot(1000, x, y) == 1000); /* the same bits on any number of threads */
}

/* example: WEFT_MIN_LOOP, WEFT_MAX_LOOP */
WEFT_MAX_LOOP(change, double, i, const double *, now, const double *, before) {
  return fabs(now[i] - before[i]);
}

EXAMPLE(typed_max_loop) {
  double now[3] = {1, 2, 3}, before[3] = {1, 5, 2};
  assert(change(3, now, before) == 3);
}

/* example: WEFT_REDUCE_LOOP */
static inline size_t max_size(size_t a, size_t b) {
  return a > b ? a : b;
}

WEFT_REDUCE_LOOP(longest, size_t, 0, max_size, i, const char *const *, words) {
  return strlen(words[i]);
}

EXAMPLE(typed_reduce_loop) {
  const char *words[] = {"warp", "weft", "shuttle"};
  assert(longest(3, words) == 7);
}
