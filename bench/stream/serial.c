/* stream/serial.c - P5: the plain loops.
 *
 * Usage: stream_serial sum|dot|map|saxpy [n]
 *
 * SPDX-License-Identifier: MIT */
#include "stream.h"

static double sum(const double *x, size_t n) {
  double s = 0;
  for (size_t i = 0; i < n; i++) s += x[i];
  return s;
}

static double dot(const double *x, const double *y, size_t n) {
  double s = 0;
  for (size_t i = 0; i < n; i++) s += x[i] * y[i];
  return s;
}

static void map(double *restrict y, const double *restrict x, double c, size_t n) {
  for (size_t i = 0; i < n; i++) y[i] = 3 * x[i] + c;
}

static void saxpy(double *restrict y, const double *restrict x, size_t n) {
  for (size_t i = 0; i < n; i++) y[i] += 2 * x[i];
}

int main(int argc, char **argv) {
  stream_loops loops = {sum, dot, map, saxpy};
  stream_measure("serial", loops, stream_choose(argc, argv),
                 bench_arg(argc, argv, 2, STREAM_N));
  return 0;
}
