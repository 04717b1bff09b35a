/* short_calls/serial.c - P18: the sequential program.
 *
 * Usage: short_calls_serial [us [alone|busy]]
 *
 * SPDX-License-Identifier: MIT */
#include "short_calls.h"

static long work(long n) {
  return (long)short_plain(short_numbers, (size_t)n);
}

int main(int argc, char **argv) {
  short_calls_measure("serial", work, short_calls_begin(argc, argv, 1));
  return 0;
}
