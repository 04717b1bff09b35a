// sort_record/ips4o.cpp - P9: the parallel in-place samplesort of libips4o-dev, which is
// not stable. Built with OpenMP, whose threads stay from call to call.
//
// Usage: sort_record_ips4o unstable random|sorted|reversed|few [threads [n]]
//
// SPDX-License-Identifier: MIT
#include "sort_record.h"
#include <ips4o.hpp>

#ifndef CONTESTANT /* another name where it is built with other flags */
#define CONTESTANT "ips4o"
#endif

static int threads;

static void sort(record *a, size_t n) {
  ips4o::parallel::sort(
      a, a + n, [](const record &x, const record &y) { return x.key < y.key; }, threads);
}

int main(int argc, char **argv) {
  record_sorts sorts = {sort, nullptr};
  threads = static_cast<int>(bench_arg(argc, argv, 3, 2));
  record_measure(CONTESTANT, sorts, argc, argv, bench_arg(argc, argv, 4, SORT_RECORD_N));
  return 0;
}
