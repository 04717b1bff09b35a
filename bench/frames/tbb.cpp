// frames/tbb.cpp - P17: a oneTBB parallel_for in each frame, called by the main thread as
// any program would.
//
// Usage: frames_tbb [threads [seconds]]
//
// SPDX-License-Identifier: MIT
#include "frames.h"
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>

static void frame() {
  tbb::parallel_for(size_t{0}, size_t{FRAME_N}, [](size_t i) { frame_do(i); });
}

int main(int argc, char **argv) {
  tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                            static_cast<size_t>(bench_arg(argc, argv, 1, 2)));
  frames_measure("tbb", frame, bench_arg(argc, argv, 2, 10));
  return 0;
}
