/* weft_sort: every length, size and pattern; the number of comparisons; orders that
 * contradict themselves; cancellation, options, nesting.
 *
 * SPDX-License-Identifier: MIT */
#include "par/sort/support.h"

/* ---- lengths, sizes, patterns ---- */

static void check_sort(size_t n, size_t size, pattern p, const weft_opts *opts) {
  char *base = array_of(n, size);
  order_of order = {.size = size};
  fill_pattern(base, n, size, p, harness_seed() + n);
  uint64_t contents = contents_of(base, n, size);
  if (opts == NULL)
    weft_sort(base, n, size, compare_keys, &order);
  else
    weft_sort_with(opts, base, n, size, compare_keys, &order);
  CHECK_MSG(is_in_order(base, n, size, false), "%zu of %zu bytes, %s", n, size,
            PATTERN_NAMES[p]);
  CHECK_MSG(contents_of(base, n, size) == contents, "%zu of %zu bytes, %s", n, size,
            PATTERN_NAMES[p]);
  CHECK_EQ((unsigned char)base[n * size], 0xA5);
  free(base);
}

static void all_small(void *ctx) {
  (void)ctx;
  for (unsigned l = 0; l < LENGTHS_COUNT && LENGTHS[l] <= 4097; l++)
    for (unsigned e = 0; e < ELEMENT_SIZES_COUNT; e++) {
      if (is_too_large(LENGTHS[l], ELEMENT_SIZES[e] * 16)) continue;
      for (int p = 0; p < PATTERNS; p++)
        if (harness_slowdown() == 1 || (p + (int)l + (int)e) % 4 == 0)
          check_sort(LENGTHS[l], ELEMENT_SIZES[e], (pattern)p, NULL);
    }
}

TEST(small_arrays) {
  in_each_pool(all_small, NULL);
}

static void all_large(void *ctx) {
  (void)ctx;
  for (unsigned e = 0; e < ELEMENT_SIZES_COUNT; e++)
    for (int p = 0; p < PATTERNS; p++)
      if ((p + (int)e) % 7 == 0 && !is_too_large(65537, 4 * ELEMENT_SIZES[e]))
        check_sort(65537, ELEMENT_SIZES[e], (pattern)p, NULL);
  size_t n = harness_slowdown() == 1 ? 1000003 : 50021;
  check_sort(n, 8, PATTERN_random, NULL);
  check_sort(n / 4, 32, PATTERN_few, NULL);
  check_sort(n / 4, 16, PATTERN_skewed, NULL);
  check_sort(n / 4, 12, PATTERN_organ_pipe, NULL);
}

TEST(large_arrays) {
  in_each_pool(all_large, NULL);
}

TEST(nothing_to_sort) {
  order_of order = {.size = 8};
  uint64_t one = 5;
  weft_sort(NULL, 0, 8, compare_keys, &order);
  weft_sort(NULL, 0, 0, NULL, NULL);
  weft_sort(&one, 1, 8, compare_keys, &order);
  CHECK_EQ(one, 5);
}

TEST(from_outside_a_pool) {
  check_sort(100, 16, PATTERN_random, NULL);
  check_sort(50000, 16, PATTERN_random, NULL);
}

/* ---- comparisons ---- */

static void count_comparisons(void *ctx) {
  static const size_t COUNTED[] = {10, 100, 1000, 10007, 50021};
  (void)ctx;
  for (unsigned l = 0; l < sizeof COUNTED / sizeof COUNTED[0]; l++) {
    for (int p = 0; p < PATTERNS; p++) {
      size_t n = COUNTED[l];
      order_of order = {.size = 8};
      char *base = array_of(n, 8);
      fill_pattern(base, n, 8, (pattern)p, harness_seed());
      weft_sort(base, n, 8, compare_counting, &order);
      double limit = 4 * (double)n * log2_of(n);
      if (p == PATTERN_sorted || p == PATTERN_reversed || p == PATTERN_equal)
        limit = n >= 1000 ? 3 * (double)n : limit;
      CHECK_MSG((double)atomic_load(&order.calls) <= limit, "%lu for %zu, %s",
                atomic_load(&order.calls), n, PATTERN_NAMES[p]);
      free(base);
    }
  }
}

TEST(comparisons_are_few) {
  in_each_pool(count_comparisons, NULL);
}

/* McIlroy's adversary: an order that is made up while the sort compares, so that it is
 * the worst there is. Every element is unknown, larger than all known ones, until two
 * unknown ones are compared; then one of them, the one that was compared last if
 * possible, gets the next number. */
typedef struct adversary {
  uint32_t *values;
  uint32_t next, unknown, candidate;
  unsigned long calls;
} adversary;

