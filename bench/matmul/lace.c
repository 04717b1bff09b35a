/* matmul/lace.c - the product by Lace.
 *
 * Usage: matmul_lace [threads [n]]
 *
 * SPDX-License-Identifier: MIT */
#include "../common/lace_start.h"
#include "matmul.h"

VOID_TASK_1(multiply, const product *, p) {
  product first, second;
  switch (matmul_split(p, &first, &second)) {
  case 0:
    matmul_leaf(p);
    break;
  case 'k':
    CALL(multiply, &first);
    CALL(multiply, &second);
    break;
  default:
    SPAWN(multiply, &second);
    CALL(multiply, &first);
    SYNC(multiply);
  }
}

static void start(const product *p) {
  RUN(multiply, p);
}

int main(int argc, char **argv) {
  bench_lace_start(bench_arg(argc, argv, 1, 2));
  matmul_measure("lace", start, argc, argv);
  lace_stop();
  return 0;
}
