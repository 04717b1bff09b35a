/* lu/serial.c - the factors, one block after the other.
 *
 * Usage: lu_serial [threads [n]]
 *
 * SPDX-License-Identifier: MIT */
#include "lu.h"

static void step(const lu_matrix *m) {
  lu_diagonal(m);
  for (size_t i = 0; i < lu_borders(m); i++) lu_border(m, i);
  for (size_t i = 0; i < lu_inners(m); i++) lu_inner(m, i);
}

int main(int argc, char **argv) {
  lu_measure("serial", step, argc, argv);
  return 0;
}