static int compare_worst(const void *a, const void *b, void *ctx) {
  adversary *adv = ctx;
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  adv->calls++;
  if (adv->values[x] == adv->unknown && adv->values[y] == adv->unknown && x != y)
    adv->values[x == adv->candidate ? x : y] = adv->next++;
  if (adv->values[x] == adv->unknown)
    adv->candidate = x;
  else if (adv->values[y] == adv->unknown)
    adv->candidate = y;
  uint32_t u = adv->values[x], v = adv->values[y];
  return (u > v) - (u < v);
}

static void sort_against_adversary(void *ctx) {
  size_t n = *(const size_t *)ctx;
  uint32_t *base = array_of(n, 4), *values = array_of(n, 4);
  adversary adv = {.values = values, .unknown = (uint32_t)n};
  for (size_t i = 0; i < n; i++) {
    base[i] = (uint32_t)i;
    /* Some are known, so that it cannot just let all ascend. */
    values[i] = i < 64 ? (uint32_t)(i * 37 % 64) : adv.unknown;
  }
  adv.next = 64;
  weft_sort(base, n, 4, compare_worst, &adv);
  CHECK_MSG((double)adv.calls <= 4 * (double)n * log2_of(n), "%lu comparisons for %zu",
            adv.calls, n);
  /* The order that came out of it is the worst for a second sort, too. */
  for (size_t i = 0; i < n; i++) base[i] = (uint32_t)i;
  adv.calls = 0;
  weft_sort(base, n, 4, compare_worst, &adv);
  CHECK((double)adv.calls <= 4 * (double)n * log2_of(n));
  for (size_t i = 1; i < n; i++)
    if (values[base[i - 1]] > values[base[i]]) {
      CHECK_MSG(false, "not in order at %zu", i);
      break;
    }
  free(values);
  free(base);
}

TEST(the_worst_order) {
  weft_pool *pool = pool_of(1);
  for (size_t n = 10; n <= 100000; n *= 10)
    weft_pool_run(pool, sort_against_adversary, &n);
  weft_pool_destroy(pool);
}

/* ---- orders that contradict themselves ---- */

static void sort_with_nonsense(void *ctx) {
  static weft_cmp_fn *const ORDERS[] = {compare_nonsense, always_less, always_greater};
  static const size_t SIZES[] = {3, 4, 8, 24, 32, 100, 200};
  (void)ctx;
  for (unsigned o = 0; o < 3; o++)
    for (unsigned e = 0; e < sizeof SIZES / sizeof SIZES[0]; e++)
      for (size_t n = 2; n <= (harness_slowdown() == 1 ? 30000 : 3000); n += n / 3 + 1) {
        order_of order = {.size = SIZES[e]};
        char *base = array_of(n, SIZES[e]);
        fill_pattern(base, n, SIZES[e], PATTERN_random, n);
        uint64_t contents = contents_of(base, n, SIZES[e]);
        weft_sort(base, n, SIZES[e], ORDERS[o], &order);
        CHECK_MSG(contents_of(base, n, SIZES[e]) == contents, "%zu of %zu bytes", n,
                  SIZES[e]);
        double limit = 4 * (double)n * log2_of(n);
        CHECK_MSG((double)atomic_load(&order.calls) <= limit, "%lu comparisons for %zu",
                  atomic_load(&order.calls), n);
        free(base);
      }
}

TEST(contradictory_orders) {
  in_each_pool(sort_with_nonsense, NULL);
}

/* ---- cancellation ---- */

static void sort_cancelled(void *ctx) {
  static const size_t SIZES[] = {4, 32, 200};
  const size_t n = 20000;
  const pattern p = *(const pattern *)ctx;
  for (unsigned e = 0; e < 3; e++)
    for (unsigned long at = 0; at < 400000;
         at = at * (harness_slowdown() == 1 ? 3 : 20) + 1) {
      weft_scope scope;
      weft_opts opts = WEFT_OPTS_INIT;
      char *base = array_of(n, SIZES[e]);
      fill_pattern(base, n, SIZES[e], p, at);
      uint64_t contents = contents_of(base, n, SIZES[e]);
      weft_scope_begin(&scope);
      order_of order = {.size = SIZES[e], .cancel_at = at, .scope = &scope};
      opts.cancel = &scope;
      weft_sort_with(&opts, base, n, SIZES[e], compare_cancelling, &order);
      CHECK(contents_of(base, n, SIZES[e]) == contents);
      bool complete = !weft_scope_cancelled(&scope);
      CHECK(!complete || is_in_order(base, n, SIZES[e], false));
      /* Cancelled from the start, it does nothing. */
      weft_scope_cancel(&scope, 1);
      unsigned long calls = atomic_load(&order.calls);
      weft_sort_with(&opts, base, n, SIZES[e], compare_cancelling, &order);
      CHECK_EQ(atomic_load(&order.calls), calls);
      weft_scope_end(&scope);
      free(base);
    }
}

