/* What the examples of weft/opts.h use; see tools/check-examples.
 *
 * SPDX-License-Identifier: MIT */
#include <weft.h>

static size_t n = 100;
static void *ctx;
static void body(size_t begin, size_t end, void *unused) {
  (void)begin, (void)end, (void)unused;
}
