/* recursive_sum/weft_fast.c - the recursion by a typed task that hands its worker on.
 *
 * Usage: recursive_sum_weft_fast [threads [n]]     needs: WEFT_TASK_FAST
 *
 * SPDX-License-Identifier: MIT */
#include "../common/weft_start.h"
#include "recursive_sum.h"

WEFT_TASK_FAST(long, sum, const long *, numbers, long, n) {
  long left, right;
  if (n <= SUM_CUT_OFF) return sum_leaf(numbers, n);
  WEFT_BOTH(left, (sum, numbers, n / 2), right, (sum, numbers + n / 2, n - n / 2));
  return left + right;
}

static long run(long n) {
  return sum(sum_numbers, n);
}

int main(int argc, char **argv) {
  bench_weft_start(bench_arg(argc, argv, 1, 2));
  sum_measure("weft-fast", run, argc, argv);
  weft_shutdown();
  return 0;
}
