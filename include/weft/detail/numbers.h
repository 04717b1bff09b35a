/* weft/detail/numbers.h - the six types of numbers, and how a call chooses among them by
 * the type of its array. Used by weft/numbers.h and weft/sort_numbers.h. Not API.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WEFT_DETAIL_NUMBERS_H
#define WEFT_DETAIL_NUMBERS_H

#include <stdint.h>

/* Calls ENTRY(name, type, wide) for each type; sums are of the wide type. */
#define WEFT_NUMBERS_(ENTRY)                                                             \
  ENTRY(i32, int32_t, int64_t)                                                           \
  ENTRY(u32, uint32_t, uint64_t)                                                         \
  ENTRY(i64, int64_t, int64_t)                                                           \
  ENTRY(u64, uint64_t, uint64_t)                                                         \
  ENTRY(f32, float, double)                                                              \
  ENTRY(f64, double, double)

#ifndef __cplusplus

/* The function for the type that a pointer points to, const or not; `tail` is empty or
 * _with. */
/* clang-format off */
#define WEFT_CHOOSE_(call, pointer, tail)                                                \
  _Generic(*(pointer),                                                                   \
    int32_t: call##_i32##tail, uint32_t: call##_u32##tail,                               \
    int64_t: call##_i64##tail, uint64_t: call##_u64##tail,                               \
    float: call##_f32##tail, double: call##_f64##tail)
/* clang-format on */

#else

/* One overload of a generic name and of its twin, for one type; parameters and arguments
 * without the options. */
#define WEFT_OVERLOAD_(result, generic, call, parameters, arguments)                     \
  inline result generic(WEFT_LIST_ parameters) {                                         \
    return call(WEFT_LIST_ arguments);                                                   \
  }                                                                                      \
  inline result generic##_with(const weft_opts *o, WEFT_LIST_ parameters) {              \
    return call##_with(o, WEFT_LIST_ arguments);                                         \
  }
#define WEFT_LIST_(...) __VA_ARGS__

#endif
#endif
