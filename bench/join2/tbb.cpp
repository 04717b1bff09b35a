// join2/tbb.cpp - P4: one oneTBB parallel_invoke of two equal tasks, called by the main
// thread as any program would.
//
// Usage: join2_tbb [threads [task_us [rest_ms [samples]]]]
//
// SPDX-License-Identifier: MIT
#include "join2.h"
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_invoke.h>

static void join_pair(half *a, half *b) {
  tbb::parallel_invoke([a] { run_half(a); }, [b] { run_half(b); });
}

int main(int argc, char **argv) {
  tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                            static_cast<size_t>(bench_arg(argc, argv, 1, 2)));
  join2_measure("tbb", join_pair, argc, argv, 2);
  return 0;
}
