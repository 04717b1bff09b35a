/* link: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc */
/* link: -Wl,--wrap=free */
/* weft_scan: inclusive and exclusive, in place and not, elements of all sizes, an
 * operation that does not commute, no memory, the same bits for floats.
 *
 * SPDX-License-Identifier: MIT */
#include "par/refusal.h"

/* An operation on elements of any size that is associative and does not commute: the last
 * one whose first byte is not 0 wins. The identity has a first byte of 0. */
static void last_wins(void *acc, const void *x, void *ctx) {
  if (*(const unsigned char *)x != 0) memcpy(acc, x, *(const size_t *)ctx);
}

static void scan_serially_to(char *dst, const char *src, size_t n, size_t size,
                             bool inclusive) {
  char *acc = array_of(1, size);
  memset(acc, 0, size);
  for (size_t i = 0; i < n; i++) {
    if (!inclusive) memcpy(dst + i * size, acc, size);
    last_wins(acc, src + i * size, &size);
    if (inclusive) memcpy(dst + i * size, acc, size);
  }
  free(acc);
}

static void check_scan(size_t n, size_t size, uint64_t seed) {
  char *src = array_of(n, size), *dst = array_of(n, size), *expected = array_of(n, size);
  char *identity = array_of(1, size);
  memset(identity, 0, size);
  fill_random(src, n * size, &seed);
  for (size_t i = 0; i < n; i++)
    if (harness_random(&seed) % 4 != 0) src[i * size] = 0;
  for (int inclusive = 0; inclusive < 2; inclusive++) {
    scan_serially_to(expected, src, n, size, inclusive);
    weft_scan(dst, src, n, size, identity, inclusive, last_wins, &size);
    CHECK_MSG(memcmp(dst, expected, n * size) == 0, "n %zu, size %zu", n, size);
    memcpy(dst, src, n * size);
    weft_scan(dst, dst, n, size, identity, inclusive, last_wins, &size);
    CHECK_MSG(memcmp(dst, expected, n * size) == 0, "in place, n %zu, size %zu", n, size);
    CHECK_EQ((unsigned char)dst[n * size], 0xa5); /* nothing behind it */
  }
  free(src);
  free(dst);
  free(expected);
  free(identity);
}

static void all_scans(void *ctx) {
  (void)ctx;
  for (unsigned i = 0; i < LENGTHS_COUNT; i++)
    for (unsigned k = 0; k < ELEMENT_SIZES_COUNT; k++) {
      size_t n = LENGTHS[i], size = ELEMENT_SIZES[k];
      bool odd = size % 4 != 0 && size != 3;
      if (is_too_large(n, size * 8) || (odd && n > 10000)) continue;
      check_scan(n, size, harness_seed() + n + size);
    }
}

TEST(scans_of_all_sizes) {
  in_each_pool(all_scans, NULL);
}

static void some_scans(void *ctx) {
  (void)ctx;
  for (unsigned k = 0; k < ELEMENT_SIZES_COUNT; k++) check_scan(700, ELEMENT_SIZES[k], k);
}

TEST(scans_from_outside) {
  some_scans(NULL);
}

/* ---- without memory; and the same bits for floats ---- */

typedef struct real_scan {
  double *src, *dst;
  size_t n;
  bool inclusive;
} real_scan;

static void add_reals(void *acc, const void *x, void *ctx) {
  (void)ctx;
  *(double *)acc += *(const double *)x;
}

static void run_real_scan(void *ctx) {
  real_scan *s = ctx;
  double zero = 0;
  memset(s->dst, 0xa5, s->n * sizeof *s->dst);
  weft_scan(s->dst, s->src, s->n, sizeof zero, &zero, s->inclusive, add_reals, NULL);
}

typedef struct expected_scan {
  real_scan scan;
  const double *expected;
} expected_scan;

static void check_real_scan(void *ctx) {
  expected_scan *e = ctx;
  run_real_scan(&e->scan);
  CHECK_EQ(memcmp(e->scan.dst, e->expected, e->scan.n * sizeof(double)), 0);
}

