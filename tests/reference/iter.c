/* reference/iter.c - examples of weft/iter.h and weft/iter_kernel.h.
 *
 * SPDX-License-Identifier: MIT */
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <weft.h>

#include "example.h"

/* example: weft_iter, weft_iter_slice, weft_iter_filter, weft_iter_map */
static bool is_even(const void *x, void *ctx) {
  (void)ctx;
  return *(const int *)x % 2 == 0;
}

static void square(void *out, const void *in, void *ctx) {
  int x = *(const int *)in;
  (void)ctx;
  *(int64_t *)out = (int64_t)x * x;
}

EXAMPLE(iter_chain_of_stages) {
  int a[6] = {1, 2, 3, 4, 5, 6};
  weft_iter it = weft_iter_slice(a, 6, sizeof *a);
  weft_iter_filter(&it, is_even, NULL);
  weft_iter_map(&it, sizeof(int64_t), square, NULL);
  assert(weft_iter_sum_i64(&it) == 4 + 16 + 36); /* runs it */
}

/* example: weft_iter_refs */
static void set_to_seven(const void *elem, void *ctx) {
  int *x = *(int *const *)elem; /* elements are pointers into the array */
  (void)ctx;
  *x = 7;
}

EXAMPLE(iter_refs) {
  int a[100] = {0};
  weft_iter it = weft_iter_refs(a, 100, sizeof *a);
  weft_iter_for_each(&it, set_to_seven, NULL);
  assert(a[99] == 7);
}

/* example: weft_iter_range, weft_iter_range_step */
EXAMPLE(iter_range) {
  weft_iter numbers = weft_iter_range(0, 10);
  weft_iter down = weft_iter_range_step(10, 0, -2); /* 10 8 6 4 2 */
  assert(weft_iter_sum_i64(&numbers) == 45);
  assert(weft_iter_count(&down) == 5 && weft_iter_min_i64(&down) == 2);
}

/* example: weft_iter_chunks, weft_iter_windows, weft_chunk */
static void sum_of_part(void *out, const void *in, void *ctx) {
  const weft_chunk *part = in;
  int64_t sum = 0;
  (void)ctx;
  for (size_t i = 0; i < part->count; i++) sum += ((const int *)part->data)[i];
  *(int64_t *)out = sum;
}

EXAMPLE(iter_chunks) {
  int a[5] = {1, 2, 3, 4, 5};
  int64_t sums[4];
  weft_iter parts = weft_iter_chunks(a, 5, sizeof *a, 2); /* {1 2} {3 4} {5} */
  weft_iter_map(&parts, sizeof *sums, sum_of_part, NULL);
  assert(weft_iter_collect(&parts, sums, 4, sizeof *sums) == 3 && sums[1] == 7);

  weft_iter pairs = weft_iter_windows(a, 5, sizeof *a, 2); /* {1 2} {2 3} {3 4} {4 5} */
  weft_iter_map(&pairs, sizeof *sums, sum_of_part, NULL);
  assert(weft_iter_max_i64(&pairs) == 9);
}

/* example: weft_iter_tiles, weft_tile */
static void area(void *out, const void *in, void *ctx) {
  const weft_tile *t = in;
  (void)ctx;
  *(int64_t *)out = (int64_t)((t->r1 - t->r0) * (t->c1 - t->c0));
}

EXAMPLE(iter_tiles) {
  weft_iter it = weft_iter_tiles(100, 50, 16, 16);
  weft_iter_map(&it, sizeof(int64_t), area, NULL);
  assert(weft_iter_sum_i64(&it) == 5000);
}

/* example: weft_iter_repeat */
EXAMPLE(iter_repeat) {
  double value = 0.5;
  weft_iter it = weft_iter_repeat(&value, 10, sizeof value);
  assert(weft_iter_sum_f64(&it) == 5);
}

/* example: weft_iter_from */
static void squares(void *out, size_t first, size_t n, void *ctx) {
  uint64_t *to = out;
  (void)ctx;
  for (size_t i = 0; i < n; i++) to[i] = (first + i) * (first + i);
}

EXAMPLE(iter_from) {
  weft_iter it = weft_iter_from(1000, sizeof(uint64_t), squares, NULL);
  assert(weft_iter_sum_u64(&it) == 332833500);
}

/* example: weft_iter_split */
struct interval {
  double from, to;
};

static bool halve(void *piece, void *right, void *ctx) {
  struct interval *left = piece, *other = right;
  (void)ctx;
  if (left->to - left->from < 0.001) return false; /* small enough: a leaf */
  *other = (struct interval){(left->from + left->to) / 2, left->to};
  left->to = other->from;
  return true;
}

static void area_below_parabola(void *out, const void *in, void *ctx) {
  const struct interval *i = in;
  double middle = (i->from + i->to) / 2;
  (void)ctx;
  *(double *)out = (i->to - i->from) * middle * middle;
}

