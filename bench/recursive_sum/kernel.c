/* recursive_sum/kernel.c - the sum of a piece, shared by all contestants.
 *
 * SPDX-License-Identifier: MIT */
#include "recursive_sum.h"

long sum_leaf(const long *numbers, long n) {
  long sum = 0;
  for (long i = 0; i < n; i++) sum += numbers[i];
  return sum;
}
