/* heat/heat.h - heat spreads over a plate: every step computes each inner point from its
 * four neighbours, a parallel loop over the rows; the steps follow each other. Many short
 * loops over memory that stays in the cache.
 *
 * All contestants share the loop over a row, kernel.c. Every point is computed alike
 * whoever does it, so the plate has always the same bits.
 *
 * SPDX-License-Identifier: MIT */
#ifndef BENCH_HEAT_HEAT_H
#define BENCH_HEAT_HEAT_H

#include "../common/bench.h"

enum { HEAT_STEPS = 50 };

#ifdef __cplusplus
extern "C" {
#endif
/* Computes the inner points of a row of to; from is that row, with others around it. */
void heat_row(const double *from, double *to, size_t columns);
#ifdef __cplusplus
}
#endif

/* The plate before and after a step; a square with side points in each direction. */
typedef struct plate {
  const double *from;
  double *to;
  size_t side;
} plate;

/* One step: heat_row for the rows 1 to side - 2. */
typedef void heat_step(const plate *p);

BENCH_HELPER void heat_rows(const plate *p, size_t first, size_t end) {
  for (size_t row = first; row < end; row++)
    heat_row(p->from + row * p->side, p->to + row * p->side, p->side);
}

typedef struct heat_state {
  heat_step *step;
  double *a, *b;
  size_t side;
} heat_state;

/* Hot at the upper border and where a few hot points are, cold elsewhere. */
BENCH_HELPER void heat_fill(void *ctx) {
  heat_state *s = (heat_state *)ctx;
  for (size_t i = 0; i < s->side * s->side; i++)
    s->a[i] = s->b[i] = i < s->side ? 100 : bench_mix(i) % 1000 == 0 ? 50 : 0;
}

BENCH_HELPER void heat_work(void *ctx) {
  heat_state *s = (heat_state *)ctx;
  for (int i = 0; i < HEAT_STEPS; i += 2) {
    plate there = {s->a, s->b, s->side}, back = {s->b, s->a, s->side};
    s->step(&there);
    s->step(&back);
  }
}

BENCH_HELPER uint64_t heat_digest(const double *a, size_t n) {
  uint64_t sum = 0;
  for (size_t i = 0; i < n; i++) {
    uint64_t bits;
    memcpy(&bits, &a[i], sizeof bits);
    sum += bits * (bench_mix(i) | 1);
  }
  return sum;
}

/* Arguments of every contestant: threads, side. */
BENCH_HELPER void heat_measure(const char *who, heat_step *step, int argc, char **argv) {
  size_t side = (size_t)bench_arg(argc, argv, 2, 1024);
  double *memory = (double *)bench_array(2 * side * side, sizeof *memory);
  heat_state s = {step, memory, memory + side * side, side};
  bench_job job = {heat_fill, heat_work, NULL, &s};
  bench_measure_job(who, &job);
  bench_passed(heat_digest(s.a, side * side));
  free(memory);
}

#endif
