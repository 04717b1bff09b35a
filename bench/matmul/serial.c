/* matmul/serial.c - the product by recursion.
 *
 * Usage: matmul_serial [threads [n]]
 *
 * SPDX-License-Identifier: MIT */
#include "matmul.h"

static void multiply(const product *p) {
  product first, second;
  if (matmul_split(p, &first, &second) == 0) {
    matmul_leaf(p);
    return;
  }
  multiply(&first);
  multiply(&second);
}

int main(int argc, char **argv) {
  matmul_measure("serial", multiply, argc, argv);
  return 0;
}