TEST(cancelled) {
  static pattern patterns[] = {PATTERN_random, PATTERN_skewed};
  for (unsigned p = 0; p < 2; p++) in_each_pool(sort_cancelled, &patterns[p]);
}

/* ---- options and nesting ---- */

static void sort_with_few_workers(void *ctx) {
  const pattern p = *(const pattern *)ctx;
  for (unsigned workers = 1; workers <= 4; workers++) {
    size_t n = scaled(50000);
    char *base = array_of(n, 16);
    order_of order = {.size = 16};
    weft_opts opts = WEFT_OPTS_INIT;
    opts.max_workers = workers;
    fill_pattern(base, n, 16, p, workers);
    weft_sort_with(&opts, base, n, 16, compare_watching, &order);
    CHECK(is_in_order(base, n, 16, false));
    CHECK(atomic_load(&order.most_active) <= workers);
    check_sort(scaled(10000), 200, p, &opts);
    free(base);
  }
}

TEST(workers_are_limited) {
  static pattern patterns[] = {PATTERN_random, PATTERN_skewed};
  for (unsigned p = 0; p < 2; p++) in_each_pool(sort_with_few_workers, &patterns[p]);
}

TEST(in_another_pool) {
  weft_pool *pool = pool_of(2);
  weft_opts opts = WEFT_OPTS_INIT;
  opts.pool = pool;
  check_sort(10, 8, PATTERN_random, &opts);
  check_sort(100000, 8, PATTERN_random, &opts);
  weft_pool_destroy(pool);
}

static void sort_rows(size_t begin, size_t end, void *ctx) {
  for (size_t i = begin; i < end; i++)
    check_sort(*(const size_t *)ctx * (i + 1), 32, (pattern)(i % PATTERNS), NULL);
}

static void sort_in_loop(void *ctx) {
  weft_for(13, sort_rows, ctx);
}

static void sort_nested(void *ctx) {
  size_t a = scaled(1000), b = scaled(3000);
  (void)ctx;
  weft_join(sort_in_loop, &a, sort_in_loop, &b);
}

TEST(nested) {
  in_each_pool(sort_nested, NULL);
}

/* ---- arrays of many megabytes ---- */

static void many_megabytes(void *ctx) {
  static weft_cmp_fn *const ORDERS[] = {compare_nonsense, always_less, always_greater};
  const size_t n = 200003, size = 32; /* 6.4 MB */
  const double limit = 4 * (double)n * log2_of(n);
  char *base = array_of(n, size);
  (void)ctx;
  for (int p = 0; p < PATTERNS; p++) {
    order_of order = {.size = size};
    fill_pattern(base, n, size, (pattern)p, harness_seed());
    uint64_t contents = contents_of(base, n, size);
    weft_sort(base, n, size, compare_counting, &order);
    CHECK_MSG(is_in_order(base, n, size, false), "%s", PATTERN_NAMES[p]);
    CHECK(contents_of(base, n, size) == contents);
    CHECK((double)atomic_load(&order.calls) <= limit);
  }
  for (unsigned o = 0; o < 3; o++) {
    order_of order = {.size = size};
    fill_pattern(base, n, size, PATTERN_random, o);
    uint64_t contents = contents_of(base, n, size);
    weft_sort(base, n, size, ORDERS[o], &order);
    CHECK(contents_of(base, n, size) == contents);
    CHECK((double)atomic_load(&order.calls) <= limit);
  }
  for (unsigned long at = 10000; at < 5000000; at *= 5) {
    weft_scope scope;
    weft_opts opts = WEFT_OPTS_INIT;
    fill_pattern(base, n, size, PATTERN_random, at);
    uint64_t contents = contents_of(base, n, size);
    weft_scope_begin(&scope);
    order_of order = {.size = size, .cancel_at = at, .scope = &scope};
    opts.cancel = &scope;
    weft_sort_with(&opts, base, n, size, compare_cancelling, &order);
    CHECK(contents_of(base, n, size) == contents);
    weft_scope_end(&scope);
  }
  free(base);
}

TEST(arrays_of_many_megabytes) {
  for (unsigned threads = 1; threads <= 2; threads++) {
    weft_pool *pool = pool_of(threads);
    weft_pool_run(pool, many_megabytes, NULL);
    weft_pool_destroy(pool);
  }
}
