/* fft/omp.c - the transform by OpenMP tasks, its combining loops by taskloop.
 *
 * Usage: fft_omp_gcc|fft_omp_clang [threads [logarithm of n]]
 *
 * SPDX-License-Identifier: MIT */
#include "../common/omp_start.h"
#include "fft.h"

static void part(const transform *t) {
  if (t->n <= FFT_LEAF) {
    fft_leaf(t);
    return;
  }
  transform even = fft_even(t), odd = fft_odd(t);
#pragma omp task shared(even)
  part(&even);
  part(&odd);
#pragma omp taskwait
#pragma omp taskloop grainsize(1)
  for (size_t block = 0; block < t->n / FFT_LEAF; block++)
    fft_combine(t, block * (FFT_LEAF / 2), (block + 1) * (FFT_LEAF / 2));
}

static void whole(const transform *t) {
#pragma omp parallel
#pragma omp single
  part(t);
}

int main(int argc, char **argv) {
  bench_omp_start(bench_arg(argc, argv, 1, 2));
  fft_measure(BENCH_OMP, whole, argc, argv);
  return 0;
}
