/* tests/par/sort/typed_support.h - what the tests of sorts of numbers share: the six
 * types behind one table, data of many patterns, and checks that do not depend on the
 * method.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_PAR_SORT_TYPED_SUPPORT_H
#define TESTS_PAR_SORT_TYPED_SUPPORT_H

#include "par/support.h"

#include <math.h>

/* ---- the six types ---- */

typedef struct kind {
  const char *name;
  size_t size;
  bool is_float;
  int (*compare)(const void *a, const void *b);
  void (*sort)(const weft_opts *o, void *a, size_t n);
  void (*by_key)(const weft_opts *o, void *keys, void *payload, size_t size, size_t n);
  void (*argsort)(const weft_opts *o, size_t *order, const void *a, size_t n);
  void (*nth)(const weft_opts *o, void *a, size_t n, size_t nth);
  void (*partial)(const weft_opts *o, void *a, size_t n, size_t k);
  bool (*is_sorted)(const weft_opts *o, const void *a, size_t n);
} kind;

/* The order that the header documents; all NaNs are equal here. For integers the macros
 * of math.h see a double that compares as they do, or not at all: they are neither NaN
 * nor equal and different in sign. */
#define KIND_FUNCTIONS(N, T)                                                             \
  static int compare_##N(const void *left, const void *right) {                          \
    T a = *(const T *)left, b = *(const T *)right;                                       \
    bool a_is_nan = a != a, b_is_nan = b != b;                                           \
    if (a_is_nan || b_is_nan) return (int)a_is_nan - (int)b_is_nan;                      \
    if (a != b) return a < b ? -1 : 1;                                                   \
    return (int)!!signbit((double)b) - (int)!!signbit((double)a);                        \
  }                                                                                      \
  static void sort_##N(const weft_opts *o, void *a, size_t n) {                          \
    if (o == NULL)                                                                       \
      weft_sort_##N((T *)a, n);                                                          \
    else                                                                                 \
      weft_sort_##N##_with(o, (T *)a, n);                                                \
  }                                                                                      \
  static void by_key_##N(const weft_opts *o, void *keys, void *payload, size_t size,     \
                         size_t n) {                                                     \
    if (o == NULL)                                                                       \
      weft_sort_by_key_##N((T *)keys, n, payload, size);                                 \
    else                                                                                 \
      weft_sort_by_key_##N##_with(o, (T *)keys, n, payload, size);                       \
  }                                                                                      \
  static void argsort_##N(const weft_opts *o, size_t *order, const void *a, size_t n) {  \
    if (o == NULL)                                                                       \
      weft_argsort_##N(order, (const T *)a, n);                                          \
    else                                                                                 \
      weft_argsort_##N##_with(o, order, (const T *)a, n);                                \
  }                                                                                      \
  static void nth_##N(const weft_opts *o, void *a, size_t n, size_t nth) {               \
    if (o == NULL)                                                                       \
      weft_nth_element_##N((T *)a, n, nth);                                              \
    else                                                                                 \
      weft_nth_element_##N##_with(o, (T *)a, n, nth);                                    \
  }                                                                                      \
  static void partial_##N(const weft_opts *o, void *a, size_t n, size_t k) {             \
    if (o == NULL)                                                                       \
      weft_partial_sort_##N((T *)a, n, k);                                               \
    else                                                                                 \
      weft_partial_sort_##N##_with(o, (T *)a, n, k);                                     \
  }                                                                                      \
  static bool is_sorted_##N(const weft_opts *o, const void *a, size_t n) {               \
    return o == NULL ? weft_is_sorted_##N((const T *)a, n)                               \
                     : weft_is_sorted_##N##_with(o, (const T *)a, n);                    \
  }
KIND_FUNCTIONS(i32, int32_t)
KIND_FUNCTIONS(u32, uint32_t)
KIND_FUNCTIONS(i64, int64_t)
KIND_FUNCTIONS(u64, uint64_t)
KIND_FUNCTIONS(f32, float)
KIND_FUNCTIONS(f64, double)

