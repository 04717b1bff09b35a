/* lu/omp.c - the factors by OpenMP loops.
 *
 * Usage: lu_omp_gcc|lu_omp_clang [threads [n]]
 *
 * SPDX-License-Identifier: MIT */
#include "../common/omp_start.h"
#include "lu.h"

static void step(const lu_matrix *m) {
  lu_diagonal(m);
#pragma omp parallel
  {
#pragma omp for
    for (size_t i = 0; i < lu_borders(m); i++) lu_border(m, i);
#pragma omp for
    for (size_t i = 0; i < lu_inners(m); i++) lu_inner(m, i);
  }
}

int main(int argc, char **argv) {
  bench_omp_start(bench_arg(argc, argv, 1, 2));
  lu_measure(BENCH_OMP, step, argc, argv);
  return 0;
}
