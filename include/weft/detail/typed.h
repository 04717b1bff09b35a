/* weft/detail/typed.h - the generic names of weft/typed.h. Not API.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WEFT_DETAIL_TYPED_H
#define WEFT_DETAIL_TYPED_H

#include <weft/typed.h>

#ifndef __cplusplus

/* The call for the type that a pointer points to, const or not. */
#define WEFT_CHOOSE_(call, pointer)                                                      \
  _Generic(*(pointer), int32_t                                                           \
           : call##_i32, uint32_t                                                        \
           : call##_u32, int64_t                                                         \
           : call##_i64, uint64_t                                                        \
           : call##_u64, float                                                           \
           : call##_f32, double                                                          \
           : call##_f64)

#define weft_sum(a, n)            WEFT_CHOOSE_(weft_sum, a)((a), (n))
#define weft_product(a, n)        WEFT_CHOOSE_(weft_product, a)((a), (n))
#define weft_min(a, n)            WEFT_CHOOSE_(weft_min, a)((a), (n))
#define weft_max(a, n)            WEFT_CHOOSE_(weft_max, a)((a), (n))
#define weft_argmin(a, n)         WEFT_CHOOSE_(weft_argmin, a)((a), (n))
#define weft_argmax(a, n)         WEFT_CHOOSE_(weft_argmax, a)((a), (n))
#define weft_mean(a, n)           WEFT_CHOOSE_(weft_mean, a)((a), (n))
#define weft_variance(a, n)       WEFT_CHOOSE_(weft_variance, a)((a), (n))
#define weft_dot(a, b, n)         WEFT_CHOOSE_(weft_dot, a)((a), (b), (n))
#define weft_scan_of(dst, src, n) WEFT_CHOOSE_(weft_scan, dst)((dst), (src), (n))
#define weft_scan_exclusive_of(dst, src, n)                                              \
  WEFT_CHOOSE_(weft_scan_exclusive, dst)((dst), (src), (n))
#define weft_fill_of(a, n, value) WEFT_CHOOSE_(weft_fill, a)((a), (n), (value))

#else

#define WEFT_OVERLOAD_(name, type, wide)                                                 \
  static inline wide weft_sum(const type *a, size_t n) {                                 \
    return weft_sum_##name(a, n);                                                        \
  }                                                                                      \
  static inline wide weft_product(const type *a, size_t n) {                             \
    return weft_product_##name(a, n);                                                    \
  }                                                                                      \
  static inline type weft_min(const type *a, size_t n) {                                 \
    return weft_min_##name(a, n);                                                        \
  }                                                                                      \
  static inline type weft_max(const type *a, size_t n) {                                 \
    return weft_max_##name(a, n);                                                        \
  }                                                                                      \
  static inline size_t weft_argmin(const type *a, size_t n) {                            \
    return weft_argmin_##name(a, n);                                                     \
  }                                                                                      \
  static inline size_t weft_argmax(const type *a, size_t n) {                            \
    return weft_argmax_##name(a, n);                                                     \
  }                                                                                      \
  static inline double weft_mean(const type *a, size_t n) {                              \
    return weft_mean_##name(a, n);                                                       \
  }                                                                                      \
  static inline double weft_variance(const type *a, size_t n) {                          \
    return weft_variance_##name(a, n);                                                   \
  }                                                                                      \
  static inline wide weft_dot(const type *a, const type *b, size_t n) {                  \
    return weft_dot_##name(a, b, n);                                                     \
  }                                                                                      \
  static inline void weft_scan_of(type *dst, const type *src, size_t n) {                \
    weft_scan_##name(dst, src, n);                                                       \
  }                                                                                      \
  static inline void weft_scan_exclusive_of(type *dst, const type *src, size_t n) {      \
    weft_scan_exclusive_##name(dst, src, n);                                             \
  }                                                                                      \
  static inline void weft_fill_of(type *a, size_t n, type value) {                       \
    weft_fill_##name(a, n, value);                                                       \
  }
WEFT_NUMBERS_(WEFT_OVERLOAD_)
#undef WEFT_OVERLOAD_

#endif
#endif
