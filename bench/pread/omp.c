/* pread/omp.c - the loop by OpenMP.
 *
 * Usage: pread_omp_gcc|pread_omp_clang [threads [blocks]]
 *
 * SPDX-License-Identifier: MIT */
#include "../common/omp_start.h"
#include "pread.h"

static long run(long n) {
  uint64_t sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (long i = 0; i < n; i++) sum += pread_block(pread_file, i);
  return (long)sum;
}

int main(int argc, char **argv) {
  bench_omp_start(bench_arg(argc, argv, 1, 2));
  pread_measure(BENCH_OMP, run, argc, argv);
  return 0;
}
