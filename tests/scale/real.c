/* real.c - runs a workload on the machine at hand, and prints the same figures as
 * simulated.c as far as they can be counted there.
 *
 * SPDX-License-Identifier: MIT */
#include "workload.h"

#include <sched/pool.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const scale_workload *workload;
static scale_run run = {.size = 1, .extra = -1};

static struct {
  double begin_ns, end_ns;
  weft_stats before, after;
  uint64_t asks, pins, barriers;
} measured;

/* ---- counting what the library does not count: see the linker's --wrap ---- */

static wf_u64 asks, pins, barriers;
void __real_wf_deque_ask(wf_deque *deque);
void __wrap_wf_deque_ask(wf_deque *deque);
void __real_wf_deque_pin(wf_deque *deque);
void __wrap_wf_deque_pin(wf_deque *deque);
bool __real_wf_sys_barrier(void);
bool __wrap_wf_sys_barrier(void);

static bool is_open(const wf_deque *deque) {
  return (wf_u64_peek(&deque->x_asked) & WF_ASKED_STATE_MASK) == WF_ASKED_NOT;
}

void __wrap_wf_deque_ask(wf_deque *deque) {
  if (is_open(deque)) wf_u64_fetch_add_relaxed(&asks, 1);
  __real_wf_deque_ask(deque);
}

void __wrap_wf_deque_pin(wf_deque *deque) {
  if (is_open(deque)) wf_u64_fetch_add_relaxed(&pins, 1);
  __real_wf_deque_pin(deque);
}

bool __wrap_wf_sys_barrier(void) {
  wf_u64_fetch_add_relaxed(&barriers, 1);
  return __real_wf_sys_barrier();
}

/* ---- what workloads call ---- */

/* Steps of a calculation that no compiler can shorten; time itself would go on while the
 * thread is not running. */
static double steps_per_ns;

static void make_steps(uint64_t steps) {
  uint64_t x = steps;
  for (uint64_t i = 0; i < steps; i++) {
    x = x * UINT64_C(6364136223846793005) + 1;
    __asm__ __volatile__("" : "+r"(x));
  }
}

static void calibrate(void) {
  enum { STEPS = 1000000, ROUNDS = 21 };
  double best = 0;
  for (int i = 0; i < ROUNDS; i++) {
    double begin = scale_now_ns();
    make_steps(STEPS);
    double rate = STEPS / (scale_now_ns() - begin);
    if (rate > best) best = rate;
  }
  steps_per_ns = best;
}

void scale_work(double ns) {
  make_steps((uint64_t)(ns * steps_per_ns));
}

double scale_now_ns(void) {
  return (double)wf_sys_now_ns();
}

void scale_pause(double ns) {
  wf_u32 word = {0};
  wf_sys_wait_for(&word, 0, (uint64_t)ns);
}

void scale_begin(void) {
  measured.before = (weft_stats)WEFT_STATS_INIT;
  weft_pool_stats(run.pool, &measured.before);
  measured.asks = wf_u64_load_relaxed(&asks);
  measured.pins = wf_u64_load_relaxed(&pins);
  measured.barriers = wf_u64_load_relaxed(&barriers);
  measured.begin_ns = scale_now_ns();
}

void scale_end(void) {
  measured.end_ns = scale_now_ns();
  measured.asks = wf_u64_load_relaxed(&asks) - measured.asks;
  measured.pins = wf_u64_load_relaxed(&pins) - measured.pins;
  measured.barriers = wf_u64_load_relaxed(&barriers) - measured.barriers;
  measured.after = (weft_stats)WEFT_STATS_INIT;
  weft_pool_stats(run.pool, &measured.after);
}

#define STAT(name) (double)(measured.after.name - measured.before.name)

static void print_result(void) {
  double ns = measured.end_ns - measured.begin_ns;
  printf("{\"workload\": \"%s\", \"machine\": \"real\", \"threads\": %u, \"ns\": %.0f, "
         "\"work_ns\": %.0f, \"extra_ns\": %.0f, \"steals\": %.0f, \"asks\": %llu, "
         "\"pins\": %llu, \"exposes\": %.0f, \"takeovers\": %.0f, \"barriers\": %llu, "
         "\"wakes\": %.0f, \"sleeps\": %.0f, \"futile\": %.0f, \"failed\": %.0f}\n",
         workload->name, run.threads, ns, run.work_ns, run.extra, STAT(steals),
         (unsigned long long)measured.asks, (unsigned long long)measured.pins,
         STAT(exposes), STAT(takeovers), (unsigned long long)measured.barriers,
         STAT(wakes), STAT(sleeps), STAT(futile), STAT(failed_steals));
}

static int usage(void) {
  fprintf(stderr, "usage: scale_real [--threads N] [--size X] [--repeat N] WORKLOAD\n");
  for (const scale_workload *w = scale_first; w != NULL; w = w->next)
    fprintf(stderr, "  %-16s %s\n", w->name, w->about);
  return 2;
}

int main(int argc, char **argv) {
  unsigned long repeat = 1;
  for (int i = 1; i < argc; i++) {
    if (argv[i][0] != '-')
      workload = scale_find(argv[i]);
    else if (i + 1 >= argc)
      return usage();
    else if (strcmp(argv[i], "--threads") == 0)
      run.threads = (unsigned)strtoul(argv[++i], NULL, 10);
    else if (strcmp(argv[i], "--size") == 0)
      run.size = strtod(argv[++i], NULL);
    else if (strcmp(argv[i], "--repeat") == 0)
      repeat = strtoul(argv[++i], NULL, 10);
    else
      return usage();
  }
  if (workload == NULL) return usage();
  if (run.threads == 0) run.threads = wf_sys_cpu_count("");
  calibrate();
  weft_config config = WEFT_CONFIG_INIT;
  config.threads = run.threads;
  if (weft_pool_create(&run.pool, &config) != 0) return 2;
  for (unsigned long i = 0; i < repeat; i++) {
    run.extra = -1;
    workload->fn(&run);
    print_result();
  }
  weft_pool_destroy(run.pool);
  return 0;
}
