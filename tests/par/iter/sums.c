/* Sums of floats: an iterator whose length is known gives the same bits as weft_sum_f32
 * and weft_sum_f64 of an array with the same numbers, however it is made, cut and run.
 * And a few expensive elements are work for several threads.
 *
 * SPDX-License-Identifier: MIT */
#include "par/array/support.h"
#include "par/fold/simd.h"

#include <math.h>
#include <weft/iter.h>

/* Around blocks of 128, batches of 512, parts of leaves, leaves of 8192 and 16384. */
static const size_t SUMS[] = {0,      1,      7,      8,       9,       127,     128,
                              129,    255,    256,    257,     300,     511,     512,
                              513,    1000,   1023,   1024,    1025,    3000,    8191,
                              8192,   8193,   16383,  16384,   16385,   24576,   24577,
                              32767,  32769,  65535,  65536,   65537,   99999,   131071,
                              131072, 131073, 262145, 1000000, 1048576, 1048577, 4194305};

static size_t most_numbers(void) {
  return harness_slowdown() > 1 ? 140000 : 4194305;
}

/* Numbers whose sum depends on the order of additions, with zeros of both signs. */
static double number_at(size_t i, uint64_t seed) {
  uint64_t z = (i + seed) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 29)) * 0xbf58476d1ce4e5b9u;
  double x = (double)(int64_t)z / 9.3e18;
  switch (z >> 5 & 15) {
  case 0:
    return -0.0;
  case 1:
    return x * 1e12;
  case 2:
    return x * 1e-12;
  default:
    return x;
  }
}

static bool same_bits(double a, double b) {
  return memcmp(&a, &b, sizeof a) == 0;
}

WEFT_KERNEL_MAP(third, double, double, x / 3.0)
WEFT_KERNEL_MAP(narrowed, double, float, (float)x)
WEFT_KERNEL_ZIP(product, double, double, double, x *y)

static void to_third(void *out, const void *in, void *ctx) {
  (void)ctx;
  *(double *)out = *(const double *)in / 3.0;
}

typedef struct sum_case {
  double *a, *b, *thirds;
  float *f;
  size_t n;
} sum_case;

static void check_f64(const sum_case *c, const weft_opts *opts) {
  const size_t n = c->n;
  double expected = weft_sum_f64(c->a, n), third_of_it = weft_sum_f64(c->thirds, n);
  weft_iter it = weft_iter_slice(c->a, n, sizeof *c->a);
  weft_iter_options(&it, opts);
  CHECK_MSG(same_bits(weft_iter_sum_f64(&it), expected), "slice of %zu", n);
  weft_iter_reverse(&it), weft_iter_reverse(&it);
  CHECK_MSG(same_bits(weft_iter_sum_f64(&it), expected), "reversed twice, %zu", n);
  it = weft_iter_slice(c->a, n, sizeof *c->a);
  weft_iter_options(&it, opts);
  weft_iter_apply(&it, &third, NULL);
  CHECK_MSG(same_bits(weft_iter_sum_f64(&it), third_of_it), "kernel map of %zu", n);
  it = weft_iter_slice(c->a, n, sizeof *c->a);
  weft_iter_options(&it, opts);
  weft_iter_map(&it, sizeof(double), to_third, NULL);
  CHECK_MSG(same_bits(weft_iter_sum_f64(&it), third_of_it), "map of %zu", n);
  it = weft_iter_slice(c->a, n / 3, sizeof *c->a);
  weft_iter rest = weft_iter_slice(c->a + n / 3, n - n / 3, sizeof *c->a);
  weft_iter_chain(&it, &rest);
  weft_iter_options(&it, opts);
  CHECK_MSG(same_bits(weft_iter_sum_f64(&it), expected), "chain of %zu", n);
  it = weft_iter_slice(c->a, n, sizeof *c->a);
  weft_iter right = weft_iter_slice(c->b, n, sizeof *c->b);
  weft_iter_zip_apply(&it, &right, &product, NULL);
  weft_iter_options(&it, opts);
  CHECK_MSG(same_bits(weft_iter_sum_f64(&it), weft_dot_f64(c->a, c->b, n)), "dot of %zu",
            n);
}

