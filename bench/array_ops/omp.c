/* array_ops/omp.c - P10: what OpenMP has for it; built once by gcc (libgomp) and once by
 * clang (libomp). There is no filter: this is the one that is written by hand, each
 * thread counts what it will keep, then writes it where it belongs. The scan is for gcc
 * only: clang 14 puts n partial sums on the stack, and the program crashes.
 *
 * Usage: array_ops_omp_gcc|array_ops_omp_clang filter|filter-few|count|scan
 *        [threads [n]]
 *
 * SPDX-License-Identifier: MIT */
#include "array_ops.h"
#include <omp.h>

enum { MOST_THREADS = 256 };

static int threads;

static size_t filter(double *dst, const double *src, size_t n, double limit) {
  size_t kept[MOST_THREADS] = {0}, total = 0;
#pragma omp parallel num_threads(threads)
  {
    size_t me = (size_t)omp_get_thread_num(), team = (size_t)omp_get_num_threads();
    size_t begin = n * me / team, end = n * (me + 1) / team, at = 0;
    for (size_t i = begin; i < end; i++) at += src[i] > limit;
    kept[me] = at;
#pragma omp barrier
    at = 0;
    for (size_t t = 0; t < me; t++) at += kept[t];
    for (size_t i = begin; i < end; i++)
      if (src[i] > limit) dst[at++] = src[i];
    if (me == team - 1) total = at;
  }
  return total;
}

static size_t count(const double *a, size_t n, double limit) {
  size_t counted = 0;
#pragma omp parallel for simd num_threads(threads) schedule(static) reduction(+ : counted)
  for (size_t i = 0; i < n; i++) counted += a[i] > limit;
  return counted;
}

static void scan(double *dst, const double *src, size_t n) {
  double sum = 0;
#pragma omp parallel for num_threads(threads) reduction(inscan, + : sum)
  for (size_t i = 0; i < n; i++) {
    sum += src[i];
#pragma omp scan inclusive(sum)
    dst[i] = sum;
  }
}

int main(int argc, char **argv) {
#ifdef __clang__
  const char *who = "omp-clang";
#else
  const char *who = "omp-gcc";
#endif
  array_ops ops = {filter, count, NULL, scan};
  threads = (int)bench_arg(argc, argv, 2, 2);
  if (threads > MOST_THREADS) threads = MOST_THREADS;
  array_measure(who, ops, argc, argv, bench_arg(argc, argv, 3, ARRAY_OPS_N));
  return 0;
}
