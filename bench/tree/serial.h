/* tree/serial.h - the full binary tree of calls, sequentially: 2^depth leaves of 1.
 *
 * Both calls of a node have the same argument and the function has no side effect, so a
 * compiler may call once and double the result: 10 calls instead of 2047. BENCH_FORGET
 * hides that the arguments are equal; everything else stays as the compiler likes it.
 *
 * SPDX-License-Identifier: MIT */
#ifndef BENCH_TREE_SERIAL_H
#define BENCH_TREE_SERIAL_H

#include "../common/bench.h"

BENCH_HELPER long tree_plain(long depth) {
  if (depth == 0) return 1;
  long left = depth - 1, right = depth - 1;
  BENCH_FORGET(right);
  return tree_plain(left) + tree_plain(right);
}

/* Every call is a call, as in fib/serial.h. */
static BENCH_NOINLINE __attribute__((unused)) long tree_noinline(long depth) {
  if (depth == 0) return 1;
  long right = depth - 1;
  BENCH_FORGET(right);
  long a = tree_noinline(depth - 1);
  long b = tree_noinline(right);
  BENCH_FORGET(b);
  return a + b;
}

#endif
