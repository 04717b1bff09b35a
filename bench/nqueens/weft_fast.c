/* nqueens/weft_fast.c - the search by a typed task that hands its worker on.
 *
 * Usage: nqueens_weft_fast [threads [n]]     needs: WEFT_TASK_FAST
 *
 * SPDX-License-Identifier: MIT */
#include "../common/weft_start.h"
#include "nqueens.h"

/* A task for each free column of the row. */
WEFT_TASK_FAST(long, search, const board *, b) {
  if (b->rows == b->n) return 1;
  board next[QUEENS_MOST];
  search_task tasks[QUEENS_MOST];
  int length = 0;
  for (int column = 0; column < b->n; column++)
    if (board_free(b, column)) {
      next[length] = board_with(b, column);
      WEFT_FORK(search, &tasks[length], &next[length]);
      length++;
    }
  long count = 0;
  while (length-- > 0) count += WEFT_JOIN(search, &tasks[length]);
  return count;
}

static long count(long n) {
  board b = board_empty(n);
  return search(&b);
}

int main(int argc, char **argv) {
  bench_weft_start(bench_arg(argc, argv, 1, 2));
  queens_measure("weft-fast", count, argc, argv);
  weft_shutdown();
  return 0;
}
