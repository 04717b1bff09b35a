// fib/tbb.cpp - Fibonacci by oneTBB's task_group inside an arena of the given size.
//
// Usage: fib_tbb [threads [n]] [invoke]     invoke: parallel_invoke instead
//
// SPDX-License-Identifier: MIT
#include "../common/bench.h"
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_invoke.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

static tbb::task_arena *arena;

static long fib_group(long n) {
  if (n < 2) return n;
  long a, b;
  tbb::task_group group;
  group.run([&a, n] { a = fib_group(n - 1); });
  b = fib_group(n - 2);
  group.wait();
  return a + b;
}

static long fib_invoke(long n) {
  if (n < 2) return n;
  long a, b;
  tbb::parallel_invoke([&a, n] { a = fib_invoke(n - 1); },
                       [&b, n] { b = fib_invoke(n - 2); });
  return a + b;
}

static long run_group(long n) {
  long result = 0;
  arena->execute([&] { result = fib_group(n); });
  return result;
}

static long run_invoke(long n) {
  long result = 0;
  arena->execute([&] { result = fib_invoke(n); });
  return result;
}

int main(int argc, char **argv) {
  long threads = bench_arg(argc, argv, 1, 2), n = bench_arg(argc, argv, 2, 35);
  bool invoke = argc > 3 && strcmp(argv[3], "invoke") == 0;
  tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                            static_cast<size_t>(threads));
  tbb::task_arena the_arena(static_cast<int>(threads));
  arena = &the_arena;
  bench_measure(invoke ? "tbb-invoke" : "tbb", invoke ? run_invoke : run_group, 20, n,
                bench_fib_answer(n));
  return 0;
}
