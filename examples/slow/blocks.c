/* blocks.c - slow because of blocks that are too large: somebody has set min_len so that
 * the rows of a picture cannot be divided. docs/guide/tuning.md shows how that is found.
 *
 *     blocks slow       min_len is 200 of 300 rows
 *     blocks mended     without min_len
 *     blocks            both, and whether they agree
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>
#include <weft.h>

enum { WIDTH = 400, HEIGHT = 300, STEPS = 300, FRAMES = 4 };

static unsigned short picture[HEIGHT][WIDTH];

/* The Mandelbrot set, nearer with each frame. */
static unsigned short steps_at(size_t x, size_t y, double scale) {
  double cr = -0.74 + ((double)x / WIDTH - 0.7) * scale;
  double ci = 0.1 + ((double)y / HEIGHT - 0.5) * scale;
  double zr = 0, zi = 0;
  unsigned short i = 0;
  for (; i < STEPS && zr * zr + zi * zi < 4; i++) {
    double next = zr * zr - zi * zi + cr;
    zi = 2 * zr * zi + ci;
    zr = next;
  }
  return i;
}

static void shade_rows(size_t begin, size_t end, void *ctx) {
  const double scale = *(const double *)ctx;
  for (size_t y = begin; y < end; y++)
    for (size_t x = 0; x < WIDTH; x++) picture[y][x] = steps_at(x, y, scale);
}

static unsigned long run(bool slow) {
  weft_opts opts = WEFT_OPTS_INIT;
  opts.name = "shade, " WEFT_HERE;
  if (slow) opts.min_len = 200; /* "blocks should not be too small" */
  unsigned long sum = 0;
  double scale = 3;
  for (int frame = 0; frame < FRAMES; frame++, scale *= 0.8) {
    weft_for_with(&opts, HEIGHT, shade_rows, &scale);
    weft_frame_mark(NULL);
    for (size_t i = 0; i < (size_t)WIDTH * HEIGHT; i++)
      sum = sum * 31 + picture[i / WIDTH][i % WIDTH];
  }
  return sum;
}

int main(int argc, char **argv) {
  bool both = argc == 1, slow = argc == 2 && strcmp(argv[1], "slow") == 0;
  if (!both && !slow && (argc != 2 || strcmp(argv[1], "mended") != 0)) {
    fprintf(stderr, "usage: blocks [slow | mended]\n");
    return 2;
  }
  unsigned long sum = run(slow);
  printf("%s: %08lx\n", slow ? "slow" : "mended", sum & 0xffffffff);
  if (!both) return 0;
  unsigned long other = run(true);
  printf("slow: %08lx\n", other & 0xffffffff);
  return sum == other ? 0 : 1;
}
