/* dfs/serial.c - the walk by recursion.
 *
 * Usage: dfs_serial [threads [depth]]
 *
 * SPDX-License-Identifier: MIT */
#include "dfs.h"

static long walk(long depth, long leaf) {
  if (depth == 0) return dfs_leaf(leaf);
  long sum = 0;
  for (int child = 0; child < DFS_WIDTH; child++)
    sum += walk(depth - 1, leaf * DFS_WIDTH + child);
  return sum;
}

static long walk_all(long depth) {
  BENCH_FORGET(depth); /* or gcc makes the call once for all rounds */
  return walk(depth, 0);
}

int main(int argc, char **argv) {
  dfs_measure("serial", walk_all, argc, argv);
  return 0;
}
