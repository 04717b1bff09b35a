/* probe.c - measures on the real machine what a machine file wants to know, and prints it
 * in the form of such a file.
 *
 * Each figure is the median of some rounds. Two threads on two CPUs: the one that
 * measures, and a partner.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1
#include "workload.h"

#include <core/atomic.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 31, CALLS = 2000 };

static double now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static int compare(const void *a, const void *b) {
  const double *x = a, *y = b;
  return (*x > *y) - (*x < *y);
}

/* The median of what fn returns. */
static double median(double (*fn)(void)) {
  double values[ROUNDS];
  for (int i = 0; i < ROUNDS; i++) values[i] = fn();
  qsort(values, ROUNDS, sizeof values[0], compare);
  return values[ROUNDS / 2];
}

static void pin(size_t cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  sched_setaffinity(0, sizeof set, &set);
}

/* ---- alone ---- */

#define EACH(statement)                                                                  \
  double begin = now_ns();                                                               \
  for (int i = 0; i < CALLS; i++) {                                                      \
    statement;                                                                           \
  }                                                                                      \
  return (now_ns() - begin) / CALLS

static wf_u64 word;
static double rmw(void) {
  EACH(wf_u64_fetch_add_relaxed(&word, 1));
}
static double fence(void) {
  EACH(wf_u64_store_relaxed(&word, (uint64_t)i); wf_fence_seq_cst());
}
static double relax(void) {
  EACH(wf_sys_relax());
}
static double look_at_clock(void) {
  EACH(wf_sys_now_ns());
}
static double ticks(void) {
  EACH(wf_sys_ticks());
}
static double yield(void) {
  EACH(wf_sys_thread_yield());
}
static double allocate(void) {
  EACH(void *p = malloc(200); __asm__ __volatile__("" ::"r"(p) : "memory"); free(p)) / 2;
}
static wf_u32 nobody;
static double wake_nobody(void) {
  EACH(wf_sys_wake_one(&nobody));
}
static double barrier_alone(void) {
  EACH(wf_sys_barrier());
}

/* A random walk through memory that is in no cache: 256 MB. */
enum { STEPS = 1 << 22 };
static double memory(void) {
  static uint32_t *next;
  if (next == NULL) {
    next = aligned_alloc(4096, (size_t)STEPS * 64);
    if (next == NULL) abort();
    uint32_t at = 0;
    for (uint32_t i = 1; i <= STEPS; i++) {
      uint32_t to = (at * 1664525U + 1013904223U) % STEPS;
      next[(size_t)at * 16] = to;
      at = to;
    }
  }
  static uint32_t at;
  EACH(at = next[(size_t)at * 16]);
}

/* ---- with a partner ---- */

static _Alignas(64) wf_u64 x_ball;
static _Alignas(64) wf_u32 x_stop, x_sleeper, x_woken;
static wf_u64 woken_at;

/* A line to the partner and back: two transfers. */
static void *play(void *arg) {
  (void)arg;
  pin(1);
  while (wf_u32_load_acquire(&x_stop) == 0) {
    uint64_t seen = wf_u64_load_acquire(&x_ball);
    if (seen % 2 == 1) wf_u64_store_release(&x_ball, seen + 1);
  }
  return NULL;
}

static double transfer(void) {
  double begin = now_ns();
  for (int i = 0; i < CALLS; i++) {
    wf_u64_store_release(&x_ball, 2 * (uint64_t)i + 1);
    while (wf_u64_load_acquire(&x_ball) % 2 == 1) {
    }
  }
  /* The ball's line moves four times: two reads, two claims. */
  return (now_ns() - begin) / CALLS / 4;
}

static double steps_done;
static wf_u64 x_steps;
static void *count_steps(void *arg) {
  (void)arg;
  pin(1);
  while (wf_u32_load_acquire(&x_stop) == 0)
    wf_u64_store_relaxed(&x_steps, wf_u64_load_relaxed(&x_steps) + 1);
  return NULL;
}

static double steps_in(double ns) {
  uint64_t before = wf_u64_load_relaxed(&x_steps);
  double begin = now_ns();
  while (now_ns() - begin < ns) {
  }
  return (double)(wf_u64_load_relaxed(&x_steps) - before) / (now_ns() - begin);
}

/* What a barrier takes from a CPU that runs, from the steps that it makes meanwhile. */
static double barrier_stop(void) {
  double free_rate = steps_in(2e6);
  uint64_t before = wf_u64_load_relaxed(&x_steps);
  double begin = now_ns();
  for (int i = 0; i < CALLS; i++) wf_sys_barrier();
  double ns = now_ns() - begin;
  double rate = (double)(wf_u64_load_relaxed(&x_steps) - before) / ns;
  steps_done = ns / CALLS;
  return (1 - rate / free_rate) * ns / CALLS;
}
static double barrier_with_other(void) {
  EACH(wf_sys_barrier());
}

