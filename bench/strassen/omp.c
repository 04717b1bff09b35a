/* strassen/omp.c - Strassen's product by OpenMP tasks.
 *
 * Usage: strassen_omp_gcc|strassen_omp_clang [threads [n]]
 *
 * SPDX-License-Identifier: MIT */
#include "../common/omp_start.h"
#include "strassen.h"

static void multiply(const product *p) {
  if (p->n <= STRASSEN_LEAF) {
    strassen_leaf(p);
    return;
  }
  strassen_node node;
  strassen_begin(p, &node);
  for (int i = 0; i < STRASSEN_PRODUCTS; i++) {
#pragma omp task shared(node) firstprivate(i)
    multiply(&node.part[i]);
  }
#pragma omp taskwait
  strassen_end(p, &node);
}

static void whole(const product *p) {
#pragma omp parallel
#pragma omp single
  multiply(p);
}

int main(int argc, char **argv) {
  bench_omp_start(bench_arg(argc, argv, 1, 2));
  strassen_measure(BENCH_OMP, whole, argc, argv);
  return 0;
}
