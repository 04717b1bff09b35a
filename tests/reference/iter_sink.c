/* reference/iter_sink.c - examples of weft/iter_sink.h.
 *
 * SPDX-License-Identifier: MIT */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <weft.h>

#include "example.h"

/* example: weft_iter_for_each, weft_iter_each_batch */
static void add_one_by_one(const void *elem, void *ctx) {
  atomic_fetch_add((_Atomic int64_t *)ctx, *(const int64_t *)elem);
}

static void add_batch(const void *elems, size_t n, void *ctx) {
  const int64_t *x = elems;
  int64_t sum = 0;
  for (size_t i = 0; i < n; i++) sum += x[i];
  atomic_fetch_add((_Atomic int64_t *)ctx, sum); /* once for each batch */
}

EXAMPLE(sink_for_each) {
  _Atomic int64_t sum = 0;
  weft_iter it = weft_iter_range(0, 1000);
  weft_iter_for_each(&it, add_one_by_one, &sum);
  weft_iter_each_batch(&it, add_batch, &sum);
  assert(sum == 2 * 499500);
}

/* example: weft_iter_count, weft_iter_sum_T, weft_iter_min_T, weft_iter_max_T */
EXAMPLE(sink_numbers) {
  float a[4] = {2, -1, 7, 0};
  weft_iter it = weft_iter_slice(a, 4, sizeof *a);
  assert(weft_iter_count(&it) == 4 && weft_iter_sum_f32(&it) == 8);
  assert(weft_iter_min_f32(&it) == -1 && weft_iter_max_f32(&it) == 7);
}

/* example: weft_iter_reduce */
static void keep_larger(void *acc, const void *x, void *ctx) {
  (void)ctx;
  if (*(const int *)x > *(int *)acc) *(int *)acc = *(const int *)x;
}

EXAMPLE(sink_reduce) {
  int a[4] = {3, 9, 2, 5}, none = 0, largest;
  weft_iter it = weft_iter_slice(a, 4, sizeof *a);
  weft_iter_reduce(&it, &largest, sizeof largest, &none, keep_larger, NULL);
  assert(largest == 9);
}

/* example: weft_iter_fold, weft_folder */
struct mean {
  double sum;
  size_t count;
};

static void mean_init(void *acc, void *ctx) {
  (void)ctx;
  *(struct mean *)acc = (struct mean){0, 0};
}

static void mean_fold(void *acc, const void *elems, size_t n, void *ctx) {
  struct mean *m = acc;
  (void)ctx;
  for (size_t i = 0; i < n; i++) m->sum += ((const double *)elems)[i];
  m->count += n;
}

static void mean_merge(void *acc, const void *right, void *ctx) {
  struct mean *m = acc;
  (void)ctx;
  m->sum += ((const struct mean *)right)->sum;
  m->count += ((const struct mean *)right)->count;
}

EXAMPLE(sink_fold) {
  static const weft_folder mean_of = {sizeof(struct mean), sizeof(double), mean_init,
                                      mean_fold, mean_merge};
  double a[4] = {1, 2, 3, 6};
  struct mean m;
  weft_iter it = weft_iter_slice(a, 4, sizeof *a);
  weft_iter_fold(&it, &m, &mean_of, NULL);
  assert(m.sum / (double)m.count == 3);
}

/* example: weft_iter_min_by, weft_iter_max_by, weft_iter_sort */
static int by_length(const void *a, const void *b, void *ctx) {
  size_t x = strlen(*(const char *const *)a), y = strlen(*(const char *const *)b);
  (void)ctx;
  return (x > y) - (x < y);
}

EXAMPLE(sink_by_comparator) {
  const char *words[3] = {"shuttle", "weft", "loom"}, *found, *sorted[3];
  weft_iter it = weft_iter_slice(words, 3, sizeof *words);
  assert(weft_iter_max_by(&it, &found, sizeof found, by_length, NULL));
  assert(strcmp(found, "shuttle") == 0);
  assert(weft_iter_min_by(&it, &found, sizeof found, by_length, NULL));
  assert(strcmp(found, "weft") == 0); /* the first of the smallest */
  assert(weft_iter_sort(&it, sorted, 3, sizeof *sorted, by_length, NULL) == 3);
  assert(strcmp(sorted[2], "shuttle") == 0);
}

/* example: weft_iter_find_any, weft_iter_find_first, weft_iter_find_last,
 * weft_iter_position */
static bool is_over_100(const void *x, void *ctx) {
  (void)ctx;
  return *(const int64_t *)x > 100;
}

EXAMPLE(sink_find) {
  int64_t x;
  weft_iter it = weft_iter_range(0, 1000);
  assert(weft_iter_find_first(&it, &x, sizeof x, is_over_100, NULL) && x == 101);
  assert(weft_iter_find_last(&it, &x, sizeof x, is_over_100, NULL) && x == 999);
  assert(weft_iter_find_any(&it, &x, sizeof x, is_over_100, NULL) && x > 100);
  assert(weft_iter_position(&it, is_over_100, NULL) == 101);
}

/* example: weft_iter_any, weft_iter_all, weft_iter_none */
static bool is_negative(const void *x, void *ctx) {
  (void)ctx;
  return *(const int64_t *)x < 0;
}

EXAMPLE(sink_any) {
  weft_iter it = weft_iter_range(-1, 100);
  assert(weft_iter_any(&it, is_negative, NULL));
  assert(!weft_iter_all(&it, is_negative, NULL));
  weft_iter_skip(&it, 1);
  assert(weft_iter_none(&it, is_negative, NULL));
}

/* example: weft_iter_collect, weft_iter_append, weft_buffer */
EXAMPLE(sink_collect) {
  int64_t first[3];
  weft_iter it = weft_iter_range(0, 10);
  assert(weft_iter_collect(&it, first, 3, sizeof *first) == 10 && first[2] == 2);

  weft_buffer all = {NULL, 0, 0}; /* grows */
  if (weft_iter_append(&it, &all, sizeof(int64_t)) != 0) return;
  assert(all.count == 10 && ((int64_t *)all.data)[9] == 9);
  free(all.data);
}

/* example: weft_iter_partition, weft_counts */
static bool is_even(const void *x, void *ctx) {
  (void)ctx;
  return *(const int64_t *)x % 2 == 0;
}

EXAMPLE(sink_partition) {
  int64_t yes[10], no[10];
  weft_iter it = weft_iter_range(0, 10);
  weft_counts counts = weft_iter_partition(&it, yes, no, 10, sizeof *yes, is_even, NULL);
  assert(counts.yes == 5 && counts.no == 5 && yes[1] == 2 && no[1] == 3);
}

/* example: weft_iter_unzip */
EXAMPLE(sink_unzip) {
  struct {
    int32_t x, y;
  } points[2] = {{1, 10}, {2, 20}};
  int32_t xs[2], ys[2];
  weft_iter it = weft_iter_slice(points, 2, sizeof *points);
  size_t n = weft_iter_unzip(&it, xs, ys, 2, sizeof *xs, sizeof *ys, sizeof *xs);
  assert(n == 2 && xs[1] == 2 && ys[1] == 20);
}

/* example: weft_iter_scan */
static void add(void *acc, const void *x, void *ctx) {
  (void)ctx;
  *(int64_t *)acc += *(const int64_t *)x;
}

EXAMPLE(sink_scan) {
  int64_t sums[4], zero = 0;
  weft_iter it = weft_iter_range(1, 5);
  assert(weft_iter_scan(&it, sums, 4, sizeof *sums, &zero, true, add, NULL) == 4);
  assert(sums[3] == 10); /* 1 3 6 10 */
}
