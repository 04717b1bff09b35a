/* knapsack/lace.c - the search by Lace.
 *
 * Usage: knapsack_lace [threads [items]]
 *
 * SPDX-License-Identifier: MIT */
#include "../common/lace_start.h"
#include "knapsack.h"

TASK_4(long, best, const item *, next, long, room, long, left, long, value) {
  if (room < 0) return -1;
  if (left == 0 || room == 0) return value;
  SPAWN(best, next + 1, room, left - 1, value);
  long with = CALL(best, next + 1, room - next->weight, left - 1, value + next->value);
  long without = SYNC(best);
  return with > without ? with : without;
}

static long fill(long n) {
  return RUN(best, knapsack_items, knapsack_fill(n), n, 0);
}

int main(int argc, char **argv) {
  bench_lace_start(bench_arg(argc, argv, 1, 2));
  knapsack_measure("lace", fill, argc, argv);
  lace_stop();
  return 0;
}
