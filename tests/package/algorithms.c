/* algorithms.c - loops, array calls, kernels and generic names of the installed library,
 * each at least once, against plain loops. Compiles as C11 and, under another name, as
 * C++17, where the generic names are overloaded functions instead of macros.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>
#include <weft.h>

#define N 5000 /* a few blocks */

static int failures;

#define CHECK(condition)                                                                 \
  do {                                                                                   \
    if (!(condition)) {                                                                  \
      failures++;                                                                        \
      printf("line %d: %s\n", __LINE__, #condition);                                     \
    }                                                                                    \
  } while (0)

typedef struct item {
  uint32_t key;
  uint32_t place;
  double value;
} item;

static item items[N], others[N], merged[2 * N];
static size_t order[N], places[N];

static void make_items(void) {
  for (uint32_t i = 0; i < N; i++) {
    items[i].key = i * 7919 % 101;
    items[i].place = i;
    items[i].value = (double)(i % 37) - 18;
  }
}

/* ---- loops ---- */

static void count_range(size_t begin, size_t end, void *ctx) {
  for (size_t i = begin; i < end; i++) ((int *)ctx)[i]++;
}

static int fail_at(size_t begin, size_t end, void *ctx) {
  for (size_t i = begin; i < end; i++)
    if (i >= *(const size_t *)ctx) return (int)i + 1;
  return 0;
}

static void count_element(void *elem, size_t index, void *ctx) {
  ((int *)ctx)[index]++;
  ++*(int *)elem;
}

static void count_chunk(void *first, size_t count, size_t chunk, void *ctx) {
  for (size_t i = 0; i < count; i++) ((int *)first)[i]++;
  ((size_t *)ctx)[chunk] = count;
}

static void count_step(size_t i, void *ctx) {
  ((int *)ctx)[i]++;
}

static void count_tile(size_t r0, size_t r1, size_t c0, size_t c1, void *ctx) {
  for (size_t r = r0; r < r1; r++)
    for (size_t c = c0; c < c1; c++) ((int *)ctx)[r * 100 + c]++;
}

static void loops(const weft_opts *o) {
  static int seen[N], elements[N];
  size_t limit = 3210, none = N, counts[8] = {0, 0, 0, 0, 0, 0, 0, 0};
  memset(seen, 0, sizeof seen);
  memset(elements, 0, sizeof elements);
  weft_for(N, count_range, seen);
  weft_for_with(o, N, count_range, seen);
  weft_for_each(elements, N, sizeof(int), count_element, seen);
  weft_for_each_with(o, elements, N, sizeof(int), count_element, seen);
  weft_chunks(seen, N, sizeof(int), 1000, count_chunk, counts);
  weft_chunks_with(o, seen, N, sizeof(int), 1500, count_chunk, counts);
  CHECK(counts[0] == 1500 && counts[3] == 500 && counts[4] == 1000 && counts[5] == 0);
  weft_for_step(0, N, 2, count_step, seen);
  weft_for_step_with(o, 1, N, 2, count_step, seen);
  weft_for_2d(50, 100, 16, 16, count_tile, seen);
  weft_for_2d_with(o, 50, 100, 0, 0, count_tile, seen);
  for (size_t i = 0; i < N; i++) CHECK(seen[i] == 9 && elements[i] == 2);
  CHECK(weft_try_for(N, fail_at, &limit) == 3211);
  CHECK(weft_try_for_with(o, N, fail_at, &limit) == 3211);
  CHECK(weft_try_for(N, fail_at, &none) == 0);
}

/* ---- calls with functions ---- */

static void key_of(void *out, const void *in, size_t index, void *ctx) {
  (void)ctx;
  *(size_t *)out = ((const item *)in)->key + index;
}

static bool is_negative(const void *elem, void *ctx) {
  (void)ctx;
  return ((const item *)elem)->value < 0;
}

static bool has_key(const void *elem, void *ctx) {
  return ((const item *)elem)->key == *(const uint32_t *)ctx;
}

static int by_key(const void *a, const void *b, void *ctx) {
  uint32_t x = ((const item *)a)->key, y = ((const item *)b)->key;
  (void)ctx;
  return (x > y) - (x < y);
}

static int by_number(const void *a, const void *b, void *ctx) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  (void)ctx;
  return (x > y) - (x < y);
}

