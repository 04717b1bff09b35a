/* strassen/lace.c - Strassen's product by Lace, a task for each of the seven products.
 *
 * Usage: strassen_lace [threads [n]]
 *
 * SPDX-License-Identifier: MIT */
#include "../common/lace_start.h"
#include "strassen.h"

VOID_TASK_1(multiply, const product *, p) {
  if (p->n <= STRASSEN_LEAF) {
    strassen_leaf(p);
    return;
  }
  strassen_node node;
  strassen_begin(p, &node);
  for (int i = STRASSEN_PRODUCTS - 1; i > 0; i--) SPAWN(multiply, &node.part[i]);
  CALL(multiply, &node.part[0]);
  for (int i = 1; i < STRASSEN_PRODUCTS; i++) SYNC(multiply);
  strassen_end(p, &node);
}

static void whole(const product *p) {
  RUN(multiply, p);
}

int main(int argc, char **argv) {
  bench_lace_start(bench_arg(argc, argv, 1, 2));
  strassen_measure("lace", whole, argc, argv);
  lace_stop();
  return 0;
}
