/* weft/typed.h - sums, minima, scans and the like of arrays of numbers.
 *
 *     double total = weft_sum(a, n);         // for a of any of the six types
 *     int64_t all = weft_sum_i32(counts, n);
 *
 * Every call is there for int32_t, uint32_t, int64_t, uint64_t, float and double, which
 * are named i32, u32, i64, u64, f32 and f64: weft_sum_i32 and so on. The generic names at
 * the end choose by the type of the array.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WEFT_TYPED_H
#define WEFT_TYPED_H

#include <weft/opts.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What all of them share.
 *
 * Results: the same bits for every number of threads, all options and every x86 CPU, also
 * for floats: what is added to what follows from n alone. (NaN is NaN, its bits are not
 * promised.) So of the options only pool, max_workers and cancel matter, and min_len and
 * max_len for weft_fill. After a cancellation a result means nothing.
 *
 * Threads: any. Inside a pool a call belongs to that pool; from outside the calling
 * thread takes part in the global pool (started on first use) until the call returns.
 * Short arrays are handled by the calling thread alone.
 *
 * Errors: none, and nothing but a scan allocates. Without memory it is slower. Nonsense
 * (a NULL array with n > 0, bad options) ends the program with a message. NULL is fine if
 * n is 0.
 *
 * Cost: long arrays are read as fast as memory gives them. The loops are compiled for
 * several kinds of CPU, and those for the one at hand are chosen at run time. */

/* Calls ENTRY(name, type, wide): sums are of the wide type. */
#define WEFT_NUMBERS_(ENTRY)                                                             \
  ENTRY(i32, int32_t, int64_t)                                                           \
  ENTRY(u32, uint32_t, uint64_t)                                                         \
  ENTRY(i64, int64_t, int64_t)                                                           \
  ENTRY(u64, uint64_t, uint64_t)                                                         \
  ENTRY(f32, float, double)                                                              \
  ENTRY(f64, double, double)

/* Replaces
 *
 *     wide sum = 0;
 *     for (size_t i = 0; i < n; i++) sum += a[i];
 *
 * 32-bit integers give 64 bits, 64-bit ones wrap, floats give a double. Floats are added
 * pairwise: the error grows with log n. */
#define WEFT_DECLARE_(name, type, wide)                                                  \
  WEFT_API wide weft_sum_##name(const type *a, size_t n);                                \
  WEFT_API wide weft_sum_##name##_with(const weft_opts *o, const type *a, size_t n);
WEFT_NUMBERS_(WEFT_DECLARE_)
#undef WEFT_DECLARE_

/* Replaces
 *
 *     wide product = 1;
 *     for (size_t i = 0; i < n; i++) product *= a[i];
 *
 * Integers wrap at 64 bits, floats give a double. */
#define WEFT_DECLARE_(name, type, wide)                                                  \
  WEFT_API wide weft_product_##name(const type *a, size_t n);                            \
  WEFT_API wide weft_product_##name##_with(const weft_opts *o, const type *a, size_t n);
WEFT_NUMBERS_(WEFT_DECLARE_)
#undef WEFT_DECLARE_

/* Replaces
 *
 *     wide sum = 0;
 *     for (size_t i = 0; i < n; i++) sum += (wide)a[i] * b[i];
 *
 * With the types and the accuracy of weft_sum. a and b may be the same. */
#define WEFT_DECLARE_(name, type, wide)                                                  \
  WEFT_API wide weft_dot_##name(const type *a, const type *b, size_t n);                 \
  WEFT_API wide weft_dot_##name##_with(const weft_opts *o, const type *a, const type *b, \
                                       size_t n);
WEFT_NUMBERS_(WEFT_DECLARE_)
#undef WEFT_DECLARE_

/* Replaces
 *
 *     type min = the largest number of the type, +infinity for floats;
 *     for (size_t i = 0; i < n; i++)
 *       if (a[i] < min) min = a[i];
 *
 * and the same for the largest, from the smallest number or -infinity on. NaN is passed
 * over; if there is nothing else, the result is NaN. Zeros are equal: if the result is
 * one, its sign is that of any zero in the array, but always the same. */
#define WEFT_DECLARE_(name, type, wide)                                                  \
  WEFT_API type weft_min_##name(const type *a, size_t n);                                \
  WEFT_API type weft_min_##name##_with(const weft_opts *o, const type *a, size_t n);     \
  WEFT_API type weft_max_##name(const type *a, size_t n);                                \
  WEFT_API type weft_max_##name##_with(const weft_opts *o, const type *a, size_t n);