static size_t small_key(const void *elem, void *ctx) {
  (void)ctx;
  return ((const item *)elem)->key;
}

static void add_size(void *acc, const void *x, void *ctx) {
  (void)ctx;
  *(size_t *)acc += *(const size_t *)x;
}

static void zero(void *acc, void *ctx) {
  (void)ctx;
  *(size_t *)acc = 0;
}

static void add_keys(void *acc, size_t begin, size_t end, void *ctx) {
  const item *a = (const item *)ctx;
  for (size_t i = begin; i < end; i++) *(size_t *)acc += a[i].key;
}

/* Are the first n in the order of keys, and equal ones as they were? */
static bool is_stable(const item *a, size_t n) {
  for (size_t i = 1; i < n; i++)
    if (a[i - 1].key > a[i].key ||
        (a[i - 1].key == a[i].key && a[i - 1].place >= a[i].place))
      return false;
  return true;
}

static void moves(const weft_opts *o) {
  const item value = {1, 2, 3};
  make_items();
  weft_copy(others, items, N, sizeof *items);
  CHECK(weft_equal(others, items, N, sizeof *items));
  weft_reverse(others, N, sizeof *others);
  for (size_t i = 0; i < N; i++) CHECK(others[i].place == N - 1 - i);
  CHECK(!weft_equal_with(o, others, items, N, sizeof *items));
  CHECK(!weft_equal_by(others, items, N, sizeof *items, by_key, NULL));
  weft_reverse_with(o, others, N, sizeof *others);
  CHECK(weft_equal_by_with(o, others, items, N, sizeof *items, by_key, NULL));
  CHECK(weft_compare(others, N - 1, items, N, sizeof *items, by_key, NULL) < 0);
  CHECK(weft_compare_with(o, others, N, items, N, sizeof *items, by_key, NULL) == 0);
  weft_rotate(others, N, sizeof *others, 1234);
  for (size_t i = 0; i < N; i++) CHECK(others[i].place == (i + 1234) % N);
  weft_rotate_with(o, others, N, sizeof *others, N - 1234);
  CHECK(weft_equal(others, items, N, sizeof *items));
  weft_fill(others, N / 2, sizeof value, &value);
  weft_fill_with(o, others + N / 2, N - N / 2, sizeof value, &value);
  for (size_t i = 0; i < N; i++) CHECK(memcmp(&others[i], &value, sizeof value) == 0);
  weft_copy_with(o, others, items, N, sizeof *items);
  for (size_t i = 0; i < N; i++) order[i] = i * 7 % N;
  weft_gather(others, items, order, N, sizeof *items);
  for (size_t i = 0; i < N; i++) CHECK(others[i].place == order[i]);
  weft_scatter(merged, others, order, N, sizeof *items);
  CHECK(weft_equal(merged, items, N, sizeof *items));
  weft_gather_with(o, merged, others, order, N, sizeof *items);
  weft_scatter_with(o, others, merged, order, N, sizeof *items);
  CHECK(others[order[7]].place == order[order[7]]);
}

