/* frames/omp.c - P17: an OpenMP loop in each frame, by a team whose threads compute while
 * they wait (active), or sleep (passive).
 *
 * Usage: frames_omp_gcc|frames_omp_clang threads seconds active|passive
 *
 * SPDX-License-Identifier: MIT */
#include "../common/omp_start.h"
#include "frames.h"

static void frame(void) {
#pragma omp parallel for schedule(static)
  for (size_t i = 0; i < FRAME_N; i++) frame_do(i);
}

int main(int argc, char **argv) {
  static const char *const policies[] = {"active", "passive"};
  int passive = bench_choose(argc, argv, 3, policies, 2);
  bench_omp_wait(policies[passive], argv);
  bench_omp_start(bench_arg(argc, argv, 1, 2));
  frames_measure(passive ? BENCH_OMP "-passive" : BENCH_OMP "-active", frame,
                 bench_arg(argc, argv, 2, 10));
  return 0;
}
