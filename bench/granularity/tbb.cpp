// granularity/tbb.cpp - the bodies as leaves of a tree of oneTBB's task_group; and as
// iterations of parallel_reduce, as tbb-loop.
//
// Usage: granularity_tbb [threads [steps [loop]]]
//
// SPDX-License-Identifier: MIT
#include "../common/tbb_start.h"
#include "granularity.h"
#include <functional>
#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_reduce.h>
#include <oneapi/tbb/task_group.h>

static uint64_t tree(uint64_t first, uint64_t count) {
  if (count == 1) return static_cast<uint64_t>(granularity_body(first));
  uint64_t half = count / 2, left, right;
  tbb::task_group group;
  group.run([&left, first, half] { left = tree(first, half); });
  right = tree(first + half, count - half);
  group.wait();
  return left + right;
}

static long by_tree(long n) {
  return static_cast<long>(tree(0, static_cast<uint64_t>(n)));
}

static long by_loop(long n) {
  using range = tbb::blocked_range<uint64_t>;
  return static_cast<long>(tbb::parallel_reduce(
      range(0, static_cast<uint64_t>(n)), uint64_t(0),
      [](const range &r, uint64_t sum) {
        for (uint64_t i = r.begin(); i != r.end(); i++)
          sum += static_cast<uint64_t>(granularity_body(i));
        return sum;
      },
      std::plus<uint64_t>()));
}

int main(int argc, char **argv) {
  bool loop = argc > 3 && strcmp(argv[3], "loop") == 0;
  bench_tbb_run(bench_arg(argc, argv, 1, 2), [=] {
    granularity_measure(loop ? "tbb-loop" : "tbb", loop ? by_loop : by_tree, argc, argv);
  });
  return 0;
}