static void choices(const weft_opts *o) {
  size_t negative = 0, first = SIZE_MAX, last = SIZE_MAX, least = 0, most = 0;
  uint32_t key = 100, missing = 101;
  make_items();
  for (size_t i = 0; i < N; i++) {
    negative += items[i].value < 0;
    if (items[i].key == key) last = i;
    if (items[i].key == key && first == SIZE_MAX) first = i;
    if (items[i].key < items[least].key) least = i;
    if (items[i].key > items[most].key) most = i;
  }
  weft_map(order, sizeof *order, items, N, sizeof *items, key_of, NULL);
  weft_map_with(o, places, sizeof *places, items, N, sizeof *items, key_of, NULL);
  for (size_t i = 0; i < N; i++) CHECK(order[i] == items[i].key + i);
  CHECK(weft_equal(order, places, N, sizeof *order));
#define FIND(call) weft_##call(items, N, sizeof *items, has_key, &key)
#define FIND_WITH(call, wanted)                                                          \
  weft_##call##_with(o, items, N, sizeof *items, has_key, &wanted)
  CHECK(FIND(find_first) == first && FIND_WITH(find_first, key) == first);
  CHECK(FIND(find_last) == last && FIND_WITH(find_last, key) == last);
  CHECK(items[FIND(find_any)].key == key && FIND_WITH(find_any, missing) == SIZE_MAX);
  CHECK(FIND(any) && !FIND(all) && !FIND(none));
  CHECK(!FIND_WITH(any, missing) && !FIND_WITH(all, key) && FIND_WITH(none, missing));
  CHECK(weft_count(items, N, sizeof *items, is_negative, NULL) == negative);
  CHECK(weft_count_with(o, items, N, sizeof *items, is_negative, NULL) == negative);
  CHECK(weft_min_index(items, N, sizeof *items, by_key, NULL) == least);
  CHECK(weft_max_index(items, N, sizeof *items, by_key, NULL) == most);
  CHECK(weft_min_index_with(o, items, N, sizeof *items, by_key, NULL) == least);
  CHECK(weft_max_index_with(o, items, N, sizeof *items, by_key, NULL) == most);
  CHECK(weft_filter(others, items, N, sizeof *items, is_negative, NULL) == negative);
  CHECK(weft_filter_with(o, merged, items, N, sizeof *items, is_negative, NULL) ==
        negative);
  CHECK(weft_equal(others, merged, negative, sizeof *items));
  CHECK(weft_partition(items, N, sizeof *items, is_negative, NULL) == negative);
  CHECK(weft_partition_with(o, items, N, sizeof *items, is_negative, NULL) == negative);
  CHECK(weft_equal(others, items, negative, sizeof *items));
  for (size_t i = negative + 1; i < N; i++) CHECK(items[i - 1].place < items[i].place);
}

static void reductions(const weft_opts *o) {
  static const weft_reducer sum_of_keys = {sizeof(size_t), zero, add_keys, add_size};
  size_t total = 0, sum = 1, none = 0, counts[101], again[101];
  make_items();
  for (size_t i = 0; i < N; i++) total += order[i] = items[i].key;
  weft_reduce(&sum, N, &sum_of_keys, items);
  CHECK(sum == total);
  weft_reduce_with(o, &sum, N, &sum_of_keys, items);
  CHECK(sum == total);
  weft_scan(places, order, N, sizeof *order, &none, true, add_size, NULL);
  weft_scan_with(o, order, order, N, sizeof *order, &none, false, add_size, NULL);
  for (size_t i = 0; i < N; i++) CHECK(places[i] - order[i] == items[i].key);
  CHECK(order[0] == 0 && places[N - 1] == total);
  weft_histogram(counts, 101, items, N, sizeof *items, small_key, NULL);
  weft_histogram_with(o, again, 101, items, N, sizeof *items, small_key, NULL);
  for (size_t i = 0; i < N; i++) counts[items[i].key]--, again[items[i].key]--;
  for (size_t i = 0; i < 101; i++) CHECK(counts[i] == 0 && again[i] == 0);
}

