/* matmul.c - the product of two square matrices: WEFT_LOOP over the rows of the result.
 * The arguments of the loop go by value; the compiler vectorises the inner loop.
 *
 *     cc -O2 matmul.c -o matmul $(pkg-config --cflags --libs weft)
 *     ./matmul [rows [threads]]
 *
 * Prints the times of the serial and the parallel product, and how many billion
 * operations a second the latter makes.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <weft.h>

/* Row i of c = a * b. It goes along rows of all three matrices, so memory is read in
 * order, and each element of c adds up its products in the same order as a naive loop. */
WEFT_SIMD static void multiply_row(size_t i, size_t n, const double *a, const double *b,
                                   double *restrict c) {
  double *restrict to = c + i * n;
  memset(to, 0, n * sizeof *to);
  for (size_t k = 0; k < n; k++) {
    double factor = a[i * n + k];
    const double *from = b + k * n;
    for (size_t j = 0; j < n; j++) to[j] += factor * from[j];
  }
}

/* The parallel loop: void multiply(size_t rows, size_t n, const double *a, ...). */
WEFT_LOOP(multiply, i, size_t, n, const double *, a, const double *, b, double *, c) {
  multiply_row(i, n, a, b, c);
}

static void multiply_serially(size_t n, const double *a, const double *b, double *c) {
  for (size_t i = 0; i < n; i++) multiply_row(i, n, a, b, c);
}

/* ---- the program around it ---- */

WEFT_LOOP(invent, i, double *, a, size_t, seed) {
  a[i] = (double)((i + seed) * 7919 % 2003) / 1000 - 1;
}

static double now_ms(void) {
  struct timespec t;
  timespec_get(&t, TIME_UTC);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

int main(int argc, char **argv) {
  size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : 400;
  weft_config config = WEFT_CONFIG_INIT;
  config.threads = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
  if (n == 0 || n > 20000 || weft_init(&config) != 0) {
    fprintf(stderr, "usage: matmul [rows up to 20000 [threads]]\n");
    return 2;
  }
  size_t size = n * n * sizeof(double);
  double *a = malloc(size), *b = malloc(size), *c = malloc(size),
         *expected = malloc(size);
  if (a == NULL || b == NULL || c == NULL || expected == NULL) return perror("matmul"), 1;
  invent(n * n, a, 1);
  invent(n * n, b, 2);

  double start = now_ms();
  multiply_serially(n, a, b, expected);
  double middle = now_ms();
  multiply(n, n, a, b, c);
  double end = now_ms();

  bool right = memcmp(c, expected, size) == 0; /* the same bits */
  printf("%zu x %zu: serial %.1f ms, weft %.1f ms on %u threads: %s\n", n, n,
         middle - start, end - middle, weft_thread_count(), right ? "same" : "WRONG");
  printf("%.2f billion operations a second\n",
         2e-6 * (double)n * (double)n * (double)n / (end - middle));
  free(a);
  free(b);
  free(c);
  free(expected);
  return right ? 0 : 1;
}
