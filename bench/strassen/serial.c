/* strassen/serial.c - Strassen's product by recursion.
 *
 * Usage: strassen_serial [threads [n]]
 *
 * SPDX-License-Identifier: MIT */
#include "strassen.h"

static void multiply(const product *p) {
  if (p->n <= STRASSEN_LEAF) {
    strassen_leaf(p);
    return;
  }
  strassen_node node;
  strassen_begin(p, &node);
  for (int i = 0; i < STRASSEN_PRODUCTS; i++) multiply(&node.part[i]);
  strassen_end(p, &node);
}

int main(int argc, char **argv) {
  strassen_measure("serial", multiply, argc, argv);
  return 0;
}
