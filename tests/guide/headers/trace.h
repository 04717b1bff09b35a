/* What the examples of weft/trace.h use; see tools/check-examples.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <weft.h>

static void work(void) {}
