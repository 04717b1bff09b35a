/* strassen/kernel.c - sums and small products; see strassen.h.
 *
 * SPDX-License-Identifier: MIT */
#include "strassen.h"

void strassen_leaf(const product *p) {
  for (size_t i = 0; i < p->n; i++) {
    double *restrict c = p->c + i * p->c_stride;
    memset(c, 0, p->n * sizeof *c);
    for (size_t k = 0; k < p->n; k++) {
      double factor = p->a[i * p->a_stride + k];
      const double *restrict b = p->b + k * p->b_stride;
      for (size_t j = 0; j < p->n; j++) c[j] += factor * b[j];
    }
  }
}

/* to = x + sign * y, all with side n; to is dense. */
static void sum_of(double *to, const double *x, const double *y, size_t stride,
                   double sign, size_t n) {
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < n; j++)
      to[i * n + j] = x[i * stride + j] + sign * y[i * stride + j];
}

/* The four quarters of a matrix. */
typedef struct quarters {
  const double *q[2][2];
} quarters;

static quarters quarters_of(const double *a, size_t stride, size_t half) {
  quarters v;
  for (size_t i = 0; i < 2; i++)
    for (size_t j = 0; j < 2; j++) v.q[i][j] = a + i * half * stride + j * half;
  return v;
}

/* The memory of a node, in matrices of half the side: 10 sums, then 7 products. */
void strassen_begin(const product *p, strassen_node *node) {
  size_t half = p->n / 2, size = half * half;
  quarters a = quarters_of(p->a, p->a_stride, half);
  quarters b = quarters_of(p->b, p->b_stride, half);
  double *m = node->memory = (double *)bench_array(17 * size, sizeof *m);
  double *s[10];
  for (size_t i = 0; i < 10; i++) s[i] = m + i * size;
  sum_of(s[0], a.q[0][0], a.q[1][1], p->a_stride, 1, half);
  sum_of(s[1], b.q[0][0], b.q[1][1], p->b_stride, 1, half);
  sum_of(s[2], a.q[1][0], a.q[1][1], p->a_stride, 1, half);
  sum_of(s[3], b.q[0][1], b.q[1][1], p->b_stride, -1, half);
  sum_of(s[4], b.q[1][0], b.q[0][0], p->b_stride, -1, half);
  sum_of(s[5], a.q[0][0], a.q[0][1], p->a_stride, 1, half);
  sum_of(s[6], a.q[1][0], a.q[0][0], p->a_stride, -1, half);
  sum_of(s[7], b.q[0][0], b.q[0][1], p->b_stride, 1, half);
  sum_of(s[8], a.q[0][1], a.q[1][1], p->a_stride, -1, half);
  sum_of(s[9], b.q[1][0], b.q[1][1], p->b_stride, 1, half);
  const double *left[] = {s[0], s[2], a.q[0][0], a.q[1][1], s[5], s[6], s[8]};
  const double *right[] = {s[1], b.q[0][0], s[3], s[4], b.q[1][1], s[7], s[9]};
  for (size_t i = 0; i < STRASSEN_PRODUCTS; i++) {
    int whole_a = i == 2 || i == 3, whole_b = i == 1 || i == 4;
    product part = {left[i],
                    right[i],
                    m + (10 + i) * size,
                    half,
                    whole_a ? p->a_stride : half,
                    whole_b ? p->b_stride : half,
                    half};
    node->part[i] = part;
  }
}

void strassen_end(const product *p, strassen_node *node) {
  size_t half = p->n / 2;
  const double *m[STRASSEN_PRODUCTS];
  for (size_t i = 0; i < STRASSEN_PRODUCTS; i++) m[i] = node->part[i].c;
  for (size_t i = 0; i < half; i++)
    for (size_t j = 0; j < half; j++) {
      size_t k = i * half + j;
      double *c = p->c + i * p->c_stride + j, *below = c + half * p->c_stride;
      c[0] = m[0][k] + m[3][k] - m[4][k] + m[6][k];
      c[half] = m[2][k] + m[4][k];
      below[0] = m[1][k] + m[3][k];
      below[half] = m[0][k] - m[1][k] + m[2][k] + m[5][k];
    }
  free(node->memory);
}
