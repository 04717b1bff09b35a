/* array_ops/serial.c - P10: the plain loops.
 *
 * Usage: array_ops_serial operation [n]
 *
 * SPDX-License-Identifier: MIT */
#include "array_ops.h"

static size_t filter(double *dst, const double *src, size_t n, double limit) {
  size_t kept = 0;
  for (size_t i = 0; i < n; i++)
    if (src[i] > limit) dst[kept++] = src[i];
  return kept;
}

static size_t count(const double *a, size_t n, double limit) {
  size_t counted = 0;
  for (size_t i = 0; i < n; i++) counted += a[i] > limit;
  return counted;
}

static size_t find(const double *a, size_t n, double limit) {
  for (size_t i = 0; i < n; i++)
    if (a[i] > limit) return i;
  return SIZE_MAX;
}

static void scan(double *dst, const double *src, size_t n) {
  double sum = 0;
  for (size_t i = 0; i < n; i++) dst[i] = sum += src[i];
}

int main(int argc, char **argv) {
  array_ops ops = {filter, count, find, scan};
  array_measure("serial", ops, argc, argv, bench_arg(argc, argv, 2, ARRAY_OPS_N));
  return 0;
}