EXAMPLE(iter_split) {
  struct interval whole = {0, 1};
  weft_iter it = weft_iter_split(&whole, sizeof whole, halve, NULL);
  weft_iter_map(&it, sizeof(double), area_below_parabola, NULL);
  double integral = weft_iter_sum_f64(&it);
  assert(integral > 0.33333 && integral < 0.33334);
}

/* example: weft_iter_pull */
static size_t next_numbers(void *out, size_t room, void *ctx) {
  int *next = ctx; /* called by one thread at a time */
  size_t count = 0;
  while (count < room && *next < 1000) ((int *)out)[count++] = (*next)++;
  return count; /* 0 is the end */
}

EXAMPLE(iter_pull) {
  int next = 0;
  weft_iter it = weft_iter_pull(sizeof(int), next_numbers, &next);
  assert(weft_iter_sum_i32(&it) == 499500);
}

/* example: weft_iter_lines, weft_line */
static bool is_error(const void *elem, void *ctx) {
  const weft_line *line = elem;
  (void)ctx;
  return line->length >= 5 && memcmp(line->text, "error", 5) == 0;
}

EXAMPLE(iter_lines) {
  const char *text = "ok\nerror: no file\nok\nerror: no room";
  weft_iter it = weft_iter_lines(text, strlen(text));
  weft_iter_filter(&it, is_error, NULL);
  assert(weft_iter_count(&it) == 2);
}

/* example: weft_iter_inspect */
static void count_one(const void *elem, void *ctx) {
  (void)elem;
  atomic_fetch_add((_Atomic int *)ctx, 1);
}

EXAMPLE(iter_inspect) {
  _Atomic int seen = 0;
  weft_iter it = weft_iter_range(0, 100);
  weft_iter_inspect(&it, count_one, &seen);
  assert(weft_iter_sum_i64(&it) == 4950 && seen == 100);
}

/* example: weft_iter_enumerate */
struct numbered {
  size_t index;
  char letter;
};

static bool is_x(const void *elem, void *ctx) {
  (void)ctx;
  return ((const struct numbered *)elem)->letter == 'x';
}

EXAMPLE(iter_enumerate) {
  struct numbered found;
  weft_iter it = weft_iter_slice("abxab", 5, 1);
  weft_iter_enumerate(&it, sizeof found, offsetof(struct numbered, letter));
  assert(weft_iter_find_first(&it, &found, sizeof found, is_x, NULL) && found.index == 2);
}

/* example: weft_iter_filter_map */
static bool digit_value(void *out, const void *in, void *ctx) {
  char c = *(const char *)in;
  (void)ctx;
  *(int *)out = c - '0';
  return c >= '0' && c <= '9';
}

EXAMPLE(iter_filter_map) {
  weft_iter it = weft_iter_slice("a1b2c3", 6, 1);
  weft_iter_filter_map(&it, sizeof(int), digit_value, NULL);
  assert(weft_iter_sum_i32(&it) == 6);
}

/* example: weft_iter_flat_map, weft_emit, weft_emit_count, weft_out */
static void copies(const void *x, weft_out *out, void *ctx) {
  int n = *(const int *)x;
  (void)ctx;
  if (weft_emit_count(out, (size_t)n)) return; /* only their number matters */
  for (int i = 0; i < n; i++) weft_emit(out, &n, sizeof n);
}

EXAMPLE(iter_flat_map) {
  int a[3] = {1, 2, 3}; /* 1 2 2 3 3 3 */
  weft_iter it = weft_iter_slice(a, 3, sizeof *a);
  weft_iter_flat_map(&it, sizeof(int), copies, NULL);
  assert(weft_iter_count(&it) == 6 && weft_iter_sum_i32(&it) == 14);
}

/* example: weft_iter_take_while */
static bool is_below_50(const void *x, void *ctx) {
  (void)ctx;
  return *(const int64_t *)x < 50;
}

EXAMPLE(iter_take_while) {
  weft_iter it = weft_iter_range(0, 1000);
  weft_iter_take_while(&it, is_below_50, NULL);
  assert(weft_iter_count(&it) == 50);
}

/* example: weft_iter_step, weft_iter_skip, weft_iter_take, weft_iter_reverse */
EXAMPLE(iter_positions) {
  int64_t to[3];
  weft_iter it = weft_iter_range(0, 100);
  weft_iter_skip(&it, 10); /* 10 11 12 ... */
  weft_iter_step(&it, 5);  /* 10 15 20 ... */
  weft_iter_take(&it, 3);  /* 10 15 20 */
  weft_iter_reverse(&it);  /* 20 15 10 */
  assert(weft_iter_collect(&it, to, 3, sizeof *to) == 3 && to[0] == 20 && to[2] == 10);
}

/* example: weft_iter_chunk */
static void first_of(void *out, const void *in, void *ctx) {
  (void)ctx;
  *(int64_t *)out = *(const int64_t *)((const weft_chunk *)in)->data;
}

EXAMPLE(iter_chunk) {
  weft_iter it = weft_iter_range(0, 10);
  weft_iter_chunk(&it, 4); /* {0 1 2 3} {4 5 6 7} {8 9} */
  weft_iter_map(&it, sizeof(int64_t), first_of, NULL);
  assert(weft_iter_sum_i64(&it) == 12);
}

