/* pi/lace.c - the count by Lace.
 *
 * Usage: pi_lace [threads [points]]
 *
 * SPDX-License-Identifier: MIT */
#include "../common/lace_start.h"
#include "pi.h"

TASK_2(long, hits, long, first, long, points) {
  if (points == 1) return pi_point(first);
  SPAWN(hits, first, points / 2);
  long sum = CALL(hits, first + points / 2, points - points / 2);
  return sum + SYNC(hits);
}

static long count(long points) {
  return RUN(hits, 0, points);
}

int main(int argc, char **argv) {
  bench_lace_start(bench_arg(argc, argv, 1, 2));
  pi_measure("lace", count, argc, argv);
  lace_stop();
  return 0;
}
