/* recursive_sum/recursive_sum.h - the sum of an array by halving it, down to pieces of
 * 1024 numbers: what somebody writes who ports a divide and conquer and keeps a cut-off.
 * A leaf takes about a tenth of a microsecond.
 *
 * SPDX-License-Identifier: MIT */
#ifndef BENCH_RECURSIVE_SUM_H
#define BENCH_RECURSIVE_SUM_H

#include "../common/bench.h"

enum { SUM_CUT_OFF = 1024 };

#ifdef __cplusplus
extern "C" {
#endif

/* kernel.c: a piece of at most SUM_CUT_OFF numbers. */
long sum_leaf(const long *numbers, long n);

#ifdef __cplusplus
}
#endif

static const long *sum_numbers;

/* Arguments of every contestant: threads, n. */
BENCH_HELPER void sum_measure(const char *who, bench_work *sum, int argc, char **argv) {
  long n = bench_arg(argc, argv, 2, 10000000), expected = 0;
  long *numbers = (long *)bench_array((size_t)n, sizeof *numbers);
  for (long i = 0; i < n; i++)
    expected += numbers[i] = (long)(bench_mix((uint64_t)i) % 1000);
  sum_numbers = numbers;
  bench_measure(who, sum, n, n, expected);
  free(numbers);
}

#endif
