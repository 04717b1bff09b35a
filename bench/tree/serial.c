/* tree/serial.c - the sequential tree, the baseline of P2 and P3.
 *
 * Usage: tree_serial plain|noinline [depth]
 *
 * SPDX-License-Identifier: MIT */
#include "serial.h"

int main(int argc, char **argv) {
  long depth = bench_arg(argc, argv, 2, 10);
  if (argc > 1 && strcmp(argv[1], "noinline") == 0)
    bench_measure("serial-noinline", tree_noinline, depth, depth, 1L << depth);
  else
    bench_measure("serial", tree_plain, depth, depth, 1L << depth);
  return 0;
}
