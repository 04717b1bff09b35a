/* weft/sort_numbers.h - sorting of numbers: int32_t, uint32_t, int64_t, uint64_t, float
 * and double, by their bits and without a comparator.
 *
 *     double samples[N];
 *     weft_sort_f64(samples, N);       // or weft_sort_of(samples, N)
 *
 * T stands for i32, u32, i64, u64, f32 or f64 in the names of functions, and for the C
 * type in their parameters. The generic names at the end of this header choose the
 * function by the type of the array.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WEFT_SORT_NUMBERS_H
#define WEFT_SORT_NUMBERS_H

#include <weft/detail/numbers.h>
#include <weft/opts.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What all calls of this header share.
 *
 * Order: ascending. Floats have a total order: -0 comes before +0, and NaNs of either
 * sign come last, behind +infinity. The bits of every element survive, also the signs and
 * payloads of NaNs. The order among NaNs is unspecified; in stable calls they count as
 * equal.
 *
 * Threads: any. Inside a pool a call belongs to that pool. Outside, the calling thread
 * takes part in the global pool (started on first use) until the call returns. Short
 * arrays, up to some thousand elements, are sorted by the calling thread alone.
 *
 * Errors: none. Each call asks for scratch memory, as its text says; without it a slower
 * method gives the same result. An array may be NULL if n is 0. Misuse (a NULL array with
 * n > 0, bad options) ends the program with a message.
 *
 * Cost: at worst linear in n times the bytes of an element; no input costs more. Arrays
 * that are sorted already, in reverse, or all equal take one pass or two.
 *
 * The NAME_with twins take options: see weft/opts.h. After a cancellation the array has
 * the same elements in some order. max_workers holds at each moment; min_len, max_len,
 * split and target_chunks mean nothing here. */

#define WEFT_SORT_TYPED_(N, T, wide)                                                     \
  WEFT_API void weft_sort_##N(T *a, size_t n);                                           \
  WEFT_API void weft_sort_##N##_with(const weft_opts *o, T *a, size_t n);                \
  WEFT_API void weft_sort_by_key_##N(T *keys, size_t n, void *payload,                   \
                                     size_t payload_size);                               \
  WEFT_API void weft_sort_by_key_##N##_with(const weft_opts *o, T *keys, size_t n,       \
                                            void *payload, size_t payload_size);         \
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
 * Sorts an array of numbers.
 *
 * Replaces
 *
 *     qsort(a, n, sizeof *a, compare);     // -1, 0, 1 as a < b, a == b, a > b
 *
 * Meaning: sorts the array. Scratch memory: as much as the array has.
 *
 * void weft_sort_by_key_T(T *keys, size_t n, void *payload, size_t payload_size);
 *
 * Sorts an array of numbers and moves the elements of another with it.
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
 * Meaning: sorts the keys, stable, and moves the n elements of `payload`, which may have
 * any size, together with their keys. Scratch memory: up to 40 bytes for each element,
 * and as much as the payload has.
 *
 * void weft_argsort_T(size_t *order, const T *a, size_t n);
 *
 * The order in which the numbers would be if they were sorted.
 *
 * Replaces
 *
 *     for (size_t i = 0; i < n; i++) order[i] = i;
 *     for (size_t i = 1; i < n; i++)
 *       for (size_t j = i; j > 0 && a[order[j - 1]] > a[order[j]]; j--)
 *         swap(&order[j - 1], &order[j]);
 *
 * Meaning: the array stays as it is; order[i] becomes the index of the element that comes
 * i-th when the array is sorted, stable. Scratch memory: up to 32 bytes for each element.
 *
 * void weft_nth_element_T(T *a, size_t n, size_t nth);
 *
 * Puts one number where sorting would put it.
 *
 * Replaces
 *
 *     qsort(a, n, sizeof *a, compare);
 *
 * where only a[nth] is wanted. Meaning: a[nth] becomes what it would be if the array were
 * sorted; no element in front of it is greater, and none behind it is less. Nothing
 * happens if nth >= n. Needs no memory.
 *
 * void weft_partial_sort_T(T *a, size_t n, size_t k);
 *
 * Sorts only the front of an array of numbers.
 *
 * Replaces
 *
 *     qsort(a, n, sizeof *a, compare);
 *
 * where only the first k elements are wanted (all of them if k > n). Meaning: the k
 * lowest elements come to the front, sorted; the order of the others is unspecified.
 * Scratch memory: as much as these k elements have.
 *
 * bool weft_is_sorted_T(const T *a, size_t n);
 *
 * Whether an array of numbers is sorted.
 *
 * Replaces
 *
 *     for (size_t i = 1; i < n; i++)
 *       if (a[i - 1] > a[i]) return false;
 *     return true;
 *
 * Meaning: is the array in the order that weft_sort_T makes? The search stops soon after
 * a pair in the wrong order was found. */