#define KIND(N, T, is_float)                                                             \
  {                                                                                      \
#N, sizeof(T), is_float, compare_##N, sort_##N, by_key_##N, argsort_##N, nth_##N,    \
        partial_##N, is_sorted_##N                                                       \
  }
static const kind KINDS[] = {KIND(i32, int32_t, false), KIND(u32, uint32_t, false),
                             KIND(i64, int64_t, false), KIND(u64, uint64_t, false),
                             KIND(f32, float, true),    KIND(f64, double, true)};
enum { KINDS_COUNT = sizeof KINDS / sizeof KINDS[0] };

/* ---- elements as bits ---- */

static inline uint64_t bits_at(const kind *k, const void *a, size_t i) {
  uint32_t narrow;
  uint64_t wide;
  if (k->size == 4) {
    memcpy(&narrow, (const char *)a + 4 * i, 4);
    return narrow;
  }
  memcpy(&wide, (const char *)a + 8 * i, 8);
  return wide;
}

static inline void set_bits(const kind *k, void *a, size_t i, uint64_t bits) {
  uint32_t narrow = (uint32_t)bits;
  if (k->size == 4)
    memcpy((char *)a + 4 * i, &narrow, 4);
  else
    memcpy((char *)a + 8 * i, &bits, 8);
}

static inline int compare_at(const kind *k, const void *a, size_t i, size_t j) {
  return k->compare((const char *)a + i * k->size, (const char *)a + j * k->size);
}

/* The same for the same elements in any order. */
static inline uint64_t fingerprint(const kind *k, const void *a, size_t n) {
  uint64_t sum = n;
  for (size_t i = 0; i < n; i++) {
    uint64_t z = bits_at(k, a, i) + UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    sum += z ^ (z >> 31);
  }
  return sum;
}

/* ---- data ---- */

/* Zeros, infinities, subnormals and NaNs of both signs, quiet, signalling and with
 * payloads. */
static inline uint64_t special_bits(const kind *k, uint64_t random) {
  static const uint64_t WIDE[] = {
      0,
      1,
      UINT64_C(0x000fffffffffffff),
      UINT64_C(0x0010000000000000),
      UINT64_C(0x3ff0000000000000),
      UINT64_C(0x7fefffffffffffff),
      UINT64_C(0x7ff0000000000000),
      UINT64_C(0x7ff0000000000001),
      UINT64_C(0x7ff8000000000000),
      UINT64_C(0x7ff8000000001234),
      UINT64_C(0x7fffffffffffffff),
  };
  static const uint32_t NARROW[] = {
      0,          1,          0x007fffff, 0x00800000, 0x3f800000, 0x7f7fffff,
      0x7f800000, 0x7f800001, 0x7fc00000, 0x7fc01234, 0x7fffffff,
  };
  uint64_t sign = random & 1;
  random >>= 1;
  if (k->size == 4) return NARROW[random % 11] | sign << 31;
  return WIDE[random % 11] | sign << 63;
}

typedef enum pattern {
  RANDOM_BITS,
  SPECIAL,  /* a third of them special values */
  ORDINARY, /* numbers between -1000 and 1000 */
  SORTED,   /* and so is the next but for a few */
  ALMOST_SORTED,
  REVERSED,
  ALL_EQUAL,
  FEW_DISTINCT,
  ORGAN_PIPE,
  SAW_TOOTH,
  SKEWED,         /* each number of bits as likely as any other */
  RARE_OUTLIERS,  /* which a sample does not see */
  LOW_BITS_ALIKE, /* leading bits differ little, the lowest all */
  LEADING_ALIKE,  /* many share leading bits and differ in the last */
  PATTERNS
} pattern;

