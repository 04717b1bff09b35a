/* cilksort/serial.c - the merge sort, one step after the other.
 *
 * Usage: cilksort_serial [threads [n]]
 *
 * SPDX-License-Identifier: MIT */
#include "cilksort.h"

static void sort(const sorting *s) {
  if (s->n <= CILKSORT_LEAF) {
    cilksort_leaf(s->a, s->n);
    return;
  }
  sort_parts p = cilksort_parts(s);
  for (int i = 0; i < 4; i++) sort(&p.quarter[i]);
  for (int i = 0; i < 2; i++) cilksort_merge_leaf(&p.half[i]);
  cilksort_merge_leaf(&p.whole);
}

int main(int argc, char **argv) {
  cilksort_measure("serial", sort, argc, argv);
  return 0;
}
