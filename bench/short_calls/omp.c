/* short_calls/omp.c - P18: OpenMP tasks, one of the two calls a task; each call from
 * outside is a parallel region, whose team stays from call to call.
 *
 * Usage: short_calls_omp_gcc|short_calls_omp_clang [threads [us [alone|busy]]]
 *
 * SPDX-License-Identifier: MIT */
#include "../common/omp_start.h"
#include "short_calls.h"

static uint64_t hash(const uint64_t *numbers, size_t count) {
  if (count <= SHORT_LEAF) return short_calls_leaf(numbers, count);
  size_t half = count / 2;
  uint64_t left, right;
#pragma omp task shared(left) firstprivate(numbers, half)
  left = hash(numbers, half);
  right = hash(numbers + half, count - half);
#pragma omp taskwait
  return short_combine(left, right);
}

static long work(long n) {
  uint64_t result = 0;
#pragma omp parallel
#pragma omp single
  result = hash(short_numbers, (size_t)n);
  return (long)result;
}

int main(int argc, char **argv) {
  long n = short_calls_begin(argc, argv, 2);
  bench_omp_start(bench_arg(argc, argv, 1, 2));
  short_calls_measure(BENCH_OMP, work, n);
  return 0;
}
