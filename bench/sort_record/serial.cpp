// sort_record/serial.cpp - P9: std::sort and std::stable_sort, one thread.
//
// Usage: sort_record_serial unstable|stable random|sorted|reversed|few [n]
//
// SPDX-License-Identifier: MIT
#include "sort_record.h"
#include <algorithm>

static bool less(const record &a, const record &b) {
  return a.key < b.key;
}

int main(int argc, char **argv) {
  record_sorts sorts = {
      [](record *a, size_t n) {
        std::sort(a, a + n, [](const record &x, const record &y) { return less(x, y); });
      },
      [](record *a, size_t n) {
        std::stable_sort(a, a + n,
                         [](const record &x, const record &y) { return less(x, y); });
      }};
  record_measure("serial", sorts, argc, argv, bench_arg(argc, argv, 3, SORT_RECORD_N));
  return 0;
}
