/* Kernel stages in each version that this CPU can run: the same as serial code, for
 * elements of all sizes and whatever stays; and flat maps that say how many elements they
 * make where those are only counted.
 *
 * SPDX-License-Identifier: MIT */
#include "par/array/support.h"
#include "par/fold/simd.h"

#include <weft/iter.h>

/* Runs the statement with every SIMD set of this CPU, and ends with the best one. */
#define FOR_SETS(set)                                                                    \
  for (unsigned set = 0; set < 3; set++)                                                 \
    if (wf_simd_choose(set))

typedef struct wide_number {
  int64_t key, more;
} wide_number;

typedef struct odd_number {
  uint8_t key, more[2];
} odd_number;

/* What stays: nothing, all, every other, one of three in a mixed order, long runs. */
enum { PATTERNS = 5 };

static bool stays(size_t i, unsigned pattern) {
  switch (pattern) {
  case 0:
    return false;
  case 1:
    return true;
  case 2:
    return i % 2 == 0;
  case 3:
    return (i * 2654435761u >> 7) % 3 == 0;
  default:
    return i / 50 % 2 == 0;
  }
}

static const size_t NUMBERS[] = {0,   1,   3,   4,   5,   7,    8,    15,   16,  17,
                                 31,  32,  33,  63,  64,  65,   127,  128,  129, 255,
                                 256, 257, 511, 512, 513, 1023, 1024, 1025, 5000};

