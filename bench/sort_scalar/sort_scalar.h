/* sort_scalar/sort_scalar.h - P8: sorting 10 M random numbers: u64, i32, f64.
 *
 * Before each sort the array is filled again from a copy of the input. After each it must
 * be in order and have the elements of the input, by a sum over a mixed value of each.
 * Neither is timed. u64 and i32 are evenly distributed over their whole range, f64 over
 * [-1, 1): no NaN, as not all contestants say where these go.
 *
 * The Rust twin is rayon.rs.
 *
 * SPDX-License-Identifier: MIT */
#ifndef BENCH_SORT_SCALAR_SORT_SCALAR_H
#define BENCH_SORT_SCALAR_SORT_SCALAR_H

#include "../common/bench.h"

enum { SORT_SCALAR_N = 10000000 };

/* The sorts of a contestant. */
typedef struct scalar_sorts {
  void (*u64)(uint64_t *a, size_t n);
  void (*i32)(int32_t *a, size_t n);
  void (*f64)(double *a, size_t n);
} scalar_sorts;

typedef struct scalar_state {
  const char *who;
  scalar_sorts sorts;
  void *input, *a;
  size_t n, size;
  uint64_t expected;
} scalar_state;

BENCH_HELPER void scalar_prepare(void *ctx) {
  scalar_state *s = (scalar_state *)ctx;
  memcpy(s->a, s->input, s->n * s->size);
}

/* For one type: fills the input, runs the sort, checks the result. digest is a sum over
 * all elements in any order. */
#define SORT_SCALAR_TYPE(T, type, random)                                                \
  BENCH_HELPER void scalar_fill_##T(void *input, size_t n) {                             \
    for (size_t i = 0; i < n; i++) ((type *)input)[i] = random(i);                       \
  }                                                                                      \
  BENCH_HELPER uint64_t scalar_digest_##T(const void *input, size_t n) {                 \
    uint64_t sum = 0;                                                                    \
    for (size_t i = 0; i < n; i++) {                                                     \
      uint64_t bits = 0;                                                                 \
      memcpy(&bits, (const type *)input + i, sizeof(type));                              \
      sum += bench_mix(bits);                                                            \
    }                                                                                    \
    return sum;                                                                          \
  }                                                                                      \
  BENCH_HELPER void scalar_work_##T(void *ctx) {                                         \
    scalar_state *s = (scalar_state *)ctx;                                               \
    s->sorts.T((type *)s->a, s->n);                                                      \
  }                                                                                      \
  BENCH_HELPER void scalar_check_##T(void *ctx) {                                        \
    scalar_state *s = (scalar_state *)ctx;                                               \
    const type *a = (const type *)s->a;                                                  \
    uint64_t wrong = 0;                                                                  \
    for (size_t i = 1; i < s->n; i++) wrong += a[i - 1] > a[i];                          \
    bench_check(s->who, wrong, 0);                                                       \
    bench_check(s->who, scalar_digest_##T(a, s->n), s->expected);                        \
  }

BENCH_HELPER int32_t scalar_random_i32(uint64_t i) {
  return (int32_t)(uint32_t)bench_mix(i);
}

SORT_SCALAR_TYPE(u64, uint64_t, bench_mix)
SORT_SCALAR_TYPE(i32, int32_t, scalar_random_i32)
SORT_SCALAR_TYPE(f64, double, bench_mix_unit)

/* The whole of a contestant: measures the type that the first argument names. */
BENCH_HELPER void scalar_measure(const char *who, scalar_sorts sorts, int argc,
                                 char **argv, long n) {
  static const char *const names[] = {"u64", "i32", "f64"};
  static const size_t sizes[] = {sizeof(uint64_t), sizeof(int32_t), sizeof(double)};
  int which = bench_choose(argc, argv, 1, names, 3);
  scalar_state s = {who, sorts, NULL, NULL, (size_t)n, sizes[which], 0};
  s.input = bench_array(s.n, s.size);
  s.a = bench_array(s.n, s.size);
  bench_job jobs[] = {{scalar_prepare, scalar_work_u64, scalar_check_u64, &s},
                      {scalar_prepare, scalar_work_i32, scalar_check_i32, &s},
                      {scalar_prepare, scalar_work_f64, scalar_check_f64, &s}};
  if (which == 0) {
    scalar_fill_u64(s.input, s.n);
    s.expected = scalar_digest_u64(s.input, s.n);
  } else if (which == 1) {
    scalar_fill_i32(s.input, s.n);
    s.expected = scalar_digest_i32(s.input, s.n);
  } else {
    scalar_fill_f64(s.input, s.n);
    s.expected = scalar_digest_f64(s.input, s.n);
  }
  bench_measure_job(who, &jobs[which]);
  bench_passed(s.expected);
  free(s.input);
  free(s.a);
}

#endif
