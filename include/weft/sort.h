/* weft/sort.h - sorting by a comparator, and what belongs to it.
 *
 *     static int by_key(const void *a, const void *b, void *ctx) {
 *       uint64_t x = ((const struct item *)a)->key, y = ((const struct item *)b)->key;
 *       (void)ctx;
 *       return (x > y) - (x < y);
 *     }
 *     weft_sort(items, n, sizeof *items, by_key, NULL);
 *
 * WEFT_SORT of weft/kernel_sort.h makes sort functions without such calls: quicker.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WEFT_SORT_H
#define WEFT_SORT_H

#include <weft/fn.h>
#include <weft/opts.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What all these calls share.
 *
 * Comparators: as for qsort_r, less than 0 if *a comes before *b, 0 if they are equal,
 * greater than 0 otherwise. It is called on several threads at the same time, and for
 * copies of elements too: what it needs to know it finds in the element or in ctx, not in
 * its address. An order that contradicts itself does no harm but to the order of the
 * result, which still has the same elements.
 *
 * Threads: any. Inside a pool the call belongs to that pool; from outside the calling
 * thread takes part in the global pool (started on first use) until the call returns; up
 * to some thousand elements may be sorted without one.
 *
 * Errors: none. Scratch memory is taken from malloc and given back: the size of the array
 * and a little more (weft_sort needs none for few different elements). If there is less,
 * weft_sort does with some megabytes for each thread; if there is none, an algorithm runs
 * that needs none. It is several times as slow, and gives the same result (weft_sort may
 * leave equal elements in another order).
 * Nonsense (a NULL comparator or array or a size of 0 with n > 0, bad options) ends the
 * program with a message. The comparator must not be left by longjmp or a C++ exception.
 * If options name a scope that is cancelled, the call returns early: arrays that are
 * sorted in place then have the same elements in some order.
 *
 * Cost: O(n log n) comparisons at most, whatever the input is; O(n) if it ascends or
 * descends already, O(n log k) if only k elements are different. Copies of 4, 8, 16, 24
 * and 32 bytes are the quickest; of elements of more than 128 bytes the indices are
 * sorted, and each is moved only twice. The lengths and the split in options do not
 * matter. */

/* Replaces
 *
 *     qsort_r(base, n, size, cmp, ctx);
 *
 * Meaning: sorts in ascending order; equal elements come in any order. */
WEFT_API void weft_sort(void *base, size_t n, size_t size, weft_cmp_fn *cmp, void *ctx);
WEFT_API void weft_sort_with(const weft_opts *o, void *base, size_t n, size_t size,
                             weft_cmp_fn *cmp, void *ctx);

/* Replaces
 *
 *     mergesort(base, n, size, cmp);
 *
 * Meaning: as weft_sort, and equal elements stay in the order in which they were. */
WEFT_API void weft_sort_stable(void *base, size_t n, size_t size, weft_cmp_fn *cmp,
                               void *ctx);
WEFT_API void weft_sort_stable_with(const weft_opts *o, void *base, size_t n, size_t size,
                                    weft_cmp_fn *cmp, void *ctx);

/* Replaces
 *
 *     for (size_t i = 0, j = 0; i + j < na + nb;)
 *       if (j == nb || (i < na && cmp(&b[j], &a[i], ctx) >= 0)) dst[i + j] = a[i], i++;
 *       else dst[i + j] = b[j], j++;
 *
 * Meaning: merges two sorted arrays into dst, which has room for na + nb elements and
 * overlaps neither. Of equal elements those of a come first, each in their order. Needs
 * no memory. Cost: na + nb comparisons at most, and a few for each fork. Cancellation is
 * looked at every few thousand elements; dst is incomplete then. */
WEFT_API void weft_merge(void *dst, const void *a, size_t na, const void *b, size_t nb,
                         size_t size, weft_cmp_fn *cmp, void *ctx);
WEFT_API void weft_merge_with(const weft_opts *o, void *dst, const void *a, size_t na,
                              const void *b, size_t nb, size_t size, weft_cmp_fn *cmp,
                              void *ctx);

/* Replaces
 *
 *     for (size_t i = 1; i < n; i++)
 *       for (size_t j = i; j > 0 && cmp(&keys[j], &keys[j - 1], ctx) < 0; j--) {
 *         swap(&keys[j], &keys[j - 1]);
 *         swap(&payload[j], &payload[j - 1]);
 *       }
 *
 * Meaning: sorts keys, stable, and moves the elements of payload as their keys. The
 * comparator sees keys only. Elements of payload may have a size of 0. */
WEFT_API void weft_sort_by_key(void *keys, size_t key_size, void *payload,
                               size_t payload_size, size_t n, weft_cmp_fn *cmp_keys,
                               void *ctx);
WEFT_API void weft_sort_by_key_with(const weft_opts *o, void *keys, size_t key_size,
                                    void *payload, size_t payload_size, size_t n,
                                    weft_cmp_fn *cmp_keys, void *ctx);

/* Replaces
 *
 *     for (size_t i = 0; i < n; i++) order[i] = i;
 *     for (size_t i = 1; i < n; i++)
 *       for (size_t j = i;
 *            j > 0 && cmp(&base[order[j]], &base[order[j - 1]], ctx) < 0; j--)
 *         swap(&order[j], &order[j - 1]);
 *
 * Meaning: order[0] becomes the index of the least element, and so on; equal elements in
 * ascending index. base is only read. */
WEFT_API void weft_argsort(size_t *order, const void *base, size_t n, size_t size,
                           weft_cmp_fn *cmp, void *ctx);
WEFT_API void weft_argsort_with(const weft_opts *o, size_t *order, const void *base,
                                size_t n, size_t size, weft_cmp_fn *cmp, void *ctx);

/* Replaces
 *
 *     qsort_r(base, n, size, cmp, ctx);
 *
 * where only the element at index nth is wanted: afterwards it is the one that sorting
 * would put there, none in front of it is greater, and none behind it is less. Nothing
 * happens if nth >= n. Cost: O(n), O(n log n) at worst. */
WEFT_API void weft_nth_element(void *base, size_t n, size_t nth, size_t size,
                               weft_cmp_fn *cmp, void *ctx);
WEFT_API void weft_nth_element_with(const weft_opts *o, void *base, size_t n, size_t nth,
                                    size_t size, weft_cmp_fn *cmp, void *ctx);

/* Replaces
 *
 *     qsort_r(base, n, size, cmp, ctx);
 *
 * where only the first k elements are wanted, in order; the rest comes in any order. All
 * are sorted if k >= n. Cost: O(n + k log k), O(n log n) at worst. */
WEFT_API void weft_partial_sort(void *base, size_t n, size_t k, size_t size,
                                weft_cmp_fn *cmp, void *ctx);
WEFT_API void weft_partial_sort_with(const weft_opts *o, void *base, size_t n, size_t k,
                                     size_t size, weft_cmp_fn *cmp, void *ctx);

/* Replaces
 *
 *     for (size_t i = 1; i < n; i++)
 *       if (cmp(&base[i], &base[i - 1], ctx) < 0) return false;
 *     return true;
 *
 * Meaning: is no element less than the one in front of it? Stops soon after a pair that
 * is not in order was found. */
WEFT_API bool weft_is_sorted(const void *base, size_t n, size_t size, weft_cmp_fn *cmp,
                             void *ctx);
WEFT_API bool weft_is_sorted_with(const weft_opts *o, const void *base, size_t n,
                                  size_t size, weft_cmp_fn *cmp, void *ctx);

#ifdef __cplusplus
}
#endif

#endif
