/* recursive_sum/lace.c - the recursion by Lace.
 *
 * Usage: recursive_sum_lace [threads [n]]
 *
 * SPDX-License-Identifier: MIT */
#include "../common/lace_start.h"
#include "recursive_sum.h"

TASK_2(long, sum, const long *, numbers, long, n) {
  if (n <= SUM_CUT_OFF) return sum_leaf(numbers, n);
  SPAWN(sum, numbers + n / 2, n - n / 2);
  long left = CALL(sum, numbers, n / 2);
  return left + SYNC(sum);
}

static long run(long n) {
  return RUN(sum, sum_numbers, n);
}

int main(int argc, char **argv) {
  bench_lace_start(bench_arg(argc, argv, 1, 2));
  sum_measure("lace", run, argc, argv);
  lace_stop();
  return 0;
}
