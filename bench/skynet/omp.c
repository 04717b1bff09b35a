/* skynet/omp.c - skynet by OpenMP tasks.
 *
 * Usage: skynet_omp_gcc|skynet_omp_clang [threads [n]]
 *
 * SPDX-License-Identifier: MIT */
#include "../common/omp_start.h"
#include "skynet.h"

static long node(long first, long n) {
  if (n == 1) return first;
  long sums[10], sum = 0;
  for (long i = 0; i < 10; i++) {
#pragma omp task shared(sums) firstprivate(i, first, n)
    sums[i] = node(first + i * (n / 10), n / 10);
  }
#pragma omp taskwait
  for (int i = 0; i < 10; i++) sum += sums[i];
  return sum;
}

static long sum(long n) {
  long result = 0;
#pragma omp parallel
#pragma omp single
  result = node(0, n);
  return result;
}

int main(int argc, char **argv) {
  bench_omp_start(bench_arg(argc, argv, 1, 2));
  skynet_measure(BENCH_OMP, sum, argc, argv);
  return 0;
}
