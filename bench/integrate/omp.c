/* integrate/omp.c - adaptive integration by OpenMP tasks.
 *
 * Usage: integrate_omp_gcc|integrate_omp_clang [threads [n]]
 *
 * SPDX-License-Identifier: MIT */
#include "../common/omp_start.h"
#include "integrate.h"

static double area(const interval *v) {
  interval left, right;
  double sum, first, second;
  if (!integrate_split(v, &left, &right, &sum)) return sum;
#pragma omp task shared(first, left)
  first = area(&left);
  second = area(&right);
#pragma omp taskwait
  return first + second;
}

static long integrate(long n) {
  double result = 0;
#pragma omp parallel
#pragma omp single
  {
    interval whole = integrate_whole(n);
    result = area(&whole);
  }
  return integrate_bits(result);
}

int main(int argc, char **argv) {
  bench_omp_start(bench_arg(argc, argv, 1, 2));
  integrate_measure(BENCH_OMP, integrate, argc, argv);
  return 0;
}