static void sorts(const weft_opts *o) {
  static uint32_t keys[N];
  make_items();
  CHECK(!weft_is_sorted(items, N, sizeof *items, by_key, NULL));
  weft_argsort(order, items, N, sizeof *items, by_key, NULL);
  weft_argsort_with(o, places, items, N, sizeof *items, by_key, NULL);
  CHECK(weft_equal(order, places, N, sizeof *order));
  weft_copy(others, items, N, sizeof *items);
  weft_sort_stable(others, N, sizeof *others, by_key, NULL);
  CHECK(is_stable(others, N));
  for (size_t i = 0; i < N; i++) CHECK(others[i].place == order[i]);
  weft_nth_element(items, N, sizeof *items, 2000, by_key, NULL);
  CHECK(items[2000].key == others[2000].key);
  weft_nth_element_with(o, items, N, sizeof *items, 3000, by_key, NULL);
  CHECK(items[3000].key == others[3000].key);
  weft_partial_sort(items, N, sizeof *items, 50, by_key, NULL);
  CHECK(weft_equal_by(items, others, 50, sizeof *items, by_key, NULL));
  weft_partial_sort_with(o, items, N, sizeof *items, 500, by_key, NULL);
  CHECK(weft_equal_by(items, others, 500, sizeof *items, by_key, NULL));
  weft_sort(items, N, sizeof *items, by_key, NULL);
  CHECK(weft_is_sorted_with(o, items, N, sizeof *items, by_key, NULL));
  weft_reverse(items, N, sizeof *items);
  weft_sort_with(o, items, N, sizeof *items, by_key, NULL);
  CHECK(weft_is_sorted(items, N, sizeof *items, by_key, NULL));
  make_items();
  weft_sort_stable_with(o, items, N, sizeof *items, by_key, NULL);
  CHECK(weft_equal(items, others, N, sizeof *items));
  weft_merge(merged, items, N, others, N, sizeof *items, by_key, NULL);
  CHECK(weft_is_sorted(merged, 2 * (size_t)N, sizeof *merged, by_key, NULL));
  weft_merge_with(o, merged, items, N, others, 1, sizeof *items, by_key, NULL);
  CHECK(merged[N].key == 100 && merged[1].key == 0);
  CHECK(weft_unique(others, N, sizeof *others, by_key, NULL) == 101);
  CHECK(weft_unique_with(o, others, 101, sizeof *others, by_key, NULL) == 101);
  CHECK(others[100].key == 100 && is_stable(others, 101));
  make_items();
  for (size_t i = 0; i < N; i++) keys[i] = items[i].key;
  weft_sort_by_key(keys, N, sizeof *keys, items, sizeof *items, by_number, NULL);
  CHECK(is_stable(items, N) && weft_is_sorted_u32(keys, N));
  weft_sort_by_key_with(o, keys, N, sizeof *keys, items, sizeof *items, by_number, NULL);
  CHECK(is_stable(items, N));
}

/* ---- kernels ---- */

static inline double scaled(item x, void *ctx) {
  return x.value * *(const double *)ctx;
}

static inline bool is_below(item x, void *ctx) {
  (void)ctx;
  return x.value < 0;
}

static inline bool is_big(double x, void *ctx) {
  return x > *(const double *)ctx;
}

static inline int64_t add_key(int64_t sum, item x, void *ctx) {
  (void)ctx;
  return sum + x.key;
}

static inline int64_t add(int64_t left, int64_t right, void *ctx) {
  (void)ctx;
  return left + right;
}

static inline bool key_less(const item *a, const item *b, void *ctx) {
  (void)ctx;
  return a->key < b->key;
}

WEFT_MAP(scale_values, item, double, scaled)
WEFT_FILTER(keep_negative, item, is_below)
WEFT_FIND(first_big, double, is_big)
WEFT_COUNT(count_big, double, is_big)
WEFT_FOLD(sum_of_keys, int64_t, item, 0, add_key, add)
WEFT_SORT(sort_items, item, key_less)

/* Of no use but that unused functions must not be warned of. */
WEFT_MAP(unused_map, item, double, scaled)
WEFT_FILTER(unused_filter, item, is_below)
WEFT_FIND(unused_find, item, is_below)
WEFT_COUNT(unused_count, item, is_below)
WEFT_FOLD(unused_fold, int64_t, item, 0, add_key, add)
WEFT_SORT(unused_sort, item, key_less)

WEFT_SIMD static void twice(size_t begin, size_t end, void *ctx) {
  double *a = (double *)ctx;
  for (size_t i = begin; i < end; i++) a[i] *= 2;
}

