/* common/weft_start.h - starts the global weft pool the way every weft contestant does:
 * the default configuration with a given number of threads, the caller among them.
 *
 * SPDX-License-Identifier: MIT */
#ifndef BENCH_COMMON_WEFT_START_H
#define BENCH_COMMON_WEFT_START_H

#include "bench.h"
#include <weft.h>

BENCH_HELPER void bench_weft_start(long threads) {
  weft_config config = WEFT_CONFIG_INIT;
  config.threads = (unsigned)threads;
  int status = weft_init(&config);
  if (status != 0) {
    fprintf(stderr, "weft: no pool of %ld threads: %s\n", threads, weft_strerror(status));
    exit(2);
  }
}

/* How often the pool's threads have gone to sleep so far. */
BENCH_HELPER double bench_weft_sleeps(void) {
  weft_stats stats;
  memset(&stats, 0, sizeof stats);
  stats.struct_size = sizeof stats;
  weft_pool_stats(NULL, &stats);
  return (double)stats.sleeps;
}

#endif
