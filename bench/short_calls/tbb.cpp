// short_calls/tbb.cpp - P18: oneTBB's parallel_invoke, called by the main thread as any
// program would.
//
// Usage: short_calls_tbb [threads [us [alone|busy]]]
//
// SPDX-License-Identifier: MIT
#include "short_calls.h"
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_invoke.h>

static uint64_t hash(const uint64_t *numbers, size_t count) {
  if (count <= SHORT_LEAF) return short_calls_leaf(numbers, count);
  size_t half = count / 2;
  uint64_t left, right;
  tbb::parallel_invoke([&] { left = hash(numbers, half); },
                       [&] { right = hash(numbers + half, count - half); });
  return short_combine(left, right);
}

static long work(long n) {
  return static_cast<long>(hash(short_numbers, static_cast<size_t>(n)));
}

int main(int argc, char **argv) {
  long n = short_calls_begin(argc, argv, 2);
  tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                            static_cast<size_t>(bench_arg(argc, argv, 1, 2)));
  short_calls_measure("tbb", work, n);
  return 0;
}
