/* integrate/weft.c - adaptive integration by weft_join.
 *
 * Usage: integrate_weft [threads [n]]
 *
 * SPDX-License-Identifier: MIT */
#include "../common/weft_start.h"
#include "integrate.h"

/* The area of an interval is replaced by the better one. */
static void area(void *ctx) {
  interval *v = (interval *)ctx, left, right;
  double sum;
  if (integrate_split(v, &left, &right, &sum)) {
    weft_join(area, &left, area, &right);
    sum = left.area + right.area;
  }
  v->area = sum;
}

static long integrate(long n) {
  interval whole = integrate_whole(n);
  area(&whole);
  return integrate_bits(whole.area);
}

int main(int argc, char **argv) {
  bench_weft_start(bench_arg(argc, argv, 1, 2));
  integrate_measure("weft", integrate, argc, argv);
  weft_shutdown();
  return 0;
}
