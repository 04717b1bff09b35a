/* cilksort/weft.c - the merge sort by weft_join; for the library's own sorts see
 * ../sort_scalar.
 *
 * Usage: cilksort_weft [threads [n]]
 *
 * SPDX-License-Identifier: MIT */
#include "../common/weft_start.h"
#include "cilksort.h"

static void merge(void *ctx) {
  const merging *m = (const merging *)ctx;
  merging first, second;
  if (cilksort_split(m, &first, &second))
    weft_join(merge, &first, merge, &second);
  else
    cilksort_merge_leaf(m);
}

static void sort_quarter(void *ctx);

static void sort_half(void *ctx) {
  sorting *pair = (sorting *)ctx;
  weft_join(sort_quarter, &pair[0], sort_quarter, &pair[1]);
}

static void sort_quarter(void *ctx) {
  const sorting *s = (const sorting *)ctx;
  if (s->n <= CILKSORT_LEAF) {
    cilksort_leaf(s->a, s->n);
    return;
  }
  sort_parts p = cilksort_parts(s);
  weft_join(sort_half, &p.quarter[0], sort_half, &p.quarter[2]);
  weft_join(merge, &p.half[0], merge, &p.half[1]);
  merge(&p.whole);
}

static void sort(const sorting *s) {
  sorting whole = *s;
  sort_quarter(&whole);
}

int main(int argc, char **argv) {
  bench_weft_start(bench_arg(argc, argv, 1, 2));
  cilksort_measure("weft", sort, argc, argv);
  weft_shutdown();
  return 0;
}
