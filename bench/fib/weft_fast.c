/* fib/weft_fast.c - Fibonacci by a typed task that hands its worker on.
 *
 * Usage: fib_weft_fast [threads] [three] [n] [three]     needs: WEFT_TASK_FAST
 *        three: by fork, call and join instead of WEFT_BOTH
 *
 * SPDX-License-Identifier: MIT */
#include "../common/weft_start.h"

WEFT_TASK_FAST(long, fib, long, n) {
  long a, b;
  if (n < 2) return n;
  WEFT_BOTH(b, (fib, n - 2), a, (fib, n - 1));
  return a + b;
}

WEFT_TASK_FAST(long, fib_by_three, long, n) {
  if (n < 2) return n;
  fib_by_three_task a;
  WEFT_FORK(fib_by_three, &a, n - 1);
  long b = WEFT_CALL(fib_by_three, n - 2);
  return WEFT_JOIN(fib_by_three, &a) + b;
}

static long run(long n) {
  return fib(n);
}

static long run_by_three(long n) {
  return fib_by_three(n);
}

int main(int argc, char **argv) {
  bool first = argc > 2 && strcmp(argv[2], "three") == 0;
  bool three = first || (argc > 3 && strcmp(argv[3], "three") == 0);
  long n = bench_arg(argc, argv, first ? 3 : 2, 35);
  bench_weft_start(bench_arg(argc, argv, 1, 2));
  bench_measure(three ? "weft-three" : "weft-fast", three ? run_by_three : run, 25, n,
                bench_fib_answer(n));
  weft_shutdown();
  return 0;
}
