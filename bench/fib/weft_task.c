/* fib/weft_task.c - Fibonacci by a typed task, arguments and result by value.
 *
 * Usage: fib_weft_task [threads [n]]     needs: WEFT_TASK
 *
 * SPDX-License-Identifier: MIT */
#include "../common/weft_start.h"

WEFT_TASK(long, fib, long, n) {
  if (n < 2) return n;
  fib_task a;
  fib_fork(&a, n - 1);
  long b = fib(n - 2);
  return fib_join(&a) + b;
}

static long run(long n) {
  return fib(n);
}

int main(int argc, char **argv) {
  long n = bench_arg(argc, argv, 2, 35);
  bench_weft_start(bench_arg(argc, argv, 1, 2));
  bench_measure("weft-task", run, 25, n, bench_fib_answer(n));
  weft_shutdown();
  return 0;
}
