/* common/lace_start.h - starts Lace with a given number of workers. The calling thread is
 * not one of them: it waits in RUN. The deques have room for 100,000 tasks, as in Lace's
 * own benchmarks; Lace ends the program where that is too little.
 *
 * SPDX-License-Identifier: MIT */
#ifndef BENCH_COMMON_LACE_START_H
#define BENCH_COMMON_LACE_START_H

#include "bench.h"
#include <lace.h>

BENCH_HELPER void bench_lace_start(long threads) {
  lace_start((unsigned)threads, 100000);
}

#endif
