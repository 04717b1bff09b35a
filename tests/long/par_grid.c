/* Every call on arrays at every point of the grid: all lengths, all element sizes (up to
 * 128 MiB together), 1, 2, 3 and 8 threads, random and patterned data; each against
 * serial code. tests/par walks through parts of the same grid.
 *
 * SPDX-License-Identifier: MIT */
#include "par/array/filter_cases.h"
#include "par/array/move_cases.h"
#include "par/array/search_cases.h"
#include "par/sort/support.h"

/* Calls fn for each length and element size. */
static void for_grid(case_fn *fn) {
  uint64_t random = harness_seed();
  open_pools();
  for (unsigned l = 0; l < LENGTHS_COUNT; l++)
    for (unsigned s = 0; s < ELEMENT_SIZES_COUNT; s++)
      if (LENGTHS[l] <= ((size_t)128 << 20) / harness_slowdown() / ELEMENT_SIZES[s])
        fn(LENGTHS[l], ELEMENT_SIZES[s], &random);
  close_pools();
}

/* ---- arrays ---- */

static void array_case(size_t n, size_t size, uint64_t *random) {
  elements e = elements_of(n, size, 60000, random);
  FOR_POOLS(opts) {
    e.below = (unsigned)(harness_random(random) % (e.range + 1));
    check_filters(&opts, &e);
    check_searches(&opts, &e);
    check_extremes(&opts, &e);
    check_comparisons(&opts, &e, harness_random(random) % (n + 1), random);
    check_reverse(&opts, &e);
    check_rotate(&opts, &e, harness_random(random) % (n + 1));
    check_copy(&opts, &e);
    check_fill(&opts, &e, (unsigned)(harness_random(random) % 512));
    if (n > 0) check_gather_scatter(&opts, &e, random);
    check_map(&opts, &e);
    check_histogram(&opts, &e, e.range);
    make_runs(&e, 1 + (unsigned)(harness_random(random) % 100), random);
    check_unique(&opts, &e);
  }
  elements_free(&e);
}

TEST_LIMIT(array_calls, 1800) {
  for_grid(array_case);
}

/* ---- sorting ---- */

typedef struct sorting {
  char *base;
  size_t n, size;
  pattern pattern;
  uint64_t contents;
  order_of order;
} sorting;

static void refill(sorting *s) {
  fill_pattern(s->base, s->n, s->size, s->pattern, harness_seed());
  s->contents = contents_of(s->base, s->n, s->size);
}

static void check_result(const sorting *s, size_t sorted, bool stable, const char *call) {
  CHECK_MSG(is_in_order(s->base, sorted, s->size, stable) &&
                contents_of(s->base, s->n, s->size) == s->contents,
            "%s: %zu of %zu bytes, %s", call, s->n, s->size, PATTERN_NAMES[s->pattern]);
}

static void check_sorts(const weft_opts *o, sorting *s) {
  refill(s);
  CHECK_EQ(weft_is_sorted_with(o, s->base, s->n, s->size, compare_keys, &s->order),
           is_in_order(s->base, s->n, s->size, false));
  weft_sort_with(o, s->base, s->n, s->size, compare_keys, &s->order);
  check_result(s, s->n, false, "sort");
  CHECK(weft_is_sorted_with(o, s->base, s->n, s->size, compare_keys, &s->order));
  refill(s);
  weft_sort_stable_with(o, s->base, s->n, s->size, compare_keys, &s->order);
  check_result(s, s->n, true, "sort_stable");
}

/* The payload is the first bytes of the key again. */
static void check_keyed(const weft_opts *o, sorting *s) {
  size_t part = s->size < 16 ? s->size : 16, wrong = 0;
  char *payload = array_of(s->n, part);
  refill(s);
  for (size_t i = 0; i < s->n; i++)
    memcpy(payload + i * part, s->base + i * s->size, part);
  weft_sort_by_key_with(o, s->base, s->n, s->size, payload, part, compare_keys,
                        &s->order);
  check_result(s, s->n, true, "sort_by_key");
  for (size_t i = 0; i < s->n; i++)
    wrong += memcmp(payload + i * part, s->base + i * s->size, part) != 0;
  CHECK_EQ(wrong, 0);
  free(payload);
}

static void check_argsort(const weft_opts *o, sorting *s) {
  size_t *order = array_of(s->n, sizeof *order), wrong = 0;
  refill(s);
  weft_argsort_with(o, order, s->base, s->n, s->size, compare_keys, &s->order);
  for (size_t i = 1; i < s->n; i++) {
    uint32_t a = key_of(s->base + order[i - 1] * s->size, s->size);
    uint32_t b = key_of(s->base + order[i] * s->size, s->size);
    wrong += a > b || (a == b && order[i - 1] >= order[i]);
  }
  CHECK_EQ(wrong, 0);
  CHECK(contents_of(s->base, s->n, s->size) == s->contents);
  free(order);
}

static void check_selection(const weft_opts *o, sorting *s, size_t nth) {
  size_t wrong = 0;
  refill(s);
  weft_nth_element_with(o, s->base, s->n, s->size, nth, compare_keys, &s->order);
  uint32_t key = key_of(s->base + nth * s->size, s->size);
  for (size_t i = 0; i < s->n; i++) {
    uint32_t other = key_of(s->base + i * s->size, s->size);
    wrong += i < nth ? other > key : other < key;
  }
  CHECK_EQ(wrong, 0);
  check_result(s, 0, false, "nth_element");
  refill(s);
  weft_partial_sort_with(o, s->base, s->n, s->size, nth + 1, compare_keys, &s->order);
  check_result(s, nth + 1, false, "partial_sort");
  CHECK_EQ(key_of(s->base + nth * s->size, s->size), key);
}

static void check_merge(const weft_opts *o, sorting *s, size_t na) {
  char *dst = array_of(s->n, s->size), *b = s->base + na * s->size;
  refill(s);
  weft_sort_stable_with(o, s->base, na, s->size, compare_keys, &s->order);
  weft_sort_stable_with(o, b, s->n - na, s->size, compare_keys, &s->order);
  weft_merge_with(o, dst, s->base, na, b, s->n - na, s->size, compare_keys, &s->order);
  memcpy(s->base, dst, s->n * s->size);
  check_result(s, s->n, true, "merge");
  free(dst);
}

/* Small arrays have all patterns, large ones random keys and another pattern each. */
static void sort_case(size_t n, size_t size, uint64_t *random) {
  sorting s = {.base = array_of(n, size), .n = n, .size = size, .order = {.size = size}};
  pattern other = (pattern)(1 + harness_random(random) % (PATTERNS - 1));
  FOR_POOLS(opts) {
    for (int p = 0; p < PATTERNS; p++) {
      if (n > 200000 / size && p != PATTERN_random && p != (int)other) continue;
      s.pattern = (pattern)p;
      check_sorts(&opts, &s);
      check_keyed(&opts, &s);
      check_argsort(&opts, &s);
      if (n > 0) check_selection(&opts, &s, harness_random(random) % n);
      check_merge(&opts, &s, harness_random(random) % (n + 1));
    }
  }
  free(s.base);
}

TEST_LIMIT(sorts, 1800) {
  for_grid(sort_case);
}
