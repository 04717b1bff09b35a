/* lu/kernel.c - the work on blocks; see lu.h.
 *
 * SPDX-License-Identifier: MIT */
#include "lu.h"

static double *block_at(const lu_matrix *m, size_t row, size_t column) {
  return m->blocks + (row * m->count + column) * LU_SIZE;
}

void lu_diagonal(const lu_matrix *m) {
  double *a = block_at(m, m->step, m->step);
  for (int k = 0; k < LU_SIDE; k++)
    for (int i = k + 1; i < LU_SIDE; i++) {
      double factor = a[i * LU_SIDE + k] /= a[k * LU_SIDE + k];
      for (int j = k + 1; j < LU_SIDE; j++)
        a[i * LU_SIDE + j] -= factor * a[k * LU_SIDE + j];
    }
}

/* Solves L x = b for a block right of the diagonal. */
static void solve_right(const double *l, double *b) {
  for (int k = 0; k < LU_SIDE; k++)
    for (int i = k + 1; i < LU_SIDE; i++)
      for (int j = 0; j < LU_SIDE; j++)
        b[i * LU_SIDE + j] -= l[i * LU_SIDE + k] * b[k * LU_SIDE + j];
}

/* Solves x U = b for a block below it. */
static void solve_below(const double *u, double *b) {
  for (int i = 0; i < LU_SIDE; i++)
    for (int k = 0; k < LU_SIDE; k++) {
      double factor = b[i * LU_SIDE + k] /= u[k * LU_SIDE + k];
      for (int j = k + 1; j < LU_SIDE; j++)
        b[i * LU_SIDE + j] -= factor * u[k * LU_SIDE + j];
    }
}

void lu_border(const lu_matrix *m, size_t i) {
  const double *diagonal = block_at(m, m->step, m->step);
  size_t other = m->step + 1 + i / 2;
  if (i % 2 == 0)
    solve_right(diagonal, block_at(m, m->step, other));
  else
    solve_below(diagonal, block_at(m, other, m->step));
}

/* c -= a b, with constant bounds, which compilers turn into vector code. */
static void update(const double *restrict a, const double *restrict b,
                   double *restrict c) {
  for (int i = 0; i < LU_SIDE; i++)
    for (int k = 0; k < LU_SIDE; k++) {
      double factor = a[i * LU_SIDE + k];
      for (int j = 0; j < LU_SIDE; j++) c[i * LU_SIDE + j] -= factor * b[k * LU_SIDE + j];
    }
}

void lu_inner(const lu_matrix *m, size_t i) {
  size_t rest = m->count - m->step - 1;
  size_t row = m->step + 1 + i / rest, column = m->step + 1 + i % rest;
  update(block_at(m, row, m->step), block_at(m, m->step, column),
         block_at(m, row, column));
}
