/* Calls of src/par whose threads share words, on arrays that are just long enough for
 * several threads: for ThreadSanitizer and for builds with random delays, under which the
 * tests of all lengths and types would take too long. docs/verification/atomics.md names
 * the operations that it reaches.
 *
 * SPDX-License-Identifier: MIT */
#include "par/support.h"

#include <par/fold/simd.h>

/* Ten tiles of a scan of 64-bit numbers, and enough for a radix sort by several threads.
 */
enum { ROWS = 160001 };

static uint64_t wide[ROWS], wide_to[ROWS];
static uint32_t narrow[ROWS], narrow_to[ROWS];
static float reals[ROWS];

static void fill_rows(void) {
  for (size_t i = 0; i < ROWS; i++) {
    wide[i] = i * 48271 % 65537;
    narrow[i] = (uint32_t)(i * 48271 % 1000003);
    reals[i] = (float)(i % 10);
  }
}

static unsigned rounds(void) {
  return harness_slowdown() > 1 ? 2 : 10;
}

/* ---- scans ---- */

static void scan_rows(void *ctx) {
  (void)ctx;
  for (unsigned round = 0; round < rounds(); round++) {
    uint64_t sum = 0;
    fill_rows();
    weft_scan_u64(wide_to, wide, ROWS);
    weft_scan_exclusive_u64(wide, wide, ROWS); /* in place */
    bool right = true;
    for (size_t i = 0; i < ROWS; i++) {
      right = right && wide[i] == sum;
      sum += i * 48271 % 65537;
      right = right && wide_to[i] == sum;
    }
    CHECK(right);
    weft_scan_f32(reals, reals, ROWS);
    CHECK(reals[ROWS - 1] > 0);
  }
}

TEST(scans) {
  in_each_pool(scan_rows, NULL);
}

/* ---- sorts ---- */

static bool ascends(const uint32_t *a) {
  for (size_t i = 1; i < ROWS; i++)
    if (a[i - 1] > a[i]) return false;
  return true;
}

static int by_value(const void *a, const void *b, void *ctx) {
  const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  (void)ctx;
  return (x > y) - (x < y);
}

static void sort_rows(void *ctx) {
  (void)ctx;
  for (unsigned round = 0; round < rounds(); round++) {
    fill_rows();
    CHECK(!weft_is_sorted_u32(narrow, ROWS));
    CHECK(!weft_is_sorted(narrow, ROWS, sizeof *narrow, by_value, NULL));
    weft_sort_u32(narrow, ROWS);
    CHECK(ascends(narrow));
    fill_rows();
    weft_sort_u64(wide, ROWS);
    CHECK(weft_is_sorted_u64(wide, ROWS));
    weft_sort(narrow, ROWS, sizeof *narrow, by_value, NULL);
    CHECK(ascends(narrow));
  }
}

TEST(sorts) {
  in_each_pool(sort_rows, NULL);
}

/* ---- searches and counts ---- */

static bool is_large(const void *elem, void *ctx) {
  (void)ctx;
  return *(const uint32_t *)elem >= 990000;
}
static bool is_small(const void *elem, void *ctx) {
  return !is_large(elem, ctx);
}
static size_t key_of(const void *elem, void *ctx) {
  (void)ctx;
  return *(const uint32_t *)elem % 1000;
}
static size_t many_keys(const void *elem, void *ctx) {
  (void)ctx;
  return *(const uint32_t *)elem % 100000;
}

static void search_rows(void *ctx) {
  static size_t counts[100000];
  (void)ctx;
  fill_rows();
  size_t first = 0, large = 0;
  while (narrow[first] < 990000) first++;
  for (size_t i = 0; i < ROWS; i++) large += narrow[i] >= 990000;
  for (unsigned round = 0; round < rounds(); round++) {
    CHECK_EQ(weft_find_first(narrow, ROWS, sizeof *narrow, is_large, NULL), first);
    CHECK(weft_any(narrow, ROWS, sizeof *narrow, is_large, NULL));
    CHECK_EQ(weft_count(narrow, ROWS, sizeof *narrow, is_large, NULL), large);
    size_t least = weft_min_index(narrow, ROWS, sizeof *narrow, by_value, NULL);
    CHECK_EQ(narrow[least], 0);
    weft_histogram(counts, 1000, narrow, ROWS, sizeof *narrow, key_of, NULL);
    size_t sum = 0;
    for (size_t k = 0; k < 1000; k++) sum += counts[k];
    CHECK_EQ(sum, ROWS);
    weft_histogram(counts, 100000, narrow, ROWS, sizeof *narrow, many_keys, NULL);
    for (size_t k = sum = 0; k < 100000; k++) sum += counts[k];
    CHECK_EQ(sum, ROWS);
  }
}

TEST(searches_and_counts) {
  in_each_pool(search_rows, NULL);
}

static void iterate_rows(void *ctx) {
  (void)ctx;
  fill_rows();
  for (unsigned round = 0; round < rounds(); round++) {
    uint32_t found = 0;
    weft_iter it = weft_iter_slice(narrow, ROWS, sizeof *narrow);
    CHECK(weft_iter_find_first(&it, &found, sizeof found, is_large, NULL));
    CHECK(found >= 990000);
    CHECK(weft_iter_any(&it, is_large, NULL));
    weft_iter front = weft_iter_slice(narrow, ROWS, sizeof *narrow);
    weft_iter_take_while(&front, is_small, NULL);
    CHECK_EQ(weft_iter_count(&front), weft_iter_position(&it, is_large, NULL));
    weft_iter_filter(&it, is_large, NULL);
    CHECK(weft_iter_count(&it) > 0);
  }
}

TEST(iterators) {
  in_each_pool(iterate_rows, NULL);
}

/* ---- errors, and who is woken ---- */

static int fail_late(size_t begin, size_t end, void *ctx) {
  (void)ctx;
  for (size_t i = begin; i < end; i++)
    if (i % 1000 == 777) return -(int)(i + 1);
  return 0;
}
static void touch_rows(size_t begin, size_t end, void *ctx) {
  (void)ctx;
  for (size_t i = begin; i < end; i++) narrow_to[i]++;
}

static void loop_rows(void *ctx) {
  (void)ctx;
  memset(narrow_to, 0, sizeof narrow_to);
  weft_opts crew = WEFT_OPTS_INIT;
  crew.max_workers = 2;
  unsigned times = 0;
  for (unsigned round = 0; round < rounds(); round++, times += 2) {
    CHECK_EQ(weft_try_for(ROWS, fail_late, NULL), -778);
    weft_for(ROWS, touch_rows, NULL);
    weft_for_with(&crew, ROWS, touch_rows, NULL);
  }
  for (size_t i = 0; i < ROWS; i += 1000) CHECK_EQ(narrow_to[i], times);
}

TEST(loops) {
  in_each_pool(loop_rows, NULL);
}