static void check_real_scan_refused(void *ctx) {
  with_refusals(check_real_scan, ctx);
}

TEST(same_bits_whatever_runs_it) {
  static const unsigned COUNTS[] = {1, 2, 3, 7, 64};
  enum { N = 30000 };
  double *src = array_of(N, 8), *dst = array_of(N, 8), *expected = array_of(N, 8);
  uint64_t random = harness_seed();
  for (size_t i = 0; i < N; i++) src[i] = (double)harness_random(&random) * 1e-9;
  for (int inclusive = 0; inclusive < 2; inclusive++)
    for (size_t n = 1; n <= N; n = n * 5 + 3) {
      real_scan first = {src, expected, n, inclusive};
      expected_scan again = {{src, dst, n, inclusive}, expected};
      run_real_scan(&first);
      for (unsigned i = 0; i < 5; i++) {
        weft_pool *pool = pool_of(COUNTS[i]);
        weft_pool_run(pool, check_real_scan, &again);
        weft_pool_run(pool, check_real_scan_refused, &again);
        weft_pool_destroy(pool);
      }
    }
  free(src);
  free(dst);
  free(expected);
}

/* Elements that need scratch memory of their own. */
typedef struct large {
  unsigned char bytes[5000];
} large;

static void check_large(void *ctx) {
  enum { N = 200 };
  size_t size = sizeof(large);
  large *src = ((large **)ctx)[0], *dst = ((large **)ctx)[1],
        *expected = ((large **)ctx)[2];
  static const large none = {{0}};
  for (int inclusive = 0; inclusive < 2; inclusive++) {
    weft_scan(dst, src, N, size, &none, inclusive, last_wins, &size);
    CHECK_EQ(memcmp(dst, expected + inclusive * N, N * size), 0);
  }
}

static void check_large_refused(void *ctx) {
  with_refusals(check_large, ctx);
}

TEST(large_elements_without_memory) {
  enum { N = 200 };
  uint64_t random = harness_seed();
  large *arrays[3] = {array_of(N, sizeof(large)), array_of(N, sizeof(large)),
                      array_of(2 * N, sizeof(large))};
  fill_random(arrays[0], N * sizeof(large), &random);
  for (size_t i = 0; i < N; i += 2) arrays[0][i].bytes[0] = 0;
  for (int inclusive = 0; inclusive < 2; inclusive++)
    scan_serially_to((char *)(arrays[2] + inclusive * N), (const char *)arrays[0], N,
                     sizeof(large), inclusive);
  in_each_pool(check_large_refused, arrays);
  for (int i = 0; i < 3; i++) free(arrays[i]);
}

/* ---- options ---- */

static void check_cancelled(void *ctx) {
  enum { N = 5000 };
  weft_opts opts = WEFT_OPTS_INIT;
  weft_scope scope;
  double *src = array_of(N, 8), *dst = array_of(N, 8), zero = 0;
  (void)ctx;
  memset(src, 0, N * sizeof *src);
  weft_scope_begin(&scope);
  weft_scope_cancel(&scope, 2);
  opts.cancel = &scope;
  weft_scan_with(&opts, dst, src, N, sizeof zero, &zero, true, add_reals, NULL);
  CHECK_EQ(((unsigned char *)dst)[0], 0xa5); /* nothing was done */
  weft_scope_end(&scope);
  opts.cancel = NULL;
  opts.max_workers = 2;
  opts.min_len = 100;
  weft_scan_with(&opts, dst, src, N, sizeof zero, &zero, true, add_reals, NULL);
  CHECK_EQ(dst[N - 1], 0.0);
  free(src);
  free(dst);
}

TEST(options) {
  in_each_pool(check_cancelled, NULL);
}

/* One block of elements that are too large for the memory that every call has. */
TEST(few_large_elements_are_scanned_on_the_stack) {
  check_scan(1, 300, harness_seed());
  check_scan(60, 300, harness_seed());
  check_scan(60, 1024, harness_seed());
  check_scan(60, 1025, harness_seed());
}
