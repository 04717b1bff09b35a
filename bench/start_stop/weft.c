/* start_stop/weft.c - P14: a pool is started and stopped, beside as many bare threads
 * that end at once; both in turn in one process.
 *
 * Usage: start_stop_weft [threads]
 *
 * SPDX-License-Identifier: MIT */
#include "../common/weft_start.h"
#include <pthread.h>

enum { MOST_THREADS = 4096 };

static void *end_at_once(void *ctx) {
  return ctx;
}

static void start_bare(long count) {
  static pthread_t threads[MOST_THREADS];
  for (long i = 0; i < count; i++)
    bench_check("pthreads",
                (uint64_t)pthread_create(&threads[i], NULL, end_at_once, NULL), 0);
  for (long i = 0; i < count; i++) pthread_join(threads[i], NULL);
}

static void start_pool(long threads) {
  bench_weft_start(threads);
  weft_shutdown();
}

static double took_ns(void (*work)(long), long n) {
  double before = bench_now_ns();
  work(n);
  return bench_now_ns() - before;
}

int main(int argc, char **argv) {
  long threads = bench_arg(argc, argv, 1, 1024);
  if (threads < 2 || threads > MOST_THREADS) return 2;
  bench_limits limits = bench_choose_limits();
  bench_samples ours = {NULL, 0, 0}, bare = {NULL, 0, 0};
  double start = bench_now_ns();
  do {
    bench_add(&bare, took_ns(start_bare, threads - 1)); /* the caller is one of weft's */
    bench_add(&ours, took_ns(start_pool, threads));
  } while (!bench_has_enough(&limits, bench_now_ns() - start, ours.count));
  bench_print_times("weft", &ours);
  bench_print_times("pthreads", &bare);
  bench_passed_alone();
  free(ours.values);
  free(bare.values);
  return 0;
}
