// uneven/tbb.cpp - P6: oneTBB's parallel_for with its default partitioner, and with
// ranges cut down to single iterations.
//
// Usage: uneven_tbb triangular|mandelbrot|pareto|heavy [threads [auto|simple]]
//
// SPDX-License-Identifier: MIT
#include "uneven.h"
#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

using range = tbb::blocked_range<size_t>;

template <typename Partitioner>
static void loop(uneven_body *body, uint64_t *out, size_t n) {
  tbb::parallel_for(
      range(0, n),
      [=](const range &r) {
        for (size_t i = r.begin(); i != r.end(); i++) out[i] += body(i);
      },
      Partitioner());
}

int main(int argc, char **argv) {
  static const char *const partitioners[] = {"auto", "simple"};
  long threads = bench_arg(argc, argv, 2, 2);
  bool simple = argc > 3 && bench_choose(argc, argv, 3, partitioners, 2) == 1;
  tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                            static_cast<size_t>(threads));
  tbb::task_arena arena(static_cast<int>(threads));
  arena.execute([=] {
    if (simple)
      uneven_measure("tbb-simple", loop<tbb::simple_partitioner>, argc, argv);
    else
      uneven_measure("tbb", loop<tbb::auto_partitioner>, argc, argv);
  });
  return 0;
}
