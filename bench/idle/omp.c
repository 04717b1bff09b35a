/* idle/omp.c - P13: an OpenMP team that idles, and bursts by tasks. Whether its threads
 * sleep between bursts is up to the library's waiting policy, which stays as it is.
 *
 * Usage: idle_omp_gcc|idle_omp_clang idle|ticks|burst [seconds [threads]]
 *
 * SPDX-License-Identifier: MIT */
#include "../common/omp_start.h"
#include "idle.h"

static uint64_t node(uint64_t index) {
  if (index >> burst_depth != 0) return leaf(index);
  uint64_t left, right;
#pragma omp task shared(left) firstprivate(index)
  left = node(2 * index);
  right = node(2 * index + 1);
#pragma omp taskwait
  return left + right;
}

static uint64_t burst(void) {
  uint64_t sum = 0;
#pragma omp parallel
#pragma omp single
  sum = node(1);
  return sum;
}

int main(int argc, char **argv) {
  bench_omp_start(bench_arg(argc, argv, 3, 2));
  return idle_main(BENCH_OMP, burst, argc, argv);
}
