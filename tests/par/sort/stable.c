/* link: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc */
/* link: -Wl,--wrap=free */
/* weft_sort_stable; and weft_sort where memory runs out: the result is the same whichever
 * request for memory fails.
 *
 * SPDX-License-Identifier: MIT */
#include "par/sort/support.h"

#include "harness/memory_faults.h"

typedef struct sort_case {
  size_t n, size;
  pattern p;
  bool stable;
} sort_case;

static void check_case(const sort_case *c) {
  char *base = array_of(c->n, c->size);
  order_of order = {.size = c->size};
  fill_pattern(base, c->n, c->size, c->p, harness_seed() + c->n);
  uint64_t contents = contents_of(base, c->n, c->size);
  if (c->stable)
    weft_sort_stable(base, c->n, c->size, compare_keys, &order);
  else
    weft_sort(base, c->n, c->size, compare_keys, &order);
  CHECK_MSG(is_in_order(base, c->n, c->size, c->stable), "%zu of %zu bytes, %s", c->n,
            c->size, PATTERN_NAMES[c->p]);
  CHECK_MSG(contents_of(base, c->n, c->size) == contents, "%zu of %zu bytes, %s", c->n,
            c->size, PATTERN_NAMES[c->p]);
  free(base);
}

static void all_small(void *ctx) {
  (void)ctx;
  for (unsigned l = 0; l < LENGTHS_COUNT && LENGTHS[l] <= 4097; l++)
    for (unsigned e = 0; e < ELEMENT_SIZES_COUNT; e++) {
      if (is_too_large(LENGTHS[l], ELEMENT_SIZES[e] * 16)) continue;
      for (int p = 0; p < PATTERNS; p++) {
        sort_case c = {LENGTHS[l], ELEMENT_SIZES[e], (pattern)p, true};
        if (harness_slowdown() == 1 || (p + (int)l + (int)e) % 4 == 0) check_case(&c);
      }
    }
}

TEST(small_arrays) {
  in_each_pool(all_small, NULL);
}

static void all_large(void *ctx) {
  static const size_t SIZES[] = {8, 12, 32, 200};
  (void)ctx;
  for (unsigned e = 0; e < 4; e++)
    for (int p = 0; p < PATTERNS; p++) {
      sort_case c = {65537, SIZES[e], (pattern)p, true};
      if ((p + (int)e) % 3 == 0 && !is_too_large(c.n, c.size)) check_case(&c);
    }
  sort_case c = {harness_slowdown() == 1 ? 1000003 : 50021, 16, PATTERN_saw, true};
  check_case(&c);
}

TEST(large_arrays) {
  in_each_pool(all_large, NULL);
}

/* ---- without memory ---- */

static void sort_without_memory(void *ctx) {
  static const size_t SIZES[] = {1, 4, 8, 12, 100, 300};
  static const size_t COUNTS[] = {2, 3, 17, 300, 1500, 9000};
  bool stable = *(const bool *)ctx;
  for (unsigned l = 0; l < sizeof COUNTS / sizeof COUNTS[0]; l++)
    for (unsigned e = 0; e < sizeof SIZES / sizeof SIZES[0]; e++)
      for (int p = 0; p < PATTERNS; p++) {
        size_t n = COUNTS[l], size = SIZES[e];
        char *base = array_of(n, size);
        order_of order = {.size = size};
        if (harness_slowdown() > 1 && ((p + (int)e) % 5 != 0 || n > 2000)) {
          free(base);
          continue;
        }
        fill_pattern(base, n, size, (pattern)p, n);
        uint64_t contents = contents_of(base, n, size);
        refuse_all_memory();
        if (stable)
          weft_sort_stable(base, n, size, compare_counting, &order);
        else
          weft_sort(base, n, size, compare_counting, &order);
        allow_memory();
        CHECK_MSG(is_in_order(base, n, size, stable), "%zu of %zu bytes, %s", n, size,
                  PATTERN_NAMES[p]);
        CHECK(contents_of(base, n, size) == contents);
        CHECK_MSG((double)atomic_load(&order.calls) <= 4 * (double)n * log2_of(n),
                  "%lu comparisons for %zu, %s", atomic_load(&order.calls), n,
                  PATTERN_NAMES[p]);
        free(base);
      }
}

TEST(stable_without_memory) {
  bool stable = true;
  in_each_pool(sort_without_memory, &stable);
}

TEST(unstable_without_memory) {
  bool stable = false;
  in_each_pool(sort_without_memory, &stable);
}

/* Each request in turn fails: for the array, and for each round of buckets. */
static void sort_with_one_refusal(void *ctx) {
  static const size_t SIZES[] = {8, 200};
  (void)ctx;
  for (unsigned e = 0; e < 2; e++)
    for (int all = 0; all < 2; all++)
      for (unsigned long from = 1;; from += from / 8 + 1) {
        size_t n = 20000, size = SIZES[e];
        char *base = array_of(n, size);
        order_of order = {.size = size};
        fill_pattern(base, n, size, PATTERN_random, 3);
        uint64_t contents = contents_of(base, n, size);
        refuse_memory(all ? REFUSE_FROM : REFUSE_ONE, from);
        weft_sort_stable(base, n, size, compare_keys, &order);
        unsigned long refused = allow_memory();
        CHECK(is_in_order(base, n, size, true));
        CHECK(contents_of(base, n, size) == contents);
        free(base);
        if (refused == 0 || harness_slowdown() > 1) break;
      }
}

TEST(any_request_may_fail) {
  in_each_pool(sort_with_one_refusal, NULL);
}

/* Nonsense, and cancellation, where nothing moves through a second array. */
static void nonsense_without_memory(void *ctx) {
  static weft_cmp_fn *const ORDERS[] = {compare_nonsense, always_less, always_greater};
  const size_t n = scaled(3000), size = 12;
  (void)ctx;
  for (unsigned o = 0; o < 3; o++)
    for (int stable = 0; stable < 2; stable++)
      for (unsigned long at = 10; at < 1000000; at *= 10) {
        weft_scope scope;
        weft_opts opts = WEFT_OPTS_INIT;
        char *base = array_of(n, size);
        weft_scope_begin(&scope);
        order_of order = {.size = size, .cancel_at = at, .scope = &scope};
        fill_pattern(base, n, size, PATTERN_random, at);
        uint64_t contents = contents_of(base, n, size);
        opts.cancel = &scope;
        weft_cmp_fn *cmp = at > 10000 ? ORDERS[o] : compare_cancelling;
        refuse_all_memory();
        if (stable)
          weft_sort_stable_with(&opts, base, n, size, cmp, &order);
        else
          weft_sort_with(&opts, base, n, size, cmp, &order);
        allow_memory();
        CHECK(contents_of(base, n, size) == contents);
        weft_scope_end(&scope);
        free(base);
      }
}

TEST(nonsense_without_any_memory) {
  in_each_pool(nonsense_without_memory, NULL);
}
