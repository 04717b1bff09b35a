// sort_scalar/ips4o.cpp - P8: the parallel in-place samplesort of libips4o-dev. Built
// with OpenMP, whose threads stay from call to call.
//
// Usage: sort_scalar_ips4o u64|i32|f64 [threads [n]]
//
// SPDX-License-Identifier: MIT
#include "sort_scalar.h"
#include <functional>
#include <ips4o.hpp>

#ifndef CONTESTANT /* another name where it is built with other flags */
#define CONTESTANT "ips4o"
#endif

static int threads;

template <typename T> static void sort(T *a, size_t n) {
  ips4o::parallel::sort(a, a + n, std::less<>(), threads);
}

int main(int argc, char **argv) {
  scalar_sorts sorts = {sort<uint64_t>, sort<int32_t>, sort<double>};
  threads = static_cast<int>(bench_arg(argc, argv, 2, 2));
  scalar_measure(CONTESTANT, sorts, argc, argv, bench_arg(argc, argv, 3, SORT_SCALAR_N));
  return 0;
}
