/* link: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc */
/* link: -Wl,--wrap=free */
/* Floats: as accurate as pairwise summation, the same bits for all numbers of threads and
 * all SIMD sets, with memory and without; NaN, infinities and zeros.
 *
 * SPDX-License-Identifier: MIT */
#include "par/fold/simd.h"
#include "par/refusal.h"

#include <float.h>
#include <math.h>

enum { SETS = 3 };

/* ---- data ---- */

enum { UNIFORM, MIXED_SIGNS, MIXED_SIZES, OFFSET, CANCELLING, KINDS };

static double number(int kind, size_t i, uint64_t *random) {
  double unit = (double)(harness_random(random) >> 11) * 0x1p-53;
  switch (kind) {
  case UNIFORM:
    return unit;
  case MIXED_SIGNS:
    return unit - 0.5;
  case MIXED_SIZES:
    return (unit - 0.5) * (double)((uint64_t)1 << harness_random(random) % 60);
  case OFFSET:
    return 1e9 + unit;
  default:
    return i % 2 == 0 ? 1e15 + unit : -1e15;
  }
}

typedef struct numbers {
  double *f64, *g64;
  float *f32, *g32;
  size_t n;
} numbers;

static numbers numbers_of(int kind, size_t n) {
  numbers s = {array_of(n, 8), array_of(n, 8), array_of(n, 4), array_of(n, 4), n};
  uint64_t random = harness_seed() + (uint64_t)kind * 1000 + n;
  for (size_t i = 0; i < n; i++) {
    s.f64[i] = number(kind, i, &random);
    s.g64[i] = number(UNIFORM, i, &random);
    s.f32[i] = (float)s.f64[i];
    s.g32[i] = (float)s.g64[i];
  }
  return s;
}

static void numbers_free(numbers *s) {
  free(s->f64);
  free(s->g64);
  free(s->f32);
  free(s->g32);
}

/* ---- accuracy ---- */

/* Exact enough: the error is some 2^-63 of the sum of the absolute values over n. */
typedef struct exact {
  long double sum, rest, size;
} exact;

static void exact_add(exact *e, long double x) {
  long double sum = e->sum + x, back = sum - e->sum;
  e->rest += (e->sum - (sum - back)) + (x - back);
  e->sum = sum;
  e->size += __builtin_fabsl(x);
}

/* The bound for pairwise summation: each addition that an element goes through, and the
 * rounding of a product, is off by half a bit of the last place. */
static void check_sum(double got, const exact *e, size_t n, int more, const char *what) {
  long double bits = more;
  for (size_t k = n; k > 0; k /= 2) bits++;
  long double error = __builtin_fabsl((long double)got - (e->sum + e->rest));
  CHECK_MSG(error <= bits * (DBL_EPSILON / 2) * e->size, "%s of %zu: error %Lg of %Lg",
            what, n, error, bits * (DBL_EPSILON / 2) * e->size);
}

static void check_accuracy(const numbers *s) {
  exact f64 = {0, 0, 0}, f32 = f64, dot64 = f64, dot32 = f64;
  for (size_t i = 0; i < s->n; i++) {
    exact_add(&f64, s->f64[i]);
    exact_add(&f32, (long double)s->f32[i]);
    exact_add(&dot64, (long double)s->f64[i] * s->g64[i]);
    exact_add(&dot32, (long double)s->f32[i] * (long double)s->g32[i]);
  }
  check_sum(weft_sum(s->f64, s->n), &f64, s->n, 0, "sum of f64");
  check_sum(weft_sum(s->f32, s->n), &f32, s->n, 0, "sum of f32");
  check_sum(weft_dot(s->f64, s->g64, s->n), &dot64, s->n, 1, "dot of f64");
  check_sum(weft_dot(s->f32, s->g32, s->n), &dot32, s->n, 1, "dot of f32");
  check_sum(weft_mean(s->f64, s->n) * (double)s->n, &f64, s->n, 2, "mean of f64");

  if (LDBL_MANT_DIG == DBL_MANT_DIG) return; /* no better sum to compare with */
  long double mean = (f64.sum + f64.rest) / (long double)s->n, squares = 0;
  for (size_t i = 0; i < s->n; i++) squares += (s->f64[i] - mean) * (s->f64[i] - mean);
  long double variance = squares / (long double)s->n;
  long double error =
      __builtin_fabsl((long double)weft_variance(s->f64, s->n) - variance);
  CHECK_MSG(error <= 1e-13L * variance, "variance of %zu: %Lg, error %Lg", s->n, variance,
            error);
}

