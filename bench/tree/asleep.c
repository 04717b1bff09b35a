/* tree/asleep.c - P3: one small tree while the pool sleeps, beside what it may cost.
 *
 * In turn, each after 5 ms of sleep and each timed alone: the sequential tree (plain and
 * not inlined), the wake of a thread that sleeps on a bare futex (the time the waker
 * spends in the call) and the weft tree. So all of them find caches, clock frequency and
 * scheduler in the same state. The goal compares weft with the sum of the others.
 *
 * weft.slept_x tells how many times the pool's threads fell asleep per measured call: 1
 * or more means that each call really found a sleeping pool, as far as it woke anyone.
 *
 * Usage: tree_asleep [threads [depth [samples]]]
 *
 * SPDX-License-Identifier: MIT */
#include "serial.h"
#include "weft.h"
#include <pthread.h>

enum { PAUSE_US = 5000 };

static uint32_t word; /* counts wakes; the sleeper waits for the next one */

static void *sleeper(void *arg) {
  (void)arg;
  uint32_t seen = 0;
  while (seen != UINT32_MAX) {
    bench_futex_wait(&word, seen);
    seen = __atomic_load_n(&word, __ATOMIC_ACQUIRE);
  }
  return NULL;
}

/* The time of the call, or a negative number if nobody slept there. */
static double wake_ns(uint32_t value) {
  __atomic_store_n(&word, value, __ATOMIC_RELEASE);
  double before = bench_now_ns();
  long woken = bench_futex_wake(&word);
  double took = bench_now_ns() - before;
  return woken == 1 ? took : -1;
}

static double call_ns(const char *who, bench_work *work, long depth) {
  double before = bench_now_ns();
  long result = work(depth);
  double took = bench_now_ns() - before;
  bench_check(who, (uint64_t)result, (uint64_t)1 << depth);
  return took;
}

int main(int argc, char **argv) {
  long depth = bench_arg(argc, argv, 2, 10), samples = bench_arg(argc, argv, 3, 200);
  bench_weft_start(bench_arg(argc, argv, 1, 2));
  pthread_t thread;
  if (pthread_create(&thread, NULL, sleeper, NULL) != 0) return 2;

  bench_samples plain = {NULL, 0, 0}, noinline = {NULL, 0, 0}, futex = {NULL, 0, 0},
                weft = {NULL, 0, 0};
  double slept = 0;
  for (long i = -10; i < samples; i++) {
    bench_sleep_us(PAUSE_US);
    double plain_ns = call_ns("serial", tree_plain, depth);
    bench_sleep_us(PAUSE_US);
    double noinline_ns = call_ns("serial-noinline", tree_noinline, depth);
    bench_sleep_us(PAUSE_US);
    double futex_ns = wake_ns((uint32_t)(i + 11));
    bench_sleep_us(PAUSE_US);
    double weft_ns = call_ns("weft", tree_weft, depth);
    if (i == -1) slept = bench_weft_sleeps();
    if (i < 0) continue; /* warm-up */
    bench_add(&plain, plain_ns);
    bench_add(&noinline, noinline_ns);
    if (futex_ns >= 0) bench_add(&futex, futex_ns);
    bench_add(&weft, weft_ns);
  }
  bench_sleep_us(PAUSE_US);
  slept = bench_weft_sleeps() - slept;
  wake_ns(UINT32_MAX);
  pthread_join(thread, NULL);

  bench_print_times("serial", &plain);
  bench_print_times("serial-noinline", &noinline);
  bench_print_times("futex-wake", &futex);
  bench_print_times("weft", &weft);
  bench_print("weft", "slept_x", slept / (double)samples);
  bench_passed((uint64_t)1 << depth);
  weft_shutdown();
  return 0;
}
