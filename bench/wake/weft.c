/* wake/weft.c - P12: from asleep to running, beside a bare futex.
 *
 * In turn, each after 5 ms of rest: the main thread, which is outside the pool, detaches
 * a task that stamps the clock; and it wakes a thread that sleeps on a futex and stamps
 * the clock. The latency counts from before the call to the stamp. The bare thread is
 * woken on another CPU than the caller's: its mask excludes that one, which is seen to
 * before the clock starts.
 *
 * rest: the caller sleeps after the call, so that it does not compete with the thread it
 * woke. busy: it computes until the stamp is there, as a program does that has handed
 * over one task and goes on with another; a thread that was queued behind it stays
 * there.
 *
 * weft.of_futex_x is the ratio of the medians in this process. weft.slept_x is the number
 * of times a worker fell asleep per sample; 1 means that every task found a sleeping
 * pool.
 *
 * Usage: wake_weft [threads [samples [rest|busy]]]
 *
 * SPDX-License-Identifier: MIT */
#include "../common/weft_start.h"
#include <pthread.h>

enum { PAUSE_US = 5000, WARM_UP = 20 };

static int caller_is_busy;
static double stamp_ns; /* written by the woken side, read after the rest */
static uint32_t stamped;

static void stamp(void *ctx) {
  (void)ctx;
  stamp_ns = bench_now_ns();
  __atomic_store_n(&stamped, 1, __ATOMIC_RELEASE);
}

static int is_stamped(void) {
  return __atomic_load_n(&stamped, __ATOMIC_ACQUIRE) != 0;
}

static uint32_t word;
static long sleeper_number;

static void *sleeper(void *arg) {
  uint32_t seen = 0;
  __atomic_store_n(&sleeper_number, bench_thread_number(), __ATOMIC_RELEASE);
  for (;;) {
    while (__atomic_load_n(&word, __ATOMIC_ACQUIRE) == seen)
      bench_futex_wait(&word, seen);
    seen = __atomic_load_n(&word, __ATOMIC_ACQUIRE);
    if (seen == UINT32_MAX) return NULL;
    stamp(arg);
  }
}

/* Computes or not; then rests until the stamp is there and everybody sleeps again. */
static double latency_ns(double since) {
  if (caller_is_busy)
    for (uint64_t seed = 1; !is_stamped();) seed = bench_spin(seed, 100);
  do {
    bench_sleep_us(PAUSE_US);
  } while (!is_stamped());
  __atomic_store_n(&stamped, 0, __ATOMIC_RELAXED);
  return stamp_ns - since;
}

/* A negative number if nobody slept there. */
static double futex_once(uint32_t value) {
  bench_keep_off_this_cpu(sleeper_number);
  double before = bench_now_ns();
  __atomic_store_n(&word, value, __ATOMIC_RELEASE);
  long woken = bench_futex_wake(&word);
  double took = latency_ns(before);
  return woken == 1 ? took : -1;
}

static double weft_once(void) {
  double before = bench_now_ns();
  int status = weft_pool_detach(weft_pool_current(), stamp, NULL);
  bench_check("weft", (uint64_t)status, 0);
  return latency_ns(before);
}

int main(int argc, char **argv) {
  static const char *const words[] = {"rest", "busy"};
  bench_weft_start(bench_arg(argc, argv, 1, 2));
  long samples = bench_arg(argc, argv, 2, 100);
  caller_is_busy = argc > 3 && bench_choose(argc, argv, 3, words, 2) == 1;
  pthread_t thread;
  if (pthread_create(&thread, NULL, sleeper, NULL) != 0) return 2;
  while (__atomic_load_n(&sleeper_number, __ATOMIC_ACQUIRE) == 0) bench_sleep_us(100);

  bench_samples futex = {NULL, 0, 0}, weft = {NULL, 0, 0};
  double slept = 0;
  uint32_t turn = 0;
  for (long i = -WARM_UP; i < samples; i++) {
    double futex_ns = futex_once(++turn);
    double weft_ns = weft_once();
    if (i == -1) slept = bench_weft_sleeps();
    if (i < 0) continue;
    if (futex_ns >= 0) bench_add(&futex, futex_ns);
    bench_add(&weft, weft_ns);
  }
  slept = bench_weft_sleeps() - slept;
  __atomic_store_n(&word, UINT32_MAX, __ATOMIC_RELEASE);
  bench_futex_wake(&word);
  pthread_join(thread, NULL);

  bench_print_latency("futex", &futex);
  bench_print_latency("weft", &weft);
  bench_print("weft", "of_futex_x",
              bench_quantile(&weft, 0.5) / bench_quantile(&futex, 0.5));
  bench_print("weft", "slept_x", slept / (double)samples);
  bench_passed((uint64_t)samples);
  weft_shutdown();
  return 0;
}
