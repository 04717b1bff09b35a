/* weft/detail/typed.h - the generic names of weft/typed.h. Not API.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WEFT_DETAIL_TYPED_H
#define WEFT_DETAIL_TYPED_H

#include <weft/typed.h>

#ifndef __cplusplus

/* The call for the type that a pointer points to, const or not. */
/* clang-format off */
#define WEFT_CHOOSE_(call, pointer, tail)                                                \
  _Generic(*(pointer),                                                                   \
    int32_t: call##_i32##tail, uint32_t: call##_u32##tail,                               \
    int64_t: call##_i64##tail, uint64_t: call##_u64##tail,                               \
    float: call##_f32##tail, double: call##_f64##tail)
/* clang-format on */

#define weft_sum(a, n)            WEFT_CHOOSE_(weft_sum, a, )((a), (n))
#define weft_product(a, n)        WEFT_CHOOSE_(weft_product, a, )((a), (n))
#define weft_min(a, n)            WEFT_CHOOSE_(weft_min, a, )((a), (n))
#define weft_max(a, n)            WEFT_CHOOSE_(weft_max, a, )((a), (n))
#define weft_argmin(a, n)         WEFT_CHOOSE_(weft_argmin, a, )((a), (n))
#define weft_argmax(a, n)         WEFT_CHOOSE_(weft_argmax, a, )((a), (n))
#define weft_mean(a, n)           WEFT_CHOOSE_(weft_mean, a, )((a), (n))
#define weft_variance(a, n)       WEFT_CHOOSE_(weft_variance, a, )((a), (n))
#define weft_dot(a, b, n)         WEFT_CHOOSE_(weft_dot, a, )((a), (b), (n))
#define weft_scan_of(dst, src, n) WEFT_CHOOSE_(weft_scan, dst, )((dst), (src), (n))
#define weft_scan_exclusive_of(dst, src, n)                                              \
  WEFT_CHOOSE_(weft_scan_exclusive, dst, )((dst), (src), (n))
#define weft_fill_of(a, n, value) WEFT_CHOOSE_(weft_fill, a, )((a), (n), (value))

#define weft_sum_with(o, a, n)      WEFT_CHOOSE_(weft_sum, a, _with)((o), (a), (n))
#define weft_product_with(o, a, n)  WEFT_CHOOSE_(weft_product, a, _with)((o), (a), (n))
#define weft_min_with(o, a, n)      WEFT_CHOOSE_(weft_min, a, _with)((o), (a), (n))
#define weft_max_with(o, a, n)      WEFT_CHOOSE_(weft_max, a, _with)((o), (a), (n))
#define weft_argmin_with(o, a, n)   WEFT_CHOOSE_(weft_argmin, a, _with)((o), (a), (n))
#define weft_argmax_with(o, a, n)   WEFT_CHOOSE_(weft_argmax, a, _with)((o), (a), (n))
#define weft_mean_with(o, a, n)     WEFT_CHOOSE_(weft_mean, a, _with)((o), (a), (n))
#define weft_variance_with(o, a, n) WEFT_CHOOSE_(weft_variance, a, _with)((o), (a), (n))
#define weft_dot_with(o, a, b, n)   WEFT_CHOOSE_(weft_dot, a, _with)((o), (a), (b), (n))
#define weft_scan_of_with(o, dst, src, n)                                                \
  WEFT_CHOOSE_(weft_scan, dst, _with)((o), (dst), (src), (n))
#define weft_scan_exclusive_of_with(o, dst, src, n)                                      \
  WEFT_CHOOSE_(weft_scan_exclusive, dst, _with)((o), (dst), (src), (n))
#define weft_fill_of_with(o, a, n, value)                                                \
  WEFT_CHOOSE_(weft_fill, a, _with)((o), (a), (n), (value))

#else

/* An overloaded function and its twin: parameters and arguments without the options. */
#define WEFT_OVERLOAD_(result, generic, call, parameters, arguments)                     \
  static inline result generic(WEFT_LIST_ parameters) {                                  \
    return call(WEFT_LIST_ arguments);                                                   \
  }                                                                                      \
  static inline result generic##_with(const weft_opts *o, WEFT_LIST_ parameters) {       \
    return call##_with(o, WEFT_LIST_ arguments);                                         \
  }
#define WEFT_LIST_(...) __VA_ARGS__

#define WEFT_OVERLOADS_(name, type, wide)                                                \
  WEFT_OVERLOAD_(wide, weft_sum, weft_sum_##name, (const type *a, size_t n), (a, n))     \
  WEFT_OVERLOAD_(wide, weft_product, weft_product_##name, (const type *a, size_t n),     \
                 (a, n))                                                                 \
  WEFT_OVERLOAD_(type, weft_min, weft_min_##name, (const type *a, size_t n), (a, n))     \
  WEFT_OVERLOAD_(type, weft_max, weft_max_##name, (const type *a, size_t n), (a, n))     \
  WEFT_OVERLOAD_(size_t, weft_argmin, weft_argmin_##name, (const type *a, size_t n),     \
                 (a, n))                                                                 \
  WEFT_OVERLOAD_(size_t, weft_argmax, weft_argmax_##name, (const type *a, size_t n),     \
                 (a, n))                                                                 \
  WEFT_OVERLOAD_(double, weft_mean, weft_mean_##name, (const type *a, size_t n), (a, n)) \
  WEFT_OVERLOAD_(double, weft_variance, weft_variance_##name, (const type *a, size_t n), \
                 (a, n))                                                                 \
  WEFT_OVERLOAD_(wide, weft_dot, weft_dot_##name,                                        \
                 (const type *a, const type *b, size_t n), (a, b, n))                    \
  WEFT_OVERLOAD_(void, weft_scan_of, weft_scan_##name,                                   \
                 (type * dst, const type *src, size_t n), (dst, src, n))                 \
  WEFT_OVERLOAD_(void, weft_scan_exclusive_of, weft_scan_exclusive_##name,               \
                 (type * dst, const type *src, size_t n), (dst, src, n))                 \
  WEFT_OVERLOAD_(void, weft_fill_of, weft_fill_##name, (type * a, size_t n, type value), \
                 (a, n, value))
WEFT_NUMBERS_(WEFT_OVERLOADS_)
#undef WEFT_OVERLOADS_
#undef WEFT_OVERLOAD_
#undef WEFT_LIST_

#endif
#endif
