/* reference/reduce.c - examples of weft/reduce.h, weft/typed_function.h,
 * weft/typed_fold.h, weft/local.h, weft/bag.h.
 *
 * SPDX-License-Identifier: MIT */
#include <weft.h>

#include "example.h"

/* example: weft_reduce, weft_reducer */
struct range {
  double low, high;
};

static void range_init(void *acc, void *ctx) {
  const double *a = ctx;
  *(struct range *)acc = (struct range){a[0], a[0]};
}

static void range_fold(void *acc, size_t begin, size_t end, void *ctx) {
  struct range *r = acc;
  const double *a = ctx;
  for (size_t i = begin; i < end; i++) {
    if (a[i] < r->low) r->low = a[i];
    if (a[i] > r->high) r->high = a[i];
  }
}

static void range_merge(void *acc, const void *right, void *ctx) {
  struct range *l = acc;
  const struct range *r = right;
  (void)ctx;
  if (r->low < l->low) l->low = r->low;
  if (r->high > l->high) l->high = r->high;
}

EXAMPLE(reduce_range) {
  static const weft_reducer range_of = {sizeof(struct range), range_init, range_fold,
                                        range_merge};
  double a[1000];
  for (int i = 0; i < 1000; i++) a[i] = (i * 37) % 1000;
  struct range r;
  weft_reduce(&r, 1000, &range_of, a);
  assert(r.low == 0 && r.high == 999);
}

/* example: weft_reduce_local */
static void counts_init(void *acc, void *ctx) {
  (void)ctx;
  for (int k = 0; k < 256; k++) ((size_t *)acc)[k] = 0;
}

static void counts_fold(void *acc, size_t begin, size_t end, void *ctx) {
  const unsigned char *bytes = ctx;
  for (size_t i = begin; i < end; i++) ((size_t *)acc)[bytes[i]]++;
}

static void counts_merge(void *acc, const void *right, void *ctx) {
  (void)ctx;
  for (int k = 0; k < 256; k++) ((size_t *)acc)[k] += ((const size_t *)right)[k];
}

EXAMPLE(reduce_local) {
  static const weft_reducer counts_of = {256 * sizeof(size_t), counts_init, counts_fold,
                                         counts_merge};
  static unsigned char bytes[10000];
  size_t counts[256]; /* one such array for each thread, instead of one for each leaf */
  weft_reduce_local(counts, sizeof bytes, &counts_of, bytes);
  assert(counts[0] == 10000);
}

/* example: weft_try_reduce, weft_try_reducer */
static void sum_init(void *acc, void *ctx) {
  (void)ctx;
  *(int *)acc = 0;
}

static int sum_fold(void *acc, size_t begin, size_t end, void *ctx) {
  const int *a = ctx;
  for (size_t i = begin; i < end; i++)
    if (__builtin_add_overflow(*(int *)acc, a[i], (int *)acc)) return WEFT_EINVAL;
  return 0;
}

static int sum_merge(void *acc, const void *right, void *ctx) {
  (void)ctx;
  bool overflows = __builtin_add_overflow(*(int *)acc, *(const int *)right, (int *)acc);
  return overflows ? WEFT_EINVAL : 0;
}

EXAMPLE(reduce_try) {
  static const weft_try_reducer sum_of = {sizeof(int), sum_init, sum_fold, sum_merge};
  int a[3] = {1, 2, 3}, sum;
  assert(weft_try_reduce(&sum, 3, &sum_of, a) == 0 && sum == 6);
  a[1] = 2147483647;
  assert(weft_try_reduce(&sum, 3, &sum_of, a) == WEFT_EINVAL);
}

/* example: weft_scan */
static void keep_larger(void *acc, const void *x, void *ctx) {
  (void)ctx;
  if (*(const int *)x > *(int *)acc) *(int *)acc = *(const int *)x;
}

EXAMPLE(reduce_scan) {
  int a[5] = {1, 5, 2, 7, 3}, record[5], least = 0;
  weft_scan(record, a, 5, sizeof *a, &least, true, keep_larger, NULL); /* 1 5 5 7 7 */
  assert(record[2] == 5 && record[4] == 7);
}

/* example: WEFT_MAP, WEFT_MAP2 */
static inline double half(double x, void *ctx) {
  (void)ctx;
  return x / 2;
}
WEFT_MAP(halve, double, double, half)

static inline double plus(double x, double y, void *ctx) {
  (void)ctx;
  return x + y;
}
WEFT_MAP2(add, double, double, double, plus)

