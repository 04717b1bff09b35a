/* common/tbb_start.h - runs a function in a oneTBB arena of a given number of threads.
 *
 * SPDX-License-Identifier: MIT */
#ifndef BENCH_COMMON_TBB_START_H
#define BENCH_COMMON_TBB_START_H

#include "bench.h"
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>

template <typename Function> static void bench_tbb_run(long threads, Function function) {
  tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                            static_cast<size_t>(threads));
  tbb::task_arena arena(static_cast<int>(threads));
  arena.execute(function);
}

#endif
