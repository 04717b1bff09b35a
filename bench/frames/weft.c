/* frames/weft.c - P17: a weft_for in each frame, called from outside the pool.
 *
 * weft.slept_x is the number of times a worker fell asleep per frame.
 *
 * Usage: frames_weft [threads [seconds]]
 *
 * SPDX-License-Identifier: MIT */
#include "../common/weft_start.h"
#include "frames.h"

static void some(size_t begin, size_t end, void *ctx) {
  (void)ctx;
  for (size_t i = begin; i < end; i++) frame_do(i);
}

static void frame(void) {
  weft_for(FRAME_N, some, NULL);
}

int main(int argc, char **argv) {
  long seconds = bench_arg(argc, argv, 2, 10);
  bench_weft_start(bench_arg(argc, argv, 1, 2));
  double slept = bench_weft_sleeps();
  frames_measure("weft", frame, seconds);
  slept = bench_weft_sleeps() - slept;
  bench_print("weft", "slept_x", slept / (double)(seconds * 100));
  weft_shutdown();
  return 0;
}