static void check_f32(const sum_case *c, const weft_opts *opts) {
  double expected = weft_sum_f32(c->f, c->n);
  weft_iter it = weft_iter_slice(c->f, c->n, sizeof *c->f);
  weft_iter_options(&it, opts);
  CHECK_MSG(same_bits(weft_iter_sum_f32(&it), expected), "floats: slice of %zu", c->n);
  it = weft_iter_slice(c->a, c->n, sizeof *c->a);
  weft_iter_options(&it, opts);
  weft_iter_apply(&it, &narrowed, NULL);
  CHECK_MSG(same_bits(weft_iter_sum_f32(&it), expected), "floats: map of %zu", c->n);
}

static void fill_case(sum_case *c, size_t n, uint64_t seed) {
  c->n = n;
  for (size_t i = 0; i < n; i++) {
    c->a[i] = number_at(i, seed);
    c->b[i] = number_at(i, seed + 77);
    c->thirds[i] = c->a[i] / 3.0;
    c->f[i] = (float)c->a[i];
  }
}

static sum_case new_case(size_t most) {
  sum_case c = {array_of(most, sizeof(double)), array_of(most, sizeof(double)),
                array_of(most, sizeof(double)), array_of(most, sizeof(float)), 0};
  return c;
}

static void free_case(sum_case *c) {
  free(c->a);
  free(c->b);
  free(c->thirds);
  free(c->f);
}

TEST_LIMIT(an_array_and_an_iterator_have_the_same_sum, 180) {
  size_t most = most_numbers();
  sum_case c = new_case(most);
  open_pools();
  for (unsigned l = 0; l < sizeof SUMS / sizeof *SUMS && SUMS[l] <= most; l++) {
    fill_case(&c, SUMS[l], harness_seed() + l);
    FOR_POOLS(opts) {
      check_f64(&c, &opts);
      check_f32(&c, &opts);
    }
  }
  close_pools();
  free_case(&c);
}

/* Options change how it is cut, not what is added to what. */
TEST(options_do_not_change_sums) {
  static const size_t lengths[] = {1, 3, 50, 128, 129, 1000, 100000};
  sum_case c = new_case(70000);
  open_pools();
  for (unsigned l = 0; l < sizeof SUMS / sizeof *SUMS && SUMS[l] <= 70000; l++) {
    fill_case(&c, SUMS[l], harness_seed() + l);
    for (unsigned k = 0; k < sizeof lengths / sizeof *lengths; k++) {
      weft_opts opts = opts_in(k % 3 + 1);
      opts.max_len = lengths[k];
      check_f64(&c, &opts);
      opts.max_len = 0;
      opts.min_len = lengths[k];
      check_f32(&c, &opts);
      opts.max_workers = k % 2 + 1;
      check_f64(&c, &opts);
    }
  }
  close_pools();
  free_case(&c);
}

TEST(all_sets_of_the_cpu_have_the_same_sum) {
  sum_case c = new_case(70000);
  weft_opts opts = WEFT_OPTS_INIT;
  for (unsigned l = 0; l < sizeof SUMS / sizeof *SUMS && SUMS[l] <= 70000; l++) {
    fill_case(&c, SUMS[l], harness_seed() + l);
    double expected = weft_sum_f64(c.a, c.n);
    for (unsigned set = 0; set < 3; set++) {
      if (!wf_simd_choose(set)) continue;
      CHECK(same_bits(weft_sum_f64(c.a, c.n), expected));
      check_f64(&c, &opts);
      check_f32(&c, &opts);
    }
  }
  free_case(&c);
}

TEST(infinities_and_nans) {
  static const double values[] = {INFINITY, -INFINITY, NAN, 0.0, -0.0};
  double a[300];
  for (unsigned v = 0; v < 5; v++)
    for (size_t n = 0; n <= 300; n++) {
      for (size_t i = 0; i < n; i++) a[i] = values[v];
      double expected = weft_sum_f64(a, n);
      weft_iter it = weft_iter_slice(a, n, sizeof *a);
      double got = weft_iter_sum_f64(&it);
      CHECK(same_bits(got, expected) || (isnan(got) && isnan(expected)));
    }
}

