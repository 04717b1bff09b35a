// sort_record/tbb.cpp - P9: oneTBB's parallel_sort, which is not stable, inside an arena
// of the given size.
//
// Usage: sort_record_tbb unstable random|sorted|reversed|few [threads [n]]
//
// SPDX-License-Identifier: MIT
#include "sort_record.h"
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_sort.h>
#include <oneapi/tbb/task_arena.h>

static void sort(record *a, size_t n) {
  tbb::parallel_sort(a, a + n,
                     [](const record &x, const record &y) { return x.key < y.key; });
}

int main(int argc, char **argv) {
  record_sorts sorts = {sort, nullptr};
  long threads = bench_arg(argc, argv, 3, 2);
  long n = bench_arg(argc, argv, 4, SORT_RECORD_N);
  tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                            static_cast<size_t>(threads));
  tbb::task_arena arena(static_cast<int>(threads));
  arena.execute([=] { record_measure("tbb", sorts, argc, argv, n); });
  return 0;
}
