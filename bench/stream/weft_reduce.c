/* stream/weft_reduce.c - P5 and P14: sum and dot by weft's typed reductions.
 *
 * Usage: stream_weft_reduce sum|dot [threads [n]]
 *
 * SPDX-License-Identifier: MIT */
#include "../common/weft_start.h"
#include "stream.h"

static double sum(const double *x, size_t n) {
  return weft_sum_f64(x, n);
}

static double dot(const double *x, const double *y, size_t n) {
  return weft_dot_f64(x, y, n);
}

int main(int argc, char **argv) {
  static const char *const names[] = {"sum", "dot"};
  stream_loops loops = {sum, dot, NULL, NULL};
  int which = bench_choose(argc, argv, 1, names, 2);
  bench_weft_start(bench_arg(argc, argv, 2, 2));
  stream_measure("weft", loops, which, bench_arg(argc, argv, 3, STREAM_N));
  weft_shutdown();
  return 0;
}
