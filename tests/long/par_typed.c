/* A hundred thousand random cases of each typed function: map, filter, find and count for
 * elements of several types, loops over one and two arrays, folds, scans and sorts. A
 * case follows from the seed alone.
 *
 * SPDX-License-Identifier: MIT */
#include "par/array/typed_cases.h"

static unsigned long case_count(void) {
  unsigned long slower = harness_slowdown();
  return 100ul * 1000 / (slower * slower);
}

/* Mostly short, at times a few thousand. */
static size_t random_length(uint64_t *random) {
  unsigned bits = (unsigned)(harness_random(random) % 13);
  return harness_random(random) % (((size_t)1 << bits) + 1);
}

/* ---- map, filter, find, count ---- */

/* The cases of one type. Those of all types together are a hundred thousand for each
 * typed function. */
#define RANDOM_TYPED(name, T)                                                            \
  TEST_LIMIT(random_typed_functions_of_##name, 600) {                                    \
    uint64_t seeds = harness_seed();                                                     \
    open_pools();                                                                        \
    for (unsigned long i = 0; i < case_count() / 9 / THREADS_COUNT + 1; i++) {           \
      uint64_t random = harness_random(&seeds);                                          \
      size_t n = random_length(&random);                                                 \
      name##_case(sizeof(T) > 1000 ? n / 16 : n, &random);                               \
    }                                                                                    \
    close_pools();                                                                       \
  }
TYPED_TYPES(RANDOM_TYPED)

static weft_opts random_opts(uint64_t *random) {
  weft_opts opts = opts_in((unsigned)(harness_random(random) % THREADS_COUNT));
  opts.max_workers = (unsigned)(harness_random(random) % 4);
  return opts;
}

/* ---- two arrays, and one in place ---- */

static inline uint32_t mixed(uint32_t x, uint16_t y, void *ctx) {
  return (x ^ (uint32_t)y * 2654435761u) + *(const uint32_t *)ctx;
}

static inline uint32_t mixed_alike(uint32_t x, uint32_t y, void *ctx) {
  return mixed(x, (uint16_t)y, ctx);
}

WEFT_MAP2(map_mixed, uint32_t, uint16_t, uint32_t, mixed)
WEFT_MAP2(map_alike, uint32_t, uint32_t, uint32_t, mixed_alike)

/* Into a third array, into the first, into the second, and of one array with itself. */
TEST_LIMIT(random_maps_of_two, 600) {
  uint64_t seeds = harness_seed();
  open_pools();
  for (unsigned long i = 0; i < case_count(); i++) {
    uint64_t random = harness_random(&seeds);
    size_t n = random_length(&random), wrong = 0;
    uint32_t add = (uint32_t)harness_random(&random), form = harness_random(&random) % 4;
    uint32_t *a = array_of(n, sizeof *a), *b = array_of(n, sizeof *b);
    uint32_t *expected = array_of(n, sizeof *expected), *to = array_of(n, sizeof *to);
    uint16_t *narrow = array_of(n, sizeof *narrow);
    fill_random(a, n * sizeof *a, &random);
    fill_random(b, n * sizeof *b, &random);
    for (size_t k = 0; k < n; k++) {
      narrow[k] = (uint16_t)b[k];
      expected[k] = mixed(a[k], (uint16_t)(form == 3 ? a[k] : b[k]), &add);
    }
    weft_opts opts = random_opts(&random);
    uint32_t *got = form == 0 ? to : form == 1 ? a : form == 2 ? b : a;
    if (form < 2)
      map_mixed_with(&opts, got, a, narrow, n, &add);
    else
      map_alike_with(&opts, got, a, form == 2 ? b : a, n, &add);
    for (size_t k = 0; k < n; k++) wrong += got[k] != expected[k];
    CHECK_EQ(wrong, 0);
    free(a), free(b), free(expected), free(to), free(narrow);
  }
  close_pools();
}

static inline void add_place(uint32_t *x, size_t i, void *ctx) {
  *x = (*x ^ (uint32_t)i) + *(const uint32_t *)ctx;
}

WEFT_FOR(add_places, uint32_t, add_place)

TEST_LIMIT(random_loops, 600) {
  uint64_t seeds = harness_seed();
  open_pools();
  for (unsigned long i = 0; i < case_count(); i++) {
    uint64_t random = harness_random(&seeds);
    size_t n = random_length(&random), wrong = 0;
    uint32_t add = (uint32_t)harness_random(&random);
    uint32_t *a = array_of(n, sizeof *a), *expected = array_of(n, sizeof *expected);
    fill_random(a, n * sizeof *a, &random);
    if (n > 0) memcpy(expected, a, n * sizeof *a);
    for (size_t k = 0; k < n; k++) add_place(&expected[k], k, &add);
    weft_opts opts = random_opts(&random);
    add_places_with(&opts, a, n, &add);
    for (size_t k = 0; k < n; k++) wrong += a[k] != expected[k];
    CHECK_EQ(wrong, 0);
    free(a), free(expected);
  }
  close_pools();
}

/* ---- folds and scans ---- */

/* Associative, and does not commute: a map x -> a * x + b of 64-bit numbers. */
typedef struct affine {
  uint64_t a, b;
} affine;

static inline affine affine_merge(affine left, affine right, void *ctx) {
  (void)ctx;
  affine both = {left.a * right.a, left.b * right.a + right.b};
  return both;
}

static inline affine affine_step(affine left, uint32_t x, void *ctx) {
  affine one = {2 * (uint64_t)x + 1, x ^ 0x9E3779B97F4A7C15u};
  return affine_merge(left, one, ctx);
}

