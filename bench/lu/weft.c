/* lu/weft.c - the factors by weft_for. A thread begins each loop with its own half of the
 * blocks (WEFT_SPLIT_HOME), which is about the half that it had in the step before: one
 * steal for each loop, as all blocks take equally long. One block of the matrix, some
 * microseconds of work, is one block of the loop.
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
  weft_opts each = WEFT_OPTS_HOME(1);
  lu_diagonal(m);
  each.target_chunks = lu_borders(m);
  weft_for_with(&each, lu_borders(m), border, &copy);
  each.target_chunks = lu_inners(m);
  weft_for_with(&each, lu_inners(m), inner, &copy);
}

int main(int argc, char **argv) {
  bench_weft_start(bench_arg(argc, argv, 1, 2));
  lu_measure("weft", step, argc, argv);
  weft_shutdown();
  return 0;
}
