/* weft/search.h - searches in arrays that stop early, and comparisons of arrays.
 *
 *     size_t i = weft_find_first(users, n, sizeof *users, is_named, "ada");
 *     if (i != SIZE_MAX) greet(&users[i]);
 *
 * What the top of weft/array.h says about arrays, threads, errors and cost holds here
 * too. No call of this header needs memory.
 *
 * A search ends early: once a match is known, the elements behind it are not searched any
 * more, except in blocks of about ten microseconds that have begun. All threads of a
 * search for the first element take their blocks from the front, those of a search for
 * the last one from the back. So a match among the first elements of any array is found
 * in microseconds. A function is called at most once for each element, unless the text of
 * a call says otherwise.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WEFT_SEARCH_H
#define WEFT_SEARCH_H

#include <weft/fn.h>
#include <weft/opts.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Replaces
 *
 *     for (size_t i = 0; i < n; i++)
 *       if (pred(base[i], ctx)) return i;
 *     return SIZE_MAX;
 *
 * Meaning: always the lowest index for which the predicate holds, or SIZE_MAX. */
WEFT_API size_t weft_find_first(const void *base, size_t n, size_t size,
                                weft_pred_fn *pred, void *ctx);
WEFT_API size_t weft_find_first_with(const weft_opts *o, const void *base, size_t n,
                                     size_t size, weft_pred_fn *pred, void *ctx);

/* Replaces
 *
 *     for (size_t i = n; i-- > 0;)
 *       if (pred(base[i], ctx)) return i;
 *     return SIZE_MAX; */
WEFT_API size_t weft_find_last(const void *base, size_t n, size_t size,
                               weft_pred_fn *pred, void *ctx);
WEFT_API size_t weft_find_last_with(const weft_opts *o, const void *base, size_t n,
                                    size_t size, weft_pred_fn *pred, void *ctx);

/* Replaces
 *
 *     for (size_t i = 0; i < n; i++)
 *       if (pred(base[i], ctx)) return i;
 *     return SIZE_MAX;
 *
 * where any match will do. Meaning: the match that a thread finds first. */
WEFT_API size_t weft_find_any(const void *base, size_t n, size_t size, weft_pred_fn *pred,
                              void *ctx);
WEFT_API size_t weft_find_any_with(const weft_opts *o, const void *base, size_t n,
                                   size_t size, weft_pred_fn *pred, void *ctx);

/* Replaces
 *
 *     for (size_t i = 0; i < n; i++)
 *       if (pred(base[i], ctx)) return true;
 *     return false;
 *
 * Meaning: does the predicate hold for any element? weft_all: for all? weft_none: for
 * none? Both are true of an array of no elements. */
WEFT_API bool weft_any(const void *base, size_t n, size_t size, weft_pred_fn *pred,
                       void *ctx);
WEFT_API bool weft_any_with(const weft_opts *o, const void *base, size_t n, size_t size,
                            weft_pred_fn *pred, void *ctx);
WEFT_API bool weft_all(const void *base, size_t n, size_t size, weft_pred_fn *pred,
                       void *ctx);
WEFT_API bool weft_all_with(const weft_opts *o, const void *base, size_t n, size_t size,
                            weft_pred_fn *pred, void *ctx);
WEFT_API bool weft_none(const void *base, size_t n, size_t size, weft_pred_fn *pred,
                        void *ctx);
WEFT_API bool weft_none_with(const weft_opts *o, const void *base, size_t n, size_t size,
                             weft_pred_fn *pred, void *ctx);

/* Replaces
 *
 *     size_t best = n > 0 ? 0 : SIZE_MAX;
 *     for (size_t i = 1; i < n; i++)
 *       if (cmp(base[i], base[best], ctx) < 0) best = i;
 *     return best;
 *
 * Meaning: the index of the first of the smallest elements, or of the largest ones;
 * SIZE_MAX if there are no elements. */
WEFT_API size_t weft_min_index(const void *base, size_t n, size_t size, weft_cmp_fn *cmp,
                               void *ctx);
WEFT_API size_t weft_min_index_with(const weft_opts *o, const void *base, size_t n,
                                    size_t size, weft_cmp_fn *cmp, void *ctx);
WEFT_API size_t weft_max_index(const void *base, size_t n, size_t size, weft_cmp_fn *cmp,
                               void *ctx);
WEFT_API size_t weft_max_index_with(const weft_opts *o, const void *base, size_t n,
                                    size_t size, weft_cmp_fn *cmp, void *ctx);

/* Replaces
 *
 *     return memcmp(a, b, n * size) == 0; */
WEFT_API bool weft_equal(const void *a, const void *b, size_t n, size_t size);
WEFT_API bool weft_equal_with(const weft_opts *o, const void *a, const void *b, size_t n,
                              size_t size);

/* Replaces
 *
 *     for (size_t i = 0; i < n; i++)
 *       if (cmp(a[i], b[i], ctx) != 0) return false;
 *     return true; */
WEFT_API bool weft_equal_by(const void *a, const void *b, size_t n, size_t size,
                            weft_cmp_fn *cmp, void *ctx);
WEFT_API bool weft_equal_by_with(const weft_opts *o, const void *a, const void *b,
                                 size_t n, size_t size, weft_cmp_fn *cmp, void *ctx);

/* Replaces
 *
 *     for (size_t i = 0; i < na && i < nb; i++) {
 *       int order = cmp(a[i], b[i], ctx);
 *       if (order != 0) return order;
 *     }
 *     return na < nb ? -1 : na > nb;
 *
 * Meaning: the order of words in a dictionary: the first elements that differ decide;
 * else the shorter array comes first. cmp is called twice for the elements that
 * decide. */
WEFT_API int weft_compare(const void *a, size_t na, const void *b, size_t nb, size_t size,
                          weft_cmp_fn *cmp, void *ctx);
WEFT_API int weft_compare_with(const weft_opts *o, const void *a, size_t na,
                               const void *b, size_t nb, size_t size, weft_cmp_fn *cmp,
                               void *ctx);

#ifdef __cplusplus
}
#endif

#endif
