/* sort_scalar/weft.c - P8: weft's typed sorts.
 *
 * Usage: sort_scalar_weft u64|i32|f64 [threads [n]]
 *
 * SPDX-License-Identifier: MIT */
#include "../common/weft_start.h"
#include "sort_scalar.h"

int main(int argc, char **argv) {
  scalar_sorts sorts = {weft_sort_u64, weft_sort_i32, weft_sort_f64};
  bench_weft_start(bench_arg(argc, argv, 2, 2));
  scalar_measure("weft", sorts, argc, argv, bench_arg(argc, argv, 3, SORT_SCALAR_N));
  weft_shutdown();
  return 0;
}
