/* heat/omp.c - the steps by an OpenMP loop.
 *
 * Usage: heat_omp_gcc|heat_omp_clang [threads [side]]
 *
 * SPDX-License-Identifier: MIT */
#include "../common/omp_start.h"
#include "heat.h"

static void step(const plate *p) {
#pragma omp parallel for
  for (size_t row = 1; row < p->side - 1; row++) heat_rows(p, row, row + 1);
}

int main(int argc, char **argv) {
  bench_omp_start(bench_arg(argc, argv, 1, 2));
  heat_measure(BENCH_OMP, step, argc, argv);
  return 0;
}
