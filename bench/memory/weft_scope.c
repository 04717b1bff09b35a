/* memory/weft_scope.c - P15: does the memory of one scope grow with the number of its
 * tasks?
 *
 * flat: the body spawns all tasks in one loop. tree: every task spawns two more, until
 * there are as many. The tasks do nothing else but count themselves, each thread for
 * itself. A thread that has counted a block adds it to the total, and whenever that
 * passes a million, resident memory is read there and then. first is what was read after
 * the first million, end what there is after weft_scope_end, and growth is by how much
 * the largest reading in between, or the end, exceeds the first: what was given back
 * before the end counts as well. The readings take some 20 us each and are in the time.
 *
 * Usage: memory_weft_scope flat|tree [threads [tasks]]
 *
 * SPDX-License-Identifier: MIT */
#include "../common/weft_start.h"
#include "rss.h"
#include <pthread.h>

enum { BLOCK = 1 << 16, EVERY = 1000000, THREADS_MAX = 64 };

static weft_scope scope;

/* ---- counting and reading ---- */

static _Thread_local uint64_t counted; /* tasks that this thread has run */
static uint64_t *counters[THREADS_MAX];
static unsigned counter_count;
static uint64_t total; /* in whole blocks */

static pthread_mutex_t reading = PTHREAD_MUTEX_INITIALIZER;
static double first_kib, largest_kib;

static void read_memory(void) {
  pthread_mutex_lock(&reading);
  double now = rss_now_kib();
  if (first_kib == 0) first_kib = now;
  if (now > largest_kib) largest_kib = now;
  pthread_mutex_unlock(&reading);
}

/* Before a thread's first task and after each block of them. */
static BENCH_NOINLINE void checkpoint(void) {
  if (counted == 0) {
    unsigned i = __atomic_fetch_add(&counter_count, 1, __ATOMIC_RELAXED);
    if (i >= THREADS_MAX) exit(2);
    counters[i] = &counted;
    return;
  }
  uint64_t before = __atomic_fetch_add(&total, BLOCK, __ATOMIC_RELAXED);
  if (before / EVERY != (before + BLOCK) / EVERY) read_memory();
}

static inline void count(void) {
  if ((counted & (BLOCK - 1)) == 0) checkpoint();
  counted++;
}

/* ---- the two shapes ---- */

static void leaf(void *ctx) {
  (void)ctx;
  count();
}

/* A subtree. The number of its tasks, this one included, is the value of the pointer. */
static void node(void *ctx) {
  uintptr_t rest = (uintptr_t)ctx - 1, left = rest / 2, right = rest - left;
  count();
  if (right != 0) weft_spawn(&scope, node, (void *)right);
  if (left != 0) weft_spawn(&scope, node, (void *)left);
}

static long tasks;
static bool tree;
static double took_ns;

static void run(void *ctx) {
  (void)ctx;
  double before = bench_now_ns();
  weft_scope_begin(&scope);
  if (tree)
    weft_spawn(&scope, node, (void *)(uintptr_t)tasks);
  else
    for (long i = 0; i < tasks; i++) weft_spawn(&scope, leaf, NULL);
  bench_check("weft", (uint64_t)weft_scope_end(&scope), 0);
  took_ns = bench_now_ns() - before;
}

int main(int argc, char **argv) {
  tree = argc > 1 && strcmp(argv[1], "tree") == 0;
  bench_weft_start(bench_arg(argc, argv, 2, 2));
  tasks = bench_arg(argc, argv, 3, 100000000);
  if (tasks < 2 * EVERY) tasks = 2 * EVERY;
  double start_kib = rss_now_kib();
  weft_pool_run(NULL, run, NULL);
  double end_kib = rss_now_kib();
  if (end_kib > largest_kib) largest_kib = end_kib;

  uint64_t ran = 0;
  for (unsigned i = 0; i < counter_count; i++) ran += *counters[i];
  bench_check("weft", ran, (uint64_t)tasks);
  bench_print("weft", "tasks_1e6", (double)tasks / 1e6);
  bench_print("weft", "ns_per_task", took_ns / (double)tasks);
  bench_print("weft", "start_rss_kib", start_kib);
  bench_print("weft", "first_rss_kib", first_kib);
  bench_print("weft", "end_rss_kib", end_kib);
  bench_print("weft", "peak_rss_kib", rss_peak_kib());
  bench_print("weft", "growth_kib", largest_kib - first_kib);
  bench_passed_alone();
  weft_shutdown();
  return 0;
}
