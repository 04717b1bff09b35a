/* weft/array.h - array algorithms: map, filter, partition, count, and moving elements.
 * Searches and comparisons are in weft/search.h; weft/typed_function.h makes versions for
 * one element type, whose loops the compiler inlines.
 *
 *     static bool is_even(const void *elem, void *ctx) {
 *       (void)ctx;
 *       return *(const int *)elem % 2 == 0;
 *     }
 *     size_t kept = weft_filter(even, numbers, n, sizeof(int), is_even, NULL);
 *
 * SPDX-License-Identifier: MIT */
#ifndef WEFT_ARRAY_H
#define WEFT_ARRAY_H

#include <weft/fn.h>
#include <weft/opts.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What all calls of this header share. In the serial code of the comments base[i] stands
 * for the element i, whatever its size.
 *
 * Arrays: base, n, size as in qsort: n elements of `size` bytes each, from base on. An
 * array of no elements may be NULL. Arrays must not overlap, unless the text of a call
 * allows it.
 *
 * Threads: any. Inside a pool a call belongs to that pool. Outside, the calling thread
 * takes part in the global pool (started on first use) until the call returns. Your
 * functions are called in any order and on several threads at the same time; they may use
 * weft themselves, and must not be left by longjmp or a C++ exception. What they did is
 * visible when the call returns.
 *
 * Errors: none. Misuse (a NULL function or array or a size of 0 with n > 0, bad options)
 * ends the program with a message. A call that gets no scratch memory uses a slower
 * method with the same result.
 *
 * Cost: nothing to choose; see weft/loop.h. Where the call takes a function, it calls it
 * through a pointer for each element. The NAME_with twins take options, see weft/opts.h;
 * the lengths of blocks are only hints here. A cancelled call leaves its work undone;
 * calls that move elements within an array (partition, reverse, rotate) leave the same
 * elements in some order. */

/* Makes one element from each element of an array.
 *
 * Replaces
 *
 *     for (size_t i = 0; i < n; i++)
 *       fn((char *)dst + i * dst_size, (const char *)src + i * src_size, i, ctx);
 *
 * Meaning: dst may be src if the sizes are the same. */
typedef void weft_map_fn(void *out, const void *in, size_t index, void *ctx);
WEFT_API void weft_map(void *dst, size_t dst_size, const void *src, size_t n,
                       size_t src_size, weft_map_fn *fn, void *ctx);
WEFT_API void weft_map_with(const weft_opts *o, void *dst, size_t dst_size,
                            const void *src, size_t n, size_t src_size, weft_map_fn *fn,
                            void *ctx);

/* Makes one element from each, by a function that can fail.
 *
 * Replaces
 *
 *     for (size_t i = 0; i < n; i++) {
 *       int error = fn((char *)dst + i * dst_size, (const char *)src + i * src_size, i,
 *                      ctx);
 *       if (error != 0) return error;
 *     }
 *     return 0;
 *
 * Meaning: weft_map for a function that can fail: it returns 0, or an error. The result
 * is the error of the lowest failing index, as in the serial loop, or 0. All elements in
 * front of that index were mapped; of those behind it, only those of blocks that had
 * begun. If the options name a scope that was cancelled and there was no error, the
 * result is WEFT_ECANCELED. */
typedef int weft_try_map_fn(void *out, const void *in, size_t index, void *ctx);
WEFT_API int weft_try_map(void *dst, size_t dst_size, const void *src, size_t n,
                          size_t src_size, weft_try_map_fn *fn, void *ctx);
WEFT_API int weft_try_map_with(const weft_opts *o, void *dst, size_t dst_size,
                               const void *src, size_t n, size_t src_size,
                               weft_try_map_fn *fn, void *ctx);

/* Copies the elements for which a predicate holds, in their order.
 *
 * Replaces
 *
 *     size_t kept = 0;
 *     for (size_t i = 0; i < n; i++)
 *       if (pred(src[i], ctx)) dst[kept++] = src[i];
 *     return kept;
 *
 * Meaning: dst gets the elements for which the predicate holds, in their order. The
 * predicate is called exactly once for each element. Nothing behind the elements that are
 * kept is written. dst may be src.
 *
 * Memory: a few buffers of 128 KiB for each thread. While an element near the front takes
 * much longer than the others, the elements kept behind it wait in memory: at most as
 * much as all that are kept. */
WEFT_API size_t weft_filter(void *dst, const void *src, size_t n, size_t size,
                            weft_pred_fn *pred, void *ctx);
WEFT_API size_t weft_filter_with(const weft_opts *o, void *dst, const void *src, size_t n,
                                 size_t size, weft_pred_fn *pred, void *ctx);

/* Moves the elements for which a predicate holds to the front; stable.
 *
 * Replaces
 *
 *     size_t split = 0, others = 0;
 *     for (size_t i = 0; i < n; i++)
 *       if (pred(base[i], ctx)) base[split++] = base[i];
 *       else rest[others++] = base[i];
 *     memcpy(base + split, rest, others * size);
 *     return split;
 *
 * Meaning: elements for which the predicate holds come first, and both kinds keep their
 * order. The predicate is called exactly once for each element.
 *
 * Memory: as much as the array; without it, O(n log n) moves in place. */
