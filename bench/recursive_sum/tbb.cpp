// recursive_sum/tbb.cpp - the recursion by oneTBB's task_group.
//
// Usage: recursive_sum_tbb [threads [n]]
//
// SPDX-License-Identifier: MIT
#include "../common/tbb_start.h"
#include "recursive_sum.h"
#include <oneapi/tbb/task_group.h>

static long sum(const long *numbers, long n) {
  if (n <= SUM_CUT_OFF) return sum_leaf(numbers, n);
  long right;
  tbb::task_group group;
  group.run([&] { right = sum(numbers + n / 2, n - n / 2); });
  long left = sum(numbers, n / 2);
  group.wait();
  return left + right;
}

static long run(long n) {
  return sum(sum_numbers, n);
}

int main(int argc, char **argv) {
  bench_tbb_run(bench_arg(argc, argv, 1, 2),
                [=] { sum_measure("tbb", run, argc, argv); });
  return 0;
}