/* A number of the type that a person would write. */
static inline uint64_t ordinary_bits(const kind *k, int64_t number) {
  float narrow = (float)number / 8;
  double wide = (double)number / 8;
  uint64_t bits = 0;
  uint32_t low;
  if (!k->is_float) return (uint64_t)number;
  if (k->size == 8) {
    memcpy(&bits, &wide, 8);
    return bits;
  }
  memcpy(&low, &narrow, 4);
  return low;
}

static inline uint64_t pattern_bits(const kind *k, pattern p, size_t i, size_t n,
                                    uint64_t r) {
  int64_t at = (int64_t)i, length = (int64_t)n;
  switch (p) {
  case RANDOM_BITS:
    return r;
  case SPECIAL:
    return r % 3 == 0 ? special_bits(k, r / 3) : r;
  case ORDINARY:
    return ordinary_bits(k, (int64_t)(r % 16001) - 8000);
  case SORTED:
    return ordinary_bits(k, k->name[0] == 'u' ? at : at - length / 2);
  case ALMOST_SORTED:
    return ordinary_bits(k, r % 100 == 0 ? (int64_t)(r % n) : at);
  case REVERSED:
    return ordinary_bits(k, k->name[0] == 'u' ? length - at : length / 2 - at);
  case ALL_EQUAL:
    return ordinary_bits(k, 42);
  case FEW_DISTINCT:
    return ordinary_bits(k, (int64_t)(r % 7) * 1000003 - 3000000);
  case ORGAN_PIPE:
    return ordinary_bits(k, i < n / 2 ? at : length - at);
  case SAW_TOOTH:
    return ordinary_bits(k, at % 1000);
  case SKEWED:
    return r >> (r % 64);
  case RARE_OUTLIERS:
    return r % 5003 == 0 ? r * UINT64_C(0x9e3779b97f4a7c15) : r % 100;
  case LOW_BITS_ALIKE:
    return (r % 3) << (k->size * 8 - 4) | 0x55;
  case LEADING_ALIKE:
    return (r % 2) << (k->size * 8 - 2) | (r >> 40) % 3 << 20 | (r >> 50);
  case PATTERNS:
    break;
  }
  return 0;
}

static inline void fill_pattern(const kind *k, void *a, size_t n, pattern p,
                                uint64_t *random) {
  for (size_t i = 0; i < n; i++)
    set_bits(k, a, i, pattern_bits(k, p, i, n, harness_random(random)));
}

/* ---- checks ---- */

static inline bool check_sorted(const kind *k, const void *a, size_t n) {
  for (size_t i = 1; i < n; i++)
    if (compare_at(k, a, i - 1, i) > 0)
      return CHECK_MSG(false, "%s: %zu of %zu is not in order", k->name, i, n);
  return true;
}

static inline bool check_same(const kind *k, const void *a, size_t n, uint64_t print) {
  return CHECK_MSG(fingerprint(k, a, n) == print, "%s, %zu: not the same elements",
                   k->name, n);
}

static inline bool check_order(const kind *k, const size_t *order, const void *a,
                               size_t n) {
  for (size_t i = 0; i < n; i++) {
    if (order[i] >= n) return CHECK_MSG(false, "%s: no index at %zu", k->name, i);
    int side = i == 0 ? -1 : compare_at(k, a, order[i - 1], order[i]);
    if (side > 0 || (side == 0 && order[i - 1] >= order[i]))
      return CHECK_MSG(false, "%s: %zu of %zu is not in order", k->name, i, n);
  }
  return true; /* strictly increasing by key and index: so each index is there once */
}

static inline bool check_nth(const kind *k, const void *a, size_t n, size_t nth) {
  for (size_t i = 0; i < n; i++) {
    int side = compare_at(k, a, i, nth);
    if (i < nth ? side > 0 : side < 0)
      return CHECK_MSG(false, "%s: %zu of %zu is on the wrong side of %zu", k->name, i, n,
                       nth);
  }
  return true;
}

#endif
