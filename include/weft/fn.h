/* weft/fn.h - the types of the functions that calls take. Types that only one call needs
 * (weft_map_fn, weft_tile_fn, ...) stand beside that call.
 *
 * What all of these functions share: their last parameter is `ctx`, the pointer that the
 * caller of weft gave, the same for all calls; C has no closures, so whatever a function
 * needs besides its element goes there. They are called in any order and on several
 * threads at the same time; what ctx points to is shared by these threads
 * (docs/guide/typed.md has a page on it). They may call weft themselves. They must not be
 * left by longjmp, pthread_exit or a C++ exception.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WEFT_FN_H
#define WEFT_FN_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a task runs. */
typedef void weft_fn(void *ctx);

/* What a loop runs: the indices of the half-open range [begin, end), which is never
 * empty. */
typedef void weft_range_fn(size_t begin, size_t end, void *ctx);

/* A predicate: does it hold for the element at elem? */
typedef bool weft_pred_fn(const void *elem, void *ctx);

/* A comparator as in qsort_r. It returns less than 0 if *a comes before *b, 0 if they are
 * equal, greater than 0 otherwise. */
typedef int weft_cmp_fn(const void *a, const void *b, void *ctx);

#ifdef __cplusplus
}
#endif

#endif
