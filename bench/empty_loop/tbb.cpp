// empty_loop/tbb.cpp - P7: oneTBB's parallel_for, with the default partitioner and with
// the static one, called by the main thread as any program would; and the default one
// inside an arena of its own.
//
// Usage: empty_loop_tbb [threads [auto|static|arena]]
//
// SPDX-License-Identifier: MIT
#include "empty_loop.h"
#include <atomic>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

template <typename Partitioner> static long empty(long n) {
  tbb::parallel_for(
      0L, n, [](long) { EMPTY_LOOP_NOTHING(); }, Partitioner());
  return n;
}

template <typename Partitioner> static long counted(long n) {
  std::atomic<long> ran{0};
  tbb::parallel_for(
      0L, n, [&ran](long) { ran.fetch_add(1, std::memory_order_relaxed); },
      Partitioner());
  return ran;
}

int main(int argc, char **argv) {
  static const char *const ways[] = {"auto", "static", "arena"};
  size_t threads = static_cast<size_t>(bench_arg(argc, argv, 1, 2));
  int way = argc > 2 ? bench_choose(argc, argv, 2, ways, 3) : 0;
  tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
  if (way == 2) {
    tbb::task_arena arena(static_cast<int>(threads));
    arena.execute([] {
      empty_loop_measure("tbb-arena", empty<tbb::auto_partitioner>,
                         counted<tbb::auto_partitioner>);
    });
  } else if (way == 1) {
    empty_loop_measure("tbb-static", empty<tbb::static_partitioner>,
                       counted<tbb::static_partitioner>);
  } else {
    empty_loop_measure("tbb", empty<tbb::auto_partitioner>,
                       counted<tbb::auto_partitioner>);
  }
  return 0;
}
