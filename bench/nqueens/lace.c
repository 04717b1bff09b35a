/* nqueens/lace.c - the search by Lace: a task for each free column of a row.
 *
 * Usage: nqueens_lace [threads [n]]
 *
 * SPDX-License-Identifier: MIT */
#include "../common/lace_start.h"
#include "nqueens.h"

TASK_1(long, search, const board *, b) {
  if (b->rows == b->n) return 1;
  board next[QUEENS_MOST];
  int length = 0;
  for (int column = 0; column < b->n; column++)
    if (board_free(b, column)) {
      next[length] = board_with(b, column);
      SPAWN(search, &next[length]);
      length++;
    }
  long count = 0;
  while (length-- > 0) count += SYNC(search);
  return count;
}

static long count(long n) {
  board b = board_empty(n);
  return RUN(search, &b);
}

int main(int argc, char **argv) {
  bench_lace_start(bench_arg(argc, argv, 1, 2));
  queens_measure("lace", count, argc, argv);
  lace_stop();
  return 0;
}
