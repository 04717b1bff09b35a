/* uneven/kernel.c - the body of the loop that is not the spin of all; see uneven.h.
 *
 * SPDX-License-Identifier: MIT */
#include "uneven.h"

uint64_t uneven_mandelbrot(size_t row) {
  uint64_t total = 0;
  double y0 = -1.25 + 2.5 * ((double)row + 0.5) / UNEVEN_ROWS;
  for (int column = 0; column < UNEVEN_ROWS; column++) {
    double x0 = -2 + 2.5 * (column + 0.5) / UNEVEN_ROWS, x = 0, y = 0;
    int k = 0;
    for (; k < UNEVEN_LIMIT && x * x + y * y <= 4; k++) {
      double next = x * x - y * y + x0;
      y = 2 * x * y + y0;
      x = next;
    }
    total += (uint64_t)k;
  }
  return total;
}
