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

/* Whether threads that wait compute or sleep is fixed when the process starts: the
 * program starts itself again with the policy set, "active" or "passive". */
BENCH_HELPER void bench_omp_wait(const char *policy, char **argv) {
  if (getenv("OMP_WAIT_POLICY") != NULL) return;
  setenv("OMP_WAIT_POLICY", policy, 1);
  execv("/proc/self/exe", argv);
  perror("bench: execv");
  exit(2);
}

BENCH_HELPER void bench_omp_start(long threads) {
  omp_set_dynamic(0);
  omp_set_num_threads((int)threads);
}

#endif
