/* lu/lu.h - the LU factors of a square matrix of doubles, without pivoting, in blocks of
 * 32 x 32: for each block of the diagonal that block is factored, then the blocks right
 * of it and below it are solved, a parallel loop, and all blocks of the rest are updated,
 * a parallel loop that gets shorter each time.
 *
 * All contestants share the work on blocks, kernel.c. Every element is computed alike
 * whoever does it, so the result has always the same bits. The diagonal is large, so no
 * pivots are needed.
 *
 * SPDX-License-Identifier: MIT */
#ifndef BENCH_LU_LU_H
#define BENCH_LU_LU_H

#include "../common/bench.h"

enum { LU_SIDE = 32, LU_SIZE = LU_SIDE * LU_SIDE };

/* The matrix, block by block in rows; the step is which block of the diagonal it is. */
typedef struct lu_matrix {
  double *blocks;
  size_t count, step;
} lu_matrix;

#ifdef __cplusplus
extern "C" {
#endif
void lu_diagonal(const lu_matrix *m);
/* Number i of the 2 (count - step - 1) blocks right of the diagonal or below it. */
void lu_border(const lu_matrix *m, size_t i);
/* Number i of the (count - step - 1)^2 blocks of the rest. */
void lu_inner(const lu_matrix *m, size_t i);
#ifdef __cplusplus
}
#endif

BENCH_HELPER size_t lu_borders(const lu_matrix *m) {
  return 2 * (m->count - m->step - 1);
}

BENCH_HELPER size_t lu_inners(const lu_matrix *m) {
  return (m->count - m->step - 1) * (m->count - m->step - 1);
}

/* The three parts of one step. */
typedef void lu_step(const lu_matrix *m);

typedef struct lu_state {
  lu_step *step;
  lu_matrix m;
  const double *input;
} lu_state;

BENCH_HELPER void lu_prepare(void *ctx) {
  lu_state *s = (lu_state *)ctx;
  memcpy(s->m.blocks, s->input, s->m.count * s->m.count * LU_SIZE * sizeof(double));
}

BENCH_HELPER void lu_work(void *ctx) {
  lu_state *s = (lu_state *)ctx;
  for (s->m.step = 0; s->m.step < s->m.count; s->m.step++) s->step(&s->m);
}

BENCH_HELPER uint64_t lu_digest(const double *a, size_t n) {
  uint64_t sum = 0;
  for (size_t i = 0; i < n; i++) {
    uint64_t bits;
    memcpy(&bits, &a[i], sizeof bits);
    sum += bits * (bench_mix(i) | 1);
  }
  return sum;
}

/* Arguments of every contestant: threads, n (a multiple of 32). */
BENCH_HELPER void lu_measure(const char *who, lu_step *step, int argc, char **argv) {
  size_t count = (size_t)bench_arg(argc, argv, 2, 1024) / LU_SIDE;
  size_t size = count * count * LU_SIZE;
  double *memory = (double *)bench_array(2 * size, sizeof *memory);
  for (size_t i = 0; i < size; i++) memory[i] = bench_mix_unit(i);
  for (size_t i = 0; i < count * LU_SIDE; i++) {
    size_t block = (i / LU_SIDE) * (count + 1), inside = (i % LU_SIDE) * (LU_SIDE + 1);
    memory[block * LU_SIZE + inside] += (double)(count * LU_SIDE);
  }
  lu_state s = {step, {memory + size, count, 0}, memory};
  bench_job job = {lu_prepare, lu_work, NULL, &s};
  bench_measure_job(who, &job);
  bench_passed(lu_digest(s.m.blocks, size));
  free(memory);
}

#endif
