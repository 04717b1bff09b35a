/* A hundred thousand random cases of each sort of scalars: type, length, pattern, number
 * of threads and options follow from the seed.
 *
 * SPDX-License-Identifier: MIT */
#include "par/sort/typed_support.h"

#include <stdio.h>

enum { CASES = 100000, LONGEST = 60000 };

static weft_pool *pools[THREADS_COUNT];

static void make_pools(void) {
  for (unsigned i = 0; i < THREADS_COUNT; i++) pools[i] = pool_of(THREADS[i]);
}

static void destroy_pools(void) {
  for (unsigned i = 0; i < THREADS_COUNT; i++) weft_pool_destroy(pools[i]);
}

/* Mostly short ones; one in a hundred is long enough for all threads. */
static size_t random_length(uint64_t *random) {
  uint64_t choice = harness_random(random) % 100;
  uint64_t most = choice == 0 ? LONGEST : choice < 10 ? 5000 : choice < 50 ? 300 : 40;
  return (size_t)(harness_random(random) % most);
}

static void random_cases(void (*fn)(const kind *k, const weft_opts *o, void *a, size_t n,
                                    uint64_t *random)) {
  uint64_t random = harness_seed();
  unsigned long cases = CASES / harness_slowdown();
  void *a = array_of(LONGEST, 8);
  make_pools();
  for (unsigned long i = 0; i < cases; i++) {
    const kind *k = &KINDS[harness_random(&random) % KINDS_COUNT];
    weft_opts opts = WEFT_OPTS_INIT;
    opts.pool = pools[harness_random(&random) % THREADS_COUNT];
    opts.max_workers = (unsigned)(harness_random(&random) % 4);
    size_t n = random_length(&random);
    fill_pattern(k, a, n, (pattern)(harness_random(&random) % PATTERNS), &random);
    fn(k, &opts, a, n, &random);
  }
  destroy_pools();
  free(a);
}

static void one_sort(const kind *k, const weft_opts *o, void *a, size_t n,
                     uint64_t *random) {
  uint64_t print = fingerprint(k, a, n);
  (void)random;
  k->sort(o, a, n);
  check_same(k, a, n, print);
  check_sorted(k, a, n);
  CHECK(k->is_sorted(o, a, n));
}

static void one_nth(const kind *k, const weft_opts *o, void *a, size_t n,
                    uint64_t *random) {
  uint64_t print = fingerprint(k, a, n);
  if (n == 0) return;
  size_t nth = (size_t)(harness_random(random) % n);
  k->nth(o, a, n, nth);
  check_same(k, a, n, print);
  check_nth(k, a, n, nth);
}

static void one_partial(const kind *k, const weft_opts *o, void *a, size_t n,
                        uint64_t *random) {
  uint64_t print = fingerprint(k, a, n);
  size_t count = (size_t)(harness_random(random) % (n + 1));
  k->partial(o, a, n, count);
  check_same(k, a, n, print);
  check_sorted(k, a, count);
  if (count > 0) check_nth(k, a, n, count - 1);
}

static void one_argsort(const kind *k, const weft_opts *o, void *a, size_t n,
                        uint64_t *random) {
  size_t *order = array_of(n, sizeof *order);
  (void)random;
  k->argsort(o, order, a, n);
  check_order(k, order, a, n);
  free(order);
}

/* The payload is the key again, and its place. */
typedef struct tag {
  uint64_t bits;
  uint32_t place;
} tag;

static void one_by_key(const kind *k, const weft_opts *o, void *a, size_t n,
                       uint64_t *random) {
  tag *tags = array_of(n, sizeof *tags);
  uint64_t print = fingerprint(k, a, n);
  (void)random;
  for (size_t i = 0; i < n; i++) tags[i] = (tag){bits_at(k, a, i), (uint32_t)i};
  k->by_key(o, a, tags, sizeof *tags, n);
  check_same(k, a, n, print);
  check_sorted(k, a, n);
  for (size_t i = 0; i < n; i++) {
    CHECK_EQ(tags[i].bits, bits_at(k, a, i));
    if (i > 0 && compare_at(k, a, i - 1, i) == 0)
      CHECK(tags[i - 1].place < tags[i].place);
  }
  free(tags);
}

TEST_LIMIT(random_sorts, 600) {
  random_cases(one_sort);
}

TEST_LIMIT(random_nth_elements, 600) {
  random_cases(one_nth);
}

TEST_LIMIT(random_partial_sorts, 600) {
  random_cases(one_partial);
}

TEST_LIMIT(random_argsorts, 600) {
  random_cases(one_argsort);
}

TEST_LIMIT(random_sorts_by_key, 600) {
  random_cases(one_by_key);
}
