/* pi/weft_fast.c - the count by a typed task that hands its worker on.
 *
 * Usage: pi_weft_fast [threads [points]]     needs: WEFT_TASK_FAST
 *
 * SPDX-License-Identifier: MIT */
#include "../common/weft_start.h"
#include "pi.h"

WEFT_TASK_FAST(long, hits, long, first, long, points) {
  if (points == 1) return pi_point(first);
  long a, b, half = points / 2;
  WEFT_BOTH(a, (hits, first, half), b, (hits, first + half, points - half));
  return a + b;
}

static long count(long points) {
  return hits(0, points);
}

int main(int argc, char **argv) {
  bench_weft_start(bench_arg(argc, argv, 1, 2));
  pi_measure("weft-fast", count, argc, argv);
  weft_shutdown();
  return 0;
}
