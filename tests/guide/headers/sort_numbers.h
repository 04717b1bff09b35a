/* What the examples of weft/sort_numbers.h use; see tools/check-examples.
 *
 * SPDX-License-Identifier: MIT */
#include <weft.h>

enum { N = 100 };
