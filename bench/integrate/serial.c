/* integrate/serial.c - adaptive integration by recursion.
 *
 * Usage: integrate_serial [threads [n]]
 *
 * SPDX-License-Identifier: MIT */
#include "integrate.h"

static double area(const interval *v) {
  interval left, right;
  double sum;
  if (!integrate_split(v, &left, &right, &sum)) return sum;
  return area(&left) + area(&right);
}

static long integrate(long n) {
  interval whole = integrate_whole(n);
  return integrate_bits(area(&whole));
}

int main(int argc, char **argv) {
  integrate_measure("serial", integrate, argc, argv);
  return 0;
}
