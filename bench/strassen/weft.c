/* strassen/weft.c - Strassen's product by a scope with seven tasks.
 *
 * Usage: strassen_weft [threads [n]]
 *
 * SPDX-License-Identifier: MIT */
#include "../common/weft_start.h"
#include "strassen.h"

static void multiply(void *ctx) {
  const product *p = (const product *)ctx;
  if (p->n <= STRASSEN_LEAF) {
    strassen_leaf(p);
    return;
  }
  strassen_node node;
  weft_scope scope;
  strassen_begin(p, &node);
  weft_scope_begin(&scope);
  for (int i = 0; i < STRASSEN_PRODUCTS; i++) weft_spawn(&scope, multiply, &node.part[i]);
  weft_scope_end(&scope);
  strassen_end(p, &node);
}

static void whole(const product *p) {
  product copy = *p;
  multiply(&copy);
}

int main(int argc, char **argv) {
  bench_weft_start(bench_arg(argc, argv, 1, 2));
  strassen_measure("weft", whole, argc, argv);
  weft_shutdown();
  return 0;
}
