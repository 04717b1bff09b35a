/* skynet/skynet.h - skynet: a task starts ten, each of these ten, until there are n of
 * them, and each of the last returns its number; the sums go up again. n tasks for
 * almost no work: the ten are forked as the library does it best.
 *
 * SPDX-License-Identifier: MIT */
#ifndef BENCH_SKYNET_SKYNET_H
#define BENCH_SKYNET_SKYNET_H

#include "../common/bench.h"

/* Arguments of every contestant: threads, n (a power of ten). */
BENCH_HELPER void skynet_measure(const char *who, bench_work *sum, int argc,
                                 char **argv) {
  long n = bench_arg(argc, argv, 2, 1000000);
  bench_measure(who, sum, n, n, n * (n - 1) / 2);
}

#endif
