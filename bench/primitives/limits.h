/* primitives/limits.h - what a machine asks for the least of what a step does: an atomic
 * operation that nobody else wants, a cache line that comes from another CPU, a call of
 * the futex, a process-wide barrier. And a partner: a thread on another CPU that runs
 * functions for the main thread, and looks for the next one without sleeping until it is
 * told to rest.
 *
 * Every function returns nanoseconds for one operation, of one sample.
 *
 * SPDX-License-Identifier: MIT */
#ifndef BENCH_PRIMITIVES_LIMITS_H
#define BENCH_PRIMITIVES_LIMITS_H

#include "../common/weft_start.h"
#include <pthread.h>
#include <stdbool.h>
#include <sys/sys.h>

enum { MANY = 1000, LINES = 64 };

static _Alignas(64) uint64_t own_word;

static double atomic_operation(void) {
  double before = bench_now_ns();
  for (int i = 0; i < MANY; i++) __atomic_fetch_add(&own_word, 1, __ATOMIC_SEQ_CST);
  return (bench_now_ns() - before) / MANY;
}

/* A wake of nobody. */
static double futex_call(void) {
  static uint32_t word;
  double before = bench_now_ns();
  for (int i = 0; i < MANY; i++) bench_futex_wake(&word);
  return (bench_now_ns() - before) / MANY;
}

/* ---- the partner ---- */

typedef struct partner {
  _Alignas(64) uint32_t turn; /* odd: the partner's */
  void (*run)(void *arg);     /* NULL: the end */
  void *arg;
  bool rests;  /* it sleeps until its next turn, and leaves its CPU to others */
  long number; /* of the thread */
} partner;

static partner other;

static void await_turn(uint32_t parity) {
  while (__atomic_load_n(&other.turn, __ATOMIC_ACQUIRE) % 2 != parity) wf_sys_relax();
}

static void end_turn(void) {
  __atomic_store_n(&other.turn, other.turn + 1, __ATOMIC_RELEASE);
}

static void *partner_main(void *unused) {
  (void)unused;
  __atomic_store_n(&other.number, bench_thread_number(), __ATOMIC_RELEASE);
  for (;;) {
    uint32_t turn = __atomic_load_n(&other.turn, __ATOMIC_ACQUIRE);
    if (turn % 2 == 0 && other.rests) bench_futex_wait(&other.turn, turn);
    await_turn(1);
    if (other.run == NULL) return NULL;
    other.run(other.arg);
    end_turn();
  }
}

/* Hands a function to the partner, and waits until it has run. */
static void by_partner(void (*run)(void *arg), void *arg) {
  bool rested = other.rests;
  other.run = run;
  other.arg = arg;
  other.rests = false;
  end_turn();
  if (rested) bench_futex_wake(&other.turn);
  if (run != NULL) await_turn(0);
}

static void go_to_rest(void *unused) {
  (void)unused;
  other.rests = true;
}

static bool is_alone(void) {
  cpu_set_t cpus;
  return sched_getaffinity(0, sizeof cpus, &cpus) != 0 || CPU_COUNT(&cpus) < 2;
}

static pthread_t start_partner(void) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, partner_main, NULL) != 0) exit(2);
  while (__atomic_load_n(&other.number, __ATOMIC_ACQUIRE) == 0) bench_sleep_us(100);
  cpu_set_t here;
  bench_keep_off_this_cpu(other.number);
  CPU_ZERO(&here);
  CPU_SET((size_t)sched_getcpu(), &here);
  sched_setaffinity(0, sizeof here, &here);
  return thread;
}

/* ---- a line from another CPU ---- */

static _Alignas(64) struct { _Alignas(64) uint64_t word; } lines[LINES];

static void write_lines(void *unused) {
  (void)unused;
  for (int i = 0; i < LINES; i++) __atomic_fetch_add(&lines[i].word, 1, __ATOMIC_RELAXED);
}

/* The next line is known only when this one has come: no two are on their way at once. */
static double line_transfer(void) {
  by_partner(write_lines, NULL);
  uint64_t i = 0, sum = 0;
  double before = bench_now_ns();
  for (int n = 0; n < LINES; n++) {
    uint64_t seen = __atomic_fetch_add(&lines[i].word, 1, __ATOMIC_RELAXED);
    BENCH_FORGET(seen);
    sum += seen;
    i = (i + 17 + (seen & 0)) % LINES;
  }
  double took = bench_now_ns() - before;
  BENCH_FORGET(sum);
  return took / LINES;
}

/* There and back: what an answer takes. */
static void nothing_to_do(void *unused) {
  (void)unused;
}

static double round_trip(void) {
  by_partner(nothing_to_do, NULL);
  double before = bench_now_ns();
  for (int i = 0; i < LINES; i++) by_partner(nothing_to_do, NULL);
  return (bench_now_ns() - before) / LINES;
}

static double barrier(void) {
  double before = bench_now_ns();
  for (int i = 0; i < LINES; i++) wf_sys_barrier();
  return (bench_now_ns() - before) / LINES;
}

/* ---- a thread that sleeps ---- */

static uint32_t bed;
static long sleeper_number;

static void *sleeper_main(void *unused) {
  (void)unused;
  __atomic_store_n(&sleeper_number, bench_thread_number(), __ATOMIC_RELEASE);
  for (uint32_t seen = 0; seen != UINT32_MAX;
       seen = __atomic_load_n(&bed, __ATOMIC_ACQUIRE))
    while (__atomic_load_n(&bed, __ATOMIC_ACQUIRE) == seen) bench_futex_wait(&bed, seen);
  return NULL;
}

static void wake_sleeper(void) {
  __atomic_fetch_add(&bed, 1, __ATOMIC_RELEASE);
  bench_futex_wake(&bed);
}

#endif
