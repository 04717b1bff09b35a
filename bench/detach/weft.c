/* detach/weft.c - P11: tasks that four threads outside the pool detach at the same time.
 *
 * The threads start together and detach a quarter of the tasks each. Every task adds one
 * to a counter, and the one that brings it to the full number wakes the main thread,
 * which sleeps meanwhile: it would take one of the CPUs if it looked at the counter. The
 * start of the threads is part of the time, some 0.1 ms of it, here and in the twin,
 * rayon.rs.
 *
 * A weft pool of 2 threads has started one, as the caller is the other; but detached work
 * is for the started ones alone. A pool of 3 has as many that can run these tasks as a
 * Rayon pool of 2.
 *
 * Usage: detach_weft [threads [contestant [tasks]]]
 *
 * SPDX-License-Identifier: MIT */
#include "../common/bench.h"
#include <pthread.h>
#include <weft.h>

enum { OUTSIDE = 4, DETACH_TASKS = 1000000 };

static weft_pool *pool;
static const char *who;
static pthread_barrier_t start;
static long total;
static uint32_t done;
static struct {
  _Alignas(64) long ran; /* every task writes it: in a cache line of its own */
} counter;

static void task(void *ctx) {
  (void)ctx;
  if (__atomic_add_fetch(&counter.ran, 1, __ATOMIC_RELAXED) != total) return;
  __atomic_store_n(&done, 1, __ATOMIC_RELEASE);
  bench_futex_wake(&done);
}

static void *outside(void *arg) {
  (void)arg;
  long wrong = 0;
  pthread_barrier_wait(&start);
  for (long i = 0; i < total / OUTSIDE; i++)
    wrong += weft_pool_detach(pool, task, NULL) != 0;
  bench_check(who, (uint64_t)wrong, 0);
  return NULL;
}

static long detach_all(long n) {
  pthread_t threads[OUTSIDE];
  total = n;
  counter.ran = 0;
  __atomic_store_n(&done, 0, __ATOMIC_RELAXED);
  for (int i = 0; i < OUTSIDE; i++)
    if (pthread_create(&threads[i], NULL, outside, NULL) != 0) exit(2);
  for (int i = 0; i < OUTSIDE; i++) pthread_join(threads[i], NULL);
  while (__atomic_load_n(&done, __ATOMIC_ACQUIRE) == 0) bench_futex_wait(&done, 0);
  return __atomic_load_n(&counter.ran, __ATOMIC_RELAXED);
}

int main(int argc, char **argv) {
  weft_config config = WEFT_CONFIG_INIT;
  config.threads = (unsigned)bench_arg(argc, argv, 1, 2);
  who = argc > 2 ? argv[2] : "weft";
  long tasks = bench_arg(argc, argv, 3, DETACH_TASKS);
  int status = weft_pool_create(&pool, &config);
  if (status != 0) {
    fprintf(stderr, "weft: no pool: %s\n", weft_strerror(status));
    return 2;
  }
  pthread_barrier_init(&start, NULL, OUTSIDE);
  bench_measure_tasks(who, detach_all, tasks / OUTSIDE * OUTSIDE);
  pthread_barrier_destroy(&start);
  weft_pool_destroy(pool);
  return 0;
}
