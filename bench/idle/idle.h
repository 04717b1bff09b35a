/* idle/idle.h - P13: three sides of "costs nothing when there is nothing to do".
 *
 * idle: the pool has worked once and then rests. How often do its threads wake up, and
 * how much CPU does the process use? Wake-ups are the context switches, voluntary and
 * involuntary, of all threads but the measuring one, from /proc/self/task/TID/status.
 *
 * ticks: a control loop. Every millisecond, at fixed points of the clock, a burst of 32
 * tasks of about 0.6 us, 20 us of work in all, forked as a tree of depth 5 from outside
 * the pool. Counted are the CPU seconds of the whole process and the latency of each
 * burst, from its start to its end; the sequential loop shows the floor of both.
 *
 * burst: a server between two requests. Every 20 ms, when everybody sleeps, a burst of
 * 1024 such tasks, 600 us of work, enough for all threads to be worth waking.
 *
 * The Rust twin in rayon.rs does the same steps with the same numbers.
 *
 * SPDX-License-Identifier: MIT */
#ifndef BENCH_IDLE_IDLE_H
#define BENCH_IDLE_IDLE_H

#include "../common/bench.h"
#include <dirent.h>

enum { LEAF_STEPS = 350, SETTLE_US = 500000 };

/* When and how much. */
typedef struct pattern {
  long period_ns;
  int depth; /* of the tree of tasks */
} pattern;

static const pattern ticks = {1000000, 5}, bursts = {20000000, 10};
static int burst_depth = 5; /* of the pattern that is measured */

/* One burst; returns the sum over its leaves, which depends on every step of each. */
typedef uint64_t burst_fn(void);

BENCH_HELPER uint64_t leaf(uint64_t index) {
  return bench_spin(index, LEAF_STEPS);
}

BENCH_HELPER uint64_t burst_answer(void) {
  uint64_t sum = 0;
  for (uint64_t i = 0; i < (uint64_t)1 << burst_depth; i++)
    sum += leaf(((uint64_t)1 << burst_depth) + i);
  return sum;
}

/* The sum of both context switch counters of one thread. */
BENCH_HELPER double switches_of(const char *tid) {
  char path[300], line[200];
  double sum = 0, value;
  snprintf(path, sizeof path, "/proc/self/task/%s/status", tid);
  FILE *file = fopen(path, "r");
  if (file == NULL) return 0;
  while (fgets(line, sizeof line, file) != NULL) {
    if (sscanf(line, "voluntary_ctxt_switches: %lf", &value) == 1) sum += value;
    if (sscanf(line, "nonvoluntary_ctxt_switches: %lf", &value) == 1) sum += value;
  }
  fclose(file);
  return sum;
}

/* Of all threads but the main one, whose number is that of the process. */
BENCH_HELPER double other_switches(void) {
  char self[32];
  snprintf(self, sizeof self, "%ld", (long)getpid());
  double sum = 0;
  DIR *dir = opendir("/proc/self/task");
  if (dir == NULL) return 0;
  for (struct dirent *e; (e = readdir(dir)) != NULL;)
    if (e->d_name[0] != '.' && strcmp(e->d_name, self) != 0)
      sum += switches_of(e->d_name);
  closedir(dir);
  return sum;
}

BENCH_HELPER void idle_measure(const char *who, burst_fn *burst, long seconds) {
  uint64_t expected = burst_answer();
  for (int i = 0; i < 1000; i++) bench_check(who, burst(), expected);
  bench_sleep_us(SETTLE_US);
  double switches = other_switches();
  double cpu = bench_cpu_ns(), start = bench_now_ns();
  bench_sleep_us(seconds * 1000000);
  cpu = bench_cpu_ns() - cpu;
  double wall = bench_now_ns() - start;
  switches = other_switches() - switches;
  bench_print(who, "wakeups", switches);
  bench_print(who, "cpu_percent", 100 * cpu / wall);
  bench_passed(expected);
}

BENCH_HELPER void pattern_measure(const char *who, burst_fn *burst, long seconds,
                                  pattern p) {
  burst_depth = p.depth;
  uint64_t expected = burst_answer();
  for (int i = 0; i < 200; i++) bench_check(who, burst(), expected);
  bench_sleep_us(SETTLE_US);
  bench_samples latency = {NULL, 0, 0};
  struct timespec next;
  clock_gettime(CLOCK_MONOTONIC, &next);
  double cpu = bench_cpu_ns();
  for (long i = 0; i < seconds * 1000000000 / p.period_ns; i++) {
    next.tv_nsec += p.period_ns;
    if (next.tv_nsec >= 1000000000) {
      next.tv_nsec -= 1000000000;
      next.tv_sec++;
    }
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL) == EINTR) {
    }
    double before = bench_now_ns();
    uint64_t sum = burst();
    bench_add(&latency, bench_now_ns() - before);
    if (sum != expected) bench_check(who, sum, expected);
  }
  cpu = bench_cpu_ns() - cpu;
  bench_print_latency(who, &latency);
  bench_print(who, "cpu_ms_per_s", cpu / 1e6 / (double)seconds);
  bench_passed(expected);
}

/* The main function of each contestant, after it has started its pool. */
BENCH_HELPER int idle_main(const char *who, burst_fn *burst, int argc, char **argv) {
  long seconds = bench_arg(argc, argv, 2, 10);
  static const char *const words[] = {"idle", "ticks", "burst"};
  int which = bench_choose(argc, argv, 1, words, 3);
  if (which == 0)
    idle_measure(who, burst, seconds);
  else
    pattern_measure(who, burst, seconds, which == 1 ? ticks : bursts);
  return 0;
}

#endif
