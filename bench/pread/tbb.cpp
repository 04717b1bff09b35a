// pread/tbb.cpp - the loop by oneTBB's parallel_reduce.
//
// Usage: pread_tbb [threads [blocks]]
//
// SPDX-License-Identifier: MIT
#include "../common/tbb_start.h"
#include "pread.h"
#include <functional>
#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_reduce.h>

static long run(long n) {
  return static_cast<long>(tbb::parallel_reduce(
      tbb::blocked_range<long>(0, n), uint64_t{0},
      [](const tbb::blocked_range<long> &r, uint64_t sum) {
        for (long i = r.begin(); i != r.end(); i++) sum += pread_block(pread_file, i);
        return sum;
      },
      std::plus<uint64_t>()));
}

int main(int argc, char **argv) {
  bench_tbb_run(bench_arg(argc, argv, 1, 2),
                [=] { pread_measure("tbb", run, argc, argv); });
  return 0;
}
