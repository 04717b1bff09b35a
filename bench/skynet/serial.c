/* skynet/serial.c - skynet by recursion.
 *
 * Usage: skynet_serial [threads [n]]
 *
 * SPDX-License-Identifier: MIT */
#include "skynet.h"

static BENCH_NOINLINE long node(long first, long n) {
  if (n == 1) return first;
  long sum = 0;
  for (long i = 0; i < 10; i++) sum += node(first + i * (n / 10), n / 10);
  return sum;
}

static long sum(long n) {
  return node(0, n);
}

int main(int argc, char **argv) {
  skynet_measure("serial", sum, argc, argv);
  return 0;
}
