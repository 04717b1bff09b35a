/* integrate/integrate.h - adaptive integration of (x^2 + 1) x from 0 to n: an interval
 * whose trapezium differs from those of its halves by more than 1e-9 is halved. A fork
 * for each of these halvings, without a cut-off; a few nanoseconds of work each.
 *
 * The tree of halvings does not depend on who walks it, so the sum has always the same
 * bits.
 *
 * SPDX-License-Identifier: MIT */
#ifndef BENCH_INTEGRATE_INTEGRATE_H
#define BENCH_INTEGRATE_INTEGRATE_H

#include "../common/bench.h"
#include <math.h>
#include <stdbool.h>

/* An interval, the function at its ends and the area of its trapezium. */
typedef struct interval {
  double x1, y1, x2, y2, area;
} interval;

BENCH_HELPER double integrate_f(double x) {
  return (x * x + 1) * x;
}

/* Cuts an interval in two. False if that changes too little, then *sum is its area. */
BENCH_HELPER bool integrate_split(const interval *v, interval *left, interval *right,
                                  double *sum) {
  double half = (v->x2 - v->x1) / 2, x = v->x1 + half, y = integrate_f(x);
  left->x1 = v->x1;
  left->y1 = v->y1;
  left->x2 = right->x1 = x;
  left->y2 = right->y1 = y;
  right->x2 = v->x2;
  right->y2 = v->y2;
  left->area = (v->y1 + y) / 2 * half;
  right->area = (y + v->y2) / 2 * half;
  *sum = left->area + right->area;
  return fabs(*sum - v->area) >= 1e-9;
}

BENCH_HELPER interval integrate_whole(long n) {
  double x = (double)n, y = integrate_f(x);
  interval v = {0, 0, x, y, (0 + y) / 2 * x};
  return v;
}

BENCH_HELPER long integrate_bits(double area) {
  long bits;
  memcpy(&bits, &area, sizeof bits);
  return bits;
}

/* Arguments of every contestant: threads, n. */
BENCH_HELPER void integrate_measure(const char *who, bench_work *integrate, int argc,
                                    char **argv) {
  bench_measure_first(who, integrate, bench_arg(argc, argv, 2, 100));
}

#endif
