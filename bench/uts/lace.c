/* uts/lace.c - the walk by Lace: a task for each child of a node.
 *
 * Usage: uts_lace [threads [tree]]
 *
 * SPDX-License-Identifier: MIT */
#include "../common/lace_start.h"
#include "uts.h"

/* A child is made by its own task, as all contestants do. */
TASK_2(long, walk, const uts_node *, parent, int, i) {
  uts_node node = uts_child(parent, i);
  int children = uts_children(&node);
  for (int c = 0; c < children; c++) SPAWN(walk, &node, c);
  long count = 1;
  for (int c = 0; c < children; c++) count += SYNC(walk);
  return count;
}

TASK_1(long, walk_root, const uts_node *, root) {
  int children = uts_children(root);
  for (int c = 0; c < children; c++) SPAWN(walk, root, c);
  long count = 1;
  for (int c = 0; c < children; c++) count += SYNC(walk);
  return count;
}

static long count(long tree) {
  uts_node root = uts_root((int)tree);
  return RUN(walk_root, &root);
}

int main(int argc, char **argv) {
  bench_lace_start(bench_arg(argc, argv, 1, 2));
  uts_measure("lace", count, argc, argv);
  lace_stop();
  return 0;
}
