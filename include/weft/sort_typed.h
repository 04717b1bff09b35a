/* weft/sort_typed.h - sorting of numbers: int32_t, uint32_t, int64_t, uint64_t, float and
 * double, by their bits and without a comparator.
 *
 *     double samples[N];
 *     weft_sort_f64(samples, N);       // or weft_sort_of(samples, N)
 *
 * T stands for i32, u32, i64, u64, f32 or f64 in the names of functions, and for the C
 * type in their arguments. weft_NAME_of chooses the function by the type of the array,
 * and has a twin weft_NAME_of_with: macros in C, overloaded functions in C++.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WEFT_SORT_TYPED_H
#define WEFT_SORT_TYPED_H

#include <stdint.h>
#include <weft/opts.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What all of these share.
 *
 * Order: ascending. That of floats is total: -0 comes before +0, and NaNs of either sign
 * come last, behind +infinity. The bits of every element survive: signs and payloads of
 * NaNs too. Among NaNs the order is unspecified, and where a call is stable they count as
 * equal.
 *
 * Threads: any. Inside a pool a call belongs to that pool; from outside the calling
 * thread takes part in the global pool (started on first use) until the call returns.
 * Short arrays, up to some thousand elements, are sorted by the calling thread alone.
 *
 * Errors: none. Scratch memory is asked for (see each function); without it a slower
 * method runs, with the same result. An array may be NULL if n is 0. Nonsense (a NULL
 * array with n > 0, bad options) ends the program with a message.
 *
 * Cost: linear in n times the bytes of an element in the worst case; no input makes it
 * more. Arrays that are sorted already, in reverse, or all equal take one pass or two.
 *
 * The NAME_with twins take options: see weft/opts.h. After a cancellation the array has
 * the same elements in some order; max_workers is kept at each moment; min_len, max_len,
 * split and target_chunks mean nothing here. */

#define WEFT_SORT_TYPED_(N, T)                                                           \
  WEFT_API void weft_sort_##N(T *a, size_t n);                                           \
  WEFT_API void weft_sort_##N##_with(const weft_opts *o, T *a, size_t n);                \
  WEFT_API void weft_sort_by_key_##N(T *keys, void *payload, size_t payload_size,        \
                                     size_t n);                                          \
  WEFT_API void weft_sort_by_key_##N##_with(const weft_opts *o, T *keys, void *payload,  \
                                            size_t payload_size, size_t n);              \
  WEFT_API void weft_argsort_##N(size_t *order, const T *a, size_t n);                   \
  WEFT_API void weft_argsort_##N##_with(const weft_opts *o, size_t *order, const T *a,   \
                                        size_t n);                                       \
  WEFT_API void weft_nth_element_##N(T *a, size_t n, size_t nth);                        \
  WEFT_API void weft_nth_element_##N##_with(const weft_opts *o, T *a, size_t n,          \
                                            size_t nth);                                 \
  WEFT_API void weft_partial_sort_##N(T *a, size_t n, size_t k);                         \
  WEFT_API void weft_partial_sort_##N##_with(const weft_opts *o, T *a, size_t n,         \
                                             size_t k);                                  \
  WEFT_API bool weft_is_sorted_##N(const T *a, size_t n);                                \
  WEFT_API bool weft_is_sorted_##N##_with(const weft_opts *o, const T *a, size_t n);

/* void weft_sort_T(T *a, size_t n);
 *
 * Replaces
 *
 *     qsort(a, n, sizeof *a, compare);     // -1, 0, 1 as a < b, a == b, a > b
 *
 * Meaning: sorts the array. Scratch memory: as much as the array has.
 *
 * void weft_sort_by_key_T(T *keys, void *payload, size_t payload_size, size_t n);
 *
 * Replaces
 *
 *     for (size_t i = 1; i < n; i++)
 *       for (size_t j = i; j > 0 && keys[j - 1] > keys[j]; j--) {
 *         swap(&keys[j - 1], &keys[j]);
 *         swap_bytes(payload + (j - 1) * payload_size, payload + j * payload_size,
 *                    payload_size);
 *       }
 *
 * Meaning: sorts the keys, stable, and moves the elements of `payload`, which may have
 * any size, as the keys are moved. Scratch memory: up to 40 bytes for each element, and
 * as much as the payload has.
 *
 * void weft_argsort_T(size_t *order, const T *a, size_t n);
 *
 * Replaces
 *
 *     for (size_t i = 0; i < n; i++) order[i] = i;
 *     for (size_t i = 1; i < n; i++)
 *       for (size_t j = i; j > 0 && a[order[j - 1]] > a[order[j]]; j--)
 *         swap(&order[j - 1], &order[j]);
 *
 * Meaning: the array is left as it is; order[i] becomes the index of the element that
 * comes i-th when the array is sorted, stable. Scratch memory: up to 32 bytes for each
 * element.
 *
 * void weft_nth_element_T(T *a, size_t n, size_t nth);
 *
 * Replaces
 *
 *     qsort(a, n, sizeof *a, compare);
 *
 * where only a[nth] is looked at. Meaning: a[nth] becomes what it would be if the array
 * were sorted; what is in front of it is not greater, what is behind it not less. Nothing
 * happens if nth is not less than n. Scratch memory: as much as the array has.
 *
 * void weft_partial_sort_T(T *a, size_t n, size_t k);
 *
 * Replaces
 *
 *     qsort(a, n, sizeof *a, compare);
 *
 * where only the first k elements are looked at (all, if k is more than n). Meaning: the
 * k lowest elements come to the front, sorted; the order of the others is unspecified.
 * Scratch memory: as much as the array has.
 *
 * bool weft_is_sorted_T(const T *a, size_t n);
 *
 * Replaces
 *
 *     for (size_t i = 1; i < n; i++)
 *       if (a[i - 1] > a[i]) return false;
 *     return true;
 *
 * Meaning: is the array in the order that weft_sort_T makes? Stops soon after a pair that
 * is not. */