TEST(as_accurate_as_pairwise_summation) {
  for (int kind = 0; kind < KINDS; kind++)
    for (unsigned i = 1; i < LENGTHS_COUNT; i++) {
      numbers s = numbers_of(kind, LENGTHS[i]);
      check_accuracy(&s);
      numbers_free(&s);
    }
}

/* Where the plain loop would be far off. */
TEST(scans_stay_accurate) {
  enum { N = 1000003 };
  double *a = array_of(N, sizeof *a);
  float *b = array_of(N, sizeof *b);
  /* Variables, because some machines give constants more digits than their type has. */
  const double tenth64 = 0.1;
  const float tenth32 = 0.1f;
  for (size_t i = 0; i < N; i++) {
    a[i] = tenth64;
    b[i] = tenth32;
  }
  weft_scan_of(a, a, N);
  weft_scan_of(b, b, N);
  for (size_t i = 0; i < N; i += 1 + i / 7) {
    long double exact64 = (long double)tenth64 * (long double)(i + 1);
    long double exact32 = (long double)tenth32 * (long double)(i + 1);
    CHECK(__builtin_fabsl(a[i] - exact64) <= 1e-12L * exact64);
    CHECK(__builtin_fabsl((long double)b[i] - exact32) <=
          (FLT_EPSILON / 2 + 1e-12L) * exact32);
  }
  free(a);
  free(b);
}

/* ---- the same bits ---- */

enum { RESULTS = 20 };

typedef struct outcome {
  double results[RESULTS];
  uint64_t scans; /* a hash of all results of the scans */
} outcome;

static uint64_t hash_bytes(uint64_t hash, const void *memory, size_t bytes) {
  const unsigned char *from = memory;
  for (size_t i = 0; i < bytes; i++) hash = (hash ^ from[i]) * 0x100000001b3u;
  return hash;
}

#define OUTCOME_OF(name, a, b, n, dst)                                                   \
  o->results[k++] = weft_sum_##name(a, n);                                               \
  o->results[k++] = weft_product_##name(a, n);                                           \
  o->results[k++] = weft_dot_##name(a, b, n);                                            \
  o->results[k++] = (double)weft_min_##name(a, n);                                       \
  o->results[k++] = (double)weft_max_##name(a, n);                                       \
  o->results[k++] = (double)weft_min_index_##name(a, n);                                 \
  o->results[k++] = weft_mean_##name(a, n);                                              \
  o->results[k++] = weft_variance_##name(a, n);                                          \
  weft_scan_##name(dst, a, n);                                                           \
  o->scans = hash_bytes(o->scans, dst, (n) * sizeof *(a));                               \
  weft_scan_exclusive_##name(dst, a, n);                                                 \
  o->scans = hash_bytes(o->scans, dst, (n) * sizeof *(a));                               \
  memcpy(dst, a, (n) * sizeof *(a));                                                     \
  weft_scan_##name(dst, dst, n);                                                         \
  o->scans = hash_bytes(o->scans, dst, (n) * sizeof *(a));

typedef struct outcome_job {
  numbers s;
  outcome got;
  const outcome *expected;
  double *dst64;
  float *dst32;
} outcome_job;

static void run_outcome(void *ctx) {
  outcome_job *j = ctx;
  const numbers *s = &j->s;
  outcome *o = &j->got;
  size_t k = 0;
  memset(o, 0, sizeof *o);
  OUTCOME_OF(f64, s->f64, s->g64, s->n, j->dst64)
  OUTCOME_OF(f32, s->f32, s->g32, s->n, j->dst32)
  if (j->expected != NULL) CHECK_EQ(memcmp(o, j->expected, sizeof *o), 0);
}

static void run_outcome_refused(void *ctx) {
  with_refusals(run_outcome, ctx);
}

static void check_same_bits(numbers s, bool refusals) {
  static const unsigned COUNTS[] = {1, 2, 3, 7, 64};
  outcome_job job = {.s = s, .dst64 = array_of(s.n, 8), .dst32 = array_of(s.n, 4)};
  outcome expected;
  run_outcome(&job);
  expected = job.got;
  job.expected = &expected;
  for (unsigned i = 0; i < 5; i++) {
    weft_pool *pool = pool_of(COUNTS[i]);
    unsigned last = 0;
    for (unsigned set = 0; set < SETS; set++)
      if (wf_simd_choose(set)) {
        weft_pool_run(pool, run_outcome, &job);
        last = set;
      }
    wf_simd_choose(last);
    if (refusals) weft_pool_run(pool, run_outcome_refused, &job);
    weft_pool_destroy(pool);
  }
  free(job.dst64);
  free(job.dst32);
}

