/* sort_record/weft_compare.c - P9c: weft_sort with a comparator, as qsort takes it.
 *
 * Usage: sort_record_weft_compare unstable|stable random|sorted|reversed|few [threads
 * [n]]
 *
 * SPDX-License-Identifier: MIT */
#include "../common/weft_start.h"
#include "sort_record.h"

static int compare(const void *a, const void *b, void *ctx) {
  uint64_t x = ((const record *)a)->key, y = ((const record *)b)->key;
  (void)ctx;
  return (x > y) - (x < y);
}

static void unstable(record *a, size_t n) {
  weft_sort(a, n, sizeof *a, compare, NULL);
}

static void stable(record *a, size_t n) {
  weft_sort_stable(a, n, sizeof *a, compare, NULL);
}

int main(int argc, char **argv) {
  record_sorts sorts = {unstable, stable};
  bench_weft_start(bench_arg(argc, argv, 3, 2));
  record_measure("weft-compare", sorts, argc, argv,
                 bench_arg(argc, argv, 4, SORT_RECORD_N));
  weft_shutdown();
  return 0;
}