EXAMPLE(typed_map) {
  double a[3] = {2, 4, 6}, b[3], sum[3];
  halve(b, a, 3, NULL);
  add(sum, a, b, 3, NULL);
  assert(b[2] == 3 && sum[2] == 9);
}

/* example: WEFT_FOR */
static inline void clamp(int *x, size_t i, void *ctx) {
  const int limit = *(const int *)ctx;
  (void)i;
  if (*x > limit) *x = limit;
}
WEFT_FOR(clamp_all, int, clamp)

EXAMPLE(typed_for) {
  int a[3] = {5, 50, 500}, limit = 10;
  clamp_all(a, 3, &limit);
  assert(a[0] == 5 && a[2] == 10);
}

/* example: WEFT_FILTER, WEFT_FIND, WEFT_COUNT */
static inline bool is_odd(int x, void *ctx) {
  (void)ctx;
  return x % 2 != 0;
}
WEFT_FILTER(keep_odd, int, is_odd)
WEFT_FIND(first_odd, int, is_odd)
WEFT_COUNT(count_odd, int, is_odd)

EXAMPLE(typed_filter) {
  int a[5] = {2, 3, 4, 5, 6}, odd[5];
  assert(keep_odd(odd, a, 5, NULL) == 2 && odd[1] == 5);
  assert(first_odd(a, 5, NULL) == 1 && count_odd(a, 5, NULL) == 2);
}

/* example: WEFT_FOLD, WEFT_SCAN */
static inline int64_t add_even(int64_t sum, int32_t x, void *ctx) {
  (void)ctx;
  return x % 2 == 0 ? sum + x : sum;
}
static inline int64_t add_sums(int64_t left, int64_t right, void *ctx) {
  (void)ctx;
  return left + right;
}
WEFT_FOLD(sum_of_even, int64_t, int32_t, 0, add_even, add_sums)
WEFT_SCAN(running_sums, int64_t, 0, add_sums)

EXAMPLE(typed_fold) {
  int32_t a[4] = {1, 2, 3, 4};
  assert(sum_of_even(a, 4, NULL) == 6);
  int64_t x[3] = {1, 2, 3}, sums[3];
  running_sums(sums, x, 3, NULL);
  assert(sums[2] == 6);
}

/* example: weft_local, weft_local_create, weft_local_get, weft_local_each */
static void count_hits(size_t begin, size_t end, void *ctx) {
  long *hits = weft_local_get(ctx); /* of this thread alone */
  for (size_t i = begin; i < end; i++) *hits += i % 3 == 0;
}

static void add_to_total(void *slot, void *ctx) {
  *(long *)ctx += *(long *)slot;
}

EXAMPLE(local_slots) {
  weft_local *hits;
  if (weft_local_create(&hits, sizeof(long), NULL, NULL) != 0) return;
  weft_local_reserve(hits, weft_thread_count() + 1); /* now get cannot fail */
  weft_for(3000, count_hits, hits);
  long total = 0;
  weft_local_each(hits, add_to_total, &total);
  assert(total == 1000 && weft_local_count(hits) >= 1);
  weft_local_destroy(hits);
}

/* example: weft_bag, weft_bag_create, weft_bag_add, weft_bag_copy */
static void find_squares(size_t begin, size_t end, void *ctx) {
  for (size_t i = begin; i < end; i++)
    for (size_t root = 0; root * root <= i; root++)
      if (root * root == i) weft_bag_add(ctx, &i);
}

EXAMPLE(bag_of_results) {
  weft_bag *squares;
  size_t all[32], last[2] = {961, 1024};
  if (weft_bag_create(&squares, sizeof(size_t)) != 0) return;
  weft_for(900, find_squares, squares);
  assert(weft_bag_count(squares) == 30); /* 0, 1, 4, ... 841, in any order */
  weft_bag_add_many(squares, last, 2);
  weft_bag_copy(all, squares);
  weft_sort_of((uint64_t *)all, 32);
  assert(all[31] == 1024);
  weft_bag_destroy(squares);
}

/* example: weft_bag_each, weft_bag_clear */
static void add_up(void *elem, void *ctx) {
  *(int *)ctx += *(int *)elem;
}

EXAMPLE(bag_each) {
  weft_bag *numbers;
  if (weft_bag_create(&numbers, sizeof(int)) != 0) return;
  for (int i = 1; i <= 4; i++) weft_bag_add(numbers, &i);
  int sum = 0;
  weft_bag_each(numbers, add_up, &sum);
  assert(sum == 10);
  weft_bag_clear(numbers); /* ready for the next round */
  assert(weft_bag_count(numbers) == 0);
  weft_bag_destroy(numbers);
}
