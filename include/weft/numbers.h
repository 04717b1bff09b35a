/* weft/numbers.h - sums, minima, scans and fills of arrays of numbers.
 *
 *     double total = weft_sum(a, n);           // an array of any of the six types
 *     int64_t all = weft_sum_i32(counts, n);   // the function for one type
 *
 * Every call exists for int32_t, uint32_t, int64_t, uint64_t, float and double. Its name
 * ends in i32, u32, i64, u64, f32 or f64: weft_sum_i32 and so on. The generic names at
 * the end of this header choose the function by the type of the array.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WEFT_NUMBERS_H
#define WEFT_NUMBERS_H

#include <weft/detail/numbers.h>
#include <weft/opts.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What all calls of this header share.
 *
 * Results: the same bits for every number of threads, all options and every x86 CPU, also
 * for floats: which numbers are added to which follows from n alone. (Only the bits of a
 * NaN are not promised.) Of the options only pool, max_workers and cancel matter, and
 * min_len and max_len for weft_fill. After a cancellation a result means nothing.
 *
 * Threads: any. Inside a pool a call belongs to that pool. Outside, the calling thread
 * takes part in the global pool (started on first use) until the call returns. Short
 * arrays are handled by the calling thread alone.
 *
 * Errors: none. Only scans allocate; without memory they are slower. Misuse (a NULL array
 * with n > 0, bad options) ends the program with a message. An array may be NULL if n is
 * 0.
 *
 * Cost: long arrays are read at the speed of memory. The loops are compiled for several
 * kinds of CPU; the fitting ones are chosen at run time. */

/* The sum of an array of numbers.
 *
 * Replaces
 *
 *     wide sum = 0;
 *     for (size_t i = 0; i < n; i++) sum += a[i];
 *
 * Meaning: `wide` has 64 bits for integers, which wrap, and is double for floats. Floats
 * are added pairwise: the rounding error grows with log n. */
#define WEFT_DECLARE_(name, type, wide)                                                  \
  WEFT_API wide weft_sum_##name(const type *a, size_t n);                                \
  WEFT_API wide weft_sum_##name##_with(const weft_opts *o, const type *a, size_t n);
WEFT_NUMBERS_(WEFT_DECLARE_)
#undef WEFT_DECLARE_

/* The product of an array of numbers.
 *
 * Replaces
 *
 *     wide product = 1;
 *     for (size_t i = 0; i < n; i++) product *= a[i];
 *
 * Meaning: `wide` is that of weft_sum. Integers wrap at 64 bits. */
#define WEFT_DECLARE_(name, type, wide)                                                  \
  WEFT_API wide weft_product_##name(const type *a, size_t n);                            \
  WEFT_API wide weft_product_##name##_with(const weft_opts *o, const type *a, size_t n);
WEFT_NUMBERS_(WEFT_DECLARE_)
#undef WEFT_DECLARE_

/* The sum of the products of two arrays of numbers.
 *
 * Replaces
 *
 *     wide sum = 0;
 *     for (size_t i = 0; i < n; i++) sum += (wide)a[i] * b[i];
 *
 * Meaning: types and accuracy are those of weft_sum. a and b may be the same array. */
#define WEFT_DECLARE_(name, type, wide)                                                  \
  WEFT_API wide weft_dot_##name(const type *a, const type *b, size_t n);                 \
  WEFT_API wide weft_dot_##name##_with(const weft_opts *o, const type *a, const type *b, \
                                       size_t n);
WEFT_NUMBERS_(WEFT_DECLARE_)
#undef WEFT_DECLARE_

/* The least and the largest number of an array.
 *
 * Replaces
 *
 *     type min = the largest number of the type, +infinity for floats;
 *     for (size_t i = 0; i < n; i++)
 *       if (a[i] < min) min = a[i];
 *
 * Meaning: the smallest number, and for weft_max the largest, starting from the smallest
 * number of the type or -infinity. NaNs are skipped; if there is nothing else, the result
 * is NaN. The two zeros of floats are equal: a result of zero has the sign of some zero
 * of the array, the same one on every run. */
#define WEFT_DECLARE_(name, type, wide)                                                  \
  WEFT_API type weft_min_##name(const type *a, size_t n);                                \
  WEFT_API type weft_min_##name##_with(const weft_opts *o, const type *a, size_t n);     \
  WEFT_API type weft_max_##name(const type *a, size_t n);                                \
  WEFT_API type weft_max_##name##_with(const weft_opts *o, const type *a, size_t n);
WEFT_NUMBERS_(WEFT_DECLARE_)
#undef WEFT_DECLARE_

