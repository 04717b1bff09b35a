/* WEFT_SORT: functions of several types, by value of a key, by context, of large and of
 * aligned elements.
 *
 * SPDX-License-Identifier: MIT */
#include "par/sort/support.h"

#include <stdio.h>

typedef struct record {
  uint64_t key;
  uint64_t index, more[2];
} record;

static inline bool record_less(const record *a, const record *b, void *ctx) {
  (void)ctx;
  return a->key < b->key;
}
WEFT_SORT(sort_records, record, record_less)

/* Descending if the context says so. */
static inline bool int_less(const int *a, const int *b, void *ctx) {
  return *(const bool *)ctx ? *b < *a : *a < *b;
}
WEFT_SORT(sort_ints, int, int_less)

/* A type that is a pointer: the order gets pointers to elements that it cannot change. */
static inline bool string_less(char *const *a, char *const *b, void *ctx) {
  (void)ctx;
  return strcmp(*a, *b) < 0;
}
WEFT_SORT(sort_strings, char *, string_less)

#define CHAR_LESS(a, b, ctx) ((void)(ctx), *(a) < *(b))
WEFT_SORT(sort_chars, unsigned char, CHAR_LESS)

typedef struct page {
  uint32_t key, index;
  unsigned char rest[4088];
} page;

static inline bool page_less(const page *a, const page *b, void *ctx) {
  (void)ctx;
  return a->key < b->key;
}
WEFT_SORT(sort_pages, page, page_less)

/* The order checks that what it is given is aligned as its type asks for. */
typedef struct line {
  _Alignas(64) uint32_t key;
  uint32_t index;
} line;

static inline bool line_less(const line *a, const line *b, void *ctx) {
  if ((uintptr_t)a % 64 != 0 || (uintptr_t)b % 64 != 0)
    atomic_fetch_add((atomic_ulong *)ctx, 1);
  return a->key < b->key;
}
WEFT_SORT(sort_lines, line, line_less)

/* ---- records ---- */

static void check_records(size_t n, pattern p, bool stable, const weft_opts *opts) {
  record *a = array_of(n, sizeof *a);
  uint64_t random = harness_seed();
  for (size_t i = 0; i < n; i++) {
    uint64_t key = pattern_key(p, i, n, &random);
    record r = {key, i, {key ^ i, ~key}};
    a[i] = r;
  }
  if (stable && opts != NULL)
    sort_records_stable_with(opts, a, n, NULL);
  else if (stable)
    sort_records_stable(a, n, NULL);
  else if (opts != NULL)
    sort_records_with(opts, a, n, NULL);
  else
    sort_records(a, n, NULL);
  uint64_t indices = 0;
  bool right = true;
  for (size_t i = 0; i < n; i++) {
    indices += a[i].index;
    right = right && a[i].more[0] == (a[i].key ^ a[i].index) && a[i].more[1] == ~a[i].key;
    if (i == 0) continue;
    right = right && a[i - 1].key <= a[i].key;
    right = right && (!stable || a[i - 1].key < a[i].key || a[i - 1].index < a[i].index);
  }
  CHECK_MSG(right, "%zu records, %s", n, PATTERN_NAMES[p]);
  CHECK_EQ(indices, (uint64_t)n * (n - (n > 0)) / 2);
  free(a);
}

static void all_records(void *ctx) {
  (void)ctx;
  for (unsigned l = 0; l < LENGTHS_COUNT; l++)
    for (int p = 0; p < PATTERNS; p++) {
      if (LENGTHS[l] > 65537 && (p % 6 != 0 || harness_slowdown() > 1)) continue;
      check_records(LENGTHS[l], (pattern)p, false, NULL);
      check_records(LENGTHS[l], (pattern)p, true, NULL);
    }
}

TEST(records) {
  in_each_pool(all_records, NULL);
}

TEST(records_in_another_pool) {
  weft_pool *pool = pool_of(3);
  weft_opts opts = WEFT_OPTS_INIT;
  opts.pool = pool;
  opts.max_workers = 2;
  check_records(50000, PATTERN_random, false, &opts);
  check_records(50000, PATTERN_saw, true, &opts);
  weft_pool_destroy(pool);
}

