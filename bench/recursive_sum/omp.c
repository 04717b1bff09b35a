/* recursive_sum/omp.c - the recursion by OpenMP tasks.
 *
 * Usage: recursive_sum_omp_gcc|recursive_sum_omp_clang [threads [n]]
 *
 * SPDX-License-Identifier: MIT */
#include "../common/omp_start.h"
#include "recursive_sum.h"

static long sum(const long *numbers, long n) {
  long left, right;
  if (n <= SUM_CUT_OFF) return sum_leaf(numbers, n);
#pragma omp task shared(right)
  right = sum(numbers + n / 2, n - n / 2);
  left = sum(numbers, n / 2);
#pragma omp taskwait
  return left + right;
}

static long run(long n) {
  long result = 0;
#pragma omp parallel
#pragma omp single
  result = sum(sum_numbers, n);
  return result;
}

int main(int argc, char **argv) {
  bench_omp_start(bench_arg(argc, argv, 1, 2));
  sum_measure(BENCH_OMP, run, argc, argv);
  return 0;
}
