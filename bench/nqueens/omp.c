/* nqueens/omp.c - the search by OpenMP tasks, one for each free column.
 *
 * Usage: nqueens_omp_gcc|nqueens_omp_clang [threads [n]]
 *
 * SPDX-License-Identifier: MIT */
#include "../common/omp_start.h"
#include "nqueens.h"

static long search(const board *b) {
  if (b->rows == b->n) return 1;
  long counts[QUEENS_MOST] = {0}, count = 0;
  for (int column = 0; column < b->n; column++)
    if (board_free(b, column)) {
#pragma omp task shared(counts) firstprivate(column, b)
      {
        board next = board_with(b, column);
        counts[column] = search(&next);
      }
    }
#pragma omp taskwait
  for (int column = 0; column < b->n; column++) count += counts[column];
  return count;
}

static long count(long n) {
  long result = 0;
#pragma omp parallel
#pragma omp single
  {
    board b = board_empty(n);
    result = search(&b);
  }
  return result;
}

int main(int argc, char **argv) {
  bench_omp_start(bench_arg(argc, argv, 1, 2));
  queens_measure(BENCH_OMP, count, argc, argv);
  return 0;
}
