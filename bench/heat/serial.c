/* heat/serial.c - the steps one row after the other.
 *
 * Usage: heat_serial [threads [side]]
 *
 * SPDX-License-Identifier: MIT */
#include "heat.h"

static void step(const plate *p) {
  heat_rows(p, 1, p->side - 1);
}

int main(int argc, char **argv) {
  heat_measure("serial", step, argc, argv);
  return 0;
}
