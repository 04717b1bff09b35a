/* stream/stream.h - P5: four loops over 10 M doubles that do next to nothing with each:
 * as fast as memory, or not.
 *
 *     sum     s += x[i]               dot     s += x[i] * y[i]
 *     map     y[i] = 3 * x[i] + c     saxpy   y[i] += 2 * x[i]
 *
 * The elements are small whole numbers, so every sum is exact, whatever the order of its
 * additions, and all answers must agree to the last bit. Calls follow each other at once,
 * so that no pool falls asleep between them, and checking must not take long: each sum is
 * compared; c is the number of the call, and some elements of each map are looked at;
 * what saxpy adds must have arrived everywhere as often as there were calls.
 *
 * The main thread fills the arrays, for every contestant alike. The Rust twin is
 * rayon.rs.
 *
 * SPDX-License-Identifier: MIT */
#ifndef BENCH_STREAM_STREAM_H
#define BENCH_STREAM_STREAM_H

#include "../common/bench.h"

enum { STREAM_N = 10000000 };

/* The loops of a contestant; NULL: it does not have this one. */
typedef struct stream_loops {
  double (*sum)(const double *x, size_t n);
  double (*dot)(const double *x, const double *y, size_t n);
  void (*map)(double *y, const double *x, double c, size_t n);
  void (*saxpy)(double *y, const double *x, size_t n);
} stream_loops;

typedef struct stream_state {
  const char *who;
  stream_loops loops;
  double *x, *y;
  size_t n;
  uint64_t calls;
  double expected, got;
} stream_state;

BENCH_HELPER double stream_x(size_t i) {
  return (double)(i % 1000);
}
BENCH_HELPER double stream_y(size_t i) {
  return (double)(i % 777);
}

BENCH_HELPER void stream_run_sum(void *ctx) {
  stream_state *s = (stream_state *)ctx;
  s->got = s->loops.sum(s->x, s->n);
}

BENCH_HELPER void stream_run_dot(void *ctx) {
  stream_state *s = (stream_state *)ctx;
  s->got = s->loops.dot(s->x, s->y, s->n);
}

BENCH_HELPER void stream_check_sum(void *ctx) {
  stream_state *s = (stream_state *)ctx;
  bench_check(s->who, (uint64_t)s->got, (uint64_t)s->expected);
}

BENCH_HELPER void stream_run_map(void *ctx) {
  stream_state *s = (stream_state *)ctx;
  s->loops.map(s->y, s->x, (double)++s->calls, s->n);
}

/* Looks at every stride-th element. */
BENCH_HELPER void stream_check_map_by(stream_state *s, size_t stride) {
  for (size_t i = 0; i < s->n; i += stride)
    bench_check(s->who, (uint64_t)s->y[i], (uint64_t)(3 * stream_x(i)) + s->calls);
}

BENCH_HELPER void stream_check_map(void *ctx) {
  stream_state *s = (stream_state *)ctx;
  stream_check_map_by(s, s->n / 97 + 1);
}

BENCH_HELPER void stream_run_saxpy(void *ctx) {
  stream_state *s = (stream_state *)ctx;
  s->calls++;
  s->loops.saxpy(s->y, s->x, s->n);
}

BENCH_HELPER void stream_check_saxpy_all(stream_state *s) {
  for (size_t i = 0; i < s->n; i++)
    bench_check(s->who, (uint64_t)s->y[i],
                (uint64_t)stream_y(i) + s->calls * (uint64_t)(2 * stream_x(i)));
}

/* The whole of a contestant: measures loop number which, 0 sum to 3 saxpy. Also prints
 * the bandwidth as the loop counts it: 8 bytes for each element read or written. */
BENCH_HELPER void stream_measure(const char *who, stream_loops loops, int which, long n) {
  stream_state s = {who, loops, NULL, NULL, (size_t)n, 0, 0, 0};
  s.x = (double *)bench_array(s.n, sizeof *s.x);
  s.y = (double *)bench_array(s.n, sizeof *s.y);
  for (size_t i = 0; i < s.n; i++) {
    s.x[i] = stream_x(i);
    s.y[i] = stream_y(i);
    s.expected += which == 0 ? s.x[i] : s.x[i] * s.y[i];
  }
  bench_job jobs[] = {{NULL, stream_run_sum, stream_check_sum, &s},
                      {NULL, stream_run_dot, stream_check_sum, &s},
                      {NULL, stream_run_map, stream_check_map, &s},
                      {NULL, stream_run_saxpy, NULL, &s}};
  static const double accesses[] = {1, 2, 2, 3};
  bench_samples times = bench_sample_job(&jobs[which], NULL);
  if (which == 2) stream_check_map_by(&s, 1);
  if (which == 3) stream_check_saxpy_all(&s);
  if (times.count != 0) {
    bench_print_times(who, &times);
    bench_print(who, "gb_per_s",
                8 * accesses[which] * (double)n / bench_quantile(&times, 0.5));
  }
  bench_passed((uint64_t)(which < 2 ? s.expected : (double)n));
  free(times.values);
  free(s.x);
  free(s.y);
}

/* Which loop the first argument names. */
BENCH_HELPER int stream_choose(int argc, char **argv) {
  static const char *const names[] = {"sum", "dot", "map", "saxpy"};
  return bench_choose(argc, argv, 1, names, 4);
}

#endif
