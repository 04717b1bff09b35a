/* reference/sort.c - examples of weft/sort.h, weft/sort_numbers.h, weft/numbers.h,
 * weft/typed_sort.h.
 *
 * SPDX-License-Identifier: MIT */
#include <string.h>
#include <weft.h>

#include "example.h"

/* example: weft_sort, weft_sort_stable, weft_is_sorted */
struct item {
  int key;
  const char *name;
};

static int by_key(const void *a, const void *b, void *ctx) {
  int x = ((const struct item *)a)->key, y = ((const struct item *)b)->key;
  (void)ctx;
  return (x > y) - (x < y);
}

EXAMPLE(sort_by_comparator) {
  struct item items[] = {{2, "second"}, {1, "one"}, {1, "other"}};
  assert(!weft_is_sorted(items, 3, sizeof *items, by_key, NULL));
  weft_sort_stable(items, 3, sizeof *items, by_key, NULL);
  assert(strcmp(items[0].name, "one") == 0); /* equal ones keep their order */
  weft_sort(items, 3, sizeof *items, by_key, NULL);
  assert(items[2].key == 2);
}

/* example: weft_merge */
static int by_int(const void *a, const void *b, void *ctx) {
  int x = *(const int *)a, y = *(const int *)b;
  (void)ctx;
  return (x > y) - (x < y);
}

EXAMPLE(sort_merge) {
  int odd[3] = {1, 3, 5}, even[2] = {2, 4}, all[5];
  weft_merge(all, odd, 3, even, 2, sizeof *all, by_int, NULL);
  assert(all[0] == 1 && all[1] == 2 && all[4] == 5);
}

/* example: weft_sort_by_key, weft_argsort */
static int by_text(const void *a, const void *b, void *ctx) {
  (void)ctx;
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

EXAMPLE(sort_by_other_key) {
  const char *names[] = {"Grace", "Ada", "Barbara"};
  int born[] = {1906, 1815, 1939};
  size_t order[3];
  weft_argsort(order, names, 3, sizeof *names, by_text, NULL); /* names stays */
  assert(order[0] == 1);
  weft_sort_by_key(names, 3, sizeof *names, born, sizeof *born, by_text, NULL);
  assert(born[0] == 1815); /* moved with its name */
}

/* example: weft_nth_element, weft_partial_sort */
static int ascending(const void *a, const void *b, void *ctx) {
  double x = *(const double *)a, y = *(const double *)b;
  (void)ctx;
  return (x > y) - (x < y);
}

EXAMPLE(sort_select) {
  double a[5] = {5, 1, 4, 2, 3};
  weft_nth_element(a, 5, sizeof *a, 2, ascending, NULL);
  assert(a[2] == 3); /* the median */
  weft_partial_sort(a, 5, sizeof *a, 2, ascending, NULL);
  assert(a[0] == 1 && a[1] == 2); /* the two least */
}

/* example: weft_sort_T, weft_sort_of, weft_is_sorted_T */
EXAMPLE(sort_numbers) {
  double samples[4] = {2.5, -1, 7, 0};
  weft_sort_f64(samples, 4);
  assert(samples[0] == -1 && weft_is_sorted_f64(samples, 4));

  uint32_t ids[3] = {30, 10, 20};
  weft_sort_of(ids, 3); /* chooses weft_sort_u32 */
  assert(ids[0] == 10);
}

/* example: weft_sort_by_key_T, weft_argsort_T */
EXAMPLE(sort_numbers_by_key) {
  float price[3] = {9.5f, 2, 4};
  const char *what[3] = {"wine", "bread", "cheese"};
  size_t order[3];
  weft_argsort_f32(order, price, 3);
  assert(order[0] == 1);
  weft_sort_by_key_f32(price, 3, what, sizeof *what);
  assert(strcmp(what[0], "bread") == 0);
}

/* example: weft_nth_element_T, weft_partial_sort_T */
EXAMPLE(sort_numbers_select) {
  int64_t a[5] = {5, 1, 4, 2, 3};
  weft_nth_element_i64(a, 5, 2);
  assert(a[2] == 3);
  weft_partial_sort_i64(a, 5, 2);
  assert(a[0] == 1 && a[1] == 2);
}

/* example: weft_sum_T, weft_product_T, weft_dot_T */
EXAMPLE(numbers_sum) {
  int32_t a[4] = {1, 2, 3, 4};
  double x[2] = {3, 4};
  assert(weft_sum_i32(a, 4) == 10); /* an int64_t */
  assert(weft_sum(a, 4) == 10);     /* the same, chosen by the type */
  assert(weft_product_i32(a, 4) == 24);
  assert(weft_dot_f64(x, x, 2) == 25);
}

/* example: weft_min_T, weft_max_T, weft_min_index_T, weft_max_index_T */
EXAMPLE(numbers_min) {
  double a[4] = {2, -1, 7, 0};
  assert(weft_min_f64(a, 4) == -1 && weft_max(a, 4) == 7);
  assert(weft_min_index_f64(a, 4) == 1 && weft_max_index_of(a, 4) == 2);
}

/* example: weft_mean_T, weft_variance_T */
EXAMPLE(numbers_mean) {
  double a[4] = {1, 1, 3, 3};
  assert(weft_mean_f64(a, 4) == 2 && weft_variance_f64(a, 4) == 1);
}

/* example: weft_scan_T, weft_scan_exclusive_T, weft_fill_T */
EXAMPLE(numbers_scan) {
  int32_t lengths[4], ends[4], begins[4];
  weft_fill_i32(lengths, 4, 10);
  weft_scan_i32(ends, lengths, 4);             /* 10 20 30 40 */
  weft_scan_exclusive_i32(begins, lengths, 4); /* 0 10 20 30 */
  assert(ends[3] == 40 && begins[3] == 30);
}

/* example: WEFT_SORT */
struct record {
  uint64_t key;
  double x, y, z;
};

static inline bool record_less(const struct record *a, const struct record *b,
                               void *ctx) {
  (void)ctx;
  return a->key < b->key;
}
WEFT_SORT(sort_records, struct record, record_less)

EXAMPLE(typed_sort) {
  struct record r[3] = {{3, 0, 0, 0}, {1, 0, 0, 0}, {2, 0, 0, 0}};
  sort_records(r, 3, NULL); /* or sort_records_stable */
  assert(r[0].key == 1 && r[2].key == 3);
}

/* example: WEFT_SORT_BY_KEY */
static inline bool int_less(const int *a, const int *b, void *ctx) {
  (void)ctx;
  return *a < *b;
}
WEFT_SORT_BY_KEY(sort_names_by_age, int, const char *, int_less)

EXAMPLE(typed_sort_by_key) {
  int ages[3] = {70, 20, 50};
  const char *names[3] = {"Ada", "Grace", "Barbara"};
  sort_names_by_age(ages, 3, names, NULL);
  assert(ages[0] == 20 && strcmp(names[0], "Grace") == 0);
}
