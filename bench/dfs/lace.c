/* dfs/lace.c - the walk by Lace: a task for each child.
 *
 * Usage: dfs_lace [threads [depth]]
 *
 * SPDX-License-Identifier: MIT */
#include "../common/lace_start.h"
#include "dfs.h"

TASK_2(long, walk, long, depth, long, leaf) {
  if (depth == 0) return dfs_leaf(leaf);
  for (int child = 0; child < DFS_WIDTH; child++)
    SPAWN(walk, depth - 1, leaf * DFS_WIDTH + child);
  long sum = 0;
  for (int child = 0; child < DFS_WIDTH; child++) sum += SYNC(walk);
  return sum;
}

static long walk_all(long depth) {
  return RUN(walk, depth, 0);
}

int main(int argc, char **argv) {
  bench_lace_start(bench_arg(argc, argv, 1, 2));
  dfs_measure("lace", walk_all, argc, argv);
  lace_stop();
  return 0;
}
