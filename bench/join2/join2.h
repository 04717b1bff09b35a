/* join2/join2.h - P4: two tasks of 1 ms of CPU each, and how they are timed.
 *
 * The task is a calibrated number of steps, not a wait for the clock: if the CPU is taken
 * away or slowed down the task takes longer, for every contestant alike. In turn the
 * process runs both tasks one after the other, side by side while the helper is awake,
 * and side by side after 5 ms of rest, when it sleeps. The speed-up is that of medians
 * within the one process.
 *
 * SPDX-License-Identifier: MIT */
#ifndef BENCH_JOIN2_JOIN2_H
#define BENCH_JOIN2_JOIN2_H

#include "../common/bench.h"

typedef struct half {
  uint64_t seed, steps, result;
} half;

/* Runs both halves at the same time and returns when both are done. */
typedef void join2_fn(half *a, half *b);

static void run_half(half *h) {
  h->result = bench_spin(h->seed, h->steps);
}

static void serial_pair(half *a, half *b) {
  run_half(a);
  run_half(b);
}

static double pair_ns(const char *who, join2_fn *run, uint64_t steps, uint64_t expected) {
  half a = {1, steps, 0}, b = {2, steps, 0};
  double before = bench_now_ns();
  run(&a, &b);
  double took = bench_now_ns() - before;
  if (expected != 0) bench_check(who, a.result ^ b.result, expected);
  return took;
}

static void join2_measure(const char *awake_name, join2_fn *awake,
                          const char *asleep_name, join2_fn *asleep, long samples) {
  uint64_t steps = bench_spin_count(1e6);
  uint64_t expected = bench_spin(1, steps) ^ bench_spin(2, steps);
  bench_samples serial_ns = {NULL, 0, 0}, awake_ns = {NULL, 0, 0},
                asleep_ns = {NULL, 0, 0};
  for (long i = -5; i < samples; i++) {
    double serial = pair_ns("serial", serial_pair, steps, expected);
    pair_ns(awake_name, awake, steps / 10, 0); /* wakes the helper */
    double together = pair_ns(awake_name, awake, steps, expected);
    bench_sleep_us(5000);
    double from_sleep = pair_ns(asleep_name, asleep, steps, expected);
    if (i < 0) continue; /* warm-up */
    bench_add(&serial_ns, serial);
    bench_add(&awake_ns, together);
    bench_add(&asleep_ns, from_sleep);
  }
  double base = bench_quantile(&serial_ns, 0.5);
  bench_print_times("serial", &serial_ns);
  bench_print_times(awake_name, &awake_ns);
  bench_print(awake_name, "speedup_x", base / bench_quantile(&awake_ns, 0.5));
  bench_print_times(asleep_name, &asleep_ns);
  bench_print(asleep_name, "speedup_x", base / bench_quantile(&asleep_ns, 0.5));
  bench_passed_alone();
}

#endif
