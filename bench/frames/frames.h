/* frames/frames.h - P17: a loop of 2 ms of work every 10 ms, as in a game or a control
 * program: in between the pool falls asleep.
 *
 * A frame is 2000 iterations of about 1 us, a calibrated number of steps; each writes its
 * element, and all are checked after the clock has stopped. Frames start at fixed points
 * of the clock. The process first runs a fifth as many frames in a plain loop, in the
 * same rhythm, and prints
 *
 *     median_ns, p99_ns   of a frame
 *     speedup_x           median of the plain frames / median of the others
 *     cpu_x               CPU time of the process for a frame / the same for a plain one
 *
 * The Rust twin in rayon.rs does the same steps.
 *
 * SPDX-License-Identifier: MIT */
#ifndef BENCH_FRAMES_FRAMES_H
#define BENCH_FRAMES_FRAMES_H

#include "../common/bench.h"

enum { FRAME_N = 2000, FRAME_PERIOD_NS = 10000000, FRAME_WARM_UP = 10 };

static uint64_t frame_steps; /* of one iteration */
static uint64_t frame_out[FRAME_N];

/* One frame: frame_do(i) for all i below FRAME_N. */
typedef void frame_fn(void);

BENCH_HELPER void frame_do(size_t i) {
  frame_out[i] = bench_spin(i + 1, frame_steps);
}

BENCH_HELPER void frame_plain(void) {
  for (size_t i = 0; i < FRAME_N; i++) frame_do(i);
}

BENCH_HELPER uint64_t frame_sum(void) {
  uint64_t sum = 0;
  for (size_t i = 0; i < FRAME_N; i++) sum += frame_out[i];
  return sum;
}

typedef struct frames_result {
  bench_samples latency;
  double cpu_ns; /* per frame */
} frames_result;

BENCH_HELPER frames_result frames_run(const char *who, frame_fn *frame, long count,
                                      uint64_t expected) {
  frames_result result = {{NULL, 0, 0}, 0};
  struct timespec next;
  double cpu = 0;
  clock_gettime(CLOCK_MONOTONIC, &next);
  for (long i = -FRAME_WARM_UP; i < count; i++) {
    if (i == 0) cpu = bench_cpu_ns();
    next.tv_nsec += FRAME_PERIOD_NS;
    if (next.tv_nsec >= 1000000000) {
      next.tv_nsec -= 1000000000;
      next.tv_sec++;
    }
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL) == EINTR) {
    }
    double before = bench_now_ns();
    frame();
    double took = bench_now_ns() - before;
    bench_check(who, frame_sum(), expected);
    memset(frame_out, 0, sizeof frame_out);
    if (i >= 0) bench_add(&result.latency, took);
  }
  result.cpu_ns = (bench_cpu_ns() - cpu) / (double)count;
  return result;
}

/* The whole of a contestant: frames for `seconds`. */
BENCH_HELPER void frames_measure(const char *who, frame_fn *frame, long seconds) {
  long count = seconds * 1000000000 / FRAME_PERIOD_NS;
  frame_steps = bench_spin_count(2e6 / FRAME_N);
  frame_plain();
  uint64_t expected = frame_sum();
  frames_result plain = frames_run("serial", frame_plain, count / 5, expected);
  frames_result other = frames_run(who, frame, count, expected);
  double base = bench_quantile(&plain.latency, 0.5);
  bench_print_latency(who, &other.latency);
  bench_print(who, "speedup_x", base / bench_quantile(&other.latency, 0.5));
  bench_print(who, "cpu_x", other.cpu_ns / plain.cpu_ns);
  bench_print(who, "plain_ns", base);
  bench_passed_alone();
}

#endif
