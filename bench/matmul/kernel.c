/* matmul/kernel.c - the innermost loops of the product; see matmul.h.
 *
 * SPDX-License-Identifier: MIT */
#include "matmul.h"

/* The common size has constant bounds, which compilers turn into vector code. */
static void leaf_full(const double *restrict a, const double *restrict b,
                      double *restrict c, long stride) {
  for (long i = 0; i < MATMUL_LEAF; i++)
    for (long k = 0; k < MATMUL_LEAF; k++) {
      double factor = a[i * stride + k];
      for (long j = 0; j < MATMUL_LEAF; j++)
        c[i * stride + j] += factor * b[k * stride + j];
    }
}

void matmul_leaf(const product *p) {
  if (p->m == MATMUL_LEAF && p->n == MATMUL_LEAF && p->k == MATMUL_LEAF) {
    leaf_full(p->a, p->b, p->c, p->stride);
    return;
  }
  for (long i = 0; i < p->m; i++)
    for (long k = 0; k < p->k; k++)
      for (long j = 0; j < p->n; j++)
        p->c[i * p->stride + j] += p->a[i * p->stride + k] * p->b[k * p->stride + j];
}
