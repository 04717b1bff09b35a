/* weft/sort.h - sorting by a comparator, merging, selecting.
 *
 *     static int by_key(const void *a, const void *b, void *ctx) {
 *       uint64_t x = ((const struct item *)a)->key, y = ((const struct item *)b)->key;
 *       (void)ctx;
 *       return (x > y) - (x < y);
 *     }
 *     weft_sort(items, n, sizeof *items, by_key, NULL);
 *
 * WEFT_SORT of weft/typed_sort.h makes sort functions with the comparison inlined, which
 * are faster unless the comparator compares one number or text, as this one does;
 * weft/sort_numbers.h sorts numbers.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WEFT_SORT_H
#define WEFT_SORT_H

#include <weft/fn.h>
#include <weft/opts.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What all calls of this header share.
 *
 * Comparators: see weft_cmp_fn in weft/fn.h. A comparator runs on several threads at the
 * same time, and also on copies of elements: it must find what it needs in the element or
 * in ctx, not in the element's address. A comparator that contradicts itself spoils only
 * the order: the result still has the same elements.
 *
 * Threads: any. Inside a pool the call belongs to that pool. Outside, the calling thread
 * takes part in the global pool (started on first use) until the call returns; up to some
 * thousand elements it may sort without the pool.
 *
 * Errors: none. Scratch memory comes from malloc: the size of the array and a little more
 * (weft_sort needs none for few different elements). With less memory weft_sort makes do
 * with some megabytes for each thread; with none, a method runs that needs none. It is
 * several times as slow and gives the same result (weft_sort may leave equal elements in
 * another order). Misuse (a NULL comparator or array or a size of 0 with n > 0, bad
 * options) ends the program with a message. The comparator must not be left by longjmp or
 * a C++ exception. If the options name a scope that is cancelled, the call returns early:
 * arrays that are sorted in place then have the same elements in some order.
 *
 * Cost: at most O(n log n) comparisons for any input; O(n) if it ascends or descends
 * already, O(n log k) if only k elements are different. weft_sort and weft_sort_stable
 * read elements of up to 128 bytes as numbers, too: if a number or the beginning of a
 * text in them has the order of the comparator, they sort by that and let the comparator
 * confirm it, with one to five calls for each element. They do not under valgrind and
 * MemorySanitizer, which would report that padding is read. Elements of 4, 8, 16, 24 and
 * 32 bytes are copied fastest. For elements of more than 128 bytes their indices are
 * sorted, and each element moves only twice. The lengths and the split in options do not
 * matter. */

/* Sorts an array by a comparator.
 *
 * Replaces
 *
 *     qsort_r(base, n, size, cmp, ctx);
 *
 * Meaning: sorts in ascending order; equal elements come in any order.
 *
 *     weft_sort(items, n, sizeof *items, by_key, NULL); */
WEFT_API void weft_sort(void *base, size_t n, size_t size, weft_cmp_fn *cmp, void *ctx);
WEFT_API void weft_sort_with(const weft_opts *o, void *base, size_t n, size_t size,
                             weft_cmp_fn *cmp, void *ctx);

/* Sorts an array by a comparator; equal elements keep their order.
 *
 * Replaces
 *
 *     mergesort(base, n, size, cmp);
 *
 * Meaning: as weft_sort, but equal elements keep their order. */
WEFT_API void weft_sort_stable(void *base, size_t n, size_t size, weft_cmp_fn *cmp,
                               void *ctx);
WEFT_API void weft_sort_stable_with(const weft_opts *o, void *base, size_t n, size_t size,
                                    weft_cmp_fn *cmp, void *ctx);

/* Merges two sorted arrays into one.
 *
 * Replaces
 *
 *     for (size_t i = 0, j = 0; i + j < na + nb;)
 *       if (j == nb || (i < na && cmp(&b[j], &a[i], ctx) >= 0)) dst[i + j] = a[i], i++;
 *       else dst[i + j] = b[j], j++;
 *
 * Meaning: merges two sorted arrays into dst, which has room for na + nb elements and
 * overlaps neither. Of equal elements those of a come first, all in their order. Needs no
 * memory. Cost: na + nb comparisons at most, and a few for each fork. A cancellation is
 * noticed every few thousand elements; dst is then incomplete. */
WEFT_API void weft_merge(void *dst, const void *a, size_t na, const void *b, size_t nb,
                         size_t size, weft_cmp_fn *cmp, void *ctx);
