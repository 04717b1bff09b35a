// stream/tbb.cpp - P5: the loops by oneTBB, with its default partitioner and with the
// static one, which suits even loops.
//
// Usage: stream_tbb sum|dot|map|saxpy [threads [auto|static [n]]]
//
// SPDX-License-Identifier: MIT
#include "stream.h"
#include <functional>
#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/parallel_reduce.h>
#include <oneapi/tbb/task_arena.h>

using range = tbb::blocked_range<size_t>;

template <typename Partitioner> struct loops_by {
  static double sum(const double *x, size_t n) {
    return tbb::parallel_reduce(
        range(0, n), 0.0,
        [=](const range &r, double s) {
          for (size_t i = r.begin(); i != r.end(); i++) s += x[i];
          return s;
        },
        std::plus<double>(), Partitioner());
  }

  static double dot(const double *x, const double *y, size_t n) {
    return tbb::parallel_reduce(
        range(0, n), 0.0,
        [=](const range &r, double s) {
          for (size_t i = r.begin(); i != r.end(); i++) s += x[i] * y[i];
          return s;
        },
        std::plus<double>(), Partitioner());
  }

  static void map(double *y, const double *x, double c, size_t n) {
    tbb::parallel_for(
        range(0, n),
        [=](const range &r) {
          for (size_t i = r.begin(); i != r.end(); i++) y[i] = 3 * x[i] + c;
        },
        Partitioner());
  }

  static void saxpy(double *y, const double *x, size_t n) {
    tbb::parallel_for(
        range(0, n),
        [=](const range &r) {
          for (size_t i = r.begin(); i != r.end(); i++) y[i] += 2 * x[i];
        },
        Partitioner());
  }

  static stream_loops all() {
    return {sum, dot, map, saxpy};
  }
};

int main(int argc, char **argv) {
  static const char *const partitioners[] = {"auto", "static"};
  int which = stream_choose(argc, argv);
  long threads = bench_arg(argc, argv, 2, 2);
  bool even = argc > 3 && bench_choose(argc, argv, 3, partitioners, 2) == 1;
  long n = bench_arg(argc, argv, 4, STREAM_N);
  tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                            static_cast<size_t>(threads));
  tbb::task_arena arena(static_cast<int>(threads));
  arena.execute([=] {
    if (even)
      stream_measure("tbb-static", loops_by<tbb::static_partitioner>::all(), which, n);
    else
      stream_measure("tbb", loops_by<tbb::auto_partitioner>::all(), which, n);
  });
  return 0;
}
