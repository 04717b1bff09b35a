/* fib/weft_cpp.cpp - Fibonacci by weft::join of two lambdas.
 *
 * Usage: fib_weft_cpp [threads [n]]
 *
 * SPDX-License-Identifier: MIT */
#include "../common/weft_start.h"
#include <weft.hpp>

static long fib(long n) {
  if (n < 2) return n;
  auto [a, b] = weft::join([&] { return fib(n - 1); }, [&] { return fib(n - 2); });
  return a + b;
}

int main(int argc, char **argv) {
  long n = bench_arg(argc, argv, 2, 35);
  bench_weft_start(bench_arg(argc, argv, 1, 2));
  bench_measure("weft-cpp", fib, 25, n, bench_fib_answer(n));
  weft_shutdown();
  return 0;
}
