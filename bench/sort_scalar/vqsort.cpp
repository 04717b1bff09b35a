// sort_scalar/vqsort.cpp - P8: the vectorised quicksort of Highway (libhwy-dev), which
// has one thread. It chooses the widest vectors that the CPU has: 512 bits where weft's
// sorts have them, too. With 256 it stays at AVX2: on Zen 4, Highway 1.0.3 is eight times
// as fast with it for numbers of 32 bits (1 M i32: 4.8 ms, and 36 with 512 bits).
//
// Usage: sort_scalar_vqsort u64|i32|f64 [n [256]]
//
// SPDX-License-Identifier: MIT
#include "sort_scalar.h"
#include <hwy/contrib/sort/vqsort.h>
#include <hwy/targets.h>

template <typename T> static void sort(T *a, size_t n) {
  static hwy::Sorter sorter; // its memory is allocated once, before the clock starts
  sorter(a, n, hwy::SortAscending());
}

// A target with a lower number is a better one.
static const char *choose_vectors(bool narrow) {
  if (!narrow) return "vqsort";
#if HWY_ARCH_X86
  hwy::DisableTargets(HWY_AVX2 - 1);
#endif
  return "vqsort-256";
}

int main(int argc, char **argv) {
  scalar_sorts sorts = {sort<uint64_t>, sort<int32_t>, sort<double>};
  const char *who = choose_vectors(bench_arg(argc, argv, 3, 512) == 256);
  scalar_measure(who, sorts, argc, argv, bench_arg(argc, argv, 2, SORT_SCALAR_N));
  return 0;
}
