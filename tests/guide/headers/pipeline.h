/* What the examples of weft/pipeline.h use; see tools/check-examples.
 *
 * SPDX-License-Identifier: MIT */
#include <assert.h>
#include <weft.h>

struct block {
  size_t number, length;
};
static size_t written;
static void *in = &written, *out = &written;

static int read_block(void *item, size_t number, void *ctx) {
  (void)ctx;
  ((struct block *)item)->number = number;
  return number < 50 ? 0 : WEFT_END;
}
static int compress(void *item, size_t number, void *ctx) {
  (void)ctx;
  ((struct block *)item)->length = number;
  return 0;
}
static int write_block(void *item, size_t number, void *ctx) {
  assert(((struct block *)item)->length == number);
  ++*(size_t *)ctx;
  return 0;
}
#define AT_END assert(written == 50)
