// cilksort/tbb.cpp - the merge sort by oneTBB's parallel_invoke.
//
// Usage: cilksort_tbb [threads [n]]
//
// SPDX-License-Identifier: MIT
#include "../common/tbb_start.h"
#include "cilksort.h"
#include <oneapi/tbb/parallel_invoke.h>

static void merge(const merging &m) {
  merging first, second;
  if (cilksort_split(&m, &first, &second))
    tbb::parallel_invoke([&] { merge(first); }, [&] { merge(second); });
  else
    cilksort_merge_leaf(&m);
}

static void sort(const sorting *s) {
  if (s->n <= CILKSORT_LEAF) {
    cilksort_leaf(s->a, s->n);
    return;
  }
  sort_parts p = cilksort_parts(s);
  tbb::parallel_invoke([&] { sort(&p.quarter[0]); }, [&] { sort(&p.quarter[1]); },
                       [&] { sort(&p.quarter[2]); }, [&] { sort(&p.quarter[3]); });
  tbb::parallel_invoke([&] { merge(p.half[0]); }, [&] { merge(p.half[1]); });
  merge(p.whole);
}

int main(int argc, char **argv) {
  bench_tbb_run(bench_arg(argc, argv, 1, 2),
                [=] { cilksort_measure("tbb", sort, argc, argv); });
  return 0;
}
