/* join2/join2.h - P4: one join of two equal tasks after a rest, and how it is timed.
 *
 * The task is a calibrated number of steps, not a wait for the clock: if the CPU is taken
 * away or slowed down the task takes longer, for every contestant alike. Again and again
 * the process runs both tasks one after the other; then side by side, which is not timed;
 * rests; and runs them side by side once more. Without a rest the helper is still awake
 * from the join before. The speed-up is that of medians within the one process.
 *
 * One process measures one length of task and one rest. Where the kernel wakes a thread
 * is a state of the process: look at all rounds, not at their median alone.
 *
 * SPDX-License-Identifier: MIT */
#ifndef BENCH_JOIN2_JOIN2_H
#define BENCH_JOIN2_JOIN2_H

#include "../common/bench.h"

enum { JOIN2_WARM_UP = 3 };

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
  bench_check(who, a.result ^ b.result, expected);
  return took;
}

/* The arguments from number `first` on: task in us, rest in ms, samples. */
static void join2_measure(const char *who, join2_fn *run, int argc, char **argv,
                          int first) {
  double task_ns = 1e3 * (double)bench_arg(argc, argv, first, 1000);
  long rest_us = 1000 * bench_arg(argc, argv, first + 1, 5);
  long samples = bench_arg(argc, argv, first + 2, 41);
  uint64_t steps = bench_spin_count(task_ns);
  uint64_t expected = bench_spin(1, steps) ^ bench_spin(2, steps);
  bench_samples serial_ns = {NULL, 0, 0}, join_ns = {NULL, 0, 0};
  for (long i = -JOIN2_WARM_UP; i < samples; i++) {
    double serial = pair_ns("serial", serial_pair, steps, expected);
    pair_ns(who, run, steps, expected);
    if (rest_us > 0) bench_sleep_us(rest_us);
    double together = pair_ns(who, run, steps, expected);
    if (i < 0) continue;
    bench_add(&serial_ns, serial);
    bench_add(&join_ns, together);
  }
  double base = bench_quantile(&serial_ns, 0.5);
  bench_print_times("serial", &serial_ns);
  bench_print_times(who, &join_ns);
  bench_print(who, "speedup_x", base / bench_quantile(&join_ns, 0.5));
  bench_print(who, "worst_speedup_x", base / bench_quantile(&join_ns, 0.9));
  bench_passed_alone();
  free(serial_ns.values);
  free(join_ns.values);
}

#endif