static void kernels(const weft_opts *o) {
  static double values[N], again[N];
  double factor = 2, limit = 35, none = 1000;
  size_t first = SIZE_MAX, big = 0, negative = 0;
  int64_t total = 0;
  make_items();
  for (size_t i = 0; i < N; i++) {
    if (first == SIZE_MAX && items[i].value * 2 > limit) first = i;
    big += items[i].value * 2 > limit;
    negative += items[i].value < 0;
    total += items[i].key;
  }
  scale_values(values, items, N, &factor);
  scale_values_with(o, again, items, N, &factor);
  for (size_t i = 0; i < N; i++)
    CHECK(values[i] == items[i].value * 2 && again[i] == items[i].value * 2);
  CHECK(first_big(values, N, &limit) == first);
  CHECK(first_big_with(o, values, N, &none) == SIZE_MAX);
  CHECK(count_big(values, N, &limit) == big && count_big_with(o, values, N, &none) == 0);
  CHECK(sum_of_keys(items, N, NULL) == total);
  CHECK(sum_of_keys_with(o, items, N, NULL) == total);
  CHECK(keep_negative(others, items, N, NULL) == negative);
  CHECK(keep_negative_with(o, merged, items, N, NULL) == negative);
  CHECK(weft_equal(others, merged, negative, sizeof *others));
  sort_items_stable(items, N, NULL);
  CHECK(is_stable(items, N));
  weft_reverse(items, N, sizeof *items);
  sort_items_with(o, items, N, NULL);
  CHECK(weft_is_sorted(items, N, sizeof *items, by_key, NULL));
  make_items();
  sort_items(items, N, NULL);
  CHECK(weft_is_sorted(items, N, sizeof *items, by_key, NULL));
  make_items();
  sort_items_stable_with(o, items, N, NULL);
  CHECK(is_stable(items, N));
  weft_for(N, twice, values);
  for (size_t i = 0; i < N; i++) CHECK(values[i] == again[i] * 2);
}

/* ---- numbers: each call by its name, its generic name, and with options ---- */

