/* fib/serial.c - sequential Fibonacci, the baseline of P1.
 *
 * Usage: fib_serial plain|noinline [n]
 *
 * SPDX-License-Identifier: MIT */
#include "serial.h"

int main(int argc, char **argv) {
  long n = bench_arg(argc, argv, 2, 35);
  if (argc > 1 && strcmp(argv[1], "noinline") == 0)
    bench_measure_fib("serial-noinline", fib_noinline, n);
  else
    bench_measure_fib("serial", fib_plain, n);
  return 0;
}
