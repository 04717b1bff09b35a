/* recursive_sum/weft.c - the recursion by weft_join.
 *
 * Usage: recursive_sum_weft [threads [n]]
 *
 * SPDX-License-Identifier: MIT */
#include "../common/weft_start.h"
#include "recursive_sum.h"

typedef struct piece {
  const long *numbers;
  long n, sum;
} piece;

static void sum(void *ctx) {
  piece *p = (piece *)ctx;
  if (p->n <= SUM_CUT_OFF) {
    p->sum = sum_leaf(p->numbers, p->n);
    return;
  }
  long half = p->n / 2;
  piece left = {p->numbers, half, 0}, right = {p->numbers + half, p->n - half, 0};
  weft_join(sum, &left, sum, &right);
  p->sum = left.sum + right.sum;
}

static long run(long n) {
  piece whole = {sum_numbers, n, 0};
  sum(&whole);
  return whole.sum;
}

int main(int argc, char **argv) {
  bench_weft_start(bench_arg(argc, argv, 1, 2));
  sum_measure("weft", run, argc, argv);
  weft_shutdown();
  return 0;
}
