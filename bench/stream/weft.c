/* stream/weft.c - P5: map and saxpy by weft_for.
 *
 * Usage: stream_weft map|saxpy [threads [n]]
 *
 * SPDX-License-Identifier: MIT */
#include "../common/weft_start.h"
#include "stream.h"

typedef struct arrays {
  double *y;
  const double *x;
  double c;
} arrays;

static void map_range(size_t begin, size_t end, void *ctx) {
  const arrays *a = (const arrays *)ctx;
  double *restrict y = a->y;
  const double *restrict x = a->x;
  double c = a->c;
  for (size_t i = begin; i < end; i++) y[i] = 3 * x[i] + c;
}

static void map(double *y, const double *x, double c, size_t n) {
  arrays a = {y, x, c};
  weft_for(n, map_range, &a);
}

static void saxpy_range(size_t begin, size_t end, void *ctx) {
  const arrays *a = (const arrays *)ctx;
  double *restrict y = a->y;
  const double *restrict x = a->x;
  for (size_t i = begin; i < end; i++) y[i] += 2 * x[i];
}

static void saxpy(double *y, const double *x, size_t n) {
  arrays a = {y, x, 0};
  weft_for(n, saxpy_range, &a);
}

int main(int argc, char **argv) {
  static const char *const names[] = {"map", "saxpy"};
  stream_loops loops = {NULL, NULL, map, saxpy};
  int which = 2 + bench_choose(argc, argv, 1, names, 2);
  bench_weft_start(bench_arg(argc, argv, 2, 2));
  stream_measure("weft", loops, which, bench_arg(argc, argv, 3, STREAM_N));
  weft_shutdown();
  return 0;
}
