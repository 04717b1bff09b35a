/* What the examples of weft/iter_sink.h use; see tools/check-examples.
 *
 * SPDX-License-Identifier: MIT */
#include <string.h>
#include <weft.h>

// skip: WEFT_DECLARE_ 1: serial code

static const char text[] = "one\nerror: two\n";
static size_t length = sizeof text - 1;

static bool is_error(const void *elem, void *ctx) {
  const weft_line *line = elem;
  (void)ctx;
  return line->length > 5 && memcmp(line->text, "error", 5) == 0;
}