/* example: weft_iter_zip */
struct pair {
  int64_t left;
  double right;
};

EXAMPLE(iter_zip) {
  double prices[3] = {1, 2, 4};
  struct pair pairs[3];
  weft_iter it = weft_iter_range(10, 13),
            other = weft_iter_slice(prices, 3, sizeof *prices);
  weft_iter_zip(&it, &other, sizeof(struct pair), offsetof(struct pair, right));
  assert(weft_iter_collect(&it, pairs, 3, sizeof *pairs) == 3);
  assert(pairs[2].left == 12 && pairs[2].right == 4);
}

/* example: weft_iter_zip_map */
static void multiply(void *out, const void *left, const void *right, void *ctx) {
  (void)ctx;
  *(double *)out = *(const double *)left * *(const double *)right;
}

EXAMPLE(iter_zip_map) {
  double a[3] = {1, 2, 3}, b[3] = {4, 5, 6};
  weft_iter it = weft_iter_slice(a, 3, sizeof *a),
            other = weft_iter_slice(b, 3, sizeof *b);
  weft_iter_zip_map(&it, &other, sizeof(double), multiply, NULL);
  assert(weft_iter_sum_f64(&it) == 32);
}

/* example: weft_iter_chain, weft_iter_interleave */
EXAMPLE(iter_two_sequences) {
  int64_t to[5];
  weft_iter a = weft_iter_range(0, 2), b = weft_iter_range(10, 13), c = a;
  weft_iter_chain(&a, &b); /* 0 1 10 11 12 */
  assert(weft_iter_collect(&a, to, 5, sizeof *to) == 5 && to[2] == 10);
  weft_iter_interleave(&c, &b); /* 0 10 1 11 12 */
  assert(weft_iter_collect(&c, to, 5, sizeof *to) == 5 && to[1] == 10 && to[4] == 12);
}

/* example: weft_iter_options, weft_iter_pool, weft_iter_cancel, weft_iter_max_len */
EXAMPLE(iter_options) {
  weft_iter it = weft_iter_range(0, 1000);
  weft_opts o = WEFT_OPTS_INIT;
  o.max_workers = 2;
  weft_iter_options(&it, &o);
  weft_iter_min_len(&it, 10);
  weft_iter_max_len(&it, 100);
  weft_iter_pool(&it, weft_pool_current());
  weft_iter_cancel(&it, weft_scope_current()); /* NULL: never */
  assert(weft_iter_sum_i64(&it) == 499500);
}

/* example: weft_iter_len, weft_iter_size */
static bool is_small(const void *x, void *ctx) {
  (void)ctx;
  return *(const int64_t *)x < 50;
}

EXAMPLE(iter_len) {
  weft_iter it = weft_iter_range(0, 1000);
  assert(weft_iter_len(&it) == 1000 && weft_iter_size(&it) == sizeof(int64_t));
  weft_iter_take_while(&it, is_small, NULL);
  assert(weft_iter_len(&it) == SIZE_MAX); /* not known any more */
}

/* example: WEFT_KERNEL_MAP, WEFT_KERNEL_FILTER, weft_iter_apply, weft_iter_kernel */
WEFT_KERNEL_FILTER(even, int64_t, x % 2 == 0)
WEFT_KERNEL_MAP(squared, int64_t, int64_t, x *x)

EXAMPLE(iter_kernels) {
  weft_iter it = weft_iter_range(0, 10);
  weft_iter_apply(&it, &even, NULL);
  weft_iter_apply(&it, &squared, NULL);
  assert(weft_iter_sum_i64(&it) == 0 + 4 + 16 + 36 + 64);
}

/* example: WEFT_KERNEL_ZIP, weft_iter_zip_apply */
WEFT_KERNEL_ZIP(product, double, double, double, x *y)

EXAMPLE(iter_kernel_zip) {
  double a[3] = {1, 2, 3}, b[3] = {4, 5, 6};
  weft_iter it = weft_iter_slice(a, 3, sizeof *a),
            other = weft_iter_slice(b, 3, sizeof *b);
  weft_iter_zip_apply(&it, &other, &product, NULL);
  assert(weft_iter_sum_f64(&it) == 32);
}

/* example: WEFT_KERNEL_FILTER_MAP, WEFT_KERNEL_FLAT_MAP */
WEFT_KERNEL_FILTER_MAP(half_of_even, int64_t, int64_t, x % 2 == 0, x / 2)
WEFT_KERNEL_FLAT_MAP(up_to, int64_t, int64_t, (size_t)x, (int64_t)j)

EXAMPLE(iter_kernels_that_choose) {
  weft_iter it = weft_iter_range(0, 7);      /* 0 1 2 3 4 5 6 */
  weft_iter_apply(&it, &half_of_even, NULL); /* 0 1 2 3 */
  weft_iter_apply(&it, &up_to, NULL);        /* 0, 0 1, 0 1 2 */
  assert(weft_iter_count(&it) == 6 && weft_iter_sum_i64(&it) == 4);
}
