/* uneven/uneven.h - P6: loops whose iterations take very different times.
 *
 *     triangular  4096 iterations; number i takes i steps of the spin, 0 to 6 us
 *     mandelbrot  256 rows of 256 points; a row near the middle takes 50 times as long as
 *                 one at the border
 *     pareto      65536 iterations, Pareto-distributed with exponent 4/3: most take some
 *                 40 ns, few take as much as many thousand others
 *     heavy       1 M iterations of 2 steps, but one of a million
 *
 * The body is called through a pointer, in every contestant: what it costs is part of the
 * body. Its result is added to a field of its own, so at the end each field must have its
 * value times the number of calls: every iteration of every call has run once.
 *
 * The Rust twin is rayon.rs.
 *
 * SPDX-License-Identifier: MIT */
#ifndef BENCH_UNEVEN_UNEVEN_H
#define BENCH_UNEVEN_UNEVEN_H

#include "../common/bench.h"
#include <math.h>

enum {
  UNEVEN_TRIANGULAR = 4096,
  UNEVEN_ROWS = 256,
  UNEVEN_LIMIT = 200, /* of a point's iterations */
  UNEVEN_PARETO = 65536,
  UNEVEN_HEAVY = 1000000
};

/* One iteration; the result is any number that depends on all of its work. */
typedef uint64_t uneven_body(size_t i);

/* The loop of a contestant: out[i] += body(i) for all i. */
typedef void uneven_loop(uneven_body *body, uint64_t *out, size_t n);

static uint32_t uneven_pareto_steps[UNEVEN_PARETO];

BENCH_HELPER uint64_t uneven_triangular(size_t i) {
  return bench_spin(i, i);
}

/* In kernel.c: compilers differ by a twentieth here, which is not what is compared. */
#ifdef __cplusplus
extern "C" {
#endif
uint64_t uneven_mandelbrot(size_t row);
#ifdef __cplusplus
}
#endif

BENCH_HELPER uint64_t uneven_pareto(size_t i) {
  return bench_spin(i, uneven_pareto_steps[i]);
}

/* Not where a halved range begins or ends. */
BENCH_HELPER uint64_t uneven_heavy(size_t i) {
  return bench_spin(i, i == UNEVEN_HEAVY / 3 * 2 ? 1000000 : 2);
}

typedef struct uneven_state {
  uneven_loop *loop;
  uneven_body *body;
  uint64_t *out;
  size_t n;
  uint64_t calls;
} uneven_state;

BENCH_HELPER void uneven_run(void *ctx) {
  uneven_state *s = (uneven_state *)ctx;
  s->calls++;
  s->loop(s->body, s->out, s->n);
}

/* The whole of a contestant: measures the loop on the work that the first argument names.
 */
BENCH_HELPER void uneven_measure(const char *who, uneven_loop *loop, int argc,
                                 char **argv) {
  static const char *const names[] = {"triangular", "mandelbrot", "pareto", "heavy"};
  static uneven_body *const bodies[] = {uneven_triangular, uneven_mandelbrot,
                                        uneven_pareto, uneven_heavy};
  static const size_t lengths[] = {UNEVEN_TRIANGULAR, UNEVEN_ROWS, UNEVEN_PARETO,
                                   UNEVEN_HEAVY};
  int which = bench_choose(argc, argv, 1, names, 4);
  for (size_t i = 0; i < UNEVEN_PARETO; i++) {
    double u = (bench_mix_unit(i) + 1) / 2 + 1e-7;
    uneven_pareto_steps[i] = (uint32_t)(20 / (sqrt(u) * sqrt(sqrt(u))));
  }
  uneven_state s = {loop, bodies[which], NULL, lengths[which], 0};
  s.out = (uint64_t *)bench_array(s.n, sizeof *s.out);
  memset(s.out, 0, s.n * sizeof *s.out);
  bench_job job = {NULL, uneven_run, NULL, &s};
  bench_samples times = bench_sample_job(&job, NULL);
  if (times.count != 0) bench_print_times(who, &times);
  uint64_t answer = 0;
  for (size_t i = 0; i < s.n; i++) {
    uint64_t once = s.body(i);
    bench_check(who, s.out[i], s.calls * once);
    answer += once;
  }
  bench_passed(answer);
  free(times.values);
  free(s.out);
}

#endif
