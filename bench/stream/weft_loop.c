/* stream/weft_loop.c - what typed loops cost against loops written by hand: dot and saxpy
 * by WEFT_SUM_LOOP and WEFT_LOOP (weft-loop), and by weft_reduce and weft_for with a
 * struct and block functions (weft-for), in turn in one process.
 *
 * needs: WEFT_SUM_LOOP
 *
 * Usage: stream_weft_loop dot|saxpy [threads [n]]
 *
 * SPDX-License-Identifier: MIT */
#include "../common/weft_start.h"
#include "stream.h"

/* A sample is as many calls as go through this many elements: one of 10 M, or many of
 * arrays that stay in the cache. */
enum { ROUNDS = 15, ELEMENTS = 5000000 };

/* ---- typed loops ---- */

WEFT_LOOP(loop_saxpy, i, double *, y, const double *, x) {
  y[i] += 2 * x[i];
}
WEFT_SUM_LOOP(loop_dot, double, i, const double *, x, const double *, y) {
  return x[i] * y[i];
}

/* ---- by hand ---- */

struct arrays {
  const double *x;
  double *y;
};

WEFT_SIMD static void saxpy_block(size_t begin, size_t end, void *ctx) {
  const struct arrays a = *(const struct arrays *)ctx;
  for (size_t i = begin; i < end; i++) a.y[i] += 2 * a.x[i];
}

static void dot_init(void *acc, void *ctx) {
  (void)ctx;
  *(double *)acc = 0;
}

WEFT_SIMD static void dot_fold(void *acc, size_t begin, size_t end, void *ctx) {
  const struct arrays a = *(const struct arrays *)ctx;
  double sum = *(double *)acc;
  for (size_t i = begin; i < end; i++) sum += a.x[i] * a.y[i];
  *(double *)acc = sum;
}

static void dot_merge(void *acc, const void *right, void *ctx) {
  (void)ctx;
  *(double *)acc += *(const double *)right;
}

/* ---- measuring ---- */

typedef struct contest {
  struct arrays arrays;
  size_t n;
  double dot; /* the last result */
} contest;

static void run_loop_dot(contest *c) {
  c->dot = loop_dot(c->n, c->arrays.x, c->arrays.y);
}

static void run_hand_dot(contest *c) {
  weft_reducer r = {sizeof(double), dot_init, dot_fold, dot_merge};
  weft_reduce(&c->dot, c->n, &r, &c->arrays);
}

static void run_loop_saxpy(contest *c) {
  loop_saxpy(c->n, c->arrays.y, c->arrays.x);
}

static void run_hand_saxpy(contest *c) {
  weft_for(c->n, saxpy_block, &c->arrays);
}

static void sample(bench_samples *times, void (*run)(contest *c), contest *c,
                   size_t calls) {
  double before = bench_now_ns();
  for (size_t i = 0; i < calls; i++) run(c);
  bench_add(times, (bench_now_ns() - before) / (double)calls);
}

int main(int argc, char **argv) {
  static const char *const names[] = {"dot", "saxpy"};
  bool is_dot = bench_choose(argc, argv, 1, names, 2) == 0;
  bench_samples by_loop = {NULL, 0, 0}, by_hand = {NULL, 0, 0};
  contest c = {{NULL, NULL}, (size_t)bench_arg(argc, argv, 3, STREAM_N), 0};
  double *x = (double *)bench_array(c.n, sizeof *x), expected = 0;
  size_t calls = c.n < ELEMENTS ? ELEMENTS / c.n : 1;
  c.arrays.x = x;
  c.arrays.y = (double *)bench_array(c.n, sizeof *x);
  for (size_t i = 0; i < c.n; i++) {
    x[i] = stream_x(i);
    c.arrays.y[i] = stream_y(i);
    expected += x[i] * c.arrays.y[i];
  }
  bench_weft_start(bench_arg(argc, argv, 2, 2));
  for (int i = 0; i < ROUNDS; i++) {
    sample(&by_loop, is_dot ? run_loop_dot : run_loop_saxpy, &c, calls);
    if (is_dot) bench_check("weft-loop", (uint64_t)c.dot, (uint64_t)expected);
    sample(&by_hand, is_dot ? run_hand_dot : run_hand_saxpy, &c, calls);
    if (is_dot) bench_check("weft-for", (uint64_t)c.dot, (uint64_t)expected);
  }
  for (size_t i = 0; i < c.n && !is_dot; i++)
    bench_check("weft-loop", (uint64_t)c.arrays.y[i],
                (uint64_t)stream_y(i) +
                    2 * ROUNDS * (uint64_t)calls * (uint64_t)(2 * stream_x(i)));
  bench_print_times("weft-loop", &by_loop);
  bench_print_times("weft-for", &by_hand);
  bench_passed(is_dot ? (uint64_t)expected : c.n);
  weft_shutdown();
  free(x);
  free(c.arrays.y);
  free(by_loop.values);
  free(by_hand.values);
  return 0;
}
