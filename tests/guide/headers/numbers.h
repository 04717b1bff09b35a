/* What the examples of weft/numbers.h use; see tools/check-examples.
 *
 * SPDX-License-Identifier: MIT */
#include <assert.h>
#include <weft.h>

static float a[3] = {1, 2, 3};
static int32_t counts[3] = {1, 2, 3};
static size_t n = 3;
