/* A hundred thousand random cases for each array call: lengths, element sizes, keys,
 * pools and options follow from the seed alone, so that a failure can be replayed.
 *
 * SPDX-License-Identifier: MIT */
#include "par/array/filter_cases.h"
#include "par/array/move_cases.h"
#include "par/array/search_cases.h"

static unsigned long case_count(void) {
  unsigned long slower = harness_slowdown();
  return 100ul * 1000 / (slower * slower);
}

/* Mostly short, at times a few thousand. */
static size_t random_length(uint64_t *random) {
  unsigned bits = (unsigned)(harness_random(random) % 13);
  return harness_random(random) % (((size_t)1 << bits) + 1);
}

static size_t random_size(uint64_t *random) {
  static const size_t SIZES[] = {1, 2, 3, 4, 4, 8, 8, 12, 16, 24, 32, 100};
  return SIZES[harness_random(random) % (sizeof SIZES / sizeof SIZES[0])];
}

/* Half of the cases without any option but the pool. */
static weft_opts random_opts(uint64_t *random) {
  weft_opts opts = opts_in((unsigned)(harness_random(random) % THREADS_COUNT));
  if (harness_random(random) % 2 == 0) return opts;
  opts.min_len = harness_random(random) % 3 * (harness_random(random) % 50);
  opts.max_len = harness_random(random) % 3 * (harness_random(random) % 200);
  opts.max_workers = (unsigned)(harness_random(random) % 4);
  opts.split = (weft_split)(harness_random(random) % 3);
  opts.target_chunks = harness_random(random) % 3 * (harness_random(random) % 20);
  return opts;
}

typedef void random_case(const weft_opts *o, elements *e, uint64_t *random);

static void run_cases(random_case *fn) {
  uint64_t seeds = harness_seed();
  open_pools();
  for (unsigned long i = 0; i < case_count(); i++) {
    uint64_t random = harness_random(&seeds);
    weft_opts opts = random_opts(&random);
    unsigned range = 1 + (unsigned)(harness_random(&random) % 500);
    size_t n = random_length(&random);
    elements e = elements_of(n, random_size(&random), range, &random);
    e.below = (unsigned)(harness_random(&random) % (e.range + 1));
    fn(&opts, &e, &random);
    elements_free(&e);
  }
  close_pools();
}

static void filters(const weft_opts *o, elements *e, uint64_t *random) {
  (void)random;
  check_filters(o, e);
}

static void uniques(const weft_opts *o, elements *e, uint64_t *random) {
  make_runs(e, 1 + (unsigned)(harness_random(random) % 100), random);
  check_unique(o, e);
}

static void searches(const weft_opts *o, elements *e, uint64_t *random) {
  if (harness_random(random) % 2 == 0) e->below = e->range / 100;
  check_searches(o, e);
  check_extremes(o, e);
}

static void comparisons(const weft_opts *o, elements *e, uint64_t *random) {
  if (e->range > 1) check_comparisons(o, e, harness_random(random) % (e->n + 1), random);
}

static void moves(const weft_opts *o, elements *e, uint64_t *random) {
  check_reverse(o, e);
  check_rotate(o, e, harness_random(random) % (e->n + 1));
  check_copy(o, e);
  check_fill(o, e, (unsigned)(harness_random(random) % 512));
  check_gather_scatter(o, e, random);
}

static void maps(const weft_opts *o, elements *e, uint64_t *random) {
  check_map(o, e);
  check_histogram(o, e, e->range + harness_random(random) % 3);
}

TEST_LIMIT(random_filters, 1200) {
  run_cases(filters);
}

TEST_LIMIT(random_uniques, 1200) {
  run_cases(uniques);
}

TEST_LIMIT(random_searches, 1200) {
  run_cases(searches);
}

TEST_LIMIT(random_comparisons, 1200) {
  run_cases(comparisons);
}

TEST_LIMIT(random_moves, 1200) {
  run_cases(moves);
}

TEST_LIMIT(random_maps_and_histograms, 1200) {
  run_cases(maps);
}
