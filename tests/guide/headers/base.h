/* What the examples of weft/base.h use; see tools/check-examples.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <weft.h>

static weft_pool *pool;
#define AT_END weft_pool_destroy(pool)
