/* integrate/lace.c - adaptive integration by Lace.
 *
 * Usage: integrate_lace [threads [n]]
 *
 * SPDX-License-Identifier: MIT */
#include "../common/lace_start.h"
#include "integrate.h"

TASK_1(double, area, const interval *, v) {
  interval left, right;
  double sum;
  if (!integrate_split(v, &left, &right, &sum)) return sum;
  SPAWN(area, &right);
  double a = CALL(area, &left);
  return a + SYNC(area);
}

static long integrate(long n) {
  interval whole = integrate_whole(n);
  return integrate_bits(RUN(area, &whole));
}

int main(int argc, char **argv) {
  bench_lace_start(bench_arg(argc, argv, 1, 2));
  integrate_measure("lace", integrate, argc, argv);
  lace_stop();
  return 0;
}
