/* uneven/pthreadpool.c - P6: a loop of pthreadpool, whose threads steal single
 * iterations.
 *
 * Usage: uneven_pthreadpool triangular|mandelbrot|pareto|heavy [threads]
 *
 * SPDX-License-Identifier: MIT */
#include "../common/pthreadpool_start.h"
#include "uneven.h"

static pthreadpool_t pool;

typedef struct loop_args {
  uneven_body *body;
  uint64_t *out;
} loop_args;

static void one(void *ctx, size_t i) {
  const loop_args *a = (const loop_args *)ctx;
  a->out[i] += a->body(i);
}

static void loop(uneven_body *body, uint64_t *out, size_t n) {
  loop_args a = {body, out};
  pthreadpool_parallelize_1d(pool, one, &a, n, 0);
}

int main(int argc, char **argv) {
  pool = bench_pthreadpool(bench_arg(argc, argv, 2, 2));
  uneven_measure("pthreadpool", loop, argc, argv);
  pthreadpool_destroy(pool);
  return 0;
}