WEFT_NUMBERS_(WEFT_SORT_TYPED_)
#undef WEFT_SORT_TYPED_

#ifdef __cplusplus
}
#endif

/* Generic names: weft_sort_of(a, n), weft_sort_by_key_of(keys, n, payload, payload_size),
 * weft_argsort_of(order, a, n), weft_nth_element_of(a, n, nth),
 * weft_partial_sort_of(a, n, k) and weft_is_sorted_of(a, n), and the twin of each,
 * weft_sort_of_with(o, a, n) and so on. All end in _of because weft_sort and the others
 * are the calls for elements of any type (weft/sort.h); weft/numbers.h has the rule. */
#ifndef __cplusplus

#define weft_sort_of(a, n) WEFT_CHOOSE_(weft_sort, a, )((a), (n))
#define weft_sort_by_key_of(keys, n, payload, payload_size)                              \
  WEFT_CHOOSE_(weft_sort_by_key, keys, )((keys), (n), (payload), (payload_size))
#define weft_argsort_of(order, a, n) WEFT_CHOOSE_(weft_argsort, a, )((order), (a), (n))
#define weft_nth_element_of(a, n, nth)                                                   \
  WEFT_CHOOSE_(weft_nth_element, a, )((a), (n), (nth))
#define weft_partial_sort_of(a, n, k) WEFT_CHOOSE_(weft_partial_sort, a, )((a), (n), (k))
#define weft_is_sorted_of(a, n)       WEFT_CHOOSE_(weft_is_sorted, a, )((a), (n))

#define weft_sort_of_with(o, a, n) WEFT_CHOOSE_(weft_sort, a, _with)((o), (a), (n))
#define weft_sort_by_key_of_with(o, keys, n, payload, payload_size)                      \
  WEFT_CHOOSE_(weft_sort_by_key, keys, _with)                                            \
  ((o), (keys), (n), (payload), (payload_size))
#define weft_argsort_of_with(o, order, a, n)                                             \
  WEFT_CHOOSE_(weft_argsort, a, _with)((o), (order), (a), (n))
#define weft_nth_element_of_with(o, a, n, nth)                                           \
  WEFT_CHOOSE_(weft_nth_element, a, _with)((o), (a), (n), (nth))
#define weft_partial_sort_of_with(o, a, n, k)                                            \
  WEFT_CHOOSE_(weft_partial_sort, a, _with)((o), (a), (n), (k))
#define weft_is_sorted_of_with(o, a, n)                                                  \
  WEFT_CHOOSE_(weft_is_sorted, a, _with)((o), (a), (n))

#else

/* clang-format off */
#define WEFT_OVERLOADS_(N, T, wide)                                                      \
  WEFT_OVERLOAD_(void, weft_sort_of, weft_sort_##N, (T *a, size_t n), (a, n))            \
  WEFT_OVERLOAD_(void, weft_sort_by_key_of, weft_sort_by_key_##N,                        \
                 (T *keys, size_t n, void *payload, size_t payload_size),                \
                 (keys, n, payload, payload_size))                                       \
  WEFT_OVERLOAD_(void, weft_argsort_of, weft_argsort_##N,                                \
                 (size_t *order, const T *a, size_t n), (order, a, n))                   \
  WEFT_OVERLOAD_(void, weft_nth_element_of, weft_nth_element_##N,                        \
                 (T *a, size_t n, size_t nth), (a, n, nth))                              \
  WEFT_OVERLOAD_(void, weft_partial_sort_of, weft_partial_sort_##N,                      \
                 (T *a, size_t n, size_t k), (a, n, k))                                  \
  WEFT_OVERLOAD_(bool, weft_is_sorted_of, weft_is_sorted_##N, (const T *a, size_t n),    \
                 (a, n))
/* clang-format on */
WEFT_NUMBERS_(WEFT_OVERLOADS_)
#undef WEFT_OVERLOADS_

#endif
#endif
