/* matmul/omp.c - the product by OpenMP tasks.
 *
 * Usage: matmul_omp_gcc|matmul_omp_clang [threads [n]]
 *
 * SPDX-License-Identifier: MIT */
#include "../common/omp_start.h"
#include "matmul.h"

static void multiply(const product *p) {
  product first, second;
  switch (matmul_split(p, &first, &second)) {
  case 0:
    matmul_leaf(p);
    break;
  case 'k':
    multiply(&first);
    multiply(&second);
    break;
  default:
#pragma omp task shared(first)
    multiply(&first);
    multiply(&second);
#pragma omp taskwait
  }
}

static void start(const product *p) {
#pragma omp parallel
#pragma omp single
  multiply(p);
}

int main(int argc, char **argv) {
  bench_omp_start(bench_arg(argc, argv, 1, 2));
  matmul_measure(BENCH_OMP, start, argc, argv);
  return 0;
}
