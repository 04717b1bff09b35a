/* pread/serial.c - the plain loop.
 *
 * Usage: pread_serial [threads [blocks]]     (the first one is not used)
 *
 * SPDX-License-Identifier: MIT */
#include "pread.h"

static long run(long n) {
  uint64_t sum = 0;
  for (long i = 0; i < n; i++) sum += pread_block(pread_file, i);
  return (long)sum;
}

int main(int argc, char **argv) {
  pread_measure("serial", run, argc, argv);
  return 0;
}
