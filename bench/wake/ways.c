/* wake/ways.c - three ways to wake a thread, without a library: by a futex, by a
 * condition variable, and by a word that the thread looks at all the time.
 *
 * In turn, each after a rest of 1 ms, in which the waiting thread sleeps or spins. The
 * latency counts from before the call to the stamp of the woken thread, which is kept off
 * the waker's CPU; call_ns is what the call itself takes of the waker; cpu_percent is
 * what the waiting thread uses.
 *
 * Usage: wake_ways [samples]
 *
 * SPDX-License-Identifier: MIT */
#include "../common/bench.h"
#include <pthread.h>
#include <stdbool.h>

enum { REST_US = 1000, WARM_UP = 20 };

typedef enum way { FUTEX, CONDITION, SPIN, WAYS } way;
static const char *const names[WAYS] = {"futex", "condition", "spin"};

typedef struct waiter {
  way how;
  uint32_t word; /* changes: wake up. UINT32_MAX: the end */
  pthread_mutex_t lock;
  pthread_cond_t changed;
  long number; /* of the thread */
  double stamp_ns;
  uint32_t stamped;
  double cpu_ns;
} waiter;

static uint32_t word_of(const waiter *w) {
  return __atomic_load_n(&w->word, __ATOMIC_ACQUIRE);
}

static void await_change(waiter *w, uint32_t seen) {
  if (w->how == CONDITION) {
    pthread_mutex_lock(&w->lock);
    while (word_of(w) == seen) pthread_cond_wait(&w->changed, &w->lock);
    pthread_mutex_unlock(&w->lock);
    return;
  }
  while (word_of(w) == seen)
    if (w->how == FUTEX) bench_futex_wait(&w->word, seen);
}

static void *wait_and_stamp(void *arg) {
  waiter *w = (waiter *)arg;
  uint32_t seen = 0;
  __atomic_store_n(&w->number, bench_thread_number(), __ATOMIC_RELEASE);
  for (;;) {
    await_change(w, seen);
    seen = word_of(w);
    if (seen == UINT32_MAX) break;
    w->stamp_ns = bench_now_ns();
    __atomic_store_n(&w->stamped, 1, __ATOMIC_RELEASE);
  }
  w->cpu_ns = bench_clock_ns(CLOCK_THREAD_CPUTIME_ID);
  return NULL;
}

static void wake(waiter *w, uint32_t value) {
  if (w->how == CONDITION) pthread_mutex_lock(&w->lock);
  __atomic_store_n(&w->word, value, __ATOMIC_RELEASE);
  if (w->how == CONDITION) {
    pthread_cond_signal(&w->changed);
    pthread_mutex_unlock(&w->lock);
  }
  if (w->how == FUTEX) bench_futex_wake(&w->word);
}

static void measure(way how, long samples) {
  waiter w = {how, 0, PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0, 0, 0};
  bench_samples latency = {NULL, 0, 0}, call = {NULL, 0, 0};
  pthread_t thread;
  double start = bench_now_ns();
  if (pthread_create(&thread, NULL, wait_and_stamp, &w) != 0) exit(2);
  while (__atomic_load_n(&w.number, __ATOMIC_ACQUIRE) == 0) bench_sleep_us(100);
  for (long i = -WARM_UP; i < samples; i++) {
    bench_sleep_us(REST_US);
    bench_keep_off_this_cpu(w.number);
    double before = bench_now_ns();
    wake(&w, w.word + 1);
    double called = bench_now_ns();
    while (__atomic_load_n(&w.stamped, __ATOMIC_ACQUIRE) == 0) bench_sleep_us(50);
    w.stamped = 0;
    if (i < 0) continue;
    bench_add(&latency, w.stamp_ns - before);
    bench_add(&call, called - before);
  }
  wake(&w, UINT32_MAX);
  pthread_join(thread, NULL);
  bench_print_latency(names[how], &latency);
  bench_print(names[how], "call_ns", bench_quantile(&call, 0.5));
  bench_print(names[how], "cpu_percent", 100 * w.cpu_ns / (bench_now_ns() - start));
  free(latency.values);
  free(call.values);
}

int main(int argc, char **argv) {
  long samples = bench_arg(argc, argv, 1, 500);
  for (int how = 0; how < WAYS; how++) measure((way)how, samples);
  bench_passed((uint64_t)samples);
  return 0;
}
