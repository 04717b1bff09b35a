/* granularity/pthreadpool.c - the bodies as iterations of a loop of pthreadpool.
 *
 * Usage: granularity_pthreadpool [threads [steps]]
 *
 * SPDX-License-Identifier: MIT */
#include "../common/pthreadpool_start.h"
#include "granularity.h"

static pthreadpool_t pool;

/* Each iteration has a place of its own for its result, since the library has no sums. */
static void body(void *ctx, size_t i) {
  ((uint64_t *)ctx)[i] = (uint64_t)granularity_body(i);
}

static uint64_t *results;

static long loop(long n) {
  uint64_t sum = 0;
  pthreadpool_parallelize_1d(pool, body, results, (size_t)n, 0);
  for (long i = 0; i < n; i++) sum += results[i];
  return (long)sum;
}

int main(int argc, char **argv) {
  pool = bench_pthreadpool(bench_arg(argc, argv, 1, 2));
  results = (uint64_t *)bench_array(GRANULARITY_STEPS, sizeof *results);
  granularity_measure("pthreadpool-loop", loop, argc, argv);
  pthreadpool_destroy(pool);
  free(results);
  return 0;
}