WEFT_API void weft_merge_with(const weft_opts *o, void *dst, const void *a, size_t na,
                              const void *b, size_t nb, size_t size, weft_cmp_fn *cmp,
                              void *ctx);

/* Sorts one array and moves the elements of another with it.
 *
 * Replaces
 *
 *     for (size_t i = 1; i < n; i++)
 *       for (size_t j = i; j > 0 && cmp(&keys[j], &keys[j - 1], ctx) < 0; j--) {
 *         swap(&keys[j], &keys[j - 1]);
 *         swap(&payload[j], &payload[j - 1]);
 *       }
 *
 * Meaning: sorts the n keys, stable, and moves the n elements of payload together with
 * their keys. The comparator gets keys only. Elements of payload may have a size of 0.
 *
 *     weft_sort_by_key(names, n, sizeof *names, ages, sizeof *ages, by_name, NULL); */
WEFT_API void weft_sort_by_key(void *keys, size_t n, size_t key_size, void *payload,
                               size_t payload_size, weft_cmp_fn *cmp_keys, void *ctx);
WEFT_API void weft_sort_by_key_with(const weft_opts *o, void *keys, size_t n,
                                    size_t key_size, void *payload, size_t payload_size,
                                    weft_cmp_fn *cmp_keys, void *ctx);

/* The order in which the elements would be if they were sorted.
 *
 * Replaces
 *
 *     for (size_t i = 0; i < n; i++) order[i] = i;
 *     for (size_t i = 1; i < n; i++)
 *       for (size_t j = i;
 *            j > 0 && cmp(&base[order[j]], &base[order[j - 1]], ctx) < 0; j--)
 *         swap(&order[j], &order[j - 1]);
 *
 * Meaning: order[0] becomes the index of the least element, and so on; indices of equal
 * elements ascend. The array itself stays as it is. */
WEFT_API void weft_argsort(size_t *order, const void *base, size_t n, size_t size,
                           weft_cmp_fn *cmp, void *ctx);
WEFT_API void weft_argsort_with(const weft_opts *o, size_t *order, const void *base,
                                size_t n, size_t size, weft_cmp_fn *cmp, void *ctx);

/* Puts one element where sorting would put it.
 *
 * Replaces
 *
 *     qsort_r(base, n, size, cmp, ctx);
 *
 * where only the element at index nth is wanted. Meaning: that element is then the one
 * that sorting would put there; no element in front of it is greater, and none behind it
 * is less. Nothing happens if nth >= n. Cost: O(n), O(n log n) at worst.
 *
 *     weft_nth_element(items, n, sizeof *items, n / 2, by_key, NULL);   // the median */
WEFT_API void weft_nth_element(void *base, size_t n, size_t size, size_t nth,
                               weft_cmp_fn *cmp, void *ctx);
WEFT_API void weft_nth_element_with(const weft_opts *o, void *base, size_t n, size_t size,
                                    size_t nth, weft_cmp_fn *cmp, void *ctx);

/* Sorts only the front of an array.
 *
 * Replaces
 *
 *     qsort_r(base, n, size, cmp, ctx);
 *
 * where only the first k elements are wanted, in order. Meaning: the others come in any
 * order; if k >= n, all are sorted. Cost: O(n + k log k), O(n log n) at worst.
 *
 *     weft_partial_sort(items, n, sizeof *items, 10, by_key, NULL);   // the ten least */
WEFT_API void weft_partial_sort(void *base, size_t n, size_t size, size_t k,
                                weft_cmp_fn *cmp, void *ctx);
WEFT_API void weft_partial_sort_with(const weft_opts *o, void *base, size_t n,
                                     size_t size, size_t k, weft_cmp_fn *cmp, void *ctx);

/* Whether an array is sorted.
 *
 * Replaces
 *
 *     for (size_t i = 1; i < n; i++)
 *       if (cmp(&base[i], &base[i - 1], ctx) < 0) return false;
 *     return true;
 *
 * Meaning: the search stops soon after a pair in the wrong order was found. */
WEFT_API bool weft_is_sorted(const void *base, size_t n, size_t size, weft_cmp_fn *cmp,
                             void *ctx);
WEFT_API bool weft_is_sorted_with(const weft_opts *o, const void *base, size_t n,
                                  size_t size, weft_cmp_fn *cmp, void *ctx);

#ifdef __cplusplus
}
#endif

#endif
