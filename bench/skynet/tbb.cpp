// skynet/tbb.cpp - skynet by oneTBB's task_group.
//
// Usage: skynet_tbb [threads [n]]
//
// SPDX-License-Identifier: MIT
#include "../common/tbb_start.h"
#include "skynet.h"
#include <oneapi/tbb/task_group.h>

static long node(long first, long n) {
  if (n == 1) return first;
  long sums[10], sum = 0;
  tbb::task_group group;
  for (long i = 0; i < 10; i++)
    group.run([&sums, i, first, n] { sums[i] = node(first + i * (n / 10), n / 10); });
  group.wait();
  for (long s : sums) sum += s;
  return sum;
}

static long sum(long n) {
  return node(0, n);
}

int main(int argc, char **argv) {
  bench_tbb_run(bench_arg(argc, argv, 1, 2),
                [=] { skynet_measure("tbb", sum, argc, argv); });
  return 0;
}
