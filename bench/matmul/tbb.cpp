// matmul/tbb.cpp - the product by oneTBB's parallel_invoke.
//
// Usage: matmul_tbb [threads [n]]
//
// SPDX-License-Identifier: MIT
#include "../common/tbb_start.h"
#include "matmul.h"
#include <oneapi/tbb/parallel_invoke.h>

static void multiply(const product *p) {
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
    tbb::parallel_invoke([&first] { multiply(&first); }, [&second] { multiply(&second); });
  }
}

int main(int argc, char **argv) {
  bench_tbb_run(bench_arg(argc, argv, 1, 2),
                [=] { matmul_measure("tbb", multiply, argc, argv); });
  return 0;
}
