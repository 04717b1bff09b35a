/* fib/lace.c - Fibonacci by Lace.
 *
 * Usage: fib_lace [threads [n]]
 *
 * SPDX-License-Identifier: MIT */
#include "../common/lace_start.h"

TASK_1(long, fib, long, n) {
  if (n < 2) return n;
  SPAWN(fib, n - 1);
  long b = CALL(fib, n - 2);
  return SYNC(fib) + b;
}

static long run(long n) {
  return RUN(fib, n);
}

int main(int argc, char **argv) {
  long n = bench_arg(argc, argv, 2, 35);
  bench_lace_start(bench_arg(argc, argv, 1, 2));
  bench_measure("lace", run, 25, n, bench_fib_answer(n));
  lace_stop();
  return 0;
}
