/* fib/omp.c - Fibonacci by OpenMP tasks; built once by gcc (libgomp) and once by clang
 * (libomp). On one thread also in the form of the examples that come with the OpenMP
 * specification, which make both calls of a node tasks; it is slower.
 *
 * Usage: fib_omp_gcc|fib_omp_clang [threads [n]]
 *
 * SPDX-License-Identifier: MIT */
#include "../common/bench.h"

static int threads;

static long fib(long n) {
  if (n < 2) return n;
  long a, b;
#pragma omp task shared(a) firstprivate(n)
  a = fib(n - 1);
  b = fib(n - 2);
#pragma omp taskwait
  return a + b;
}

static long fib_both(long n) {
  if (n < 2) return n;
  long a, b;
#pragma omp task shared(a) firstprivate(n)
  a = fib_both(n - 1);
#pragma omp task shared(b) firstprivate(n)
  b = fib_both(n - 2);
#pragma omp taskwait
  return a + b;
}

static long run_both(long n) {
  long result = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
  result = fib_both(n);
  return result;
}

static long run(long n) {
  long result = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
  result = fib(n);
  return result;
}

int main(int argc, char **argv) {
  long n = bench_arg(argc, argv, 2, 35);
  threads = (int)bench_arg(argc, argv, 1, 2);
#ifdef __clang__
  const char *who = "omp-clang", *both = "omp-clang-both";
#else
  const char *who = "omp-gcc", *both = "omp-gcc-both";
#endif
  bench_measure(who, run, 20, n, bench_fib_answer(n));
  if (threads == 1) bench_measure(both, run_both, 20, n, bench_fib_answer(n));
  return 0;
}
