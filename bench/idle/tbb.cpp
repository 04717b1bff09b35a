// idle/tbb.cpp - P13: a oneTBB arena that idles, and bursts by task_group.
//
// Usage: idle_tbb idle|ticks|burst [seconds [threads]]
//
// SPDX-License-Identifier: MIT
#include "../common/tbb_start.h"
#include "idle.h"
#include <oneapi/tbb/task_group.h>

static tbb::task_arena *arena;

static uint64_t node(uint64_t index) {
  if (index >> burst_depth != 0) return leaf(index);
  uint64_t left, right;
  tbb::task_group group;
  group.run([&left, index] { left = node(2 * index); });
  right = node(2 * index + 1);
  group.wait();
  return left + right;
}

// Called from outside the arena: each burst enters and leaves it.
static uint64_t burst() {
  uint64_t sum = 0;
  arena->execute([&sum] { sum = node(1); });
  return sum;
}

int main(int argc, char **argv) {
  long threads = bench_arg(argc, argv, 3, 2);
  tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                            static_cast<size_t>(threads));
  tbb::task_arena the_arena(static_cast<int>(threads));
  arena = &the_arena;
  return idle_main("tbb", burst, argc, argv);
}
