/* Reductions, scans and the calls for numbers, 10^5 random cases of each: random lengths,
 * data, options and pools of 1, 2, 3 and 8 threads. A case follows from its seed alone,
 * which is printed if it fails.
 *
 * SPDX-License-Identifier: MIT */
#include "par/fold/simd.h"
#include "par/support.h"

enum { CASES = 100000, POOLS = THREADS_COUNT, LONGEST = 40000 };

static weft_pool *pools[POOLS];

typedef void case_fn(const weft_opts *opts, size_t n, uint64_t *random);

/* Mostly short, now and then up to LONGEST. */
static size_t random_length(uint64_t *random) {
  uint64_t bits = harness_random(random) % 100;
  size_t most = bits < 60 ? 70 : bits < 97 ? 1500 : LONGEST;
  return (size_t)(harness_random(random) % (most + 1));
}

static void random_cases(case_fn *fn) {
  unsigned long cases = scaled(CASES - 1);
  for (unsigned i = 0; i < POOLS; i++) pools[i] = pool_of(THREADS[i]);
  for (unsigned long i = 0; i < cases; i++) {
    uint64_t seed = harness_seed() + i, random = seed;
    weft_opts opts = WEFT_OPTS_INIT;
    opts.pool = pools[harness_random(&random) % POOLS];
    opts.max_workers = (unsigned)(harness_random(&random) % 4);
    opts.split = (weft_split)(harness_random(&random) % 3);
    opts.min_len = (size_t)(harness_random(&random) % 50);
    opts.target_chunks = (size_t)(harness_random(&random) % 9);
    wf_simd_choose((unsigned)(harness_random(&random) % 3));
    fn(&opts, random_length(&random), &random);
  }
  for (unsigned i = 0; i < POOLS; i++) weft_pool_destroy(pools[i]);
  wf_simd_choose(0);
}

/* ---- reductions ---- */

/* x -> a x + b: composition is associative and does not commute. */
typedef struct line {
  uint64_t a, b;
} line;

static line then(line f, line g) {
  return (line){f.a * g.a, g.a * f.b + g.b};
}

static void line_init(void *acc, void *ctx) {
  (void)ctx;
  *(line *)acc = (line){1, 0};
}

static void line_fold(void *acc, size_t begin, size_t end, void *ctx) {
  for (size_t i = begin; i < end; i++)
    *(line *)acc = then(*(line *)acc, ((line *)ctx)[i]);
}

static void line_merge(void *acc, const void *right, void *ctx) {
  (void)ctx;
  *(line *)acc = then(*(line *)acc, *(const line *)right);
}

static void line_op(void *acc, const void *x, void *ctx) {
  line_merge(acc, x, ctx);
}

static const weft_reducer LINES = {sizeof(line), line_init, line_fold, line_merge};

static void reduce_case(const weft_opts *opts, size_t n, uint64_t *random) {
  line *a = array_of(n, sizeof *a), got, expected = {1, 0};
  uint64_t seed = *random;
  fill_random(a, n * sizeof *a, random);
  for (size_t i = 0; i < n; i++) expected = then(expected, a[i]);
  weft_reduce_with(opts, &got, n, &LINES, a);
  CHECK_MSG(got.a == expected.a && got.b == expected.b, "n %zu, seed %llu", n,
            (unsigned long long)seed);
  free(a);
}

TEST_LIMIT(reductions, 600) {
  random_cases(reduce_case);
}

static void scan_case(const weft_opts *opts, size_t n, uint64_t *random) {
  bool inclusive = harness_random(random) % 2 == 0, in_place = harness_random(random) % 2;
  line *a = array_of(n, sizeof *a), *b = array_of(n, sizeof *b), all = {1, 0};
  line one = {1, 0};
  uint64_t seed = *random;
  size_t right = 0;
  fill_random(a, n * sizeof *a, random);
  if (in_place) memcpy(b, a, n * sizeof *a);
  weft_scan_with(opts, b, in_place ? b : a, n, sizeof *a, &one, inclusive, line_op, NULL);
  for (size_t i = 0; i < n; i++) {
    line next = then(all, a[i]), here = inclusive ? next : all;
    right += b[i].a == here.a && b[i].b == here.b;
    all = next;
  }
  CHECK_MSG(right == n, "%zu of %zu, seed %llu", right, n, (unsigned long long)seed);
  free(a);
  free(b);
}

TEST_LIMIT(scans, 600) {
  random_cases(scan_case);
}

/* ---- numbers ---- */