WEFT_SORT_TYPED_(i32, int32_t)
WEFT_SORT_TYPED_(u32, uint32_t)
WEFT_SORT_TYPED_(i64, int64_t)
WEFT_SORT_TYPED_(u64, uint64_t)
WEFT_SORT_TYPED_(f32, float)
WEFT_SORT_TYPED_(f64, double)

#ifdef __cplusplus
}

/* An overloaded function and its twin: parameters and arguments without the options. */
#define WEFT_SORT_OVERLOAD_(result, name, N, parameters, arguments)                      \
  inline result weft_##name##_of(WEFT_SORT_LIST_ parameters) {                           \
    return weft_##name##_##N(WEFT_SORT_LIST_ arguments);                                 \
  }                                                                                      \
  inline result weft_##name##_of_with(const weft_opts *o, WEFT_SORT_LIST_ parameters) {  \
    return weft_##name##_##N##_with(o, WEFT_SORT_LIST_ arguments);                       \
  }
#define WEFT_SORT_LIST_(...) __VA_ARGS__

#define WEFT_SORT_OVERLOADS_(N, T)                                                       \
  WEFT_SORT_OVERLOAD_(void, sort, N, (T * a, size_t n), (a, n))                          \
  WEFT_SORT_OVERLOAD_(void, sort_by_key, N,                                              \
                      (T * keys, void *payload, size_t payload_size, size_t n),          \
                      (keys, payload, payload_size, n))                                  \
  WEFT_SORT_OVERLOAD_(void, argsort, N, (size_t * order, const T *a, size_t n),          \
                      (order, a, n))                                                     \
  WEFT_SORT_OVERLOAD_(void, nth_element, N, (T * a, size_t n, size_t nth), (a, n, nth))  \
  WEFT_SORT_OVERLOAD_(void, partial_sort, N, (T * a, size_t n, size_t k), (a, n, k))     \
  WEFT_SORT_OVERLOAD_(bool, is_sorted, N, (const T *a, size_t n), (a, n))
WEFT_SORT_OVERLOADS_(i32, int32_t)
WEFT_SORT_OVERLOADS_(u32, uint32_t)
WEFT_SORT_OVERLOADS_(i64, int64_t)
WEFT_SORT_OVERLOADS_(u64, uint64_t)
WEFT_SORT_OVERLOADS_(f32, float)
WEFT_SORT_OVERLOADS_(f64, double)
#undef WEFT_SORT_OVERLOADS_
#undef WEFT_SORT_OVERLOAD_
#undef WEFT_SORT_LIST_

#else

/* clang-format off */
#define WEFT_SORT_OF_(name, a, tail)                                                     \
  _Generic(*(a),                                                                         \
    int32_t: weft_##name##_i32##tail, uint32_t: weft_##name##_u32##tail,                 \
    int64_t: weft_##name##_i64##tail, uint64_t: weft_##name##_u64##tail,                 \
    float: weft_##name##_f32##tail, double: weft_##name##_f64##tail)
/* clang-format on */

#define weft_sort_of(a, n) WEFT_SORT_OF_(sort, a, )((a), (n))
#define weft_sort_by_key_of(keys, payload, payload_size, n)                              \
  WEFT_SORT_OF_(sort_by_key, keys, )((keys), (payload), (payload_size), (n))
#define weft_argsort_of(order, a, n)   WEFT_SORT_OF_(argsort, a, )((order), (a), (n))
#define weft_nth_element_of(a, n, nth) WEFT_SORT_OF_(nth_element, a, )((a), (n), (nth))
#define weft_partial_sort_of(a, n, k)  WEFT_SORT_OF_(partial_sort, a, )((a), (n), (k))
#define weft_is_sorted_of(a, n)        WEFT_SORT_OF_(is_sorted, a, )((a), (n))

#define weft_sort_of_with(o, a, n) WEFT_SORT_OF_(sort, a, _with)((o), (a), (n))
#define weft_sort_by_key_of_with(o, keys, payload, payload_size, n)                      \
  WEFT_SORT_OF_(sort_by_key, keys, _with)((o), (keys), (payload), (payload_size), (n))
#define weft_argsort_of_with(o, order, a, n)                                             \
  WEFT_SORT_OF_(argsort, a, _with)((o), (order), (a), (n))
#define weft_nth_element_of_with(o, a, n, nth)                                           \
  WEFT_SORT_OF_(nth_element, a, _with)((o), (a), (n), (nth))
#define weft_partial_sort_of_with(o, a, n, k)                                            \
  WEFT_SORT_OF_(partial_sort, a, _with)((o), (a), (n), (k))
#define weft_is_sorted_of_with(o, a, n) WEFT_SORT_OF_(is_sorted, a, _with)((o), (a), (n))

#endif

#endif
