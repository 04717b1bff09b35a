/* stream/omp.c - P5: the loops by OpenMP, static schedule; built once by gcc (libgomp)
 * and once by clang (libomp). With `simd`, because a sum without it is added up one
 * element after the other.
 *
 * Usage: stream_omp_gcc|stream_omp_clang sum|dot|map|saxpy [threads [n]]
 *
 * SPDX-License-Identifier: MIT */
#include "stream.h"

static int threads;

static double sum(const double *x, size_t n) {
  double s = 0;
#pragma omp parallel for simd num_threads(threads) schedule(static) reduction(+ : s)
  for (size_t i = 0; i < n; i++) s += x[i];
  return s;
}

static double dot(const double *x, const double *y, size_t n) {
  double s = 0;
#pragma omp parallel for simd num_threads(threads) schedule(static) reduction(+ : s)
  for (size_t i = 0; i < n; i++) s += x[i] * y[i];
  return s;
}

static void map(double *restrict y, const double *restrict x, double c, size_t n) {
#pragma omp parallel for simd num_threads(threads) schedule(static)
  for (size_t i = 0; i < n; i++) y[i] = 3 * x[i] + c;
}

static void saxpy(double *restrict y, const double *restrict x, size_t n) {
#pragma omp parallel for simd num_threads(threads) schedule(static)
  for (size_t i = 0; i < n; i++) y[i] += 2 * x[i];
}

int main(int argc, char **argv) {
#ifdef __clang__
  const char *who = "omp-clang";
#else
  const char *who = "omp-gcc";
#endif
  stream_loops loops = {sum, dot, map, saxpy};
  int which = stream_choose(argc, argv);
  threads = (int)bench_arg(argc, argv, 2, 2);
  stream_measure(who, loops, which, bench_arg(argc, argv, 3, STREAM_N));
  return 0;
}
