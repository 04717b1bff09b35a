/* cilksort/lace.c - the merge sort by Lace.
 *
 * Usage: cilksort_lace [threads [n]]
 *
 * SPDX-License-Identifier: MIT */
#include "../common/lace_start.h"
#include "cilksort.h"

VOID_TASK_1(merge, const merging *, m) {
  merging first, second;
  if (!cilksort_split(m, &first, &second)) {
    cilksort_merge_leaf(m);
    return;
  }
  SPAWN(merge, &second);
  CALL(merge, &first);
  SYNC(merge);
}

VOID_TASK_1(sort, const sorting *, s) {
  if (s->n <= CILKSORT_LEAF) {
    cilksort_leaf(s->a, s->n);
    return;
  }
  sort_parts p = cilksort_parts(s);
  for (int i = 3; i > 0; i--) SPAWN(sort, &p.quarter[i]);
  CALL(sort, &p.quarter[0]);
  for (int i = 1; i < 4; i++) SYNC(sort);
  SPAWN(merge, &p.half[1]);
  CALL(merge, &p.half[0]);
  SYNC(merge);
  CALL(merge, &p.whole);
}

static void start(const sorting *s) {
  RUN(sort, s);
}

int main(int argc, char **argv) {
  bench_lace_start(bench_arg(argc, argv, 1, 2));
  cilksort_measure("lace", start, argc, argv);
  lace_stop();
  return 0;
}
