/* tree/weft.h - the full binary tree by weft_join; used by weft.c and asleep.c.
 *
 * SPDX-License-Identifier: MIT */
#ifndef BENCH_TREE_WEFT_H
#define BENCH_TREE_WEFT_H

#include "../common/weft_start.h"

typedef struct node_args {
  long depth, result;
} node_args;

static void node(void *ctx) {
  node_args *v = (node_args *)ctx;
  if (v->depth == 0) {
    v->result = 1;
    return;
  }
  node_args left, right;
  left.depth = right.depth = v->depth - 1;
  weft_join(node, &left, node, &right);
  v->result = left.result + right.result;
}

/* Called from outside the pool: each call enters and leaves it. */
static long tree_weft(long depth) {
  node_args root = {depth, 0};
  node(&root);
  return root.result;
}

#endif
