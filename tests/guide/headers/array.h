/* What the examples of weft/array.h use; see tools/check-examples.
 *
 * SPDX-License-Identifier: MIT */
#include <assert.h>
#include <weft.h>

static size_t n = 100;
static int numbers[100], even[100];
