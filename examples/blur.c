/* blur.c - a grey picture is blurred, and its histogram counted before and after: a
 * WEFT_LOOP_2D that reads one array and writes another, and weft_histogram.
 *
 *     cc -O2 blur.c -o blur $(pkg-config --cflags --libs weft)
 *     ./blur [radius [threads [from.pgm to.pgm]]]
 *
 * Without files it blurs a picture of its own, 480 x 320. Prints both histograms.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <weft.h>

typedef struct picture {
  size_t rows, cols;
  unsigned char *pixels;
} picture;

/* The mean of the square around a pixel, as far as it is inside the picture. */
static unsigned char mean_around(picture from, size_t r, size_t c, size_t radius) {
  size_t r0 = r > radius ? r - radius : 0, c0 = c > radius ? c - radius : 0;
  size_t r1 = r + radius < from.rows ? r + radius + 1 : from.rows;
  size_t c1 = c + radius < from.cols ? c + radius + 1 : from.cols;
  size_t sum = 0, count = (r1 - r0) * (c1 - c0);
  for (size_t y = r0; y < r1; y++)
    for (size_t x = c0; x < c1; x++) sum += from.pixels[y * from.cols + x];
  return (unsigned char)((sum + count / 2) / count);
}

/* The parallel loop: void blur(size_t rows, size_t cols, picture to, picture from, ...).
 * Structs go by value as any other argument does. */
WEFT_LOOP_2D(blur, r, c, picture, to, picture, from, size_t, radius) {
  to.pixels[r * to.cols + c] = mean_around(from, r, c, radius);
}

static size_t brightness(const void *pixel, void *ctx) {
  (void)ctx;
  return *(const unsigned char *)pixel / 16u;
}

static void print_histogram(picture of, const char *title) {
  size_t counts[16], size = of.rows * of.cols;
  weft_histogram(counts, 16, of.pixels, size, 1, brightness, NULL);
  size_t most = 1;
  for (size_t i = 0; i < 16; i++) most = counts[i] > most ? counts[i] : most;
  puts(title);
  for (size_t i = 0; i < 16; i++)
    printf("  %3zu %7zu %.*s\n", i * 16, counts[i], (int)(counts[i] * 50 / most),
           "##################################################");
}

/* ---- the program around it ---- */

static double now_ms(void) {
  struct timespec t;
  timespec_get(&t, TIME_UTC);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static picture new_picture(size_t rows, size_t cols) {
  picture p = {rows, cols, malloc(rows * cols)};
  if (p.pixels == NULL) perror("blur"), exit(1);
  return p;
}

/* Discs of several greys on a chequered ground. */
static picture invent(size_t rows, size_t cols) {
  picture p = new_picture(rows, cols);
  for (size_t r = 0; r < rows; r++)
    for (size_t c = 0; c < cols; c++) {
      size_t dr = r % 80 > 40 ? r % 80 - 40 : 40 - r % 80;
      size_t dc = c % 80 > 40 ? c % 80 - 40 : 40 - c % 80;
      p.pixels[r * cols + c] =
          (unsigned char)(dr * dr + dc * dc < 900   ? (r / 80 * 6 + c / 80) * 10
                          : (r / 8 + c / 8) % 2 > 0 ? 160
                                                    : 255);
    }
  return p;
}

static picture read_pgm(const char *name) {
  size_t rows, cols;
  FILE *file = fopen(name, "rb");
  if (file == NULL) perror(name), exit(1);
  if (fscanf(file, "P5 %5zu %5zu 255", &cols, &rows) != 2 || rows < 1 || cols < 1 ||
      fgetc(file) == EOF)
    fprintf(stderr, "%s: not a PGM picture of 8 bits\n", name), exit(1);
  picture p = new_picture(rows, cols);
  if (fread(p.pixels, cols, rows, file) != rows)
    fprintf(stderr, "%s: too short\n", name), exit(1);
  fclose(file);
  return p;
}

static void write_pgm(const char *name, picture p) {
  FILE *file = fopen(name, "wb");
  if (file == NULL || fprintf(file, "P5 %zu %zu 255\n", p.cols, p.rows) < 0 ||
      fwrite(p.pixels, p.cols, p.rows, file) != p.rows || fclose(file) != 0)
    perror(name), exit(1);
}

int main(int argc, char **argv) {
  size_t radius = argc > 1 ? strtoul(argv[1], NULL, 10) : 3;
  weft_config config = WEFT_CONFIG_INIT;
  config.threads = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
  if (radius < 1 || radius > 100 || argc == 4 || weft_init(&config) != 0) {
    fprintf(stderr, "usage: blur [radius up to 100 [threads [from.pgm to.pgm]]]\n");
    return 2;
  }
  picture from = argc > 4 ? read_pgm(argv[3]) : invent(320, 480);
  picture to = new_picture(from.rows, from.cols),
          expected = new_picture(to.rows, to.cols);

  double start = now_ms();
  for (size_t r = 0; r < to.rows; r++)
    for (size_t c = 0; c < to.cols; c++)
      expected.pixels[r * to.cols + c] = mean_around(from, r, c, radius);
  double middle = now_ms();
  blur(to.rows, to.cols, to, from, radius);
  double end = now_ms();

  bool right = memcmp(to.pixels, expected.pixels, to.rows * to.cols) == 0;
  print_histogram(from, "brightness before");
  print_histogram(to, "brightness after");
  printf("%zu x %zu, radius %zu: serial %.1f ms, weft %.1f ms on %u threads: %s\n",
         to.cols, to.rows, radius, middle - start, end - middle, weft_thread_count(),
         right ? "same" : "WRONG");
  if (argc > 4) write_pgm(argv[4], to);
  free(from.pixels);
  free(to.pixels);
  free(expected.pixels);
  return right ? 0 : 1;
}
