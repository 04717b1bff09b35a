/* weft/fn.h - the functions that array calls are given: predicates and comparators.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WEFT_FN_H
#define WEFT_FN_H

#include <weft/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef bool weft_pred_fn(const void *elem, void *ctx);
typedef int weft_cmp_fn(const void *a, const void *b, void *ctx);

#ifdef __cplusplus
}
#endif

#endif
