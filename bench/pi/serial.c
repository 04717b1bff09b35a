/* pi/serial.c - the count by recursion.
 *
 * Usage: pi_serial [threads [points]]
 *
 * SPDX-License-Identifier: MIT */
#include "pi.h"

static long hits(long first, long points) {
  if (points == 1) return pi_point(first);
  return hits(first, points / 2) + hits(first + points / 2, points - points / 2);
}

static long count(long points) {
  BENCH_FORGET(points); /* or gcc makes the call once for all rounds */
  return hits(0, points);
}

int main(int argc, char **argv) {
  pi_measure("serial", count, argc, argv);
  return 0;
}