TEST_LIMIT(same_bits_for_all_threads_and_kernels, 120) {
  for (int kind = 0; kind < KINDS; kind++)
    for (unsigned i = 0; i < LENGTHS_COUNT; i++) {
      size_t n = LENGTHS[i];
      if (n > 100000 && kind != MIXED_SIZES) continue;
      if (n > 100000) n /= harness_slowdown();
      numbers s = numbers_of(kind, n);
      check_same_bits(s, kind == UNIFORM);
      numbers_free(&s);
    }
}

/* Many threads, few of them running: those that wait do the work of those that do not. */
static void scan_again(void *ctx) {
  outcome_job *j = ctx;
  for (int i = 0; i < 20; i++) {
    weft_scan_f64(j->dst64, j->s.f64, j->s.n);
    CHECK_EQ(hash_bytes(0, j->dst64, j->s.n * 8), j->got.scans);
    memcpy(j->dst64, j->s.f64, j->s.n * 8);
    weft_scan_f64(j->dst64, j->dst64, j->s.n);
    CHECK_EQ(hash_bytes(0, j->dst64, j->s.n * 8), j->got.scans);
  }
}

TEST(scans_of_many_threads) {
  size_t n = 1000003 / harness_slowdown();
  outcome_job job = {.s = numbers_of(MIXED_SIZES, n), .dst64 = array_of(n, 8)};
  weft_pool *pool = pool_of(64);
  weft_scan_f64(job.dst64, job.s.f64, n);
  job.got.scans = hash_bytes(0, job.dst64, n * 8);
  weft_pool_run(pool, scan_again, &job);
  weft_pool_destroy(pool);
  numbers_free(&job.s);
  free(job.dst64);
}

/* ---- what is no ordinary number ---- */

static void check_special(void *ctx) {
  enum { N = 20001 };
  double *a = array_of(N, sizeof *a);
  float *b = array_of(N, sizeof *b);
  (void)ctx;
  for (size_t n = 1; n <= N; n = n * 3 + 1) {
    for (size_t i = 0; i < n; i++) {
      a[i] = (double)NAN;
      b[i] = NAN;
    }
    CHECK(isnan(weft_min(a, n)) && isnan(weft_max(a, n)));
    CHECK(isnan(weft_min(b, n)) && isnan(weft_max(b, n)));
    CHECK_EQ(weft_min_index_of(a, n), SIZE_MAX);
    CHECK_EQ(weft_max_index_of(b, n), SIZE_MAX);
    CHECK(isnan(weft_sum(a, n)) && isnan(weft_variance(b, n)));

    a[n - 1] = (double)INFINITY; /* the only one that counts */
    b[n - 1] = -INFINITY;
    CHECK_EQ(weft_min(a, n), (double)INFINITY);
    CHECK_EQ(weft_min_index_of(a, n), n - 1);
    CHECK_EQ(weft_max(b, n), -INFINITY);
    CHECK_EQ(weft_max_index_of(b, n), n - 1);

    a[n / 2] = 5;
    b[n / 2] = 6;
    CHECK_EQ(weft_min(a, n), 5.0);
    CHECK_EQ(weft_min_index_of(a, n), n / 2);
    CHECK_EQ(weft_max(b, n), 6.0f);
    CHECK_EQ(weft_max_index_of(b, n), n / 2);

    for (size_t i = 0; i < n; i++) a[i] = i % 2 == 0 ? -0.0 : 0.0;
    CHECK_EQ(weft_min_index_of(a, n), 0);
    CHECK_EQ(weft_max_index_of(a, n), 0);
    CHECK_EQ(weft_min(a, n), 0.0);
    for (size_t i = 0; i < n; i++) a[i] = -0.0;
    CHECK(!signbit(weft_sum(a, n))); /* the loop starts from +0 */
    weft_scan_of(a, a, n);
    CHECK(!signbit(a[0]) && !signbit(a[n - 1]));

    for (size_t i = 0; i < n; i++) a[i] = 1;
    a[n / 2] = (double)INFINITY;
    CHECK_EQ(weft_sum(a, n), (double)INFINITY);
    CHECK_EQ(weft_dot(a, a, n), (double)INFINITY);
    CHECK_EQ(weft_product(a, n), (double)INFINITY);
  }
  free(a);
  free(b);
}

TEST(nan_infinity_and_zeros) {
  for (unsigned set = 0; set < SETS; set++)
    if (wf_simd_choose(set)) {
      check_special(NULL);
      in_each_pool(check_special, NULL);
    }
}
