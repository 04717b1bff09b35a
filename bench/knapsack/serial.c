/* knapsack/serial.c - the search by recursion.
 *
 * Usage: knapsack_serial [threads [items]]
 *
 * SPDX-License-Identifier: MIT */
#include "knapsack.h"

static long best(const item *next, long room, long left, long value) {
  if (room < 0) return -1;
  if (left == 0 || room == 0) return value;
  long with = best(next + 1, room - next->weight, left - 1, value + next->value);
  long without = best(next + 1, room, left - 1, value);
  return with > without ? with : without;
}

static long fill(long n) {
  return best(knapsack_items, knapsack_fill(n), n, 0);
}

int main(int argc, char **argv) {
  knapsack_measure("serial", fill, argc, argv);
  return 0;
}
