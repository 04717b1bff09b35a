// fft/tbb.cpp - the transform by oneTBB's parallel_invoke and parallel_for.
//
// Usage: fft_tbb [threads [logarithm of n]]
//
// SPDX-License-Identifier: MIT
#include "../common/tbb_start.h"
#include "fft.h"
#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/parallel_invoke.h>

static void part(const transform *t) {
  if (t->n <= FFT_LEAF) {
    fft_leaf(t);
    return;
  }
  transform even = fft_even(t), odd = fft_odd(t);
  tbb::parallel_invoke([&] { part(&even); }, [&] { part(&odd); });
  using range = tbb::blocked_range<size_t>;
  tbb::parallel_for(range(0, t->n / 2, FFT_LEAF / 2),
                    [t](const range &r) { fft_combine(t, r.begin(), r.end()); });
}

int main(int argc, char **argv) {
  bench_tbb_run(bench_arg(argc, argv, 1, 2), [=] { fft_measure("tbb", part, argc, argv); });
  return 0;
}
