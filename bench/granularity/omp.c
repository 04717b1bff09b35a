/* granularity/omp.c - the bodies as leaves of a tree of OpenMP tasks; and as iterations
 * of a loop with the default schedule, as omp-...-loop.
 *
 * Usage: granularity_omp_gcc|granularity_omp_clang [threads [steps [loop]]]
 *
 * SPDX-License-Identifier: MIT */
#include "../common/omp_start.h"
#include "granularity.h"

static uint64_t tree(uint64_t first, uint64_t count) {
  if (count == 1) return (uint64_t)granularity_body(first);
  uint64_t half = count / 2, left, right;
#pragma omp task shared(left) firstprivate(first, half)
  left = tree(first, half);
  right = tree(first + half, count - half);
#pragma omp taskwait
  return left + right;
}

static long by_tree(long n) {
  uint64_t sum = 0;
#pragma omp parallel
#pragma omp single
  sum = tree(0, (uint64_t)n);
  return (long)sum;
}

static long by_loop(long n) {
  uint64_t sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (long i = 0; i < n; i++) sum += (uint64_t)granularity_body((uint64_t)i);
  return (long)sum;
}

int main(int argc, char **argv) {
  bench_omp_start(bench_arg(argc, argv, 1, 2));
  if (argc > 3 && strcmp(argv[3], "loop") == 0)
    granularity_measure(BENCH_OMP "-loop", by_loop, argc, argv);
  else
    granularity_measure(BENCH_OMP, by_tree, argc, argv);
  return 0;
}
