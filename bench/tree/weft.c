/* tree/weft.c - the tree by weft_join, call after call from outside the pool.
 *
 * Usage: tree_weft [threads [depth]]
 *
 * SPDX-License-Identifier: MIT */
#include "weft.h"

int main(int argc, char **argv) {
  long depth = bench_arg(argc, argv, 2, 10);
  bench_weft_start(bench_arg(argc, argv, 1, 2));
  bench_measure("weft", tree_weft, depth, depth, 1L << depth);
  weft_shutdown();
  return 0;
}
