/* heat/pthreadpool.c - the steps by pthreadpool.
 *
 * Usage: heat_pthreadpool [threads [side]]
 *
 * SPDX-License-Identifier: MIT */
#include "../common/pthreadpool_start.h"
#include "heat.h"

static pthreadpool_t pool;

static void row(void *ctx, size_t i) {
  heat_rows((const plate *)ctx, i + 1, i + 2);
}

static void step(const plate *p) {
  plate copy = *p;
  pthreadpool_parallelize_1d(pool, row, &copy, p->side - 2, 0);
}

int main(int argc, char **argv) {
  pool = bench_pthreadpool(bench_arg(argc, argv, 1, 2));
  heat_measure("pthreadpool", step, argc, argv);
  pthreadpool_destroy(pool);
  return 0;
}