/* Sleeps again and again, and notes when it runs. */
static void *sleep_again(void *arg) {
  (void)arg;
  pin(1);
  while (wf_u32_load_acquire(&x_stop) == 0) {
    wf_sys_wait(&x_sleeper, 0);
    wf_u64_store_relaxed(&woken_at, (uint64_t)now_ns());
    wf_u32_store_release(&x_sleeper, 0);
    wf_u32_store_release(&x_woken, 1);
  }
  return NULL;
}

static double pause_ns, wake_cost, wake_delay;
static double wake_after_pause(void) {
  double begin = now_ns();
  while (now_ns() - begin < pause_ns) {
  } /* until it sleeps for sure */
  wf_u32_store_relaxed(&x_woken, 0);
  begin = now_ns();
  wf_u32_store_release(&x_sleeper, 1);
  wf_sys_wake_one(&x_sleeper);
  double end = now_ns();
  while (wf_u32_load_acquire(&x_woken) == 0) {
  }
  wake_cost = end - begin;
  wake_delay = (double)wf_u64_load_relaxed(&woken_at) - begin;
  return wake_delay;
}
static double wake_cost_after_pause(void) {
  wake_after_pause();
  return wake_cost;
}

static void with_partner(void *(*partner)(void *), void (*measure)(void)) {
  pthread_t thread;
  wf_u32_store_release(&x_stop, 0);
  if (pthread_create(&thread, NULL, partner, NULL) != 0) abort();
  double begin = now_ns();
  while (now_ns() - begin < 2e6) {
  }
  measure();
  wf_u32_store_release(&x_stop, 1);
  wf_u32_store_release(&x_sleeper, 1);
  wf_sys_wake_one(&x_sleeper);
  pthread_join(thread, NULL);
  wf_u32_store_release(&x_sleeper, 0);
}

static void line(const char *name, double ns) {
  printf("%-18s %.4g\n", name, ns);
}

static void measure_transfer(void) {
  line("neighbour", median(transfer));
}
static void measure_barrier(void) {
  double stop = median(barrier_stop);
  line("barrier+cpu", median(barrier_with_other));
  line("barrier_stop", stop);
}
static void measure_wake(void) {
  pause_ns = 30e3;
  line("wake", median(wake_cost_after_pause));
  line("wake_delay", median(wake_after_pause));
  pause_ns = 2e6;
  line("wake_halted", median(wake_cost_after_pause));
  line("wake_delay_halted", median(wake_after_pause));
}

static void fork_nothing(void *ctx) {
  (void)ctx;
}
static void tree(void *ctx) {
  unsigned n = *(unsigned *)ctx;
  if (n == 0) return;
  unsigned a = n - 1, b = n - 1;
  weft_join(tree, &a, tree, &b);
}
static weft_pool *one_thread;
static double fork_and_join(void) {
  unsigned depth = 16;
  double begin = now_ns();
  weft_pool_run(one_thread, tree, &depth);
  return (now_ns() - begin) / 65535;
}
static void *nothing(void *arg) {
  return arg;
}
static double start_thread(void) {
  pthread_t threads[20];
  double begin = now_ns();
  for (int i = 0; i < 20; i++) pthread_create(&threads[i], NULL, nothing, NULL);
  double end = now_ns();
  for (int i = 0; i < 20; i++) pthread_join(threads[i], NULL);
  return (end - begin) / 20;
}

int main(void) {
  pin(0);
  if (!wf_sys_barrier_prepare()) return 2;
  weft_config config = WEFT_CONFIG_INIT;
  config.threads = 1;
  if (weft_pool_create(&one_thread, &config) != 0) return 2;
  weft_pool_run(one_thread, fork_nothing, NULL);
  line("fork and join", median(fork_and_join));
  line("memory", median(memory));
  line("rmw", median(rmw));
  line("fence", median(fence));
  line("relax", median(relax));
  line("clock", median(look_at_clock));
  line("ticks", median(ticks));
  line("allocate", median(allocate));
  line("wake_nobody", median(wake_nobody));
  line("yield", median(yield));
  line("barrier", median(barrier_alone));
  line("start_thread", median(start_thread));
  if (sysconf(_SC_NPROCESSORS_ONLN) < 2) return 0;
  with_partner(play, measure_transfer);
  with_partner(count_steps, measure_barrier);
  with_partner(sleep_again, measure_wake);
  weft_pool_destroy(one_thread);
  return 0;
}