/* ---- behind filters ---- */

WEFT_KERNEL_FILTER(not_small, double, x<-0.1 || x> 0.1)
WEFT_KERNEL_FILTER(everything, double, x == x)

/* The same bits on any number of threads, and close to the sum of what passes. */
TEST(filtered_sums_have_the_same_bits_on_all_pools) {
  sum_case c = new_case(200000);
  open_pools();
  for (unsigned l = 0; l < sizeof SUMS / sizeof *SUMS && SUMS[l] <= 200000; l++) {
    fill_case(&c, SUMS[l], harness_seed() + l);
    double first = 0, exact = 0, size = 0;
    bool is_first = true;
    for (size_t i = 0; i < c.n; i++) {
      if (!(c.a[i] < -0.1 || c.a[i] > 0.1)) continue;
      exact += c.a[i];
      size += fabs(c.a[i]);
    }
    FOR_POOLS(opts) {
      weft_iter it = weft_iter_slice(c.a, c.n, sizeof *c.a);
      weft_iter_apply(&it, &not_small, NULL);
      weft_iter_options(&it, &opts);
      double sum = weft_iter_sum_f64(&it);
      if (is_first) first = sum;
      is_first = false;
      CHECK(same_bits(sum, first));
      CHECK(fabs(sum - exact) <= size * 1e-12);
    }
  }
  close_pools();
  free_case(&c);
}

/* A leaf of the fold with more elements than one of fold/numbers.c, in batches of all
 * lengths. */
static void repeat_ten_times(const void *in, weft_out *out, void *ctx) {
  (void)ctx;
  for (int i = 0; i < 10; i++) weft_emit(out, in, sizeof(double));
}

TEST(sums_of_flat_maps) {
  enum { N = 30000 };
  double *a = array_of(N, sizeof *a), exact = 0;
  for (size_t i = 0; i < N; i++) a[i] = (double)(i % 1000);
  for (size_t i = 0; i < N; i++) exact += 10 * a[i];
  open_pools();
  FOR_POOLS(opts) {
    weft_iter it = weft_iter_slice(a, N, sizeof *a);
    weft_iter_flat_map(&it, sizeof(double), repeat_ten_times, NULL);
    weft_iter_apply(&it, &everything, NULL);
    weft_iter_options(&it, &opts);
    CHECK(weft_iter_sum_f64(&it) == exact); /* whole numbers: exact in any order */
    weft_iter_min_len(&it, N);              /* one leaf */
    CHECK(weft_iter_sum_f64(&it) == exact);
  }
  close_pools();
  free(a);
}

/* ---- a few expensive elements ---- */

static atomic_uint inside;
static atomic_bool met;

/* Waits until another thread is in here, too. */
static void meet(void *out, const void *in, void *ctx) {
  (void)in, (void)ctx;
  atomic_fetch_add(&inside, 1);
  for (uint64_t tries = 0; tries < 2000000000 && !atomic_load(&met); tries++)
    if (atomic_load(&inside) > 1) atomic_store(&met, true);
  atomic_fetch_sub(&inside, 1);
  *(double *)out = 1;
}

TEST(two_elements_run_at_the_same_time) {
  weft_pool *pool = pool_of(2);
  for (int64_t n = 2; n <= 64; n *= 2) {
    weft_iter it = weft_iter_range(0, n);
    weft_iter_map(&it, sizeof(double), meet, NULL);
    weft_iter_pool(&it, pool);
    atomic_store(&met, false);
    CHECK(weft_iter_sum_f64(&it) == (double)n);
    CHECK(atomic_load(&met));
  }
  weft_pool_destroy(pool);
}

TEST(a_cancelled_sum_returns) {
  static double a[100000];
  weft_scope scope;
  weft_scope_begin(&scope);
  weft_scope_cancel(&scope, WEFT_ECANCELED);
  for (size_t n = 1; n <= 100000; n *= 10) {
    weft_iter it = weft_iter_slice(a, n, sizeof *a);
    weft_iter_cancel(&it, &scope);
    weft_iter_sum_f64(&it);
  }
  CHECK_EQ(weft_scope_end(&scope), WEFT_ECANCELED);
}
