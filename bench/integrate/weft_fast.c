/* integrate/weft_fast.c - adaptive integration by a typed task that hands its worker on.
 *
 * Usage: integrate_weft_fast [threads [n]]     needs: WEFT_TASK_FAST
 *
 * SPDX-License-Identifier: MIT */
#include "../common/weft_start.h"
#include "integrate.h"

WEFT_TASK_FAST(double, area, const interval *, v) {
  interval left, right;
  double sum, a, b;
  if (!integrate_split(v, &left, &right, &sum)) return sum;
  WEFT_BOTH(a, (area, &left), b, (area, &right));
  return a + b;
}

static long integrate(long n) {
  interval whole = integrate_whole(n);
  return integrate_bits(area(&whole));
}

int main(int argc, char **argv) {
  bench_weft_start(bench_arg(argc, argv, 1, 2));
  integrate_measure("weft-fast", integrate, argc, argv);
  weft_shutdown();
  return 0;
}
