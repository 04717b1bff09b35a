/* pi/pi.h - the number pi by counting random points within a quarter of a circle. The
 * points are halved down to single ones, a fork for each halving, without a cut-off.
 *
 * A point follows from its number alone, so the count does not depend on who does what.
 *
 * SPDX-License-Identifier: MIT */
#ifndef BENCH_PI_PI_H
#define BENCH_PI_PI_H

#include "../common/bench.h"

/* 1 if the point of this number is within the circle, else 0. */
BENCH_HELPER long pi_point(long number) {
  uint64_t bits = (uint64_t)number * 0x9E3779B97F4A7C15u;
  bits = (bits ^ bits >> 32) * 0xD6E8FEB86659FD93u;
  bits ^= bits >> 32;
  double x = (double)(bits & 0xFFFFFFFFu) / 4294967296.0;
  double y = (double)(bits * 0xD6E8FEB86659FD93u >> 32) / 4294967296.0;
  return x * x + y * y < 1.0;
}

/* Arguments of every contestant: threads, points. */
BENCH_HELPER void pi_measure(const char *who, bench_work *count, int argc, char **argv) {
  bench_measure_first(who, count, bench_arg(argc, argv, 2, 1000000));
}

#endif
