// array_ops/tbb.cpp - P10: oneTBB's parallel_scan, for running sums and for a filter that
// keeps the order, and parallel_reduce for counting.
//
// Usage: array_ops_tbb filter|filter-few|count|scan [threads [n]]
//
// SPDX-License-Identifier: MIT
#include "array_ops.h"
#include <functional>
#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_reduce.h>
#include <oneapi/tbb/parallel_scan.h>
#include <oneapi/tbb/task_arena.h>

using range = tbb::blocked_range<size_t>;

static size_t filter(double *dst, const double *src, size_t n, double limit) {
  return tbb::parallel_scan(
      range(0, n), size_t(0),
      [=](const range &r, size_t kept, bool is_final) {
        for (size_t i = r.begin(); i != r.end(); i++) {
          if (!(src[i] > limit)) continue;
          if (is_final) dst[kept] = src[i];
          kept++;
        }
        return kept;
      },
      std::plus<size_t>());
}

static size_t count(const double *a, size_t n, double limit) {
  return tbb::parallel_reduce(
      range(0, n), size_t(0),
      [=](const range &r, size_t counted) {
        for (size_t i = r.begin(); i != r.end(); i++) counted += a[i] > limit;
        return counted;
      },
      std::plus<size_t>());
}

static void scan(double *dst, const double *src, size_t n) {
  tbb::parallel_scan(
      range(0, n), 0.0,
      [=](const range &r, double sum, bool is_final) {
        if (is_final) {
          for (size_t i = r.begin(); i != r.end(); i++) dst[i] = sum += src[i];
        } else {
          for (size_t i = r.begin(); i != r.end(); i++) sum += src[i];
        }
        return sum;
      },
      std::plus<double>());
}

int main(int argc, char **argv) {
  array_ops ops = {filter, count, nullptr, scan};
  long threads = bench_arg(argc, argv, 2, 2);
  long n = bench_arg(argc, argv, 3, ARRAY_OPS_N);
  tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                            static_cast<size_t>(threads));
  tbb::task_arena arena(static_cast<int>(threads));
  arena.execute([=] { array_measure("tbb", ops, argc, argv, n); });
  return 0;
}
