// lu/tbb.cpp - the factors by oneTBB's parallel_for.
//
// Usage: lu_tbb [threads [n]]
//
// SPDX-License-Identifier: MIT
#include "../common/tbb_start.h"
#include "lu.h"
#include <oneapi/tbb/parallel_for.h>

static void step(const lu_matrix *m) {
  lu_diagonal(m);
  tbb::parallel_for(size_t(0), lu_borders(m), [m](size_t i) { lu_border(m, i); });
  tbb::parallel_for(size_t(0), lu_inners(m), [m](size_t i) { lu_inner(m, i); });
}

int main(int argc, char **argv) {
  bench_tbb_run(bench_arg(argc, argv, 1, 2), [=] { lu_measure("tbb", step, argc, argv); });
  return 0;
}
