/* matmul/weft.c - the product by weft_join.
 *
 * Usage: matmul_weft [threads [n]]
 *
 * SPDX-License-Identifier: MIT */
#include "../common/weft_start.h"
#include "matmul.h"

static void multiply(void *ctx) {
  const product *p = (const product *)ctx;
  product first, second;
  switch (matmul_split(p, &first, &second)) {
  case 0:
    matmul_leaf(p);
    break;
  case 'k':
    multiply(&first);
    multiply(&second);
    break;
  default:
    weft_join(multiply, &first, multiply, &second);
  }
}

static void start(const product *p) {
  product whole = *p;
  multiply(&whole);
}

int main(int argc, char **argv) {
  bench_weft_start(bench_arg(argc, argv, 1, 2));
  matmul_measure("weft", start, argc, argv);
  weft_shutdown();
  return 0;
}
