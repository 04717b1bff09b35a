// spawn/tbb.cpp - P11: one million empty tasks in one oneTBB task_group, inside an arena of
// the given size.
//
// Usage: spawn_tbb [threads [tasks]]
//
// SPDX-License-Identifier: MIT
#include "spawn.h"
#include <atomic>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

static long empty(long n) {
  tbb::task_group group;
  for (long i = 0; i < n; i++) group.run([] {});
  group.wait();
  return n;
}

static long counted(long n) {
  std::atomic<long> ran{0};
  tbb::task_group group;
  for (long i = 0; i < n; i++)
    group.run([&ran] { ran.fetch_add(1, std::memory_order_relaxed); });
  group.wait();
  return ran;
}

int main(int argc, char **argv) {
  long threads = bench_arg(argc, argv, 1, 2);
  long tasks = bench_arg(argc, argv, 2, SPAWN_TASKS);
  tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                            static_cast<size_t>(threads));
  tbb::task_arena arena(static_cast<int>(threads));
  arena.execute([=] { spawn_measure("tbb", empty, counted, tasks); });
  return 0;
}
