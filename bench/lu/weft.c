/* lu/weft.c - the factors by weft_for.
 *
 * Usage: lu_weft [threads [n]]
 *
 * SPDX-License-Identifier: MIT */
#include "../common/weft_start.h"
#include "lu.h"

static void border(size_t begin, size_t end, void *ctx) {
  for (size_t i = begin; i < end; i++) lu_border((const lu_matrix *)ctx, i);
}

static void inner(size_t begin, size_t end, void *ctx) {
  for (size_t i = begin; i < end; i++) lu_inner((const lu_matrix *)ctx, i);
}

static void step(const lu_matrix *m) {
  lu_matrix copy = *m;
  lu_diagonal(m);
  weft_for(lu_borders(m), border, &copy);
  weft_for(lu_inners(m), inner, &copy);
}

int main(int argc, char **argv) {
  bench_weft_start(bench_arg(argc, argv, 1, 2));
  lu_measure("weft", step, argc, argv);
  weft_shutdown();
  return 0;
}
