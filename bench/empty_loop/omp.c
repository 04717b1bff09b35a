/* empty_loop/omp.c - P7: an OpenMP loop by a team that stays from call to call; built
 * once by gcc (libgomp) and once by clang (libomp).
 *
 * How long the team's threads watch for the next loop before they sleep is fixed when the
 * process starts. default: as the library has it; active: OMP_WAIT_POLICY=active, they
 * never sleep.
 *
 * Usage: empty_loop_omp_gcc|empty_loop_omp_clang [threads [default|active]]
 *
 * SPDX-License-Identifier: MIT */
#include "../common/omp_start.h"
#include "empty_loop.h"

static int threads;

static long empty(long n) {
#pragma omp parallel for num_threads(threads) schedule(static)
  for (long i = 0; i < n; i++) EMPTY_LOOP_NOTHING();
  return n;
}

static long counted(long n) {
  long ran = 0;
#pragma omp parallel for num_threads(threads) schedule(static)
  for (long i = 0; i < n; i++) __atomic_fetch_add(&ran, 1, __ATOMIC_RELAXED);
  return ran;
}

int main(int argc, char **argv) {
  static const char *const policies[] = {"default", "active"};
  int active = argc > 2 && bench_choose(argc, argv, 2, policies, 2) == 1;
  if (active) bench_omp_wait("active", argv);
#ifdef __clang__
  const char *who = active ? "omp-clang-active" : "omp-clang";
#else
  const char *who = active ? "omp-gcc-active" : "omp-gcc";
#endif
  threads = (int)bench_arg(argc, argv, 1, 2);
  empty_loop_measure(who, empty, counted);
  return 0;
}
