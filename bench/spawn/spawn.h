/* spawn/spawn.h - P11: what it costs to spawn a task into a scope and to finish it.
 *
 * A call spawns n empty tasks from a thread of the pool, all in one scope, and returns
 * when the scope has ended. The whole measuring loop runs on that thread, so that no call
 * pays for entering the pool.
 *
 * An empty task leaves no answer to check, and a counter that every task adds to would
 * cost more than the task. So the same call is made twice before the clock starts with
 * tasks that count themselves, by the same scope and the same loop, and these must be n.
 *
 * The Rust twin is rayon.rs.
 *
 * SPDX-License-Identifier: MIT */
#ifndef BENCH_SPAWN_SPAWN_H
#define BENCH_SPAWN_SPAWN_H

#include "../common/bench.h"

enum { SPAWN_TASKS = 1000000 };

/* empty: spawns n tasks that do nothing and returns n. counted: spawns n tasks that count
 * themselves and returns how many did. */
BENCH_HELPER void spawn_measure(const char *who, bench_work *empty, bench_work *counted,
                                long n) {
  for (int i = 0; i < 2; i++) bench_check(who, (uint64_t)counted(n), (uint64_t)n);
  bench_measure_tasks(who, empty, n);
}

#endif
