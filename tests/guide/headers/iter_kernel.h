/* What the examples of weft/iter_kernel.h use; see tools/check-examples.
 *
 * SPDX-License-Identifier: MIT */
#include <weft.h>

static int64_t a[5] = {1, 2, 3, 4, 5};
static size_t n = 5;
