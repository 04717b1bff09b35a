/* What the examples of weft/loop.h use; see tools/check-examples.
 *
 * SPDX-License-Identifier: MIT */
#include <assert.h>
#include <weft.h>

static size_t n = 2;
static double a[2] = {1, 2};
#define AT_END assert(a[0] > 1)
