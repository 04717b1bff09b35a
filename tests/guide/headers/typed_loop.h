/* What the examples of weft/typed_loop.h use; see tools/check-examples.
 *
 * SPDX-License-Identifier: MIT */
#include <assert.h>
#include <math.h>
#include <string.h>
#include <weft.h>

static size_t n = 4;
static float x[4] = {1, 2, 3, 4}, y[4], from[16], to[16];
static double v[4] = {1, 2, 3, 4};
static double *a = v;
static size_t rows = 4, cols = 4;

struct image {
  int loaded;
};
static char *names[4];
static struct image images[4];
static int image_load(struct image *image, const char *name) {
  image->loaded = name == NULL;
  return 0;
}
