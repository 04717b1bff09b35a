/* What the examples of weft/typed_fold.h use; see tools/check-examples.
 *
 * SPDX-License-Identifier: MIT */
#include <weft.h>

static int32_t a[4] = {1, 2, 3, 4};
static size_t n = 4;
