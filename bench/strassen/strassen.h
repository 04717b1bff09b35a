/* strassen/strassen.h - C = A B by Strassen's method: seven products of matrices of half
 * the side instead of eight, made in parallel, and sums of them. From 64 x 64 on the
 * plain loops: kernel.c, which all contestants share, as they share the sums. Scratch
 * memory comes from malloc, for each node of the recursion.
 *
 * The elements are small whole numbers, so that every order of additions gives the same
 * bits.
 *
 * SPDX-License-Identifier: MIT */
#ifndef BENCH_STRASSEN_STRASSEN_H
#define BENCH_STRASSEN_STRASSEN_H

#include "../common/bench.h"

enum { STRASSEN_LEAF = 64, STRASSEN_PRODUCTS = 7 };

/* One product; rows of the three matrices have their own strides. */
typedef struct product {
  const double *a, *b;
  double *c;
  size_t n, a_stride, b_stride, c_stride;
} product;

/* What a node of the recursion needs: the seven products and their memory. */
typedef struct strassen_node {
  product part[STRASSEN_PRODUCTS];
  double *memory;
} strassen_node;

#ifdef __cplusplus
extern "C" {
#endif
void strassen_leaf(const product *p);
/* Makes the sums that the seven products multiply. */
void strassen_begin(const product *p, strassen_node *node);
/* Puts the products together in p->c and frees the memory. */
void strassen_end(const product *p, strassen_node *node);
#ifdef __cplusplus
}
#endif

typedef void strassen_fn(const product *p);

typedef struct strassen_state {
  strassen_fn *multiply;
  product whole;
} strassen_state;

BENCH_HELPER void strassen_work(void *ctx) {
  strassen_state *s = (strassen_state *)ctx;
  s->multiply(&s->whole);
}

/* Arguments of every contestant: threads, n (a power of two). */
BENCH_HELPER void strassen_measure(const char *who, strassen_fn *multiply, int argc,
                                   char **argv) {
  size_t n = (size_t)bench_arg(argc, argv, 2, 1024), size = n * n;
  double *memory = (double *)bench_array(3 * size, sizeof *memory);
  for (size_t i = 0; i < 2 * size; i++) memory[i] = (double)(bench_mix(i) % 17) - 8;
  product whole = {memory, memory + size, memory + 2 * size, n, n, n, n};
  strassen_state s = {multiply, whole};
  bench_job job = {NULL, strassen_work, NULL, &s};
  bench_measure_job(who, &job);
  uint64_t sum = 0;
  for (size_t i = 0; i < size; i++)
    sum += (uint64_t)(int64_t)s.whole.c[i] * (bench_mix(i) | 1);
  bench_passed(sum);
  free(memory);
}

#endif
