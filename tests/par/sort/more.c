/* link: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc */
/* link: -Wl,--wrap=free */
/* The other calls that compare: merge, sort by key, argsort, nth element, partial sort,
 * is sorted; with memory and without.
 *
 * SPDX-License-Identifier: MIT */
#include "par/sort/support.h"

#include "harness/memory_faults.h"

/* Calls fn for lengths, sizes and patterns; each with all memory and with none. */
typedef void case_fn(size_t n, size_t size, pattern p);

static void each_case(case_fn *fn, size_t longest) {
  static const size_t SIZES[] = {1, 4, 8, 12, 16, 32, 100, 300};
  for (unsigned l = 0; l < LENGTHS_COUNT && LENGTHS[l] <= longest; l++)
    for (unsigned e = 0; e < sizeof SIZES / sizeof SIZES[0]; e++)
      for (int p = 0; p < PATTERNS; p++) {
        if (is_too_large(LENGTHS[l], SIZES[e])) continue;
        if (LENGTHS[l] >= 1000 && (p + (int)e + (int)l) % 6 != 0) continue;
        if (LENGTHS[l] > 5000 && (p + (int)e) % 9 != 0) continue;
        if (harness_slowdown() > 1 && (p + (int)e + (int)l) % 6 != 0) continue;
        fn(LENGTHS[l], SIZES[e], (pattern)p);
      }
}

/* ---- merge ---- */

static void merge_case(size_t n, size_t size, pattern p) {
  size_t splits[] = {0, n / 2, n / 3, n > 0 ? n - 1 : 0, n};
  order_of order = {.size = size};
  for (unsigned k = 0; k < sizeof splits / sizeof splits[0]; k++) {
    size_t na = splits[k], nb = n - na;
    char *from = array_of(n, size), *dst = array_of(n, size);
    fill_pattern(from, n, size, p, harness_seed() + k);
    weft_sort_stable(from, na, size, compare_keys, &order);
    weft_sort_stable(from + na * size, nb, size, compare_keys, &order);
    uint64_t contents = contents_of(from, n, size);
    weft_merge(dst, from, na, from + na * size, nb, size, compare_keys, &order);
    CHECK_MSG(is_in_order(dst, n, size, true), "%zu and %zu of %zu bytes, %s", na, nb,
              size, PATTERN_NAMES[p]);
    CHECK(contents_of(dst, n, size) == contents);
    CHECK(contents_of(from, n, size) == contents);
    CHECK_EQ((unsigned char)dst[n * size], 0xA5);
    free(from);
    free(dst);
  }
}

static void merge_cases(void *ctx) {
  (void)ctx;
  each_case(merge_case, 65537);
}

TEST(merge) {
  in_each_pool(merge_cases, NULL);
}

static void merge_nonsense(void *ctx) {
  const size_t na = 20000, nb = 7000;
  (void)ctx;
  order_of order = {.size = 8};
  char *a = array_of(na, 8), *b = array_of(nb, 8), *dst = array_of(na + nb, 8);
  fill_pattern(a, na, 8, PATTERN_random, 1);
  fill_pattern(b, nb, 8, PATTERN_random, 2);
  weft_merge(dst, a, na, b, nb, 8, compare_nonsense, &order);
  CHECK(contents_of(dst, na + nb, 8) == contents_of(a, na, 8) + contents_of(b, nb, 8));
  free(a);
  free(b);
  free(dst);
}

TEST(merge_of_what_is_not_sorted) {
  in_each_pool(merge_nonsense, NULL);
}

/* After the cancellation each thread ends the piece of 4096 elements that it has begun.
 */
