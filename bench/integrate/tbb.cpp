// integrate/tbb.cpp - adaptive integration by oneTBB's task_group.
//
// Usage: integrate_tbb [threads [n]]
//
// SPDX-License-Identifier: MIT
#include "../common/tbb_start.h"
#include "integrate.h"
#include <oneapi/tbb/task_group.h>

static double area(const interval &v) {
  interval left, right;
  double sum;
  if (!integrate_split(&v, &left, &right, &sum)) return sum;
  double first;
  tbb::task_group group;
  group.run([&] { first = area(left); });
  double second = area(right);
  group.wait();
  return first + second;
}

static long integrate(long n) {
  return integrate_bits(area(integrate_whole(n)));
}

int main(int argc, char **argv) {
  bench_tbb_run(bench_arg(argc, argv, 1, 2),
                [=] { integrate_measure("tbb", integrate, argc, argv); });
  return 0;
}
