/* granularity/serial.c - the bodies one after the other.
 *
 * Usage: granularity_serial [threads [steps]]
 *
 * SPDX-License-Identifier: MIT */
#include "granularity.h"

static long loop(long n) {
  uint64_t sum = 0;
  for (long i = 0; i < n; i++) sum += (uint64_t)granularity_body((uint64_t)i);
  return (long)sum;
}

int main(int argc, char **argv) {
  granularity_measure("serial", loop, argc, argv);
  return 0;
}
