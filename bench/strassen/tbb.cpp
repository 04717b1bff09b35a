// strassen/tbb.cpp - Strassen's product by oneTBB's task_group.
//
// Usage: strassen_tbb [threads [n]]
//
// SPDX-License-Identifier: MIT
#include "../common/tbb_start.h"
#include "strassen.h"
#include <oneapi/tbb/task_group.h>

static void multiply(const product *p) {
  if (p->n <= STRASSEN_LEAF) {
    strassen_leaf(p);
    return;
  }
  strassen_node node;
  strassen_begin(p, &node);
  tbb::task_group group;
  for (const product &part : node.part) group.run([&part] { multiply(&part); });
  group.wait();
  strassen_end(p, &node);
}

int main(int argc, char **argv) {
  bench_tbb_run(bench_arg(argc, argv, 1, 2),
                [=] { strassen_measure("tbb", multiply, argc, argv); });
  return 0;
}