WEFT_API size_t weft_partition(void *base, size_t n, size_t size, weft_pred_fn *pred,
                               void *ctx);
WEFT_API size_t weft_partition_with(const weft_opts *o, void *base, size_t n, size_t size,
                                    weft_pred_fn *pred, void *ctx);

/* Removes elements that equal the one in front of them.
 *
 * Replaces
 *
 *     size_t count = n > 0;
 *     for (size_t i = 1; i < n; i++)
 *       if (cmp(base[i - 1], base[i], ctx) != 0) base[count++] = base[i];
 *     return count;
 *
 * Meaning: of equal elements that are next to each other only the first is kept. The
 * result is the number of elements kept; those behind them have unspecified values.
 * Memory: as in weft_filter. */
WEFT_API size_t weft_unique(void *base, size_t n, size_t size, weft_cmp_fn *cmp,
                            void *ctx);
WEFT_API size_t weft_unique_with(const weft_opts *o, void *base, size_t n, size_t size,
                                 weft_cmp_fn *cmp, void *ctx);

/* Counts the elements for which a predicate holds.
 *
 * Replaces
 *
 *     size_t count = 0;
 *     for (size_t i = 0; i < n; i++) count += pred(base[i], ctx);
 *     return count; */
WEFT_API size_t weft_count(const void *base, size_t n, size_t size, weft_pred_fn *pred,
                           void *ctx);
WEFT_API size_t weft_count_with(const weft_opts *o, const void *base, size_t n,
                                size_t size, weft_pred_fn *pred, void *ctx);

/* Counts how many elements have each key.
 *
 * Replaces
 *
 *     memset(counts, 0, keys * sizeof(size_t));
 *     for (size_t i = 0; i < n; i++) counts[key(base[i], ctx)]++;
 *
 * Meaning: counts is an array of `keys` numbers. key is called exactly once for each
 * element; a result that is not below `keys` ends the program with a message. Memory:
 * where there are many elements for each key, a table of counts for each thread; else
 * none, and threads add to the counts atomically. */
typedef size_t weft_key_fn(const void *elem, void *ctx);
WEFT_API void weft_histogram(size_t *counts, size_t keys, const void *base, size_t n,
                             size_t size, weft_key_fn *key, void *ctx);
WEFT_API void weft_histogram_with(const weft_opts *o, size_t *counts, size_t keys,
                                  const void *base, size_t n, size_t size,
                                  weft_key_fn *key, void *ctx);

/* Sets all elements of an array to one value.
 *
 * Replaces
 *
 *     for (size_t i = 0; i < n; i++) memcpy(base + i * size, value, size);
 *
 * Meaning: `size` bytes at value, outside the array. */
WEFT_API void weft_fill(void *base, size_t n, size_t size, const void *value);
WEFT_API void weft_fill_with(const weft_opts *o, void *base, size_t n, size_t size,
                             const void *value);

/* Copies an array.
 *
 * Replaces
 *
 *     memcpy(dst, src, n * size); */
WEFT_API void weft_copy(void *dst, const void *src, size_t n, size_t size);
WEFT_API void weft_copy_with(const weft_opts *o, void *dst, const void *src, size_t n,
                             size_t size);

/* Reverses the order of the elements of an array.
 *
 * Replaces
 *
 *     for (size_t i = 0; i < n / 2; i++) swap(base[i], base[n - 1 - i]); */
WEFT_API void weft_reverse(void *base, size_t n, size_t size);
WEFT_API void weft_reverse_with(const weft_opts *o, void *base, size_t n, size_t size);

/* Exchanges the front and the back part of an array.
 *
 * Replaces
 *
 *     for (size_t i = 0; i < n; i++) rotated[i] = base[(middle + i) % n];
 *     memcpy(base, rotated, n * size);
 *
 * Meaning: the element at middle, which is at most n, comes to the front; the elements
 * that were in front of it follow at the end. Cost: each element moves twice, in place,
 * without memory. */
WEFT_API void weft_rotate(void *base, size_t n, size_t size, size_t middle);
WEFT_API void weft_rotate_with(const weft_opts *o, void *base, size_t n, size_t size,
                               size_t middle);

/* Collects elements by their indices.
 *
 * Replaces
 *
 *     for (size_t i = 0; i < n; i++) dst[i] = src[index[i]];
 *
 * Meaning: index and dst have n elements; src has as many as the indices need. */
WEFT_API void weft_gather(void *dst, const void *src, const size_t *index, size_t n,
                          size_t size);
WEFT_API void weft_gather_with(const weft_opts *o, void *dst, const void *src,
                               const size_t *index, size_t n, size_t size);

/* Writes elements to the places that indices name.
 *
 * Replaces
 *
 *     for (size_t i = 0; i < n; i++) dst[index[i]] = src[i];
 *
 * Meaning: index and src have n elements; no index may occur twice. */
WEFT_API void weft_scatter(void *dst, const void *src, const size_t *index, size_t n,
                           size_t size);
WEFT_API void weft_scatter_with(const weft_opts *o, void *dst, const void *src,
                                const size_t *index, size_t n, size_t size);

#ifdef __cplusplus
}
#endif

#endif
