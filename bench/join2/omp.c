/* join2/omp.c - P4: two equal tasks as sections of an OpenMP region, by a team whose
 * threads compute while they wait (active), or sleep (passive).
 *
 * Usage: join2_omp_gcc|join2_omp_clang threads task_us rest_ms samples active|passive
 *
 * SPDX-License-Identifier: MIT */
#include "../common/omp_start.h"
#include "join2.h"

static void join_pair(half *a, half *b) {
#pragma omp parallel sections
  {
#pragma omp section
    run_half(a);
#pragma omp section
    run_half(b);
  }
}

int main(int argc, char **argv) {
  static const char *const policies[] = {"active", "passive"};
  int passive = bench_choose(argc, argv, 5, policies, 2);
  bench_omp_wait(policies[passive], argv);
  bench_omp_start(bench_arg(argc, argv, 1, 2));
  join2_measure(passive ? BENCH_OMP "-passive" : BENCH_OMP "-active", join_pair, argc,
                argv, 2);
  return 0;
}
