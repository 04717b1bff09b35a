/* array_ops/weft.c - P10: the array functions that weft's macros generate.
 *
 * Usage: array_ops_weft filter|filter-few|filter-new|count|early|late|absent
 *        [threads [n]]
 *
 * SPDX-License-Identifier: MIT */
#include "../common/weft_start.h"
#include "array_ops.h"

static inline bool is_above(double x, void *limit) {
  return x > *(const double *)limit;
}

WEFT_FILTER(keep_above, double, is_above)
WEFT_COUNT(count_above, double, is_above)
WEFT_FIND(find_above, double, is_above)

static size_t filter(double *dst, const double *src, size_t n, double limit) {
  return keep_above(dst, src, n, &limit);
}

static size_t count(const double *a, size_t n, double limit) {
  return count_above(a, n, &limit);
}

static size_t find(const double *a, size_t n, double limit) {
  return find_above(a, n, &limit);
}

int main(int argc, char **argv) {
  array_ops ops = {filter, count, find, NULL};
  bench_weft_start(bench_arg(argc, argv, 2, 2));
  array_measure("weft", ops, argc, argv, bench_arg(argc, argv, 3, ARRAY_OPS_N));
  weft_shutdown();
  return 0;
}
