/* What the examples of weft/typed_sort.h use; see tools/check-examples.
 *
 * SPDX-License-Identifier: MIT */
#include <weft.h>

static size_t n = 0;
#define items ((struct item *)NULL)
