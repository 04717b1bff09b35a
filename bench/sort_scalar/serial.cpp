// sort_scalar/serial.cpp - P8: std::sort, one thread.
//
// Usage: sort_scalar_serial u64|i32|f64 [n]
//
// SPDX-License-Identifier: MIT
#include "sort_scalar.h"
#include <algorithm>

template <typename T> static void sort(T *a, size_t n) {
  std::sort(a, a + n);
}

int main(int argc, char **argv) {
  scalar_sorts sorts = {sort<uint64_t>, sort<int32_t>, sort<double>};
  scalar_measure("serial", sorts, argc, argv, bench_arg(argc, argv, 2, SORT_SCALAR_N));
  return 0;
}