/* Where the least and the largest number of an array are.
 *
 * Replaces
 *
 *     size_t best = SIZE_MAX;
 *     for (size_t i = 0; i < n; i++)
 *       if (a[i] == a[i] && (best == SIZE_MAX || a[i] < a[best])) best = i;
 *
 * Meaning: the index of the first of the smallest numbers, or of the largest ones.
 * SIZE_MAX if n is 0 or all numbers are NaN. */
#define WEFT_DECLARE_(name, type, wide)                                                  \
  WEFT_API size_t weft_min_index_##name(const type *a, size_t n);                        \
  WEFT_API size_t weft_min_index_##name##_with(const weft_opts *o, const type *a,        \
                                               size_t n);                                \
  WEFT_API size_t weft_max_index_##name(const type *a, size_t n);                        \
  WEFT_API size_t weft_max_index_##name##_with(const weft_opts *o, const type *a,        \
                                               size_t n);
WEFT_NUMBERS_(WEFT_DECLARE_)
#undef WEFT_DECLARE_

/* The mean and the variance of an array of numbers.
 *
 * Replaces
 *
 *     double mean = 0, variance = 0;
 *     for (size_t i = 0; i < n; i++) mean += a[i];
 *     mean /= n;
 *     for (size_t i = 0; i < n; i++) variance += (a[i] - mean) * (a[i] - mean);
 *     variance /= n;
 *
 * Meaning: the variance is that of the whole population; multiply by n / (n - 1) for that
 * of a sample. It stays accurate where it is small compared with the mean. Means of
 * integers do not overflow. Both are NaN if n is 0. Memory is read once. */
#define WEFT_DECLARE_(name, type, wide)                                                  \
  WEFT_API double weft_mean_##name(const type *a, size_t n);                             \
  WEFT_API double weft_mean_##name##_with(const weft_opts *o, const type *a, size_t n);  \
  WEFT_API double weft_variance_##name(const type *a, size_t n);                         \
  WEFT_API double weft_variance_##name##_with(const weft_opts *o, const type *a,         \
                                              size_t n);
WEFT_NUMBERS_(WEFT_DECLARE_)
#undef WEFT_DECLARE_

/* Running sums of an array of numbers.
 *
 * Replaces
 *
 *     type sum = 0;
 *     for (size_t i = 0; i < n; i++) {
 *       sum += src[i];
 *       dst[i] = sum;
 *     }
 *
 * Meaning: dst[i] is the sum of all numbers up to src[i]. For weft_scan_exclusive the two
 * lines of the body are exchanged: dst[i] is the sum of the numbers in front of src[i].
 * Integers wrap. Floats are added as doubles, in blocks, with smaller errors than the
 * loop above. dst may be src, but must not overlap it otherwise. Memory is read once and
 * written once. */
#define WEFT_DECLARE_(name, type, wide)                                                  \
  WEFT_API void weft_scan_##name(type *dst, const type *src, size_t n);                  \
  WEFT_API void weft_scan_##name##_with(const weft_opts *o, type *dst, const type *src,  \
                                        size_t n);                                       \
  WEFT_API void weft_scan_exclusive_##name(type *dst, const type *src, size_t n);        \
  WEFT_API void weft_scan_exclusive_##name##_with(const weft_opts *o, type *dst,         \
                                                  const type *src, size_t n);
WEFT_NUMBERS_(WEFT_DECLARE_)
#undef WEFT_DECLARE_

/* Sets all numbers of an array to one value.
 *
 * Replaces
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

/* ---- generic names ----
 *
 * The rule, here and in weft/sort_numbers.h: the function weft_NAME_T is also called
 *
 *     weft_NAME       where that name is free: weft_sum(a, n)
 *     weft_NAME_of    where weft_NAME is the call for elements of any type, with a size
 *                     and a function: weft_scan_of(dst, src, n) beside weft_scan
 *
 * Each has a twin with options: weft_sum_with(o, a, n), weft_scan_of_with(o, dst, src,
 * n). They are macros in C and overloaded functions in C++. Arrays of other types do not
 * compile; that includes `long` or `long long`, whichever int64_t is not.
 *
 * Here: weft_sum(a, n), weft_product(a, n), weft_min(a, n), weft_max(a, n),
 * weft_min_index_of(a, n), weft_max_index_of(a, n), weft_mean(a, n), weft_variance(a, n),
 * weft_dot(a, b, n), weft_scan_of(dst, src, n), weft_scan_exclusive(dst, src, n) and
 * weft_fill_of(a, n, value). */
#ifndef __cplusplus

