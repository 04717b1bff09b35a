/* spawn/omp.c - P11: one million empty OpenMP tasks; built once by gcc (libgomp) and once
 * by clang (libomp). Both run a task at once, inside the call that makes it, where some
 * tens or hundreds are waiting already: most of these tasks are never queued.
 *
 * Usage: spawn_omp_gcc|spawn_omp_clang [threads [tasks]]
 *
 * SPDX-License-Identifier: MIT */
#include "spawn.h"

static BENCH_NOINLINE void nothing(void) {
  __asm__ volatile("");
}

static long empty(long n) {
  for (long i = 0; i < n; i++) {
#pragma omp task
    nothing();
  }
#pragma omp taskwait
  return n;
}

static long counted(long n) {
  long ran = 0;
  for (long i = 0; i < n; i++) {
#pragma omp task shared(ran)
    __atomic_fetch_add(&ran, 1, __ATOMIC_RELAXED);
  }
#pragma omp taskwait
  return ran;
}

int main(int argc, char **argv) {
  int threads = (int)bench_arg(argc, argv, 1, 2);
  long tasks = bench_arg(argc, argv, 2, SPAWN_TASKS);
#ifdef __clang__
  const char *who = "omp-clang";
#else
  const char *who = "omp-gcc";
#endif
#pragma omp parallel num_threads(threads)
#pragma omp single
  spawn_measure(who, empty, counted, tasks);
  return 0;
}
