/* cilksort/omp.c - the merge sort by OpenMP tasks.
 *
 * Usage: cilksort_omp_gcc|cilksort_omp_clang [threads [n]]
 *
 * SPDX-License-Identifier: MIT */
#include "../common/omp_start.h"
#include "cilksort.h"

static void merge(const merging *m) {
  merging first, second;
  if (!cilksort_split(m, &first, &second)) {
    cilksort_merge_leaf(m);
    return;
  }
#pragma omp task shared(first)
  merge(&first);
  merge(&second);
#pragma omp taskwait
}

static void sort_part(const sorting *s) {
  if (s->n <= CILKSORT_LEAF) {
    cilksort_leaf(s->a, s->n);
    return;
  }
  sort_parts p = cilksort_parts(s);
  for (int i = 0; i < 3; i++) {
#pragma omp task shared(p) firstprivate(i)
    sort_part(&p.quarter[i]);
  }
  sort_part(&p.quarter[3]);
#pragma omp taskwait
#pragma omp task shared(p)
  merge(&p.half[0]);
  merge(&p.half[1]);
#pragma omp taskwait
  merge(&p.whole);
}

static void sort(const sorting *s) {
#pragma omp parallel
#pragma omp single
  sort_part(s);
}

int main(int argc, char **argv) {
  bench_omp_start(bench_arg(argc, argv, 1, 2));
  cilksort_measure(BENCH_OMP, sort, argc, argv);
  return 0;
}