#define INTEGER_CASES(name, type, wide)                                                  \
  static void case_##name(const weft_opts *opts, size_t n, uint64_t *random) {           \
    type *a = array_of(n + 1, sizeof *a), *b = array_of(n + 1, sizeof *b);               \
    uint64_t seed = *random, sum = 0, product = 1, dot = 0, scan = 0;                    \
    size_t low = SIZE_MAX, high = SIZE_MAX, right = 0, shift = seed % 2;                 \
    type *from = a + shift;                                                              \
    fill_random(a, (n + 1) * sizeof *a, random);                                         \
    fill_random(b, (n + 1) * sizeof *b, random);                                         \
    if (seed % 3 == 0)                                                                   \
      for (size_t i = 0; i <= n; i++) a[i] = (type)(a[i] % 5);                           \
    for (size_t i = 0; i < n; i++) {                                                     \
      sum += (uint64_t)(wide)from[i];                                                    \
      product *= (uint64_t)(wide)from[i];                                                \
      dot += (uint64_t)(wide)from[i] * (uint64_t)(wide)b[i];                             \
      if (low == SIZE_MAX || from[i] < from[low]) low = i;                               \
      if (high == SIZE_MAX || from[i] > from[high]) high = i;                            \
    }                                                                                    \
    bool held = weft_sum_##name##_with(opts, from, n) == (wide)sum &&                    \
                weft_product_##name##_with(opts, from, n) == (wide)product &&            \
                weft_dot_##name##_with(opts, from, b, n) == (wide)dot &&                 \
                weft_min_index_##name##_with(opts, from, n) == low &&                    \
                weft_max_index_##name##_with(opts, from, n) == high &&                   \
                (n == 0 || (weft_min_##name##_with(opts, from, n) == from[low] &&        \
                            weft_max_##name##_with(opts, from, n) == from[high]));       \
    if (seed % 5 == 0)                                                                   \
      weft_scan_exclusive_##name##_with(opts, b, from, n);                               \
    else                                                                                 \
      weft_scan_##name##_with(opts, b, from, n);                                         \
    for (size_t i = 0; i < n; i++) {                                                     \
      uint64_t next = scan + (uint64_t)(wide)from[i];                                    \
      right += b[i] == (type)(seed % 5 == 0 ? scan : next);                              \
      scan = next;                                                                       \
    }                                                                                    \
    CHECK_MSG(held &&right == n, "n %zu, seed %llu", n, (unsigned long long)seed);       \
    free(a);                                                                             \
    free(b);                                                                             \
  }                                                                                      \
                                                                                         \
  TEST_LIMIT(numbers_##name, 600) {                                                      \
    random_cases(case_##name);                                                           \
  }
INTEGER_CASES(i32, int32_t, int64_t)
INTEGER_CASES(u32, uint32_t, uint64_t)
INTEGER_CASES(i64, int64_t, int64_t)
INTEGER_CASES(u64, uint64_t, uint64_t)

/* Floats: the same bits as the portable SIMD set on one thread, and close to a sum in
 * higher precision. */
#define FLOAT_CASES(name, type)                                                          \
  typedef struct results_##name {                                                        \
    double sum, product, dot, mean, variance;                                            \
    size_t low, high;                                                                    \
  } results_##name;                                                                      \
                                                                                         \
  static results_##name run_##name(const weft_opts *o, const type *a, const type *b,     \
                                   type *dst, size_t n, bool exclusive) {                \
    results_##name r = {                                                                 \
        weft_sum_##name##_with(o, a, n),      weft_product_##name##_with(o, a, n),       \
        weft_dot_##name##_with(o, a, b, n),   weft_mean_##name##_with(o, a, n),          \
        weft_variance_##name##_with(o, a, n), weft_min_index_##name##_with(o, a, n),     \
        weft_max_index_##name##_with(o, a, n)};                                          \
    if (exclusive)                                                                       \
      weft_scan_exclusive_##name##_with(o, dst, a, n);                                   \
    else                                                                                 \
      weft_scan_##name##_with(o, dst, a, n);                                             \
    return r;                                                                            \
  }                                                                                      \
                                                                                         \
  static void case_##name(const weft_opts *opts, size_t n, uint64_t *random) {           \
    type *a = array_of(n, sizeof *a), *b = array_of(n, sizeof *b);                       \
    type *got = array_of(n, sizeof *got), *expected = array_of(n, sizeof *expected);     \
    weft_opts one = WEFT_OPTS_INIT;                                                      \
    uint64_t seed = *random;                                                             \
    long double sum = 0, size = 0;                                                       \
    for (size_t i = 0; i < n; i++) {                                                     \
      a[i] = (type)((double)(int64_t)harness_random(random) * 0x1p-62);                  \
      b[i] = (type)((double)(int64_t)harness_random(random) * 0x1p-40);                  \
      sum += (long double)a[i];                                                          \
      size += a[i] < 0 ? -(long double)a[i] : (long double)a[i];                         \
    }                                                                                    \
    results_##name r = run_##name(opts, a, b, got, n, seed % 2);                         \
    wf_simd_choose(0);                                                                   \
    one.pool = pools[0];                                                                 \
    results_##name s = run_##name(&one, a, b, expected, n, seed % 2);                    \
    long double error = (long double)r.sum - sum, most = size * 0x1p-50L;                \
    CHECK_MSG(error <= most && -error <= most &&                                         \
                  (n == 0 || memcmp(&r, &s, sizeof r) == 0) &&                           \
                  memcmp(got, expected, n * sizeof *got) == 0,                           \
              "n %zu, seed %llu", n, (unsigned long long)seed);                          \
    free(a);                                                                             \
    free(b);                                                                             \
    free(got);                                                                           \
    free(expected);                                                                      \
  }                                                                                      \
                                                                                         \
  TEST_LIMIT(numbers_##name, 600) {                                                      \
    random_cases(case_##name);                                                           \
  }
FLOAT_CASES(f32, float)
FLOAT_CASES(f64, double)
