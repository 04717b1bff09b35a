/* uts/serial.c - the walk by recursion.
 *
 * Usage: uts_serial [threads [tree]]
 *
 * SPDX-License-Identifier: MIT */
#include "uts.h"

static long walk(const uts_node *node) {
  long count = 1;
  int children = uts_children(node);
  for (int i = 0; i < children; i++) {
    uts_node child = uts_child(node, i);
    count += walk(&child);
  }
  return count;
}

static long count(long tree) {
  uts_node root = uts_root((int)tree);
  return walk(&root);
}

int main(int argc, char **argv) {
  uts_measure("serial", count, argc, argv);
  return 0;
}
