/* dfs/weft_fast.c - the walk by a typed task that hands its worker on: a fork for each
 * child.
 *
 * Usage: dfs_weft_fast [threads [depth]]     needs: WEFT_TASK_FAST
 *
 * SPDX-License-Identifier: MIT */
#include "../common/weft_start.h"
#include "dfs.h"

WEFT_TASK_FAST(long, walk, long, depth, long, leaf) {
  if (depth == 0) return dfs_leaf(leaf);
  walk_task tasks[DFS_WIDTH];
  for (int child = 0; child < DFS_WIDTH; child++)
    WEFT_FORK(walk, &tasks[child], depth - 1, leaf * DFS_WIDTH + child);
  long sum = 0;
  for (int child = DFS_WIDTH; child-- > 0;) sum += WEFT_JOIN(walk, &tasks[child]);
  return sum;
}

static long walk_all(long depth) {
  return walk(depth, 0);
}

int main(int argc, char **argv) {
  bench_weft_start(bench_arg(argc, argv, 1, 2));
  dfs_measure("weft-fast", walk_all, argc, argv);
  weft_shutdown();
  return 0;
}
