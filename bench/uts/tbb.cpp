// uts/tbb.cpp - the walk by oneTBB's task_group, a task for each child.
//
// Usage: uts_tbb [threads [tree]]
//
// SPDX-License-Identifier: MIT
#include "../common/tbb_start.h"
#include "uts.h"
#include <oneapi/tbb/task_group.h>
#include <vector>

static long walk(const uts_node &node) {
  int children = uts_children(&node);
  if (children == 0) return 1;
  std::vector<long> counts(static_cast<size_t>(children));
  tbb::task_group group;
  for (int i = 0; i < children; i++)
    group.run([&node, &counts, i] {
      counts[static_cast<size_t>(i)] = walk(uts_child(&node, i));
    });
  group.wait();
  long count = 1;
  for (long c : counts) count += c;
  return count;
}

static long count(long tree) {
  return walk(uts_root(static_cast<int>(tree)));
}

int main(int argc, char **argv) {
  bench_tbb_run(bench_arg(argc, argv, 1, 2),
                [=] { uts_measure("tbb", count, argc, argv); });
  return 0;
}
