/* granularity/granularity.h - how small may tasks be? The same amount of work in tasks of
 * 10 ns up to 1 ms: a tree of forks without a cut-off whose leaves run `steps` steps of
 * the spin, and a loop with as many iterations. A body's time is what the sequential
 * program takes for one. What other contestants take longer for all of it is overhead.
 *
 * SPDX-License-Identifier: MIT */
#ifndef BENCH_GRANULARITY_GRANULARITY_H
#define BENCH_GRANULARITY_GRANULARITY_H

#include "../common/bench.h"

enum { GRANULARITY_STEPS = 1 << 23 }; /* of all bodies together, about 15 ms */

static uint64_t granularity_steps = 1; /* of one body */

BENCH_HELPER long granularity_body(uint64_t index) {
  return (long)(bench_spin(index, granularity_steps) >> 20);
}

/* Arguments of every contestant: threads, steps of a body (a power of two). The work gets
 * the number of bodies and returns the sum of their results. */
BENCH_HELPER void granularity_measure(const char *who, bench_work *work, int argc,
                                      char **argv) {
  granularity_steps = (uint64_t)bench_arg(argc, argv, 2, 512);
  long bodies = GRANULARITY_STEPS / (long)granularity_steps;
  bench_samples times = bench_sample(who, work, bodies, bodies, work(bodies));
  if (times.count != 0) {
    bench_print_times(who, &times);
    bench_print(who, "ns_per_task", bench_quantile(&times, 0.5) / (double)bodies);
  }
  bench_passed((uint64_t)work(bodies));
  free(times.values);
}

#endif
