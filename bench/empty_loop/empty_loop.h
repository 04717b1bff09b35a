/* empty_loop/empty_loop.h - P7: what a loop costs that has nothing to do.
 *
 * A call is one parallel loop of two iterations, both empty; calls follow each other at
 * once, so every pool and team is awake. As such iterations leave nothing to check, the
 * same loop runs before the clock starts with iterations that count themselves.
 *
 * The Rust twin is rayon.rs.
 *
 * SPDX-License-Identifier: MIT */
#ifndef BENCH_EMPTY_LOOP_EMPTY_LOOP_H
#define BENCH_EMPTY_LOOP_EMPTY_LOOP_H

#include "../common/bench.h"

enum { EMPTY_LOOP_N = 2, EMPTY_LOOP_COUNTED = 10000 };

/* An iteration that the compiler keeps. */
#define EMPTY_LOOP_NOTHING() __asm__ volatile("")

/* counted: a loop of n iterations that count themselves; returns how many did. */
BENCH_HELPER void empty_loop_measure(const char *who, bench_work *empty,
                                     bench_work *counted) {
  for (int i = 0; i < EMPTY_LOOP_COUNTED; i++)
    bench_check(who, (uint64_t)counted(EMPTY_LOOP_N), EMPTY_LOOP_N);
  bench_measure(who, empty, EMPTY_LOOP_N, EMPTY_LOOP_N, EMPTY_LOOP_N);
}

#endif
