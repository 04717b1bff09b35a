/* nqueens/serial.c - the search by recursion.
 *
 * Usage: nqueens_serial [threads [n]]
 *
 * SPDX-License-Identifier: MIT */
#include "nqueens.h"

static long search(const board *b) {
  if (b->rows == b->n) return 1;
  long count = 0;
  for (int column = 0; column < b->n; column++)
    if (board_free(b, column)) {
      board next = board_with(b, column);
      count += search(&next);
    }
  return count;
}

static long count(long n) {
  board b = board_empty(n);
  return search(&b);
}

int main(int argc, char **argv) {
  queens_measure("serial", count, argc, argv);
  return 0;
}
