/* What the examples of weft/bag.h use; see tools/check-examples.
 *
 * SPDX-License-Identifier: MIT */
#include <assert.h>
#include <stdlib.h>
#include <weft.h>

struct match {
  size_t index;
};
static size_t n = 1000;

static void search_part(size_t begin, size_t end, void *ctx) {
  for (size_t i = begin; i < end; i++)
    if (i % 10 == 0 && weft_bag_add(ctx, &(struct match){i}) != 0) abort();
}
