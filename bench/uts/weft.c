/* uts/weft.c - the walk by weft_join, which halves the children of a node.
 *
 * Usage: uts_weft [threads [tree]]
 *
 * SPDX-License-Identifier: MIT */
#include "../common/weft_start.h"
#include "uts.h"

/* Some of the children of a node, at least one. */
typedef struct span {
  const uts_node *parent;
  int first, end;
  long count;
} span;

static long walk(const uts_node *node);

static void walk_span(void *ctx) {
  span *s = (span *)ctx;
  if (s->end - s->first == 1) {
    uts_node child = uts_child(s->parent, s->first);
    s->count = walk(&child);
    return;
  }
  int middle = s->first + (s->end - s->first) / 2;
  span left = {s->parent, s->first, middle, 0}, right = {s->parent, middle, s->end, 0};
  weft_join(walk_span, &left, walk_span, &right);
  s->count = left.count + right.count;
}

static long walk(const uts_node *node) {
  span all = {node, 0, uts_children(node), 0};
  if (all.end != 0) walk_span(&all);
  return 1 + all.count;
}

static long count(long tree) {
  uts_node root = uts_root((int)tree);
  return walk(&root);
}

int main(int argc, char **argv) {
  bench_weft_start(bench_arg(argc, argv, 1, 2));
  uts_measure("weft", count, argc, argv);
  weft_shutdown();
  return 0;
}
