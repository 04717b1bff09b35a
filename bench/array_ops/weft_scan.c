/* array_ops/weft_scan.c - P10: weft's running sum.
 *
 * Usage: array_ops_weft_scan scan [threads [n]]
 *
 * SPDX-License-Identifier: MIT */
#include "../common/weft_start.h"
#include "array_ops.h"

static void scan(double *dst, const double *src, size_t n) {
  weft_scan_f64(dst, src, n);
}

int main(int argc, char **argv) {
  array_ops ops = {NULL, NULL, NULL, scan};
  bench_weft_start(bench_arg(argc, argv, 2, 2));
  array_measure("weft", ops, argc, argv, bench_arg(argc, argv, 3, ARRAY_OPS_N));
  weft_shutdown();
  return 0;
}
