/* recursive_sum/serial.c - the plain recursion.
 *
 * Usage: recursive_sum_serial [threads [n]]     (the first one is not used)
 *
 * SPDX-License-Identifier: MIT */
#include "recursive_sum.h"

static long sum(const long *numbers, long n) {
  if (n <= SUM_CUT_OFF) return sum_leaf(numbers, n);
  return sum(numbers, n / 2) + sum(numbers + n / 2, n - n / 2);
}

static long run(long n) {
  return sum(sum_numbers, n);
}

int main(int argc, char **argv) {
  sum_measure("serial", run, argc, argv);
  return 0;
}
