/* weft/search.h - searches in arrays that stop early, and comparisons of arrays.
 *
 *     size_t i = weft_find_first(users, n, sizeof *users, is_named, "ada");
 *     if (i != SIZE_MAX) greet(&users[i]);
 *
 * SPDX-License-Identifier: MIT */
#ifndef WEFT_SEARCH_H
#define WEFT_SEARCH_H

#include <weft/fn.h>
#include <weft/opts.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What all calls of this header share.
 *
 * Arrays: as in weft/array.h. A function is called at most once for each element, unless
 * the text of a call says otherwise.
 *
 * Threads: any. Inside a pool a call belongs to that pool. Outside, the calling thread
 * takes part in the global pool (started on first use) until the call returns. Your
 * functions are called in any order and on several threads at the same time; they may use
 * weft themselves, and must not be left by longjmp or a C++ exception.
 *
 * Errors: none; no call needs memory. Misuse (a NULL function or array or a size of 0
 * with n > 0, bad options) ends the program with a message.
 *
 * Cost: nothing to choose; see weft/loop.h. A function is called through a pointer for
 * each element. A search ends early: once a match is known, the elements behind it are
 * not searched any more, except in blocks of about ten microseconds that have begun. All
 * threads of a search for the first element take their blocks from the front, those of a
 * search for the last one from the back. So a match among the first elements of any array
 * is found in microseconds. */

/* The lowest index for which a predicate holds.
 *
 * Replaces
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

/* The highest index for which a predicate holds.
 *
 * Replaces
 *
 *     for (size_t i = n; i-- > 0;)
 *       if (pred(base[i], ctx)) return i;
 *     return SIZE_MAX; */
WEFT_API size_t weft_find_last(const void *base, size_t n, size_t size,
                               weft_pred_fn *pred, void *ctx);
WEFT_API size_t weft_find_last_with(const weft_opts *o, const void *base, size_t n,
                                    size_t size, weft_pred_fn *pred, void *ctx);

/* Some index for which a predicate holds, whichever is found first.
 *
 * Replaces
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

/* Whether a predicate holds for some element, for all, for none.
 *
 * Replaces
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

/* Where the least and the largest element are, by a comparator.
 *
 * Replaces
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

/* Whether two arrays have the same bytes.
 *
 * Replaces
 *
 *     return memcmp(a, b, n * size) == 0; */
WEFT_API bool weft_equal(const void *a, const void *b, size_t n, size_t size);
WEFT_API bool weft_equal_with(const weft_opts *o, const void *a, const void *b, size_t n,
                              size_t size);

/* Whether two arrays are equal, by a comparator.
 *
 * Replaces
 *
 *     for (size_t i = 0; i < n; i++)
 *       if (cmp(a[i], b[i], ctx) != 0) return false;
 *     return true; */
WEFT_API bool weft_equal_by(const void *a, const void *b, size_t n, size_t size,
                            weft_cmp_fn *cmp, void *ctx);
WEFT_API bool weft_equal_by_with(const weft_opts *o, const void *a, const void *b,
                                 size_t n, size_t size, weft_cmp_fn *cmp, void *ctx);

/* Which of two arrays comes first in the order of a dictionary.
 *
 * Replaces
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
