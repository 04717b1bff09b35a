/* What the examples of weft/sort.h use; see tools/check-examples.
 *
 * SPDX-License-Identifier: MIT */
#include <assert.h>
#include <string.h>
#include <weft.h>

struct item {
  uint64_t key;
};
static struct item items[20] = {{3}, {1}, {2}};
static size_t n = 3;
static char names[3][8] = {"c", "a", "b"};
static int ages[3] = {3, 1, 2};

static int by_name(const void *a, const void *b, void *ctx) {
  (void)ctx;
  return strcmp(a, b);
}
#define AT_END assert(items[0].key == 1 && ages[2] == 3)
