/* empty_loop/pthreadpool.c - P7: a loop of pthreadpool.
 *
 * Usage: empty_loop_pthreadpool [threads]
 *
 * SPDX-License-Identifier: MIT */
#include "../common/pthreadpool_start.h"
#include "empty_loop.h"

static pthreadpool_t pool;

static void nothing(void *ctx, size_t i) {
  (void)ctx;
  (void)i;
  EMPTY_LOOP_NOTHING();
}

static void count(void *ctx, size_t i) {
  (void)i;
  __atomic_fetch_add((long *)ctx, 1, __ATOMIC_RELAXED);
}

static long empty(long n) {
  pthreadpool_parallelize_1d(pool, nothing, NULL, (size_t)n, 0);
  return n;
}

static long counted(long n) {
  long ran = 0;
  pthreadpool_parallelize_1d(pool, count, &ran, (size_t)n, 0);
  return ran;
}

int main(int argc, char **argv) {
  pool = bench_pthreadpool(bench_arg(argc, argv, 1, 2));
  empty_loop_measure("pthreadpool", empty, counted);
  pthreadpool_destroy(pool);
  return 0;
}