/* Both give the same; integers are as exact as the doubles of small ones. */
#define SAME(generic, call, T, arguments, with_arguments)                                \
  (generic arguments == call##_##T arguments &&                                          \
   generic##_with with_arguments == call##_##T##_with with_arguments &&                  \
   generic arguments == generic##_with with_arguments)

#define NUMBERS(T, type, wide)                                                           \
  static void numbers_##T(const weft_opts *o) {                                          \
    static type a[N], b[N], c[N];                                                        \
    static uint32_t payload[N];                                                          \
    wide sum = 0, dot = 0;                                                               \
    type running = 0;                                                                    \
    size_t least = 0, most = 0;                                                          \
    for (uint32_t i = 0; i < N; i++) {                                                   \
      a[i] = (type)(i * 7919 % 5003), b[i] = (type)(i % 3);                              \
      sum += a[i], dot += (wide)a[i] * b[i];                                             \
      if (a[i] < a[least]) least = i;                                                    \
      if (a[i] > a[most]) most = i;                                                      \
    }                                                                                    \
    CHECK(weft_sum(a, N) == sum && weft_dot(a, b, N) == dot);                            \
    CHECK(weft_min(a, N) == a[least] && weft_max(a, N) == a[most]);                      \
    CHECK(weft_min_index_of(a, N) == least && weft_max_index_of(a, N) == most);          \
    const double mean = (double)sum / N; /* stored: without more digits, as on i386 */   \
    CHECK(weft_mean(a, N) == mean && weft_variance(b, 3) > 0.66);                        \
    CHECK(weft_product(a + 1, 2) == (wide)a[1] * a[2]);                                  \
    CHECK(SAME(weft_sum, weft_sum, T, (a, N), (o, a, N)));                               \
    CHECK(SAME(weft_product, weft_product, T, (a + 1, 3), (o, a + 1, 3)));               \
    CHECK(SAME(weft_dot, weft_dot, T, (a, b, N), (o, a, b, N)));                         \
    CHECK(SAME(weft_min, weft_min, T, (a, N), (o, a, N)));                               \
    CHECK(SAME(weft_max, weft_max, T, (a, N), (o, a, N)));                               \
    CHECK(SAME(weft_min_index_of, weft_min_index, T, (a, N), (o, a, N)));                \
    CHECK(SAME(weft_max_index_of, weft_max_index, T, (a, N), (o, a, N)));                \
    CHECK(SAME(weft_mean, weft_mean, T, (a, N), (o, a, N)));                             \
    CHECK(SAME(weft_variance, weft_variance, T, (a, N), (o, a, N)));                     \
    weft_scan_of(c, b, N);                                                               \
    for (size_t i = 0; i < N; i++) CHECK(c[i] == (running += b[i]));                     \
    weft_scan_of_with(o, c, b, N), weft_scan_##T(c, b, N);                               \
    weft_scan_##T##_with(o, c, b, N);                                                    \
    CHECK(c[N - 1] == running);                                                          \
    weft_scan_exclusive(c, b, N), weft_scan_exclusive_with(o, c, b, N);                  \
    weft_scan_exclusive_##T(c, b, N), weft_scan_exclusive_##T##_with(o, c, b, N);        \
    CHECK(c[0] == 0 && c[N - 1] == running - b[N - 1]);                                  \
    weft_fill_of(c, N, (type)1), weft_fill_of_with(o, c, N, (type)2);                    \
    CHECK(c[0] == 2 && weft_sum(c, N) == 2 * N);                                         \
    weft_fill_##T(c, N, (type)3), weft_fill_##T##_with(o, c, N - 1, (type)4);            \
    CHECK(c[N - 1] == 3 && weft_sum(c, N) == 4 * N - 1);                                 \
    for (uint32_t i = 0; i < N; i++) payload[i] = i;                                     \
    weft_argsort_of(order, a, N), weft_argsort_of_with(o, places, a, N);                 \
    CHECK(weft_equal(order, places, N, sizeof *order) && order[0] == least);             \
    weft_argsort_##T(order, a, N), weft_argsort_##T##_with(o, places, a, N);             \
    CHECK(weft_equal(order, places, N, sizeof *order) && order[N - 1] == most);          \
    CHECK(!weft_is_sorted_of(a, N) && !weft_is_sorted_of_with(o, a, N));                 \
    memcpy(c, a, sizeof c);                                                              \
    weft_nth_element_of(c, N, 7), weft_nth_element_of_with(o, c, N, 9);                  \
    CHECK(c[9] == a[order[9]]);                                                          \
    weft_nth_element_##T(c, N, 100), weft_nth_element_##T##_with(o, c, N, 900);          \
    CHECK(c[900] == a[order[900]]);                                                      \
    weft_partial_sort_of(c, N, 5), weft_partial_sort_of_with(o, c, N, 10);               \
    weft_partial_sort_##T(c, N, 50), weft_partial_sort_##T##_with(o, c, N, 100);         \
    for (size_t i = 0; i < 100; i++) CHECK(c[i] == a[order[i]]);                         \
    weft_sort_of(c, N);                                                                  \
    for (size_t i = 0; i < N; i++) CHECK(c[i] == a[order[i]]);                           \
    memcpy(c, a, sizeof c), weft_sort_of_with(o, c, N);                                  \
    CHECK(weft_is_sorted_##T(c, N) && weft_is_sorted_##T##_with(o, c, N));               \
    memcpy(c, a, sizeof c), weft_sort_##T(c, N);                                         \
    memcpy(b, a, sizeof b), weft_sort_##T##_with(o, b, N);                               \
    CHECK(weft_equal(b, c, N, sizeof *b));                                               \
    weft_sort_by_key_of(a, N, payload, sizeof *payload);                                 \
    weft_sort_by_key_of_with(o, a, N, payload, sizeof *payload);                         \
    weft_sort_by_key_##T(a, N, payload, sizeof *payload);                                \
    weft_sort_by_key_##T##_with(o, a, N, payload, sizeof *payload);                      \
    for (size_t i = 0; i < N; i++) CHECK(a[i] == c[i] && payload[i] == order[i]);        \
  }

#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wfloat-equal" /* small integers: exact */
#endif
NUMBERS(i32, int32_t, int64_t)
NUMBERS(u32, uint32_t, uint64_t)
NUMBERS(i64, int64_t, int64_t)
NUMBERS(u64, uint64_t, uint64_t)
NUMBERS(f32, float, double)
NUMBERS(f64, double, double)

int main(void) {
  weft_opts fixed = WEFT_OPTS_FIXED(100), halves = WEFT_OPTS_RECURSIVE(10);
  weft_opts adaptive = WEFT_OPTS_ADAPTIVE(3), defaults = WEFT_OPTS_INIT;
  const weft_opts *options[] = {NULL, &defaults, &fixed, &halves, &adaptive};
  adaptive.max_workers = 1;
  for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
    loops(options[i]);
    moves(options[i]);
    choices(options[i]);
    reductions(options[i]);
    sorts(options[i]);
    kernels(options[i]);
    numbers_i32(options[i]), numbers_u32(options[i]);
    numbers_i64(options[i]), numbers_u64(options[i]);
    numbers_f32(options[i]), numbers_f64(options[i]);
  }
  printf("algorithms: %d failures\n", failures);
  return failures != 0;
}
