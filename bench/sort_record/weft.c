/* sort_record/weft.c - P9: the sorts that WEFT_SORT generates.
 *
 * Usage: sort_record_weft unstable|stable random|sorted|reversed|few [threads [n]]
 *
 * SPDX-License-Identifier: MIT */
#include "../common/weft_start.h"
#include "sort_record.h"

static inline bool record_less(const record *a, const record *b, void *ctx) {
  (void)ctx;
  return a->key < b->key;
}

WEFT_SORT(sort_records, record, record_less)

static void unstable(record *a, size_t n) {
  sort_records(a, n, NULL);
}

static void stable(record *a, size_t n) {
  sort_records_stable(a, n, NULL);
}

int main(int argc, char **argv) {
  record_sorts sorts = {unstable, stable};
  bench_weft_start(bench_arg(argc, argv, 3, 2));
  record_measure("weft", sorts, argc, argv, bench_arg(argc, argv, 4, SORT_RECORD_N));
  weft_shutdown();
  return 0;
}
