/* knapsack/knapsack.h - the most valuable load of a knapsack, by trying each item with
 * and without: a fork for each item, four arguments, no cut-off. Branches are not bounded
 * by the best load so far, because then the work would depend on who is first.
 *
 * SPDX-License-Identifier: MIT */
#ifndef BENCH_KNAPSACK_KNAPSACK_H
#define BENCH_KNAPSACK_KNAPSACK_H

#include "../common/bench.h"

enum { KNAPSACK_MOST = 40 };

typedef struct item {
  long value, weight;
} item;

static item knapsack_items[KNAPSACK_MOST];

/* Makes n items, and returns a capacity that half of them fill. */
BENCH_HELPER long knapsack_fill(long n) {
  uint64_t state = 1;
  long weight = 0;
  for (long i = 0; i < n; i++) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    knapsack_items[i].weight = 10 + (long)(state >> 40) % 50;
    knapsack_items[i].value = knapsack_items[i].weight + (long)(state >> 20) % 10;
    weight += knapsack_items[i].weight;
  }
  return weight / 2;
}

/* Arguments of every contestant: threads, items. */
BENCH_HELPER void knapsack_measure(const char *who, bench_work *fill, int argc,
                                   char **argv) {
  long n = bench_arg(argc, argv, 2, 20);
  if (n < 1 || n > KNAPSACK_MOST) exit(2);
  bench_measure_first(who, fill, n);
}

#endif