static void merge_cancelled(void *ctx) {
  enum { EACH = 100000, PIECE = 4096 + 64 };
  const unsigned long threads = weft_thread_count();
  (void)ctx;
  char *a = array_of(EACH, 8), *b = array_of(EACH, 8), *dst = array_of(2 * EACH, 8);
  order_of sorted = {.size = 8};
  fill_pattern(a, EACH, 8, PATTERN_random, 1);
  fill_pattern(b, EACH, 8, PATTERN_random, 2);
  weft_sort(a, EACH, 8, compare_keys, &sorted);
  weft_sort(b, EACH, 8, compare_keys, &sorted);
  for (unsigned long at = 0; at < 100000; at = 3 * at + 10) {
    weft_scope scope;
    weft_opts opts = WEFT_OPTS_INIT;
    weft_scope_begin(&scope);
    order_of order = {.size = 8, .cancel_at = at, .scope = &scope};
    opts.cancel = &scope;
    weft_merge_with(&opts, dst, a, EACH, b, EACH, 8, compare_cancelling, &order);
    CHECK(atomic_load(&order.calls) <= at + threads * PIECE);
    weft_scope_end(&scope);
  }
  weft_scope scope; /* that nobody cancels */
  weft_opts opts = WEFT_OPTS_INIT;
  weft_scope_begin(&scope);
  opts.cancel = &scope;
  weft_merge_with(&opts, dst, a, EACH, b, EACH, 8, compare_keys, &sorted);
  CHECK(is_in_order(dst, 2 * EACH, 8, false));
  weft_scope_end(&scope);
  free(a);
  free(b);
  free(dst);
}

TEST(merges_end_soon_after_the_cancellation) {
  in_each_pool(merge_cancelled, NULL);
}

/* ---- sort by key ---- */

static bool without_memory;

static void by_key_case(size_t n, size_t size, pattern p) {
  static const size_t PAYLOADS[] = {1, 4, 8, 40, 200};
  size_t payload_size = PAYLOADS[(n + size + (size_t)p) % 5];
  if (without_memory && n > 1000) return;
  char *keys = array_of(n, size), *payload = array_of(n, payload_size);
  order_of order = {.size = size};
  fill_pattern(keys, n, size, p, harness_seed());
  /* The payload: a hash of its key. */
  for (size_t i = 0; i < n; i++)
    memset(payload + i * payload_size, (int)(contents_of(keys + i * size, 1, size) % 256),
           payload_size);
  uint64_t contents = contents_of(keys, n, size);
  refuse_memory(without_memory ? REFUSE_FROM : REFUSE_NONE, 1);
  weft_sort_by_key(keys, n, size, payload, payload_size, compare_keys, &order);
  allow_memory();
  CHECK_MSG(is_in_order(keys, n, size, true), "%zu keys of %zu bytes, %s", n, size,
            PATTERN_NAMES[p]);
  CHECK(contents_of(keys, n, size) == contents);
  for (size_t i = 0; i < n; i++) {
    unsigned char tag = (unsigned char)contents_of(keys + i * size, 1, size);
    if ((unsigned char)payload[i * payload_size] != tag ||
        (unsigned char)payload[(i + 1) * payload_size - 1] != tag) {
      CHECK_MSG(false, "payload %zu of %zu, %zu bytes, %s", i, n, payload_size,
                PATTERN_NAMES[p]);
      break;
    }
  }
  free(keys);
  free(payload);
}

static void by_key_cases(void *ctx) {
  (void)ctx;
  each_case(by_key_case, 65537);
}

TEST(sort_by_key) {
  in_each_pool(by_key_cases, NULL);
}

TEST(sort_by_key_without_memory) {
  without_memory = true;
  in_each_pool(by_key_cases, NULL);
  without_memory = false;
}

static void by_key_one_refusal(void *ctx) {
  static const size_t PAYLOADS[] = {8, 300};
  (void)ctx;
  for (unsigned k = 0; k < 2; k++)
    for (unsigned long from = 1; from <= 12; from++) {
      size_t n = 5000, size = PAYLOADS[k];
      uint32_t *keys = array_of(n, 8);
      char *payload = array_of(n, size);
      order_of order = {.size = 8};
      fill_pattern(keys, n, 8, PATTERN_random, 3);
      for (size_t i = 0; i < n; i++) memcpy(payload + i * size, keys + 2 * i, 8);
      refuse_memory(REFUSE_ONE, from);
      weft_sort_by_key(keys, n, 8, payload, size, compare_keys, &order);
      allow_memory();
      CHECK(is_in_order(keys, n, 8, true));
      for (size_t i = 0; i < n; i++)
        if (memcmp(payload + i * size, keys + 2 * i, 8) != 0) {
          CHECK_MSG(false, "payload %zu", i);
          break;
        }
      free(keys);
      free(payload);
    }
}