/* Keys are odd if the element stays, and say where it was. */
#define FILTERS(name, T, make, is_odd)                                                   \
  WEFT_KERNEL_FILTER(name##_odd, T, is_odd)                                              \
  static void name##_check(size_t n, unsigned pattern) {                                 \
    T *a = array_of(n, sizeof *a), *got = array_of(n + 1, sizeof *got), first;           \
    size_t expected = 0, wrong = 0;                                                      \
    for (size_t i = 0; i < n; i++) {                                                     \
      int key = (int)(i % 60) * 2 + stays(i, pattern);                                   \
      T value = make;                                                                    \
      a[i] = value;                                                                      \
    }                                                                                    \
    weft_iter it = weft_iter_slice(a, n, sizeof *a);                                     \
    weft_iter_apply(&it, &name##_odd, NULL);                                             \
    T behind = got[n];                                                                   \
    size_t count = weft_iter_collect(&it, got, n, sizeof *got);                          \
    for (size_t i = 0; i < n; i++)                                                       \
      if (stays(i, pattern)) wrong += memcmp(&got[expected++], &a[i], sizeof *a) != 0;   \
    CHECK_EQ(count, expected);                                                           \
    CHECK_EQ(wrong, 0);                                                                  \
    CHECK(memcmp(&got[n], &behind, sizeof behind) == 0);                                 \
    CHECK_EQ(weft_iter_count(&it), expected);                                            \
    bool any = weft_iter_find_first(&it, &first, sizeof first, NULL, NULL);              \
    CHECK_EQ(any, expected > 0);                                                         \
    if (any) CHECK(memcmp(&first, &got[0], sizeof first) == 0);                          \
    free(a);                                                                             \
    free(got);                                                                           \
  }
FILTERS(u8, uint8_t, (uint8_t)key, x % 2 == 1)
FILTERS(i16, int16_t, (int16_t)key, x % 2 == 1)
FILTERS(i32, int32_t, key - 60, x % 2 != 0)
FILTERS(i64, int64_t, key - 60, x % 2 != 0)
FILTERS(f32, float, (float)key, (int)x % 2 == 1)
FILTERS(f64, double, (double)key, (int)x % 2 == 1)
FILTERS(odd, odd_number, ((odd_number){(uint8_t)key, {1, 2}}), x.key % 2 == 1)
FILTERS(wide, wide_number, ((wide_number){key, -key}), x.key % 2 == 1)

TEST(filters_of_all_sizes) {
  void (*const checks[])(size_t, unsigned) = {u8_check,  i16_check, i32_check,
                                              i64_check, f32_check, f64_check,
                                              odd_check, wide_check};
  FOR_SETS(set) {
    for (unsigned c = 0; c < sizeof checks / sizeof *checks; c++)
      for (unsigned l = 0; l < sizeof NUMBERS / sizeof *NUMBERS; l++)
        for (unsigned pattern = 0; pattern < PATTERNS; pattern++)
          checks[c](NUMBERS[l], pattern);
  }
}

/* ---- sums that the last stage makes by itself ---- */

WEFT_KERNEL_MAP(as_i32, int64_t, int32_t, (int32_t)(x * 3 - 50))
WEFT_KERNEL_MAP(as_u32, int64_t, uint32_t, (uint32_t)x * 2654435761u)
WEFT_KERNEL_MAP(as_u64, int64_t, uint64_t, (uint64_t)x * 0x9e3779b97f4a7c15u)
WEFT_KERNEL_MAP(as_f32, int64_t, float, (float)x / 3.0f)
WEFT_KERNEL_MAP(as_f64, int64_t, double, (double)x / 3.0)
WEFT_KERNEL_MAP(as_struct, int64_t, wide_number, ((wide_number){.key = x}))
WEFT_KERNEL_FILTER(of_three, int64_t, x % 3 == 0)
WEFT_KERNEL_FILTER_MAP(odd_negated, int64_t, int64_t, x % 2 == 1, -x)
WEFT_KERNEL_ZIP(difference, int64_t, int64_t, int64_t, x - 2 * y)
WEFT_KERNEL_ZIP(quotient, double, int64_t, double, x / (double)(y + 1))

/* Sums by the loops of the last stage, and of the array that a collect has made. */
#define SUMS_AGREE(it, name, T)                                                          \
  {                                                                                      \
    T *made = array_of(n + 1, sizeof *made);                                             \
    size_t count = weft_iter_collect(&(it), made, n, sizeof *made);                      \
    CHECK(weft_iter_sum_##name(&(it)) == weft_sum_##name(made, count));                  \
    free(made);                                                                          \
  }

#define SUM_OF_STAGE(kernel, name, T)                                                    \
  {                                                                                      \
    weft_iter it = weft_iter_slice(a, n, sizeof *a);                                     \
    weft_iter_apply(&it, &kernel, NULL);                                                 \
    SUMS_AGREE(it, name, T)                                                              \
    it = weft_iter_range(-5, (int64_t)n - 5);                                            \
    weft_iter_apply(&it, &kernel, NULL);                                                 \
    SUMS_AGREE(it, name, T)                                                              \
  }

static void sums_of_zips(const int64_t *a, const int64_t *b, size_t n) {
  weft_iter left = weft_iter_slice(a, n, sizeof *a);
  weft_iter right = weft_iter_slice(b, n, sizeof *b), both = left;
  weft_iter_zip_apply(&both, &right, &difference, NULL);
  SUMS_AGREE(both, i64, int64_t)
  weft_iter_apply(&both, &as_f64, NULL); /* the zip is no longer the last */
  SUMS_AGREE(both, f64, double)
  weft_iter_zip_apply(&both, &right, &quotient, NULL);
  SUMS_AGREE(both, f64, double)
  weft_iter_reverse(&right);
  weft_iter_zip_apply(&left, &right, &difference, NULL);
  SUMS_AGREE(left, i64, int64_t)
}

TEST(sums_by_the_last_stage) {
  static const size_t more[] = {8192, 8193, 70001};
  enum { MORE = sizeof more / sizeof *more, ALL = sizeof NUMBERS / sizeof *NUMBERS };
  FOR_SETS(set) {
    for (unsigned l = 0; l < ALL + MORE; l++) {
      size_t n = l < ALL ? NUMBERS[l] : more[l - ALL];
      int64_t *a = array_of(n, sizeof *a), *b = array_of(n, sizeof *b);
      for (size_t i = 0; i < n; i++)
        a[i] = (int64_t)(i * 2654435761u % 1000), b[i] = (int64_t)(i % 77);
      SUM_OF_STAGE(as_i32, i32, int32_t)
      SUM_OF_STAGE(as_i32, u32, uint32_t) /* not the type of the stage */
      SUM_OF_STAGE(as_u32, u32, uint32_t)
      SUM_OF_STAGE(as_u32, i32, int32_t)
      SUM_OF_STAGE(as_u64, u64, uint64_t)
      SUM_OF_STAGE(as_u64, i64, int64_t)
      SUM_OF_STAGE(as_f32, f32, float)
      SUM_OF_STAGE(as_f64, f64, double)
      SUM_OF_STAGE(as_f64, u64, uint64_t)
      SUM_OF_STAGE(of_three, i64, int64_t)
      SUM_OF_STAGE(odd_negated, i64, int64_t)
      sums_of_zips(a, b, n);
      free(a);
      free(b);
    }
  }
}

/* Filters and maps before the last stage, and elements that are no numbers. */
TEST(sums_behind_other_stages) {
  enum { N = 20000 };
  int64_t expected = 0;
  for (int64_t x = 0; x < N; x++)
    if (x % 3 == 0 && x % 2 == 1) expected += -x;
  FOR_SETS(set) {
    weft_iter it = weft_iter_range(0, N);
    weft_iter_apply(&it, &of_three, NULL);
    weft_iter_apply(&it, &odd_negated, NULL);
    CHECK_EQ(weft_iter_sum_i64(&it), expected);
    weft_iter_apply(&it, &as_struct, NULL);
    CHECK_EQ(weft_iter_count(&it), N / 6);
    weft_iter floats = weft_iter_range(0, N);
    weft_iter_apply(&floats, &of_three, NULL);
    weft_iter_apply(&floats, &as_f64, NULL);
    double sum = weft_iter_sum_f64(&floats), exact = (double)(N / 3) * (N / 3 + 1) / 2;
    CHECK(sum > exact - 1e-3 && sum < exact + 1e-3);
  }
}

/* ---- the same bits ---- */

WEFT_KERNEL_MAP(mixed_up, double, double, x * 1.1 + x / 3.0 - 0.1)
WEFT_KERNEL_ZIP(combined, double, double, double, x *y + x)

/* A product and a sum may not be fused in one version and rounded twice in another. */
TEST(the_same_bits_in_all_versions) {
  enum { N = 10000 };
  double *a = array_of(N, sizeof *a), *b = array_of(N, sizeof *b);
  double *first = array_of(N, sizeof *b), *got = array_of(N, sizeof *b);
  uint64_t random = harness_seed();
  for (size_t i = 0; i < N; i++) {
    a[i] = (double)harness_random(&random) / 1e9;
    b[i] = 1e9 / (double)harness_random(&random);
  }
  weft_iter it = weft_iter_slice(a, N, sizeof *a),
            right = weft_iter_slice(b, N, sizeof *b);
  weft_iter_apply(&it, &mixed_up, NULL);
  weft_iter_zip_apply(&it, &right, &combined, NULL);
  wf_simd_choose(0);
  weft_iter_collect(&it, first, N, sizeof *first);
  double sum = weft_iter_sum_f64(&it);
  FOR_SETS(set) {
    double again = weft_iter_sum_f64(&it);
    weft_iter_collect(&it, got, N, sizeof *got);
    CHECK(memcmp(got, first, N * sizeof *got) == 0);
    CHECK(memcmp(&sum, &again, sizeof sum) == 0);
  }
  free(a);
  free(b);
  free(first);
  free(got);
}

/* ---- what a filter keeps away ---- */

WEFT_KERNEL_FILTER(is_not_zero, int32_t, x != 0)
WEFT_KERNEL_MAP(divide, int32_t, int32_t, 1000 / x)

/* Kernels behind a filter never see what it does not let pass. */
TEST(a_filter_guards_a_division) {
  enum { N = 3001 };
  int32_t *a = array_of(N, sizeof *a);
  int64_t expected = 0;
  for (int32_t i = 0; i < N; i++) {
    a[i] = i % 3 == 0 ? 0 : i % 7 + 1;
    if (a[i] != 0) expected += 1000 / a[i];
  }
  weft_iter it = weft_iter_slice(a, N, sizeof *a);
  weft_iter_apply(&it, &is_not_zero, NULL);
  weft_iter_apply(&it, &divide, NULL);
  FOR_SETS(set) CHECK_EQ(weft_iter_sum_i32(&it), expected);
  free(a);
}

/* ---- flat maps that only count ---- */

static atomic_size_t emitted, told;

/* x % 5 elements, all of which it tells if they are only counted. */
static void some(const void *in, weft_out *out, void *ctx) {
  int64_t x;
  (void)ctx;
  memcpy(&x, in, sizeof x);
  if (weft_emit_count(out, (size_t)(x % 5))) {
    atomic_fetch_add_explicit(&told, (size_t)(x % 5), memory_order_relaxed);
    return;
  }
  for (int64_t j = 0; j < x % 5; j++) {
    weft_emit(out, &j, sizeof j);
    atomic_fetch_add_explicit(&emitted, 1, memory_order_relaxed);
  }
}

/* The first element is emitted in any case. */
static void one_and_some(const void *in, weft_out *out, void *ctx) {
  int64_t x;
  memcpy(&x, in, sizeof x);
  weft_emit(out, &x, sizeof x);
  some(in, out, ctx);
}

static bool is_less_than_4(const void *elem, void *ctx) {
  int64_t x;
  (void)ctx;
  memcpy(&x, elem, sizeof x);
  return x < 4;
}

static void same(void *out, const void *in, void *ctx) {
  (void)ctx;
  memcpy(out, in, sizeof(int64_t));
}

TEST(flat_maps_that_are_only_counted) {
  const int64_t n = 5000;
  const size_t made = (size_t)n * 2;
  open_pools();
  FOR_POOLS(opts) {
    weft_iter it = weft_iter_range(0, n);
    weft_iter_options(&it, &opts);
    weft_iter mixed = it;
    weft_iter_flat_map(&it, sizeof(int64_t), some, NULL);
    weft_iter_flat_map(&mixed, sizeof(int64_t), one_and_some, NULL);
    atomic_store(&emitted, 0);
    atomic_store(&told, 0);
    CHECK_EQ(weft_iter_count(&it), made);
    CHECK_EQ(weft_iter_count(&mixed), made + (size_t)n);
    weft_iter_map(&it, sizeof(int64_t), same, NULL);
    CHECK_EQ(weft_iter_count(&it), made);
    CHECK_EQ(atomic_load(&told), 3 * made);
    CHECK_EQ(atomic_load(&emitted), 0);
    /* Where somebody looks at the elements all are made. */
    weft_iter_filter(&it, is_less_than_4, NULL);
    CHECK_EQ(weft_iter_count(&it), made);
    CHECK_EQ(atomic_load(&emitted), made);
    CHECK_EQ(weft_iter_sum_i64(&it), n / 5 * (0 + 0 + 1 + 3 + 6));
    CHECK_EQ(atomic_load(&told), 3 * made);
  }
  close_pools();
}
