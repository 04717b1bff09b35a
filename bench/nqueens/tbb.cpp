// nqueens/tbb.cpp - the search by oneTBB's task_group, a task for each free column.
//
// Usage: nqueens_tbb [threads [n]]
//
// SPDX-License-Identifier: MIT
#include "../common/tbb_start.h"
#include "nqueens.h"
#include <oneapi/tbb/task_group.h>

static long search(const board &b) {
  if (b.rows == b.n) return 1;
  long counts[QUEENS_MOST] = {};
  tbb::task_group group;
  for (int column = 0; column < b.n; column++)
    if (board_free(&b, column))
      group.run([&b, &counts, column] { counts[column] = search(board_with(&b, column)); });
  group.wait();
  long count = 0;
  for (long c : counts) count += c;
  return count;
}

static long count(long n) {
  return search(board_empty(n));
}

int main(int argc, char **argv) {
  bench_tbb_run(bench_arg(argc, argv, 1, 2),
                [=] { queens_measure("tbb", count, argc, argv); });
  return 0;
}
