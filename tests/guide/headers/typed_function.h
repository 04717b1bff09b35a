/* What the examples of weft/typed_function.h use; see tools/check-examples.
 *
 * SPDX-License-Identifier: MIT */
#include <weft.h>

static double a[3] = {1, -1, 2};
static size_t n = 3;
