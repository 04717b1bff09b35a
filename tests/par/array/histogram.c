/* link: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc */
/* link: -Wl,--wrap=free */
/* weft_histogram: the same counts as a serial loop, with few and with many keys, with
 * and without memory for tables.
 *
 * SPDX-License-Identifier: MIT */
#include "par/array/move_cases.h"

#include "harness/memory_faults.h"

static const unsigned RANGES[] = {1, 2, 10, 256, 5000, 65536};
enum { RANGES_COUNT = sizeof RANGES / sizeof RANGES[0] };

static void histogram_case(size_t n, size_t size, uint64_t *random) {
  for (unsigned r = 0; r<RANGES_COUNT; r += n> 100000 ? 3 : 1) {
    elements e = elements_of(n, size, RANGES[r], random);
    FOR_POOLS(opts) check_histogram(&opts, &e, e.range + harness_random(random) % 3);
    elements_free(&e);
  }
}

TEST(histograms_are_as_serial_ones) {
  for_cases(histogram_case);
}

/* Far more keys than there are elements. */
TEST(histograms_of_many_keys) {
  uint64_t random = harness_seed();
  elements e = elements_of(100003, 4, 65536, &random);
  open_pools();
  FOR_POOLS(opts) check_histogram(&opts, &e, 3000000);
  FOR_POOLS(opts) check_histogram(&opts, &e, 65536);
  close_pools();
  elements_free(&e);
}

TEST(histograms_without_memory) {
  uint64_t random = harness_seed();
  size_t n = 100003 / harness_slowdown();
  if (n < 12500) n = 12500; /* few elements have no tables that memory is needed for */
  open_pools();
  FOR_POOLS(opts) weft_pool_run(opts.pool, do_nothing, NULL);
  for (unsigned r = 0; r < RANGES_COUNT; r++) {
    elements e = elements_of(n, 4, RANGES[r], &random);
    size_t *counts = array_of(e.range, sizeof *counts), *expected, wrong = 0;
    expected = calloc(e.range, sizeof *expected);
    REQUIRE(expected != NULL);
    for (size_t i = 0; i < e.n; i++) expected[key_at(&e, elem_at(&e, i))]++;
    for (unsigned long every = 1; every <= 3; every++) {
      FOR_POOLS(opts) {
        refuse_memory(REFUSE_EVERY, every);
        weft_histogram_with(&opts, counts, e.range, e.base, e.n, 4, key_for_count, &e);
        const unsigned long refused = allow_memory();
        check_looks(&e, 1);
        for (size_t k = 0; k < e.range; k++) wrong += counts[k] != expected[k];
        if (wf_pool_i > 0 && e.range <= 256) CHECK(refused > 0);
      }
    }
    CHECK_EQ(wrong, 0);
    free(counts);
    free(expected);
    elements_free(&e);
  }
  close_pools();
}

TEST(histograms_keep_to_options) {
  uint64_t random = harness_seed();
  elements e = elements_of(20011, 4, 300, &random);
  open_pools();
  FOR_POOLS(opts) {
    for (unsigned i = 0; i < 20; i++) {
      opts.min_len = harness_random(&random) % 3 * 7;
      opts.max_len = harness_random(&random) % 3 * 100;
      opts.max_workers = (unsigned)(harness_random(&random) % 4);
      check_histogram(&opts, &e, 300);
    }
  }
  close_pools();
  elements_free(&e);
}

static void histogram_by_default(void *ctx) {
  elements *e = ctx;
  size_t counts[1000], sum = 0;
  weft_histogram(counts, 1000, e->base, e->n, e->size, key_for_count, e);
  for (int i = 0; i < 1000; i++) sum += counts[i];
  CHECK_EQ(sum, e->n);
  check_looks(e, 1);
}

TEST(histograms_from_inside_and_from_outside) {
  uint64_t random = harness_seed();
  elements e = elements_of(100003, 12, 1000, &random);
  in_each_pool(histogram_by_default, &e);
  histogram_by_default(&e);
  weft_shutdown();
  elements_free(&e);
}

/* No elements: the counts are 0. No keys: nothing is written. */
TEST(nothing_is_fine) {
  size_t counts[3] = {1, 2, 3};
  weft_histogram(counts, 2, NULL, 0, 4, NULL, NULL);
  CHECK_EQ(counts[0], 0);
  CHECK_EQ(counts[1], 0);
  CHECK_EQ(counts[2], 3);
  weft_histogram(NULL, 0, NULL, 0, 4, NULL, NULL);
  weft_shutdown();
}

/* ---- cancelled ---- */

TEST(a_cancelled_histogram_ends) {
  uint64_t random = harness_seed();
  elements e = elements_of(10007, 4, 10, &random);
  open_pools();
  FOR_POOLS(opts) {
    weft_scope scope;
    size_t counts[10];
    weft_scope_begin_with(&opts, &scope);
    weft_scope_cancel(&scope, 1);
    opts.cancel = &scope;
    weft_histogram_with(&opts, counts, 10, e.base, e.n, 4, key_for_count, &e);
    check_looks(&e, 0);
    weft_scope_end(&scope);
  }
  close_pools();
  elements_free(&e);
}

/* ---- misuse that is noticed late ---- */

static size_t key_too_large(const void *elem, void *ctx) {
  (void)elem, (void)ctx;
  return 3;
}

TEST_BY_NAME(key_out_of_range) {
  static const int numbers[4];
  size_t counts[3];
  weft_histogram(counts, 3, numbers, 4, sizeof numbers[0], key_too_large, NULL);
}

TEST(keys_out_of_range_are_told) {
  char output[4096];
  CHECK(harness_run_self(NULL, "key_out_of_range", output, sizeof output) != 0);
  CHECK(strstr(output, "weft_histogram: a key is not below the number of keys") != NULL);
}
