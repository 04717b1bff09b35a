/* common/omp_start.h - what OpenMP contestants share: their name and their threads.
 *
 * SPDX-License-Identifier: MIT */
#ifndef BENCH_COMMON_OMP_START_H
#define BENCH_COMMON_OMP_START_H

#include "bench.h"
#include <omp.h>

#ifdef __clang__
#define BENCH_OMP "omp-clang"
#else
#define BENCH_OMP "omp-gcc"
#endif

BENCH_HELPER void bench_omp_start(long threads) {
  omp_set_dynamic(0);
  omp_set_num_threads((int)threads);
}

#endif
