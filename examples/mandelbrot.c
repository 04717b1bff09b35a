/* mandelbrot.c - a picture of the Mandelbrot set: a loop over rows and columns whose
 * cells cost very different amounts. There is no grain size to choose.
 *
 *     cc -O2 mandelbrot.c -o mandelbrot $(pkg-config --cflags --libs weft)
 *     ./mandelbrot [width [threads [picture.pgm]]]
 *
 * Prints the picture as text and the times of the serial and the parallel loop; with a
 * third argument it also writes a grey picture that image viewers open.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <weft.h>

enum { LIMIT = 255 };

/* The steps after which the point leaves the circle of radius 2, at most LIMIT. The
 * picture shows -2.1 to 0.9 and -1 to 1. */
static unsigned char steps_at(size_t row, size_t col, size_t width) {
  double scale = 3.0 / (double)width;
  double cr = (double)col * scale - 2.1, ci = (double)row * scale - 1;
  double zr = 0, zi = 0;
  int steps = 0;
  for (; steps < LIMIT && zr * zr + zi * zi < 4; steps++) {
    double next = zr * zr - zi * zi + cr;
    zi = 2 * zr * zi + ci;
    zr = next;
  }
  return (unsigned char)steps;
}

/* The parallel loop: void paint(size_t rows, size_t cols, unsigned char *to, size_t). */
WEFT_LOOP_2D(paint, row, col, unsigned char *, to, size_t, width) {
  to[row * width + col] = steps_at(row, col, width);
}

static void paint_serially(size_t rows, size_t cols, unsigned char *to) {
  for (size_t row = 0; row < rows; row++)
    for (size_t col = 0; col < cols; col++)
      to[row * cols + col] = steps_at(row, col, cols);
}

/* ---- the program around it ---- */

static double now_ms(void) {
  struct timespec t;
  timespec_get(&t, TIME_UTC);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static void print_as_text(const unsigned char *picture, size_t rows, size_t cols) {
  enum { TEXT_ROWS = 24, TEXT_COLS = 72 };
  static const char signs[] = " .:-=+*#%@";
  for (size_t r = 0; r < TEXT_ROWS; r++) {
    char line[TEXT_COLS + 1];
    size_t used = 0;
    for (size_t c = 0; c < TEXT_COLS; c++) {
      unsigned steps = picture[r * rows / TEXT_ROWS * cols + c * cols / TEXT_COLS];
      line[c] = signs[steps == LIMIT ? 9 : steps > 40 ? 8 : steps / 5];
      if (line[c] != ' ') used = c + 1;
    }
    line[used] = '\0';
    puts(line);
  }
}

static bool write_pgm(const char *name, const unsigned char *picture, size_t rows,
                      size_t cols) {
  FILE *file = fopen(name, "wb");
  if (file == NULL) return false;
  bool right = fprintf(file, "P5 %zu %zu 255\n", cols, rows) > 0 &&
               fwrite(picture, cols, rows, file) == rows;
  return fclose(file) == 0 && right;
}

int main(int argc, char **argv) {
  size_t cols = argc > 1 ? strtoul(argv[1], NULL, 10) : 600, rows = cols * 2 / 3;
  weft_config config = WEFT_CONFIG_INIT;
  config.threads = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
  if (cols < 2 || cols > 20000 || weft_init(&config) != 0) {
    fprintf(stderr, "usage: mandelbrot [width up to 20000 [threads [picture.pgm]]]\n");
    return 2;
  }
  unsigned char *picture = malloc(rows * cols), *expected = malloc(rows * cols);
  if (picture == NULL || expected == NULL) return perror("mandelbrot"), 1;

  double start = now_ms();
  paint_serially(rows, cols, expected);
  double middle = now_ms();
  paint(rows, cols, picture, cols);
  double end = now_ms();

  bool right = memcmp(picture, expected, rows * cols) == 0;
  print_as_text(picture, rows, cols);
  printf("%zu x %zu: serial %.1f ms, weft %.1f ms on %u threads: %s\n", cols, rows,
         middle - start, end - middle, weft_thread_count(), right ? "same" : "WRONG");
  if (argc > 3 && !write_pgm(argv[3], picture, rows, cols)) {
    perror(argv[3]);
    right = false;
  }
  free(picture);
  free(expected);
  return right ? 0 : 1;
}