WEFT_NUMBERS_(WEFT_DECLARE_)
#undef WEFT_DECLARE_

/* Replaces
 *
 *     size_t best = SIZE_MAX;
 *     for (size_t i = 0; i < n; i++)
 *       if (a[i] == a[i] && (best == SIZE_MAX || a[i] < a[best])) best = i;
 *
 * and the same for the largest: the index of the first one. SIZE_MAX if n is 0 or there
 * is nothing but NaN. */
#define WEFT_DECLARE_(name, type, wide)                                                  \
  WEFT_API size_t weft_argmin_##name(const type *a, size_t n);                           \
  WEFT_API size_t weft_argmin_##name##_with(const weft_opts *o, const type *a,           \
                                            size_t n);                                   \
  WEFT_API size_t weft_argmax_##name(const type *a, size_t n);                           \
  WEFT_API size_t weft_argmax_##name##_with(const weft_opts *o, const type *a, size_t n);
WEFT_NUMBERS_(WEFT_DECLARE_)
#undef WEFT_DECLARE_

/* Replaces
 *
 *     double mean = 0, variance = 0;
 *     for (size_t i = 0; i < n; i++) mean += a[i];
 *     mean /= n;
 *     for (size_t i = 0; i < n; i++) variance += (a[i] - mean) * (a[i] - mean);
 *     variance /= n;
 *
 * The variance is that of the whole population, and as accurate where it is small against
 * the mean; memory is read once. Multiply by n / (n - 1) for that of a sample. Means of
 * integers do not overflow. NaN if n is 0. */
#define WEFT_DECLARE_(name, type, wide)                                                  \
  WEFT_API double weft_mean_##name(const type *a, size_t n);                             \
  WEFT_API double weft_mean_##name##_with(const weft_opts *o, const type *a, size_t n);  \
  WEFT_API double weft_variance_##name(const type *a, size_t n);                         \
  WEFT_API double weft_variance_##name##_with(const weft_opts *o, const type *a,         \
                                              size_t n);
WEFT_NUMBERS_(WEFT_DECLARE_)
#undef WEFT_DECLARE_

/* Replaces
 *
 *     type sum = 0;
 *     for (size_t i = 0; i < n; i++) {
 *       sum += src[i];
 *       dst[i] = sum;
 *     }
 *
 * and weft_scan_exclusive the same with the two lines of the body exchanged: dst[i] is
 * the sum of what is in front of src[i]. Integers wrap. Floats are added as doubles, in
 * blocks, with smaller errors than the loop above. dst may be src, but must not overlap
 * it otherwise. Memory is read once and written once. */
#define WEFT_DECLARE_(name, type, wide)                                                  \
  WEFT_API void weft_scan_##name(type *dst, const type *src, size_t n);                  \
  WEFT_API void weft_scan_##name##_with(const weft_opts *o, type *dst, const type *src,  \
                                        size_t n);                                       \
  WEFT_API void weft_scan_exclusive_##name(type *dst, const type *src, size_t n);        \
  WEFT_API void weft_scan_exclusive_##name##_with(const weft_opts *o, type *dst,         \
                                                  const type *src, size_t n);
WEFT_NUMBERS_(WEFT_DECLARE_)
#undef WEFT_DECLARE_

/* Replaces
 *
 *     for (size_t i = 0; i < n; i++) a[i] = value; */
#define WEFT_DECLARE_(name, type, wide)                                                  \
  WEFT_API void weft_fill_##name(type *a, size_t n, type value);                         \
  WEFT_API void weft_fill_##name##_with(const weft_opts *o, type *a, size_t n,           \
                                        type value);
WEFT_NUMBERS_(WEFT_DECLARE_)
#undef WEFT_DECLARE_

#ifdef __cplusplus
}
#endif

/* The generic names: weft_sum(a, n), weft_product(a, n), weft_min(a, n), weft_max(a, n),
 * weft_argmin(a, n), weft_argmax(a, n), weft_mean(a, n), weft_variance(a, n),
 * weft_dot(a, b, n), weft_scan_of(dst, src, n), weft_scan_exclusive_of(dst, src, n),
 * weft_fill_of(a, n, value); and the twin of each, weft_sum_with(o, a, n) and so on.
 * Macros in C, overloaded functions in C++; other types do not compile, also not the one
 * of long and long long that int64_t is not. */
#include <weft/detail/typed.h>

#endif