TEST(sort_by_key_when_any_request_fails) {
  in_each_pool(by_key_one_refusal, NULL);
}

/* ---- argsort ---- */

static void argsort_case(size_t n, size_t size, pattern p) {
  char *base = array_of(n, size);
  size_t *order = array_of(n, sizeof *order);
  order_of by = {.size = size};
  if (without_memory && n > 1000) n = 1000;
  fill_pattern(base, n, size, p, harness_seed());
  uint64_t contents = contents_of(base, n, size), sum = 0;
  refuse_memory(without_memory ? REFUSE_FROM : REFUSE_NONE, 1);
  weft_argsort(order, base, n, size, compare_keys, &by);
  allow_memory();
  bool right = true;
  for (size_t i = 0; i < n; i++) {
    right = right && order[i] < n;
    sum += order[i];
    if (i == 0 || !right) continue;
    uint32_t a = key_of(base + order[i - 1] * size, size);
    uint32_t b = key_of(base + order[i] * size, size);
    right = a < b || (a == b && order[i - 1] < order[i]);
  }
  CHECK_MSG(right, "%zu of %zu bytes, %s", n, size, PATTERN_NAMES[p]);
  CHECK_EQ(sum, (uint64_t)n * (n - (n > 0)) / 2);
  CHECK(contents_of(base, n, size) == contents);
  free(base);
  free(order);
}

static void argsort_cases(void *ctx) {
  (void)ctx;
  each_case(argsort_case, 65537);
}

TEST(argsort) {
  in_each_pool(argsort_cases, NULL);
}

TEST(argsort_without_memory) {
  without_memory = true;
  in_each_pool(argsort_cases, NULL);
  without_memory = false;
}

/* ---- nth element and partial sort ---- */

static void check_divided(const char *base, size_t n, size_t nth, size_t size) {
  uint32_t key = key_of(base + nth * size, size);
  bool right = true;
  for (size_t i = 0; i < n; i++) {
    uint32_t other = key_of(base + i * size, size);
    right = right && (i < nth ? other <= key : other >= key);
  }
  CHECK_MSG(right, "%zu of %zu, %zu bytes", nth, n, size);
}

static void select_case(size_t n, size_t size, pattern p) {
  if (n == 0) return;
  size_t wanted[] = {0, n / 2, n - 1, n / 7};
  char *base = array_of(n, size), *sorted = array_of(n, size);
  order_of order = {.size = size};
  fill_pattern(sorted, n, size, p, harness_seed());
  weft_sort(sorted, n, size, compare_keys, &order);
  for (unsigned k = 0; k < sizeof wanted / sizeof wanted[0]; k++) {
    size_t nth = wanted[k];
    fill_pattern(base, n, size, p, harness_seed());
    uint64_t contents = contents_of(base, n, size);
    order_of counted = {.size = size};
    refuse_memory(without_memory ? REFUSE_FROM : REFUSE_NONE, 1);
    weft_nth_element(base, n, size, nth, compare_counting, &counted);
    allow_memory();
    check_divided(base, n, nth, size);
    CHECK_EQ(key_of(base + nth * size, size), key_of(sorted + nth * size, size));
    CHECK(contents_of(base, n, size) == contents);
    CHECK((double)atomic_load(&counted.calls) <= 4 * (double)n * log2_of(n));

    fill_pattern(base, n, size, p, harness_seed());
    refuse_memory(without_memory ? REFUSE_FROM : REFUSE_NONE, 1);
    weft_partial_sort(base, n, size, nth + 1, compare_keys, &order);
    allow_memory();
    CHECK(is_in_order(base, nth + 1, size, false));
    check_divided(base, n, nth, size);
    CHECK(contents_of(base, n, size) == contents);
  }
  weft_nth_element(base, n, size, n, compare_keys, &order); /* nothing */
  weft_partial_sort(base, n, size, n + 5, compare_keys, &order);
  CHECK(is_in_order(base, n, size, false));
  free(base);
  free(sorted);
}

static void select_cases(void *ctx) {
  (void)ctx;
  each_case(select_case, 65537);
}

TEST(nth_element_and_partial_sort) {
  in_each_pool(select_cases, NULL);
}

