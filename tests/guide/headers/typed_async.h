/* What the examples of weft/typed_async.h use; see tools/check-examples.
 *
 * SPDX-License-Identifier: MIT */
#include <assert.h>
#include <weft.h>

typedef struct image {
  int width;
} image;
static image decode(const char *path) {
  return (image){path[0]};
}
static image scale(image from, int width) {
  return (image){from.width * 0 + width};
}

typedef struct shape {
  double side;
} shape;
