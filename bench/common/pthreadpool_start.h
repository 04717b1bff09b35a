/* common/pthreadpool_start.h - a pthreadpool of a given number of threads, the caller
 * among them. The library has loops only, no tasks.
 *
 * SPDX-License-Identifier: MIT */
#ifndef BENCH_COMMON_PTHREADPOOL_START_H
#define BENCH_COMMON_PTHREADPOOL_START_H

#include "bench.h"
#include <pthreadpool.h>

BENCH_HELPER pthreadpool_t bench_pthreadpool(long threads) {
  pthreadpool_t pool = pthreadpool_create((size_t)threads);
  if (pool == NULL) {
    fprintf(stderr, "pthreadpool: no pool of %ld threads\n", threads);
    exit(2);
  }
  return pool;
}

#endif
