/* uts/weft_fast.c - the walk by a typed task that hands its worker on, and that halves
 * the children of a node.
 *
 * Usage: uts_weft_fast [threads [tree]]     needs: WEFT_TASK_FAST
 *
 * SPDX-License-Identifier: MIT */
#include "../common/weft_start.h"
#include "uts.h"

/* Children [first, end) of a node, at least one. */
WEFT_TASK_FAST(long, walk, const uts_node *, parent, int, first, int, end) {
  if (end - first == 1) {
    uts_node child = uts_child(parent, first);
    int children = uts_children(&child);
    return 1 + (children != 0 ? WEFT_CALL(walk, &child, 0, children) : 0);
  }
  int middle = first + (end - first) / 2;
  long left, right;
  WEFT_BOTH(left, (walk, parent, first, middle), right, (walk, parent, middle, end));
  return left + right;
}

static long count(long tree) {
  uts_node root = uts_root((int)tree);
  return 1 + walk(&root, 0, uts_children(&root));
}

int main(int argc, char **argv) {
  bench_weft_start(bench_arg(argc, argv, 1, 2));
  uts_measure("weft-fast", count, argc, argv);
  weft_shutdown();
  return 0;
}
