/* uts/uts.h - P16: counting the nodes of an unbalanced tree, which is made while it is
 * walked: the UTS benchmark of Olivier and others (2006).
 *
 * A node is 20 bytes of SHA-1. The first is the hash of a seed, and child number i of a
 * node is the hash of the node and i; so every subtree can be made alone, in any order.
 * How many children a node has is drawn from its last 31 bits:
 *
 *     T1  geometric: the mean is 4 above depth 10 and 0 below; seed 19; 4,130,071 nodes
 *     T3  binomial: the root has 2000 children, others 8 with probability 0.124875, else
 *         none; seed 42; 4,112,897 nodes, 1572 deep
 *
 * All contestants share kernel.c, and all fork for every child, without a cut-off.
 *
 * SPDX-License-Identifier: MIT */
#ifndef BENCH_UTS_UTS_H
#define BENCH_UTS_UTS_H

#include "../common/bench.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { UTS_T1 = 1, UTS_T3 = 3, UTS_SMALL = 0 };

/* The tree is part of the node, so that nothing is global. */
typedef struct uts_node {
  unsigned char state[20];
  int depth, tree;
} uts_node;

uts_node uts_root(int tree);
int uts_children(const uts_node *node);
uts_node uts_child(const uts_node *node, int i);

#ifdef __cplusplus
}
#endif

/* The number of nodes in the tree, T1 or T3 (or a small one, for trials). */
BENCH_HELPER long uts_answer(long tree) {
  return tree == UTS_T1 ? 4130071 : tree == UTS_T3 ? 4112897 : 3987;
}

/* Arguments of every contestant: threads, tree (1, 3, or 0 for the small one). */
BENCH_HELPER void uts_measure(const char *who, bench_work *count, int argc, char **argv) {
  long tree = bench_arg(argc, argv, 2, UTS_T1);
  bench_measure(who, count, UTS_SMALL, tree, uts_answer(tree));
}

#endif
