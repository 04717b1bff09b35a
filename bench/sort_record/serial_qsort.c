/* sort_record/serial_qsort.c - P9c: glibc's qsort, one thread.
 *
 * Usage: sort_record_serial_qsort unstable random|sorted|reversed|few [n]
 *
 * SPDX-License-Identifier: MIT */
#include "sort_record.h"

static int compare(const void *a, const void *b) {
  uint64_t x = ((const record *)a)->key, y = ((const record *)b)->key;
  return (x > y) - (x < y);
}

static void unstable(record *a, size_t n) {
  qsort(a, n, sizeof *a, compare);
}

int main(int argc, char **argv) {
  record_sorts sorts = {unstable, NULL};
  record_measure("serial-qsort", sorts, argc, argv,
                 bench_arg(argc, argv, 3, SORT_RECORD_N));
  return 0;
}
