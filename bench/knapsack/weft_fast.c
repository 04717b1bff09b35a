/* knapsack/weft_fast.c - the search by a typed task that hands its worker on.
 *
 * Usage: knapsack_weft_fast [threads [items]]     needs: WEFT_TASK_FAST
 *
 * SPDX-License-Identifier: MIT */
#include "../common/weft_start.h"
#include "knapsack.h"

WEFT_TASK_FAST(long, best, const item *, next, long, room, long, left, long, value) {
  if (room < 0) return -1;
  if (left == 0 || room == 0) return value;
  long with, without;
  WEFT_BOTH(with, (best, next + 1, room - next->weight, left - 1, value + next->value),
            without, (best, next + 1, room, left - 1, value));
  return with > without ? with : without;
}

static long fill(long n) {
  return best(knapsack_items, knapsack_fill(n), n, 0);
}

int main(int argc, char **argv) {
  bench_weft_start(bench_arg(argc, argv, 1, 2));
  knapsack_measure("weft-fast", fill, argc, argv);
  weft_shutdown();
  return 0;
}
