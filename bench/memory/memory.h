/* memory/memory.h - P15: resident memory of a worker beyond its stack.
 *
 * Resident memory is the sum of all "Rss:" lines of /proc/self/smaps; /proc/self/statm
 * is cheaper but lags behind on recent kernels. From it the touched pages of the workers'
 * stacks are taken away. Each worker tells the range of its stack when it starts, and
 * mincore counts the resident pages in exactly that range: the lines of smaps would not
 * do, for the kernel merges a stack with a neighbouring mapping where it can. Thread
 * control block and thread-local variables lie in the stack's range and count as stack.
 *
 * The process does this for one size of pool, when the pool is fresh and after every
 * worker has worked and gone idle. To make sure of "every" the pool gets as many tasks as
 * it has workers, and each of them waits for the others to start before it forks and
 * joins on its own; <contestant>.used tells how many did. the goal subtracts a small
 * pool's figure from a large one's and divides by the number of workers between them, so
 * what a pool or the program needs once cancels out.
 *
 * SPDX-License-Identifier: MIT */
#ifndef BENCH_MEMORY_MEMORY_H
#define BENCH_MEMORY_MEMORY_H

#include "../common/bench.h"
#include <pthread.h>
#include <sys/mman.h>

enum { STACKS_MAX = 1024, SETTLE_US = 300000 };

static struct {
  void *address;
  size_t size;
} stacks[STACKS_MAX];
static unsigned stack_count;

/* Called on each worker when it starts. */
BENCH_HELPER void memory_register_stack(void) {
  pthread_attr_t attr;
  if (pthread_getattr_np(pthread_self(), &attr) != 0) return;
  unsigned i = __atomic_fetch_add(&stack_count, 1, __ATOMIC_RELAXED);
  if (i < STACKS_MAX) pthread_attr_getstack(&attr, &stacks[i].address, &stacks[i].size);
  pthread_attr_destroy(&attr);
}

BENCH_HELPER double memory_rss_kib(void) {
  char line[512];
  double sum = 0, value;
  FILE *file = fopen("/proc/self/smaps", "r");
  if (file == NULL) {
    perror("memory: /proc/self/smaps");
    exit(2);
  }
  while (fgets(line, sizeof line, file) != NULL)
    if (sscanf(line, "Rss: %lf kB", &value) == 1) sum += value;
  fclose(file);
  return sum;
}

BENCH_HELPER double memory_stacks_kib(void) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  static unsigned char resident[65536]; /* enough for a 256 MiB stack of 4 KiB pages */
  double pages = 0;
  for (unsigned i = 0; i < stack_count && i < STACKS_MAX; i++) {
    size_t count = stacks[i].size / page;
    if (count > sizeof resident) count = sizeof resident;
    if (mincore(stacks[i].address, count * page, resident) != 0) {
      perror("memory: mincore");
      exit(2);
    }
    for (size_t k = 0; k < count; k++) pages += resident[k] & 1;
  }
  return pages * (double)page / 1024;
}

/* The meeting of the tasks: each calls this once. Gives up after two seconds, so that a
 * pool which does not use all its workers is a number in the report and not a hang. */
static unsigned arrived, finished;

BENCH_HELPER void memory_meet(unsigned count) {
  __atomic_fetch_add(&arrived, 1, __ATOMIC_SEQ_CST);
  for (int ms = 0; ms < 2000 && __atomic_load_n(&arrived, __ATOMIC_SEQ_CST) < count; ms++)
    bench_sleep_us(1000);
}

/* when: "fresh" or "worked". */
BENCH_HELPER void memory_print(const char *who, const char *when) {
  memory_stacks_kib(); /* touches its own table before anything is counted */
  bench_sleep_us(SETTLE_US);
  double rss = memory_rss_kib(), stack = memory_stacks_kib();
  char metric[40];
  snprintf(metric, sizeof metric, "%s_rss_kib", when);
  bench_print(who, metric, rss);
  snprintf(metric, sizeof metric, "%s_stacks_kib", when);
  bench_print(who, metric, stack);
  snprintf(metric, sizeof metric, "%s_beyond_kib", when);
  bench_print(who, metric, rss - stack);
}

#endif
