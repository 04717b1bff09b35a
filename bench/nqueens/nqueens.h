/* nqueens/nqueens.h - P16: in how many ways n queens stand on a board of n times n fields
 * without attacking each other. Row by row, each column that is free is a branch; all
 * contestants fork for every branch, without a cut-off, and copy the board for it.
 *
 * SPDX-License-Identifier: MIT */
#ifndef BENCH_NQUEENS_NQUEENS_H
#define BENCH_NQUEENS_NQUEENS_H

#include "../common/bench.h"
#include <stdbool.h>

enum { QUEENS_MOST = 16 };

/* The columns of the queens in the rows so far. */
typedef struct board {
  signed char column[QUEENS_MOST];
  int rows, n;
} board;

BENCH_HELPER bool board_free(const board *b, int column) {
  for (int row = 0; row < b->rows; row++) {
    int apart = b->column[row] - column, below = b->rows - row;
    if (apart == 0 || apart == below || apart == -below) return false;
  }
  return true;
}

BENCH_HELPER board board_with(const board *b, int column) {
  board next = *b;
  next.column[next.rows++] = (signed char)column;
  return next;
}

BENCH_HELPER board board_empty(long n) {
  board b = {{0}, 0, (int)n};
  return b;
}

BENCH_HELPER long queens_answer(long n) {
  static const long answers[] = {1,  1,   0,   0,    2,     10,    4,     40,
                                 92, 352, 724, 2680, 14200, 73712, 365596};
  return answers[n];
}

/* Arguments of every contestant: threads, n. */
BENCH_HELPER void queens_measure(const char *who, bench_work *count, int argc,
                                 char **argv) {
  long n = bench_arg(argc, argv, 2, 12);
  bench_measure(who, count, 8, n, queens_answer(n));
}

#endif
