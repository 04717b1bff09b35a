/* matmul/matmul.h - P16: C += A B for square matrices of doubles, by halving the longest
 * of the three sides until all are at most 32 long. Halves of rows or columns of C are
 * independent, so they are forked; halves of the inner side follow each other.
 *
 * The elements are small whole numbers, so that every order of additions gives the same
 * bits. All contestants share the innermost loops, kernel.c.
 *
 * SPDX-License-Identifier: MIT */
#ifndef BENCH_MATMUL_MATMUL_H
#define BENCH_MATMUL_MATMUL_H

#include "../common/bench.h"

enum { MATMUL_LEAF = 32 };

/* Corners of the three matrices and the sides of the parts: C has m rows and n columns,
 * the inner side is k. A row of the whole matrices has stride elements. */
typedef struct product {
  const double *a, *b;
  double *c;
  long m, n, k, stride;
} product;

#ifdef __cplusplus
extern "C" {
#endif
/* All at once; used below the leaf size. */
void matmul_leaf(const product *p);
#ifdef __cplusplus
}
#endif

/* What to halve: 'm' and 'n' may be forked, 'k' may not, 0 is a leaf. Sets both halves.
 */
BENCH_HELPER char matmul_split(const product *p, product *first, product *second) {
  if (p->m <= MATMUL_LEAF && p->n <= MATMUL_LEAF && p->k <= MATMUL_LEAF) return 0;
  *first = *second = *p;
  if (p->m >= p->n && p->m >= p->k) {
    long half = p->m / 2;
    first->m = half;
    second->m -= half;
    second->a += half * p->stride;
    second->c += half * p->stride;
    return 'm';
  }
  if (p->n >= p->k) {
    long half = p->n / 2;
    first->n = half;
    second->n -= half;
    second->b += half;
    second->c += half;
    return 'n';
  }
  long half = p->k / 2;
  first->k = half;
  second->k -= half;
  second->a += half;
  second->b += half * p->stride;
  return 'k';
}

typedef void matmul_fn(const product *p);

typedef struct matmul_state {
  matmul_fn *multiply;
  product whole;
  double *memory;
} matmul_state;

BENCH_HELPER void matmul_clear(void *ctx) {
  matmul_state *s = (matmul_state *)ctx;
  memset(s->whole.c, 0, (size_t)(s->whole.n * s->whole.n) * sizeof(double));
}

BENCH_HELPER void matmul_work(void *ctx) {
  matmul_state *s = (matmul_state *)ctx;
  s->multiply(&s->whole);
}

/* A sum in which every element of C has a weight of its own. */
BENCH_HELPER uint64_t matmul_digest(const double *c, long n) {
  uint64_t sum = 0;
  for (long i = 0; i < n * n; i++)
    sum += (uint64_t)(int64_t)c[i] * (bench_mix((uint64_t)i) | 1);
  return sum;
}

/* Arguments of every contestant: threads, n. */
BENCH_HELPER void matmul_measure(const char *who, matmul_fn *multiply, int argc,
                                 char **argv) {
  long n = bench_arg(argc, argv, 2, 1024);
  double *memory = (double *)bench_array((size_t)(3 * n * n), sizeof(double));
  for (long i = 0; i < 2 * n * n; i++)
    memory[i] = (double)(bench_mix((uint64_t)i) % 17) - 8;
  product whole = {memory, memory + n * n, memory + 2 * n * n, n, n, n, n};
  matmul_state s = {multiply, whole, memory};
  bench_job job = {matmul_clear, matmul_work, NULL, &s};
  bench_measure_job(who, &job);
  bench_passed(matmul_digest(s.whole.c, n));
  free(memory);
}

#endif
