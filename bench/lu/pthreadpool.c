/* lu/pthreadpool.c - the factors by pthreadpool.
 *
 * Usage: lu_pthreadpool [threads [n]]
 *
 * SPDX-License-Identifier: MIT */
#include "../common/pthreadpool_start.h"
#include "lu.h"

static pthreadpool_t pool;

static void border(void *ctx, size_t i) {
  lu_border((const lu_matrix *)ctx, i);
}

static void inner(void *ctx, size_t i) {
  lu_inner((const lu_matrix *)ctx, i);
}

static void step(const lu_matrix *m) {
  lu_matrix copy = *m;
  lu_diagonal(m);
  pthreadpool_parallelize_1d(pool, border, &copy, lu_borders(m), 0);
  pthreadpool_parallelize_1d(pool, inner, &copy, lu_inners(m), 0);
}

int main(int argc, char **argv) {
  pool = bench_pthreadpool(bench_arg(argc, argv, 1, 2));
  lu_measure("pthreadpool", step, argc, argv);
  pthreadpool_destroy(pool);
  return 0;
}
