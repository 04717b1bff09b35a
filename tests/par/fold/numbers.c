/* The calls for numbers: exact results for integers and for floats that are whole
 * numbers, of all lengths, at all places in memory, with every SIMD set; minima and
 * where they are; fill; the generic names; options.
 *
 * SPDX-License-Identifier: MIT */
#include "par/fold/simd.h"
#include "par/support.h"

enum { SETS = 3, MOST = 1000003, SHIFTS = 3 };

/* Calls fn with each SIMD set that this CPU has, and with the one it gets. */
static void with_each_set(weft_fn *fn, void *ctx) {
  unsigned last = 0;
  for (unsigned set = 0; set < SETS; set++)
    if (wf_simd_choose(set)) {
      fn(ctx);
      last = set;
    }
  wf_simd_choose(last);
}

static size_t next_length(size_t i) {
  size_t n = LENGTHS[i];
  return n > 70000 ? n / harness_slowdown() : n;
}

/* Numbers of all sizes, small ones, or those at the ends of the type. */
enum { WIDE, SMALL, ENDS, PATTERNS };

/* ---- each type ---- */

/* A wide sum as the serial loop makes it; `natural` wraps. */
#define TYPED_TESTS(name, type, wide, natural, min_of_type, max_of_type)                 \
  static void fill_##name(type *a, size_t n, int pattern, uint64_t seed) {               \
    for (size_t i = 0; i < n; i++) {                                                     \
      uint64_t random = harness_random(&seed);                                           \
      type ends[4] = {(type)(min_of_type), (type)(max_of_type), 0, 1};                   \
      if (pattern == WIDE)                                                               \
        a[i] = (type)random;                                                             \
      else if (pattern == SMALL)                                                         \
        a[i] = (type)(random % 100);                                                     \
      else                                                                               \
        a[i] = ends[random % 4];                                                         \
    }                                                                                    \
  }                                                                                      \
                                                                                         \
  static void check_sums_##name(const type *a, const type *b, size_t n) {                \
    natural sum = 0, product = 1, dot = 0;                                               \
    for (size_t i = 0; i < n; i++) {                                                     \
      sum += (natural)(wide)a[i];                                                        \
      product *= (natural)(wide)a[i];                                                    \
      dot += (natural)(wide)a[i] * (natural)(wide)b[i];                                  \
    }                                                                                    \
    CHECK_EQ(weft_sum_##name(a, n), (wide)sum);                                          \
    CHECK_EQ(weft_product_##name(a, n), (wide)product);                                  \
    CHECK_EQ(weft_dot_##name(a, b, n), (wide)dot);                                       \
    CHECK_EQ(weft_sum(a, n), (wide)sum);                                                 \
    CHECK_EQ(weft_product(a, n), (wide)product);                                         \
    CHECK_EQ(weft_dot(a, b, n), (wide)dot);                                              \
  }                                                                                      \
                                                                                         \
  static void check_extremes_##name(const type *a, size_t n) {                           \
    size_t low = SIZE_MAX, high = SIZE_MAX;                                              \
    for (size_t i = 0; i < n; i++) {                                                     \
      if (low == SIZE_MAX || a[i] < a[low]) low = i;                                     \
      if (high == SIZE_MAX || a[i] > a[high]) high = i;                                  \
    }                                                                                    \
    CHECK_EQ(weft_min_index_##name(a, n), low);                                          \
    CHECK_EQ(weft_max_index_##name(a, n), high);                                         \
    CHECK_EQ(weft_min_index_of(a, n), low);                                              \
    CHECK_EQ(weft_max_index_of(a, n), high);                                             \
    CHECK_EQ(weft_min_##name(a, n), n > 0 ? a[low] : (type)(max_of_type));               \
    CHECK_EQ(weft_max_##name(a, n), n > 0 ? a[high] : (type)(min_of_type));              \
    CHECK_EQ(weft_min(a, n), weft_min_##name(a, n));                                     \
    CHECK_EQ(weft_max(a, n), weft_max_##name(a, n));                                     \
  }                                                                                      \
                                                                                         \
  static void check_scans_##name(type *dst, const type *a, size_t n) {                   \
    for (int k = 0; k < 4; k++) {                                                        \
      const type *src = k < 2 ? a : dst;                                                 \
      natural sum = 0;                                                                   \
      size_t wrong = SIZE_MAX;                                                           \
      memset(dst, 0xa5, n * sizeof *dst);                                                \
      if (k >= 2) memcpy(dst, a, n * sizeof *dst);                                       \
      if (k % 2 == 0)                                                                    \
        weft_scan_of(dst, src, n);                                                       \
      else                                                                               \
        weft_scan_exclusive(dst, src, n);                                                \
      for (size_t i = 0; i < n; i++) {                                                   \
        natural next = sum + (natural)(wide)a[i];                                        \
        if (dst[i] != (type)(k % 2 == 0 ? next : sum) && wrong == SIZE_MAX) wrong = i;   \
        sum = next;                                                                      \
      }                                                                                  \
      CHECK_MSG(wrong == SIZE_MAX, "kind %d: index %zu of %zu", k, wrong, n);            \
    }                                                                                    \
  }                                                                                      \
                                                                                         \
  static void check_fill_##name(type *dst, size_t n) {                                   \
    size_t right = 0;                                                                    \
    dst[n] = (type)7;                                                                    \
    weft_fill_of(dst, n, (type)42);                                                      \
    for (size_t i = 0; i < n; i++) right += dst[i] == (type)42;                          \
    CHECK_EQ(right, n);                                                                  \
    CHECK_EQ(dst[n], (type)7);                                                           \
  }                                                                                      \
                                                                                         \
  static void check_##name(void *ctx) {                                                  \
    type *a = array_of(MOST + SHIFTS, sizeof *a), *b = array_of(MOST, sizeof *b);        \
    type *dst = array_of(MOST + 1, sizeof *dst);                                         \
    (void)ctx;                                                                           \
    for (size_t i = 0; i < LENGTHS_COUNT; i++)                                           \
      for (int pattern = 0; pattern < PATTERNS; pattern++) {                             \
        size_t n = next_length(i);                                                       \
        type *from = a + pattern % SHIFTS;                                               \
        if (n > 100000 && pattern != SMALL) continue;                                    \
        bool floats = (type)0.5 != 0;                                                    \
        fill_##name(from, n, floats ? SMALL : pattern, harness_seed() + n);              \
        fill_##name(b, n, floats ? SMALL : pattern, harness_seed() ^ n);                 \
        if (!floats || n < 3) check_sums_##name(from, b, n);                             \
        check_scans_##name(dst, from, n);                                                \
        if (floats) fill_##name(from, n, pattern, harness_seed() + n);                   \
        check_extremes_##name(from, n);                                                  \
        check_fill_##name(dst, n);                                                       \
      }                                                                                  \
    CHECK_EQ(weft_sum_##name(NULL, 0), (wide)0);                                         \
    CHECK_EQ(weft_product_##name(NULL, 0), (wide)1);                                     \
    CHECK_EQ(weft_dot_##name(NULL, NULL, 0), (wide)0);                                   \
    CHECK_EQ(weft_min_index_##name(NULL, 0), SIZE_MAX);                                  \
    CHECK(weft_mean_##name(NULL, 0) != weft_mean_##name(NULL, 0));                       \
    CHECK(weft_variance_##name(NULL, 0) != weft_variance_##name(NULL, 0));               \
    weft_scan_##name(NULL, NULL, 0);                                                     \
    weft_fill_##name(NULL, 0, (type)1);                                                  \
    free(a);                                                                             \
    free(b);                                                                             \
    free(dst);                                                                           \
  }                                                                                      \
                                                                                         \
  static void check_sets_##name(void *ctx) {                                             \
    with_each_set(check_##name, ctx);                                                    \
  }                                                                                      \
                                                                                         \
  TEST(exact_##name) {                                                                   \
    in_each_pool(check_##name, NULL);                                                    \
    check_sets_##name(NULL);                                                             \
  }

TYPED_TESTS(i32, int32_t, int64_t, uint64_t, INT32_MIN, INT32_MAX)
TYPED_TESTS(u32, uint32_t, uint64_t, uint64_t, 0, UINT32_MAX)
TYPED_TESTS(i64, int64_t, int64_t, uint64_t, INT64_MIN, INT64_MAX)
TYPED_TESTS(u64, uint64_t, uint64_t, uint64_t, 0, UINT64_MAX)
TYPED_TESTS(f32, float, double, double, -__builtin_inf(), __builtin_inf())
TYPED_TESTS(f64, double, double, double, -__builtin_inf(), __builtin_inf())

/* ---- means of large integers ---- */

static void check_means(void *ctx) {
  enum { N = 20000 };
  int64_t *a = array_of(N, sizeof *a);
  uint64_t *b = array_of(N, sizeof *b);
  (void)ctx;
  for (int i = 0; i < N; i++) {
    a[i] = i % 2 == 0 ? INT64_MIN : INT64_MAX;
    b[i] = UINT64_MAX;
  }
  CHECK_EQ(weft_mean(a, N), -0.5);
  CHECK_EQ(weft_mean(b, N), 18446744073709551616.0);
  CHECK_EQ(weft_variance(b, N), 0.0);
  CHECK_EQ(weft_variance(a, N), 9223372036854775808.0 * 9223372036854775808.0);
  free(a);
  free(b);
}

TEST(means_do_not_overflow) {
  with_each_set(check_means, NULL);
}

/* ---- options ---- */

TEST(all_options) {
  weft_pool *pool = pool_of(4);
  size_t n = 300000;
  uint32_t *a = array_of(n, sizeof *a), *dst = array_of(n, sizeof *dst);
  for (size_t i = 0; i < n; i++) a[i] = (uint32_t)(i * 2654435761u);
  uint64_t sum = weft_sum(a, n);
  weft_scan_of(dst, a, n);
  uint32_t all = dst[n - 1];
  size_t where = weft_max_index_of(a, n);
  for (unsigned k = 0; k < 24; k++) {
    weft_opts opts = WEFT_OPTS_INIT;
    opts.pool = k % 2 == 0 ? pool : NULL;
    opts.max_workers = k / 2 % 4;
    opts.split = (weft_split)(k / 8);
    opts.min_len = 100;
    CHECK_EQ(weft_sum_u32_with(&opts, a, n), sum);
    CHECK_EQ(weft_max_index_u32_with(&opts, a, n), where);
    weft_fill_u32_with(&opts, dst, n, 3);
    CHECK_EQ(weft_sum(dst, n), 3 * n);
    weft_scan_u32_with(&opts, dst, a, n);
    CHECK_EQ(dst[n - 1], all);
  }
  weft_pool_destroy(pool);
  free(a);
  free(dst);
}

TEST(cancelled_calls_return) {
  size_t n = 300000;
  weft_opts opts = WEFT_OPTS_INIT;
  weft_scope scope;
  double *a = array_of(n, sizeof *a);
  memset(a, 0, n * sizeof *a);
  weft_scope_begin(&scope);
  weft_scope_cancel(&scope, 1);
  opts.cancel = &scope;
  a[0] = a[n - 1] = 5;
  CHECK_EQ(weft_sum_f64_with(&opts, a, n), 0.0);
  CHECK_EQ(weft_min_index_f64_with(&opts, a, n), SIZE_MAX);
  weft_variance_f64_with(&opts, a, n);
  weft_scan_f64_with(&opts, a, a, n);
  weft_fill_f64_with(&opts, a, n, 1);
  CHECK_EQ(weft_scope_end(&scope), 1);
  CHECK_EQ(weft_sum(a, n), 10.0); /* untouched */
  free(a);
}
