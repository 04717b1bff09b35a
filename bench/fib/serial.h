/* fib/serial.h - the two sequential Fibonacci programs that the others are held against.
 *
 * SPDX-License-Identifier: MIT */
#ifndef BENCH_FIB_SERIAL_H
#define BENCH_FIB_SERIAL_H

#include "../common/bench.h"

/* As a programmer writes it. At -O2 gcc unrolls the recursion several levels deep and
 * turns half of the calls into loops, which no program with forks in it can have. */
BENCH_HELPER long fib_plain(long n) {
  return n < 2 ? n : fib_plain(n - 1) + fib_plain(n - 2);
}

/* Every call is a call. BENCH_FORGET keeps the second one from becoming a loop: its
 * result is no longer visibly the last thing that is added. */
static BENCH_NOINLINE __attribute__((unused)) long fib_noinline(long n) {
  if (n < 2) return n;
  long a = fib_noinline(n - 1);
  long b = fib_noinline(n - 2);
  BENCH_FORGET(b);
  return a + b;
}

#endif
