/* short_calls/short_calls.h - P18: calls of 20, 100 and 400 us back to back, each a tree
 * of joins over memory, with more threads than CPUs and with a busy process beside them.
 *
 * The tree halves an array of 64-bit numbers down to 128 of them, which it hashes; that
 * is the shape of BLAKE3. The length of a call is that of the sequential program on an
 * AMD EPYC guest, which takes 1.5 ns for an element; the work is the same everywhere, so
 * that answers can be compared.
 *
 * The Rust twin is rayon.rs; kernel.c has the leaves of all.
 *
 * SPDX-License-Identifier: MIT */
#ifndef BENCH_SHORT_CALLS_SHORT_CALLS_H
#define BENCH_SHORT_CALLS_SHORT_CALLS_H

#include "../common/bench.h"

#ifdef __cplusplus
extern "C" {
#endif
/* The hash of up to SHORT_LEAF numbers. */
uint64_t short_calls_leaf(const uint64_t *numbers, size_t count);
#ifdef __cplusplus
}
#endif

enum { SHORT_LEAF = 128, SHORT_PER_US = 680, SHORT_MOST = 400 * SHORT_PER_US };

static uint64_t short_numbers[SHORT_MOST] __attribute__((unused));

BENCH_HELPER uint64_t short_combine(uint64_t left, uint64_t right) {
  return left * 31 + right;
}

BENCH_HELPER uint64_t short_plain(const uint64_t *numbers, size_t count) {
  if (count <= SHORT_LEAF) return short_calls_leaf(numbers, count);
  size_t half = count / 2;
  return short_combine(short_plain(numbers, half),
                       short_plain(numbers + half, count - half));
}

/* Before any thread is started. The arguments from number `first` on: length of a call in
 * us, alone|busy. Returns the number of elements. */
BENCH_HELPER long short_calls_begin(int argc, char **argv, int first) {
  static const char *const words[] = {"alone", "busy"};
  if (first + 1 < argc && bench_choose(argc, argv, first + 1, words, 2) == 1)
    bench_busy_neighbour();
  for (size_t i = 0; i < SHORT_MOST; i++) short_numbers[i] = bench_mix(i);
  long us = bench_arg(argc, argv, first, 20);
  return (us < 400 ? us : 400) * SHORT_PER_US;
}

/* work(n): the hash of the first n numbers. */
BENCH_HELPER void short_calls_measure(const char *who, bench_work *work, long n) {
  bench_measure(who, work, n, n, (long)short_plain(short_numbers, (size_t)n));
}

#endif