/* Enough for copies past the caches, and for elements at odd places. */
TEST(megabytes) {
  static const size_t SIZES[] = {8, 16, 24, 32, 64};
  check_records(140000, PATTERN_random, true, NULL);
  check_records(140000, PATTERN_saw, true, NULL);
  check_records(140001, PATTERN_random, false, NULL);
  for (unsigned e = 0; e < sizeof SIZES / sizeof SIZES[0]; e++)
    for (unsigned shift = 0; shift < 2; shift++) {
      size_t size = SIZES[e], n = (4500000 + size) / size;
      order_of order = {.size = size};
      char *memory = array_of(n + 1, size), *a = memory + 4 * shift;
      fill_pattern(a, n, size, PATTERN_random, harness_seed());
      uint64_t contents = contents_of(a, n, size);
      weft_sort_stable(a, n, size, compare_keys, &order);
      CHECK_MSG(is_in_order(a, n, size, true), "%zu of %zu bytes", n, size);
      CHECK(contents_of(a, n, size) == contents);
      free(memory);
    }
}

/* ---- other types ---- */

static void other_types(void *ctx) {
  size_t n = scaled(100000);
  int *ints = array_of(n, sizeof *ints);
  unsigned char *chars = array_of(n, 1);
  uint64_t random = harness_seed();
  (void)ctx;
  for (int down = 0; down < 2; down++) {
    bool falls = down != 0, right = true;
    fill_random(ints, n * sizeof *ints, &random);
    uint64_t contents = contents_of(ints, n, sizeof *ints);
    sort_ints(ints, n, &falls);
    for (size_t i = 1; i < n; i++)
      right = right && (falls ? ints[i - 1] >= ints[i] : ints[i - 1] <= ints[i]);
    CHECK(right);
    CHECK(contents_of(ints, n, sizeof *ints) == contents);
  }
  fill_random(chars, n, &random);
  uint64_t contents = contents_of(chars, n, 1);
  sort_chars(chars, n, NULL);
  CHECK(is_in_order(chars, n, 1, false));
  CHECK(contents_of(chars, n, 1) == contents);
  free(ints);
  free(chars);
}

TEST(other_types_and_contexts) {
  in_each_pool(other_types, NULL);
}

static void large_types(void *ctx) {
  size_t n = scaled(2000), few = n > 13 ? 13 : n;
  page *pages = array_of(n, sizeof *pages);
  line *lines = aligned_alloc(64, n * sizeof *lines);
  atomic_ulong misaligned = 0;
  (void)ctx;
  REQUIRE(lines != NULL);
  fill_pattern(pages, n, sizeof *pages, PATTERN_random, harness_seed());
  uint64_t contents = contents_of(pages, n, sizeof *pages);
  sort_pages_stable(pages, n, NULL);
  CHECK(is_in_order(pages, n, sizeof *pages, true));
  CHECK(contents_of(pages, n, sizeof *pages) == contents);
  for (int p = 0; p < PATTERNS; p++) {
    fill_pattern(lines, n, sizeof *lines, (pattern)p, harness_seed());
    sort_lines_stable(lines, n, &misaligned);
    CHECK(is_in_order(lines, n, sizeof *lines, true));
    fill_pattern(lines, few, sizeof *lines, (pattern)p, harness_seed());
    sort_lines(lines, few, &misaligned);
  }
  CHECK_EQ(atomic_load(&misaligned), 0);
  free(lines);
  free(pages);
}

TEST(large_and_aligned_types) {
  in_each_pool(large_types, NULL);
}

TEST(arrays_of_pointers) {
  enum { STRINGS = 5000 };
  static char text[STRINGS][8];
  static char *strings[STRINGS];
  uint64_t random = harness_seed();
  for (unsigned i = 0; i < STRINGS; i++) {
    (void)snprintf(text[i], sizeof text[i], "%u",
                   (unsigned)(harness_random(&random) % 100000));
    strings[i] = text[i];
  }
  sort_strings(strings, STRINGS, NULL);
  for (unsigned i = 1; i < STRINGS; i++) CHECK(strcmp(strings[i - 1], strings[i]) <= 0);
}
