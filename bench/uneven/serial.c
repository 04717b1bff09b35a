/* uneven/serial.c - P6: the plain loop.
 *
 * Usage: uneven_serial triangular|mandelbrot|pareto|heavy
 *
 * SPDX-License-Identifier: MIT */
#include "uneven.h"

static void loop(uneven_body *body, uint64_t *out, size_t n) {
  for (size_t i = 0; i < n; i++) out[i] += body(i);
}

int main(int argc, char **argv) {
  uneven_measure("serial", loop, argc, argv);
  return 0;
}