#define weft_sum(a, n)            WEFT_CHOOSE_(weft_sum, a, )((a), (n))
#define weft_product(a, n)        WEFT_CHOOSE_(weft_product, a, )((a), (n))
#define weft_min(a, n)            WEFT_CHOOSE_(weft_min, a, )((a), (n))
#define weft_max(a, n)            WEFT_CHOOSE_(weft_max, a, )((a), (n))
#define weft_min_index_of(a, n)   WEFT_CHOOSE_(weft_min_index, a, )((a), (n))
#define weft_max_index_of(a, n)   WEFT_CHOOSE_(weft_max_index, a, )((a), (n))
#define weft_mean(a, n)           WEFT_CHOOSE_(weft_mean, a, )((a), (n))
#define weft_variance(a, n)       WEFT_CHOOSE_(weft_variance, a, )((a), (n))
#define weft_dot(a, b, n)         WEFT_CHOOSE_(weft_dot, a, )((a), (b), (n))
#define weft_scan_of(dst, src, n) WEFT_CHOOSE_(weft_scan, dst, )((dst), (src), (n))
#define weft_scan_exclusive(dst, src, n)                                                 \
  WEFT_CHOOSE_(weft_scan_exclusive, dst, )((dst), (src), (n))
#define weft_fill_of(a, n, value) WEFT_CHOOSE_(weft_fill, a, )((a), (n), (value))

#define weft_sum_with(o, a, n)     WEFT_CHOOSE_(weft_sum, a, _with)((o), (a), (n))
#define weft_product_with(o, a, n) WEFT_CHOOSE_(weft_product, a, _with)((o), (a), (n))
#define weft_min_with(o, a, n)     WEFT_CHOOSE_(weft_min, a, _with)((o), (a), (n))
#define weft_max_with(o, a, n)     WEFT_CHOOSE_(weft_max, a, _with)((o), (a), (n))
#define weft_min_index_of_with(o, a, n)                                                  \
  WEFT_CHOOSE_(weft_min_index, a, _with)((o), (a), (n))
#define weft_max_index_of_with(o, a, n)                                                  \
  WEFT_CHOOSE_(weft_max_index, a, _with)((o), (a), (n))
#define weft_mean_with(o, a, n)     WEFT_CHOOSE_(weft_mean, a, _with)((o), (a), (n))
#define weft_variance_with(o, a, n) WEFT_CHOOSE_(weft_variance, a, _with)((o), (a), (n))
#define weft_dot_with(o, a, b, n)   WEFT_CHOOSE_(weft_dot, a, _with)((o), (a), (b), (n))
#define weft_scan_of_with(o, dst, src, n)                                                \
  WEFT_CHOOSE_(weft_scan, dst, _with)((o), (dst), (src), (n))
#define weft_scan_exclusive_with(o, dst, src, n)                                         \
  WEFT_CHOOSE_(weft_scan_exclusive, dst, _with)((o), (dst), (src), (n))
#define weft_fill_of_with(o, a, n, value)                                                \
  WEFT_CHOOSE_(weft_fill, a, _with)((o), (a), (n), (value))

#else

/* clang-format off */
#define WEFT_OVERLOADS_(name, type, wide)                                                \
  WEFT_OVERLOAD_(wide, weft_sum, weft_sum_##name, (const type *a, size_t n), (a, n))     \
  WEFT_OVERLOAD_(wide, weft_product, weft_product_##name, (const type *a, size_t n),     \
                 (a, n))                                                                 \
  WEFT_OVERLOAD_(type, weft_min, weft_min_##name, (const type *a, size_t n), (a, n))     \
  WEFT_OVERLOAD_(type, weft_max, weft_max_##name, (const type *a, size_t n), (a, n))     \
  WEFT_OVERLOAD_(size_t, weft_min_index_of, weft_min_index_##name,                       \
                 (const type *a, size_t n), (a, n))                                      \
  WEFT_OVERLOAD_(size_t, weft_max_index_of, weft_max_index_##name,                       \
                 (const type *a, size_t n), (a, n))                                      \
  WEFT_OVERLOAD_(double, weft_mean, weft_mean_##name, (const type *a, size_t n), (a, n)) \
  WEFT_OVERLOAD_(double, weft_variance, weft_variance_##name, (const type *a, size_t n), \
                 (a, n))                                                                 \
  WEFT_OVERLOAD_(wide, weft_dot, weft_dot_##name,                                        \
                 (const type *a, const type *b, size_t n), (a, b, n))                    \
  WEFT_OVERLOAD_(void, weft_scan_of, weft_scan_##name,                                   \
                 (type *dst, const type *src, size_t n), (dst, src, n))                  \
  WEFT_OVERLOAD_(void, weft_scan_exclusive, weft_scan_exclusive_##name,                  \
                 (type *dst, const type *src, size_t n), (dst, src, n))                  \
  WEFT_OVERLOAD_(void, weft_fill_of, weft_fill_##name, (type *a, size_t n, type value),  \
                 (a, n, value))
/* clang-format on */
WEFT_NUMBERS_(WEFT_OVERLOADS_)
#undef WEFT_OVERLOADS_

#endif
#endif
