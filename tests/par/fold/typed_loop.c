/* WEFT_SUM_LOOP, WEFT_MIN_LOOP, WEFT_MAX_LOOP and WEFT_REDUCE_LOOP (weft/typed_loop.h):
 * against serial code, the same bits on any number of threads, orders that matter, types
 * of all sizes.
 *
 * SPDX-License-Identifier: MIT */
#include "par/support.h"

#include <complex.h>
#include <float.h>
#include <limits.h>
#include <math.h>

static const unsigned CREWS[] = {1, 2, 3, 8, 64};
enum { CREWS_COUNT = sizeof CREWS / sizeof CREWS[0] };

/* ---- sums of integers are those of the serial loop ---- */

#define DEFINE_INTEGER(T, name)                                                          \
  WEFT_SUM_LOOP(sum_##name, T, i, const T *, a) {                                        \
    return a[i];                                                                         \
  }                                                                                      \
  WEFT_MIN_LOOP(min_##name, T, i, const T *, a) {                                        \
    return a[i];                                                                         \
  }                                                                                      \
  WEFT_MAX_LOOP(max_##name, T, i, const T *, a) {                                        \
    return a[i];                                                                         \
  }                                                                                      \
  static void check_##name(size_t n, const void *memory) {                               \
    const T *a = memory;                                                                 \
    unsigned long long sum = 0;                                                          \
    T least = min_##name(0, NULL), most = max_##name(0, NULL);                           \
    for (size_t i = 0; i < n; i++) {                                                     \
      sum += (unsigned long long)a[i];                                                   \
      if (a[i] < least) least = a[i];                                                    \
      if (a[i] > most) most = a[i];                                                      \
    }                                                                                    \
    CHECK_EQ(sum_##name(n, a), (T)sum);                                                  \
    CHECK_EQ(min_##name(n, a), least);                                                   \
    CHECK_EQ(max_##name(n, a), most);                                                    \
    CHECK_EQ(sum_##name##_range(n / 3, n, a), sum_##name(n - n / 3, a + n / 3));         \
  }

DEFINE_INTEGER(char, char)
DEFINE_INTEGER(signed char, schar)
DEFINE_INTEGER(unsigned char, uchar)
DEFINE_INTEGER(short, short)
DEFINE_INTEGER(unsigned short, ushort)
DEFINE_INTEGER(int, int)
DEFINE_INTEGER(unsigned, uint)
DEFINE_INTEGER(long, long)
DEFINE_INTEGER(unsigned long, ulong)
DEFINE_INTEGER(long long, llong)
DEFINE_INTEGER(unsigned long long, ullong)

static void check_integers(void *ctx) {
  uint64_t random = harness_seed();
  enum { MOST = 70000 };
  unsigned char *memory = array_of(MOST, 8);
  (void)ctx;
  fill_random(memory, MOST * 8, &random);
  for (size_t k = 0; k < 71 + LENGTHS_COUNT; k++) {
    size_t n = k < 71 ? k : LENGTHS[k - 71];
    if (n > MOST) continue;
    check_char(n, memory), check_schar(n, memory), check_uchar(n, memory);
    check_short(n, memory), check_ushort(n, memory);
    check_int(n, memory), check_uint(n, memory);
    check_long(n, memory), check_ulong(n, memory);
    check_llong(n, memory), check_ullong(n, memory);
  }
  free(memory);
}

TEST(integers_as_the_serial_loop) {
  for (unsigned i = 0; i < CREWS_COUNT; i++) {
    weft_pool *pool = pool_of(CREWS[i]);
    weft_pool_run(pool, check_integers, NULL);
    weft_pool_destroy(pool);
  }
  check_integers(NULL);
  weft_shutdown();
}

TEST(the_result_of_nothing) {
  CHECK_EQ(sum_int(0, NULL), 0);
  CHECK_EQ(min_char(0, NULL), CHAR_MAX), CHECK_EQ(max_char(0, NULL), CHAR_MIN);
  CHECK_EQ(min_schar(0, NULL), SCHAR_MAX), CHECK_EQ(max_schar(0, NULL), SCHAR_MIN);
  CHECK_EQ(min_uchar(0, NULL), UCHAR_MAX), CHECK_EQ(max_uchar(0, NULL), 0);
  CHECK_EQ(min_short(0, NULL), SHRT_MAX), CHECK_EQ(max_short(0, NULL), SHRT_MIN);
  CHECK_EQ(min_ushort(0, NULL), USHRT_MAX), CHECK_EQ(max_ushort(0, NULL), 0);
  CHECK_EQ(min_int(0, NULL), INT_MAX), CHECK_EQ(max_int(0, NULL), INT_MIN);
  CHECK_EQ(min_uint(0, NULL), UINT_MAX), CHECK_EQ(max_uint(0, NULL), 0);
  CHECK_EQ(min_long(0, NULL), LONG_MAX), CHECK_EQ(max_long(0, NULL), LONG_MIN);
  CHECK(min_ulong(0, NULL) == ULONG_MAX), CHECK_EQ(max_ulong(0, NULL), 0);
  CHECK_EQ(min_llong(0, NULL), LLONG_MAX), CHECK_EQ(max_llong(0, NULL), LLONG_MIN);
  CHECK(min_ullong(0, NULL) == ULLONG_MAX), CHECK_EQ(max_ullong(0, NULL), 0);
  weft_shutdown();
}

/* Partial sums overflow, the sum does not. */
TEST(integers_that_overflow_on_the_way) {
  enum { N = 100000 };
  int *a = array_of(N, sizeof *a);
  for (size_t i = 0; i < N; i++) a[i] = i % 2 == 0 ? INT_MAX : -INT_MAX;
  CHECK_EQ(sum_int(N, a), 0);
  CHECK_EQ(sum_int(N - 1, a), INT_MAX);
  free(a);
  weft_shutdown();
}

/* ---- floats: the same bits everywhere ---- */

WEFT_SUM_LOOP(dot, double, i, const double *, x, const double *, y) {
  return x[i] * y[i];
}
WEFT_SUM_LOOP(sum_f32, float, i, const double *, x) {
  return (float)x[i];
}
WEFT_SUM_LOOP(sum_wide, long double, i, const double *, x) {
  return x[i];
}
WEFT_SUM_LOOP(sum_complex, double complex, i, const double *, x, const double *, y) {
  return x[i] + I * y[i];
}
WEFT_MIN_LOOP(least, double, i, const double *, x) {
  return x[i];
}
WEFT_MAX_LOOP(most, float, i, const double *, x) {
  return (float)x[i];
}
WEFT_MAX_LOOP(most_long, long double, i, const double *, x) {
  return x[i];
}

static double add_doubles(double a, double b) {
  return a + b;
}
WEFT_REDUCE_LOOP(sum_by_function, double, 0, add_doubles, i, const double *, x) {
  return x[i];
}

typedef struct floats {
  size_t n;
  const double *x, *y;
  const weft_opts *opts;
  double dot, least, by_function, real, imaginary;
  float sum, most;
  long double sum_wide, most_long;
} floats;

static void compute_floats(void *ctx) {
  floats *f = ctx;
  f->dot = dot_with(f->opts, f->n, f->x, f->y);
  f->sum = sum_f32_with(f->opts, f->n, f->x);
  f->sum_wide = sum_wide_with(f->opts, f->n, f->x);
  double complex z = sum_complex_with(f->opts, f->n, f->x, f->y);
  f->real = creal(z), f->imaginary = cimag(z);
  f->least = least_with(f->opts, f->n, f->x);
  f->most = most_with(f->opts, f->n, f->x);
  f->most_long = most_long_with(f->opts, f->n, f->x);
  f->by_function = sum_by_function_with(f->opts, f->n, f->x);
}

#define SAME_BITS(a, b) CHECK(memcmp(&(a), &(b), sizeof(a)) == 0)

static void check_same(const floats *a, const floats *b) {
  SAME_BITS(a->dot, b->dot);
  SAME_BITS(a->least, b->least);
  SAME_BITS(a->by_function, b->by_function);
  SAME_BITS(a->real, b->real);
  SAME_BITS(a->imaginary, b->imaginary);
  SAME_BITS(a->sum, b->sum);
  SAME_BITS(a->most, b->most);
  CHECK(a->sum_wide == b->sum_wide && a->most_long == b->most_long);
}

/* Against the serial loops, in more precision. */
static void check_precise(const floats *f) {
  long double sum = 0, product = 0, scale = 0, least_of = INFINITY, most_of = -INFINITY;
  for (size_t i = 0; i < f->n; i++) {
    sum += f->x[i], product += (long double)f->x[i] * f->y[i];
    scale += fabsl(f->x[i]) + fabsl((long double)f->x[i] * f->y[i]);
    if (f->x[i] < least_of) least_of = f->x[i];
    if (f->x[i] > most_of) most_of = f->x[i];
  }
  long double bound = scale * DBL_EPSILON * 32, rough = scale * FLT_EPSILON * 32;
  CHECK(fabsl(f->dot - product) <= bound);
  CHECK(fabsl(f->by_function - sum) <= bound);
  CHECK(fabsl(f->real - sum) <= bound);
  CHECK(fabsl(f->sum_wide - sum) <= bound);
  CHECK(fabsl(f->sum - sum) <= rough);
  CHECK(f->least == (double)least_of && f->most == (float)most_of);
  CHECK(f->most_long == most_of);
}

TEST(floats_have_the_same_bits_on_any_number_of_threads) {
  uint64_t random = harness_seed();
  enum { MOST = 1000003 };
  double *x = array_of(MOST + 100, sizeof *x), *y = array_of(MOST + 100, sizeof *y);
  for (size_t i = 0; i < MOST + 100; i++) {
    x[i] = (double)(int64_t)harness_random(&random) * 1e-18;
    y[i] = (double)(int64_t)harness_random(&random) * 1e-19;
  }
  for (size_t k = 0; k < LENGTHS_COUNT; k++) {
    floats first = {.n = LENGTHS[k], .x = x, .y = y}, in_parts = first;
    if (is_too_large(first.n, 100)) continue;
    compute_floats(&first); /* from outside */
    check_precise(&first);
    for (unsigned i = 0; i < CREWS_COUNT; i++) {
      weft_pool *pool = pool_of(CREWS[i]);
      weft_opts opts = opts_on(pool);
      floats inside = {.n = first.n, .x = x, .y = y};
      floats limited = {.n = first.n, .x = x, .y = y, .opts = &opts};
      weft_pool_run(pool, compute_floats, &inside);
      check_same(&first, &inside);
      opts.max_workers = 2;
      compute_floats(&limited);
      check_same(&first, &limited);
      opts.max_workers = 0;
      opts.min_len = 1000; /* other parts, but the same ones in each pool */
      compute_floats(&limited);
      if (i == 0) in_parts = limited;
      check_same(&in_parts, &limited);
      weft_pool_destroy(pool);
    }
    /* A range is cut by its length alone. */
    double shifted = dot_range(100, 100 + first.n, x, y);
    double moved = dot(first.n, x + 100, y + 100);
    SAME_BITS(shifted, moved);
    double whole = dot_range(0, first.n, x, y);
    SAME_BITS(whole, first.dot);
  }
  free(x);
  free(y);
  weft_shutdown();
}

TEST(nans_are_skipped) {
  double x[100];
  for (unsigned i = 0; i < 100; i++) x[i] = i % 3 == 0 ? NAN : (double)i;
  CHECK(least(100, x) == 1 && most(100, x) == 98);
  for (unsigned i = 0; i < 100; i++) x[i] = NAN;
  CHECK(least(100, x) == INFINITY && most(100, x) == -INFINITY);
  CHECK(least(0, x) == INFINITY && most(0, x) == -INFINITY);
  CHECK(most_long(0, x) == -INFINITY);
  CHECK(isnan(sum_wide(100, x)));
  weft_shutdown();
}

/* ---- reductions by a function ---- */

/* x -> a x + b, one after the other: associative, and the order matters. */
typedef struct affine {
  uint64_t a, b;
} affine;

static inline affine then(affine first, affine second) {
  return (affine){first.a * second.a, first.b * second.a + second.b};
}
static const affine UNCHANGED = {1, 0};

WEFT_REDUCE_LOOP(compose, affine, UNCHANGED, then, i, const affine *, steps) {
  return steps[i];
}

/* The same with an accumulator that is not quartered, and one that needs memory. */
typedef struct large {
  affine f;
  char rest[5000];
} large;
static inline large large_of(affine f) {
  large l = {.f = f};
  return l;
}
static inline large then_large(large first, large second) {
  return large_of(then(first.f, second.f));
}
WEFT_REDUCE_LOOP(compose_large, large, large_of(UNCHANGED), then_large, i, const affine *,
                 steps) {
  return large_of(steps[i]);
}

#define XOR(a, b) ((a) ^ (b))
WEFT_REDUCE_LOOP(xor_of, unsigned, 0, XOR, i, const affine *, steps) {
  return (unsigned)steps[i].a;
}

static void check_compose(void *ctx) {
  uint64_t random = harness_seed();
  (void)ctx;
  for (size_t k = 0; k < 71 + LENGTHS_COUNT; k++) {
    size_t n = k < 71 ? k : LENGTHS[k - 71];
    if (n > 70000 / harness_slowdown()) continue;
    affine *steps = array_of(n, sizeof *steps), expected = {1, 0};
    unsigned bits = 0;
    for (size_t i = 0; i < n; i++) {
      steps[i] = (affine){harness_random(&random) | 1, harness_random(&random)};
      expected = then(expected, steps[i]);
      bits ^= (unsigned)steps[i].a;
    }
    affine got = compose(n, steps);
    CHECK(got.a == expected.a && got.b == expected.b);
    if (n <= 5000) got = compose_large(n, steps).f;
    CHECK(got.a == expected.a && got.b == expected.b);
    CHECK_EQ(xor_of(n, steps), bits);
    affine left = compose(n / 2, steps), right = compose_range(n / 2, n, steps);
    got = then(left, right);
    CHECK(got.a == expected.a && got.b == expected.b);
    free(steps);
  }
}

TEST(reductions_keep_the_order) {
  for (unsigned i = 0; i < CREWS_COUNT; i++) {
    weft_pool *pool = pool_of(CREWS[i]);
    weft_pool_run(pool, check_compose, NULL);
    weft_pool_destroy(pool);
  }
  check_compose(NULL);
  weft_shutdown();
}

/* ---- bodies that call weft, and cancellation ---- */

WEFT_SUM_LOOP(row_sum, size_t, c, size_t, row) {
  return row * 100 + c;
}
WEFT_SUM_LOOP(matrix_sum, size_t, r) {
  return row_sum(100, r);
}

TEST(sums_of_sums) {
  for (unsigned i = 0; i < CREWS_COUNT; i++) {
    weft_pool *pool = pool_of(CREWS[i]);
    weft_opts opts = opts_on(pool);
    CHECK_EQ(matrix_sum_with(&opts, 100), (size_t)9999 * 10000 / 2);
    weft_pool_destroy(pool);
  }
}

WEFT_SUM_LOOP(count_until, size_t, i, weft_scope *, scope, size_t, when) {
  if (i == when) weft_scope_cancel(scope, 5);
  return 1;
}

static void cancel_sum(void *ctx) {
  (void)ctx;
  for (size_t when = 0; when < 1000; when += 7) {
    weft_opts opts = WEFT_OPTS_INIT;
    weft_scope scope;
    weft_scope_begin(&scope);
    opts.cancel = &scope;
    CHECK(count_until_with(&opts, 1000, &scope, when) <= 1000);
    CHECK_EQ(count_until_with(&opts, 1000, &scope, 2000), 0); /* cancelled already */
    CHECK_EQ(weft_scope_end(&scope), 5);
  }
}

TEST(a_cancelled_sum_returns) {
  in_each_pool(cancel_sum, NULL);
}
