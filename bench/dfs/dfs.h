/* dfs/dfs.h - a walk through a full tree: each node has DFS_WIDTH children, and each leaf
 * runs DFS_GRAIN steps of arithmetic, some nanoseconds. The field's programs call it dfs;
 * it is a tree of forks that opens several calls at a time.
 *
 * SPDX-License-Identifier: MIT */
#ifndef BENCH_DFS_DFS_H
#define BENCH_DFS_DFS_H

#include "../common/bench.h"

enum { DFS_WIDTH = 4, DFS_GRAIN = 8 };

/* The work of a leaf. Its argument differs from leaf to leaf, so that no compiler takes
 * it out of the tree. */
BENCH_HELPER long dfs_leaf(long leaf) {
  unsigned long value = (unsigned long)leaf;
  for (unsigned long step = 1; step <= DFS_GRAIN; step++)
    value = (value ^ step) * 2654435761u;
  return (long)(value >> 40 & 1023);
}

/* Arguments of every contestant: threads, depth. */
BENCH_HELPER void dfs_measure(const char *who, bench_work *walk, int argc, char **argv) {
  bench_measure_first(who, walk, bench_arg(argc, argv, 2, 9));
}

#endif