#define AFFINE_NONE                                                                      \
  (affine) {                                                                             \
    1, 0                                                                                 \
  }
WEFT_FOLD(affine_of_all, affine, uint32_t, AFFINE_NONE, affine_step, affine_merge)

TEST_LIMIT(random_folds, 600) {
  uint64_t seeds = harness_seed();
  open_pools();
  for (unsigned long i = 0; i < case_count(); i++) {
    uint64_t random = harness_random(&seeds);
    size_t n = random_length(&random);
    uint32_t *a = array_of(n, sizeof *a);
    affine expected = {1, 0};
    fill_random(a, n * sizeof *a, &random);
    for (size_t k = 0; k < n; k++) expected = affine_step(expected, a[k], NULL);
    weft_opts opts = random_opts(&random);
    affine got = affine_of_all_with(&opts, a, n, NULL);
    CHECK_EQ(got.a, expected.a);
    CHECK_EQ(got.b, expected.b);
    free(a);
  }
  close_pools();
}

static const affine NO_CHANGE = {1, 0};
WEFT_SCAN(affine_scan, affine, NO_CHANGE, affine_merge)

TEST_LIMIT(random_scans, 600) {
  uint64_t seeds = harness_seed();
  open_pools();
  for (unsigned long i = 0; i < case_count(); i++) {
    uint64_t random = harness_random(&seeds);
    size_t n = random_length(&random), wrong = 0;
    affine *a = array_of(n, sizeof *a), *to = array_of(n, sizeof *to), acc = NO_CHANGE;
    affine *expected = array_of(n, sizeof *expected);
    bool inclusive = harness_random(&random) % 2 == 0;
    bool in_place = harness_random(&random) % 2 == 0;
    fill_random(a, n * sizeof *a, &random);
    for (size_t k = 0; k < n; k++) {
      affine with = affine_merge(acc, a[k], NULL);
      expected[k] = inclusive ? with : acc;
      acc = with;
    }
    weft_opts opts = random_opts(&random);
    affine *got = in_place ? a : to;
    if (inclusive)
      affine_scan_with(&opts, got, a, n, NULL);
    else
      affine_scan_exclusive_with(&opts, got, a, n, NULL);
    for (size_t k = 0; k < n; k++)
      wrong += got[k].a != expected[k].a || got[k].b != expected[k].b;
    CHECK_EQ(wrong, 0);
    free(a), free(to), free(expected);
  }
  close_pools();
}

/* ---- sorts ---- */

typedef struct row {
  uint32_t key, place;
  uint64_t more;
} row;

static inline bool row_less(const row *a, const row *b, void *ctx) {
  (void)ctx;
  return a->key < b->key;
}

WEFT_SORT(sort_rows, row, row_less)

static void check_rows(const row *rows, size_t n, bool stable) {
  size_t wrong = 0, places = 0;
  for (size_t i = 0; i < n; i++) {
    places += rows[i].place;
    wrong += rows[i].more != (uint64_t)rows[i].key * 31 + rows[i].place;
    if (i == 0) continue;
    wrong += rows[i - 1].key > rows[i].key;
    wrong +=
        stable && rows[i - 1].key == rows[i].key && rows[i - 1].place > rows[i].place;
  }
  CHECK_EQ(wrong, 0);
  CHECK_EQ(places, n * (n - (n > 0)) / 2);
}

static void random_sorts(bool stable) {
  uint64_t seeds = harness_seed() + stable;
  open_pools();
  for (unsigned long i = 0; i < case_count(); i++) {
    uint64_t random = harness_random(&seeds);
    size_t n = random_length(&random);
    uint64_t kinds = 1 + harness_random(&random) % 3000;
    row *rows = array_of(n, sizeof *rows);
    for (size_t k = 0; k < n; k++) {
      uint32_t key = (uint32_t)(harness_random(&random) % kinds);
      rows[k] = (row){key, (uint32_t)k, (uint64_t)key * 31 + k};
    }
    weft_opts opts = random_opts(&random);
    if (stable)
      sort_rows_stable_with(&opts, rows, n, NULL);
    else
      sort_rows_with(&opts, rows, n, NULL);
    check_rows(rows, n, stable);
    free(rows);
  }
  close_pools();
}

TEST_LIMIT(random_typed_sorts, 600) {
  random_sorts(false);
}

TEST_LIMIT(random_stable_typed_sorts, 600) {
  random_sorts(true);
}

static inline bool key_less(const uint16_t *a, const uint16_t *b, void *ctx) {
  (void)ctx;
  return *a < *b;
}

WEFT_SORT_BY_KEY(sort_pairs, uint16_t, row, key_less)

TEST_LIMIT(random_typed_sorts_by_key, 600) {
  uint64_t seeds = harness_seed();
  open_pools();
  for (unsigned long i = 0; i < case_count(); i++) {
    uint64_t random = harness_random(&seeds);
    size_t n = random_length(&random), wrong = 0;
    uint64_t kinds = 1 + harness_random(&random) % 3000;
    uint16_t *keys = array_of(n, sizeof *keys);
    row *rows = array_of(n, sizeof *rows);
    for (size_t k = 0; k < n; k++) {
      keys[k] = (uint16_t)(harness_random(&random) % kinds);
      rows[k] = (row){keys[k], (uint32_t)k, (uint64_t)keys[k] * 31 + k};
    }
    weft_opts opts = random_opts(&random);
    sort_pairs_with(&opts, keys, n, rows, NULL);
    for (size_t k = 0; k < n; k++) wrong += rows[k].key != keys[k];
    CHECK_EQ(wrong, 0);
    check_rows(rows, n, true);
    free(keys), free(rows);
  }
  close_pools();
}
