/* uts/omp.c - the walk by OpenMP tasks, one for each child.
 *
 * Usage: uts_omp_gcc|uts_omp_clang [threads [tree]]
 *
 * SPDX-License-Identifier: MIT */
#include "../common/omp_start.h"
#include "uts.h"

static long walk(const uts_node *node) {
  int children = uts_children(node);
  if (children == 0) return 1;
  long counts[children], count = 1;
  for (int i = 0; i < children; i++) {
#pragma omp task shared(counts) firstprivate(i, node)
    {
      uts_node child = uts_child(node, i);
      counts[i] = walk(&child);
    }
  }
#pragma omp taskwait
  for (int i = 0; i < children; i++) count += counts[i];
  return count;
}

static long count(long tree) {
  long result = 0;
#pragma omp parallel
#pragma omp single
  {
    uts_node root = uts_root((int)tree);
    result = walk(&root);
  }
  return result;
}

int main(int argc, char **argv) {
  bench_omp_start(bench_arg(argc, argv, 1, 2));
  uts_measure(BENCH_OMP, count, argc, argv);
  return 0;
}
