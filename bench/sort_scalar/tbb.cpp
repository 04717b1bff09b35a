// sort_scalar/tbb.cpp - P8: oneTBB's parallel_sort inside an arena of the given size.
//
// Usage: sort_scalar_tbb u64|i32|f64 [threads [n]]
//
// SPDX-License-Identifier: MIT
#include "sort_scalar.h"
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_sort.h>
#include <oneapi/tbb/task_arena.h>

template <typename T> static void sort(T *a, size_t n) {
  tbb::parallel_sort(a, a + n);
}

int main(int argc, char **argv) {
  scalar_sorts sorts = {sort<uint64_t>, sort<int32_t>, sort<double>};
  long threads = bench_arg(argc, argv, 2, 2);
  long n = bench_arg(argc, argv, 3, SORT_SCALAR_N);
  tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                            static_cast<size_t>(threads));
  tbb::task_arena arena(static_cast<int>(threads));
  arena.execute([=] { scalar_measure("tbb", sorts, argc, argv, n); });
  return 0;
}
