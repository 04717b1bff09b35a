/* typed_cases.h - the typed functions of weft/typed_function.h for elements of several
 * types and sizes, each against a serial loop.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_PAR_TYPED_CASES_H
#define TESTS_PAR_TYPED_CASES_H

#include "par/array/support.h"

typedef struct block_of_100 {
  int32_t key;
  unsigned char more[96];
} block_of_100;

typedef struct triple {
  uint8_t key, a, b;
} triple;

typedef struct huge {
  int64_t key;
  unsigned char more[4088];
} huge;

/* What the predicates compare with. */
typedef struct border {
  double below;
} border;

/* For a type T whose key is `access`: all four typed functions, and the serial loops. A
 * key is in [0, 200). */
#define TYPED(name, T, access, from_key)                                                 \
  static inline bool name##_is_below(T x, void *ctx) {                                   \
    return (double)(access) < ((const border *)ctx)->below;                              \
  }                                                                                      \
  static inline double name##_half(T x, void *ctx) {                                     \
    return (double)(access) / 2 + ((const border *)ctx)->below;                          \
  }                                                                                      \
  WEFT_MAP(name##_map, T, double, name##_half)                                           \
  WEFT_FILTER(name##_filter, T, name##_is_below)                                         \
  WEFT_FIND(name##_find, T, name##_is_below)                                             \
  WEFT_COUNT(name##_count, T, name##_is_below)                                           \
  static void name##_check_filter(const weft_opts *o, const T *a, size_t n, border *b) { \
    T *expected = array_of(n, sizeof(T)), *copy = array_of(n, sizeof(T));                \
    size_t count = 0;                                                                    \
    for (size_t i = 0; i < n; i++)                                                       \
      if (name##_is_below(a[i], b)) expected[count++] = a[i];                            \
    T *dst = array_of(count, sizeof(T));                                                 \
    CHECK_EQ(name##_filter_with(o, dst, a, n, b), count);                                \
    CHECK(memcmp(dst, expected, count * sizeof(T)) == 0);                                \
    CHECK_EQ(((unsigned char *)dst)[count * sizeof(T)], 0xA5);                           \
    memcpy(copy, a, n * sizeof(T));                                                      \
    CHECK_EQ(name##_filter_with(o, copy, copy, n, b), count);                            \
    CHECK(memcmp(copy, expected, count * sizeof(T)) == 0);                               \
    CHECK_EQ(name##_count_with(o, a, n, b), count);                                      \
    free(expected);                                                                      \
    free(copy);                                                                          \
    free(dst);                                                                           \
  }                                                                                      \
  static void name##_check_others(const weft_opts *o, const T *a, size_t n, border *b) { \
    double *dst = array_of(n, sizeof *dst);                                              \
    size_t first = SIZE_MAX, wrong = 0;                                                  \
    for (size_t i = n; i-- > 0;)                                                         \
      if (name##_is_below(a[i], b)) first = i;                                           \
    CHECK_EQ(name##_find_with(o, a, n, b), first);                                       \
    name##_map_with(o, dst, a, n, b);                                                    \
    for (size_t i = 0; i < n; i++) wrong += dst[i] != name##_half(a[i], b);              \
    CHECK_EQ(wrong, 0);                                                                  \
    free(dst);                                                                           \
  }                                                                                      \
  static void name##_case(size_t n, uint64_t *random) {                                  \
    T *a = aligned_alloc(64, (n * sizeof(T) + 64) / 64 * 64);                            \
    REQUIRE(a != NULL);                                                                  \
    memset((void *)a, 0, n * sizeof(T));                                                 \
    for (size_t i = 0; i < n; i++) {                                                     \
      unsigned key = (unsigned)(harness_random(random) % 200);                           \
      T x = a[i];                                                                        \
      access = from_key;                                                                 \
      a[i] = x;                                                                          \
    }                                                                                    \
    FOR_POOLS(opts) {                                                                    \
      static const double BORDERS[] = {0, 1, 4, 50, 100, 199, 200};                      \
      border b = {BORDERS[harness_random(random) % 7]};                                  \
      name##_check_filter(&opts, a, n, &b);                                              \
      name##_check_others(&opts, a, n, &b);                                              \
    }                                                                                    \
    free((void *)a);                                                                     \
  }

/* All types: calls ENTRY(name, type). */
#define TYPED_TYPES(ENTRY)                                                               \
  ENTRY(i8, uint8_t)                                                                     \
  ENTRY(i16, int16_t)                                                                    \
  ENTRY(i32, int32_t)                                                                    \
  ENTRY(i64, int64_t)                                                                    \
  ENTRY(f32, float)                                                                      \
  ENTRY(f64, double)                                                                     \
  ENTRY(triple, triple)                                                                  \
  ENTRY(block, block_of_100)                                                             \
  ENTRY(huge, huge)

TYPED(i8, uint8_t, x, (uint8_t)key)
TYPED(i16, int16_t, x, (int16_t)key)
TYPED(i32, int32_t, x, (int32_t)key)
TYPED(i64, int64_t, x, (int64_t)key)
TYPED(f32, float, x, (float)key)
TYPED(f64, double, x, (double)key)
TYPED(triple, triple, x.key, (uint8_t)key)
TYPED(block, block_of_100, x.key, (int32_t)key)
TYPED(huge, huge, x.key, (int64_t)key)

#endif
