// heat/tbb.cpp - the steps by oneTBB's parallel_for.
//
// Usage: heat_tbb [threads [side]]
//
// SPDX-License-Identifier: MIT
#include "../common/tbb_start.h"
#include "heat.h"
#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>

static void step(const plate *p) {
  using range = tbb::blocked_range<size_t>;
  tbb::parallel_for(range(1, p->side - 1),
                    [p](const range &r) { heat_rows(p, r.begin(), r.end()); });
}

int main(int argc, char **argv) {
  bench_tbb_run(bench_arg(argc, argv, 1, 2),
                [=] { heat_measure("tbb", step, argc, argv); });
  return 0;
}