TEST(nth_element_and_partial_sort_without_memory) {
  without_memory = true;
  in_each_pool(select_cases, NULL);
  without_memory = false;
}

static void select_nonsense(void *ctx) {
  static weft_cmp_fn *const ORDERS[] = {compare_nonsense, always_less, always_greater};
  const size_t n = 20000;
  (void)ctx;
  for (unsigned o = 0; o < 3; o++)
    for (int refused = 0; refused < 2; refused++) {
      order_of order = {.size = 8};
      char *base = array_of(n, 8);
      fill_pattern(base, n, 8, PATTERN_random, o);
      uint64_t contents = contents_of(base, n, 8);
      refuse_memory(refused ? REFUSE_FROM : REFUSE_NONE, 1);
      weft_nth_element(base, n, 8, n / 3, ORDERS[o], &order);
      weft_partial_sort(base, n, 8, n / 3, ORDERS[o], &order);
      allow_memory();
      CHECK(contents_of(base, n, 8) == contents);
      free(base);
    }
}

TEST(selection_with_contradictory_orders) {
  in_each_pool(select_nonsense, NULL);
}

static void cancelled_calls(void *ctx) {
  const size_t n = 20000;
  (void)ctx;
  for (unsigned long at = 0; at < 300000; at = at * 4 + 1) {
    weft_scope scope;
    weft_opts opts = WEFT_OPTS_INIT;
    char *base = array_of(n, 8), *payload = array_of(n, 8);
    fill_pattern(base, n, 8, PATTERN_random, at);
    memcpy(payload, base, n * 8);
    uint64_t contents = contents_of(base, n, 8);
    weft_scope_begin(&scope);
    order_of order = {.size = 8, .cancel_at = at, .scope = &scope};
    opts.cancel = &scope;
    weft_sort_by_key_with(&opts, base, n, 8, payload, 8, compare_cancelling, &order);
    CHECK(memcmp(base, payload, n * 8) == 0);
    weft_partial_sort_with(&opts, base, n, 8, 100, compare_cancelling, &order);
    CHECK(contents_of(base, n, 8) == contents);
    weft_scope_end(&scope);
    free(base);
    free(payload);
  }
}

TEST(cancelled) {
  in_each_pool(cancelled_calls, NULL);
}

/* ---- is sorted ---- */

static void is_sorted_cases(void *ctx) {
  (void)ctx;
  for (unsigned l = 0; l < LENGTHS_COUNT; l++)
    for (size_t size = 8; size <= 300; size *= 6) {
      size_t n = LENGTHS[l];
      if (is_too_large(n, size)) continue;
      char *base = array_of(n, size);
      order_of order = {.size = size};
      fill_pattern(base, n, size, PATTERN_steps_down, 1);
      CHECK_EQ(weft_is_sorted(base, n, size, compare_keys, &order), n <= 100);
      fill_pattern(base, n, size, PATTERN_equal, 1);
      CHECK(weft_is_sorted(base, n, size, compare_keys, &order));
      fill_pattern(base, n, size, PATTERN_sorted, 1);
      CHECK(weft_is_sorted(base, n, size, compare_keys, &order));
      if (n >= 3) {
        make_element(base + (n - 1) * size, size, 0, 0); /* the last one */
        CHECK(!weft_is_sorted(base, n, size, compare_keys, &order));
      }
      free(base);
    }
}

static void is_sorted_early(void *ctx) {
  size_t n = 1000003;
  char *base = array_of(n, 8);
  (void)ctx;
  for (size_t i = 0; i < n; i++) make_element(base + i * 8, 8, (uint32_t)i, 0);
  make_element(base + 3 * 8, 8, 0, 0);
  order_of order = {.size = 8};
  CHECK(!weft_is_sorted(base, n, 8, compare_counting, &order));
  CHECK_MSG(atomic_load(&order.calls) < n / 2, "%lu", atomic_load(&order.calls));
  free(base);
}

TEST(is_sorted) {
  in_each_pool(is_sorted_cases, NULL);
}

TEST(is_sorted_stops_early) {
  weft_pool *pool = pool_of(1);
  weft_pool_run(pool, is_sorted_early, NULL);
  weft_pool_destroy(pool);
}
