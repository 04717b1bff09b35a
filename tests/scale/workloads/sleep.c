/* sleep.c - pools that sleep and wake: from all asleep to all at work, bursts, callers
 * from outside, idle workers beside a busy one.
 *
 * SPDX-License-Identifier: MIT */
#include <core/atomic.h>
#include <scale/workload.h>

static weft_opts in_this_pool(const scale_run *run) {
  weft_opts opts = WEFT_OPTS_INIT;
  opts.pool = run->pool;
  return opts;
}

/* ---- from all asleep to all at work ---- */

enum { MOST_THREADS = 1024, FALL_ASLEEP_NS = 5000000 };
static double started_ns[MOST_THREADS];
static wf_u32 x_started;

static void note_and_work(void) {
  uint32_t number = wf_u32_fetch_add_relaxed(&x_started, 1);
  if (number < MOST_THREADS) started_ns[number] = scale_now_ns();
  scale_work(2e6);
}

static void start_body(size_t begin, size_t end, void *ctx) {
  (void)ctx;
  for (size_t i = begin; i < end; i++) note_and_work();
}

static void start_tree(void *ctx) {
  unsigned n = *(unsigned *)ctx;
  if (n == 1) {
    note_and_work();
    return;
  }
  unsigned a = n / 2, b = n - n / 2;
  weft_join(start_tree, &a, start_tree, &b);
}

/* Sets extra to the time from the call to the start of the last element. */
static void note_last(scale_run *run, double begin_ns) {
  double last = 0;
  uint32_t n = wf_u32_load_relaxed(&x_started);
  for (uint32_t i = 0; i < n && i < MOST_THREADS; i++)
    if (started_ns[i] > last) last = started_ns[i];
  run->extra = last - begin_ns;
  run->work_ns = 2e6 * n;
}

WORKLOAD(wake_loop, "all asleep; a loop with one element of 2 ms for each core") {
  weft_opts opts = in_this_pool(run);
  wf_u32_store_relaxed(&x_started, 0);
  scale_pause(FALL_ASLEEP_NS);
  scale_begin();
  double begin = scale_now_ns();
  weft_for_with(&opts, run->threads, start_body, NULL);
  scale_end();
  note_last(run, begin);
}

WORKLOAD(wake_tree, "all asleep; a tree of joins with one leaf of 2 ms for each core") {
  unsigned n = run->threads;
  wf_u32_store_relaxed(&x_started, 0);
  scale_pause(FALL_ASLEEP_NS);
  scale_begin();
  double begin = scale_now_ns();
  weft_pool_run(run->pool, start_tree, &n);
  scale_end();
  note_last(run, begin);
}

/* ---- bursts ---- */

static void element(size_t begin, size_t end, void *ctx) {
  scale_work((double)(end - begin) * *(const double *)ctx);
}

WORKLOAD(burst, "every millisecond a loop of 20 us for each core, 50 times") {
  weft_opts opts = in_this_pool(run);
  double each = 2000, in_bursts = 0;
  unsigned bursts = (unsigned)(50 * run->size) + 1;
  scale_begin();
  for (unsigned i = 0; i < bursts; i++) {
    double begin = scale_now_ns();
    weft_for_with(&opts, 10 * (size_t)run->threads, element, &each);
    double end = scale_now_ns();
    in_bursts += end - begin;
    if (end - begin < 1e6) scale_pause(1e6 - (end - begin));
  }
  scale_end();
  run->work_ns = 20000.0 * run->threads * bursts;
  run->extra = in_bursts / bursts;
}

/* ---- callers from outside ---- */

enum { CALLERS = 64, CALLS = 50 };
typedef struct caller {
  scale_run *run;
  unsigned calls;
} caller;

static void call_often(void *arg) {
  const caller *c = arg;
  weft_opts opts = in_this_pool(c->run);
  double each = 500;
  for (unsigned i = 0; i < c->calls; i++) weft_for_with(&opts, 100, element, &each);
}

WORKLOAD(callers, "64 threads from outside, 50 loops of 50 us each") {
  wf_thread threads[CALLERS];
  caller c = {run, (unsigned)(CALLS * run->size) + 1};
  scale_begin();
  for (unsigned i = 0; i < CALLERS; i++)
    wf_sys_thread_start(&threads[i], "caller", 0, call_often, &c);
  for (unsigned i = 0; i < CALLERS; i++) wf_sys_thread_join(threads[i]);
  scale_end();
  run->work_ns = 50000.0 * CALLERS * c.calls;
}

/* ---- idle ---- */

static void long_work(void *ctx) {
  for (unsigned i = 0; i < *(unsigned *)ctx; i++) scale_work(10000);
}

WORKLOAD(idle, "one worker busy with 10 ms of its own, all others idle") {
  unsigned parts = (unsigned)(1000 * run->size) + 1;
  element(0, 1, &(double){1000});
  scale_begin();
  weft_pool_run(run->pool, long_work, &parts);
  scale_end();
  run->work_ns = 10000.0 * parts;
}

/* Steady work for one worker that forks: others take some of it, and most find nothing.
 */
static void fork_small(void *ctx) {
  (void)ctx;
  scale_work(200);
}

static void forks_often(void *ctx) {
  for (unsigned i = 0; i < *(unsigned *)ctx; i++)
    weft_join(fork_small, NULL, fork_small, NULL);
}

WORKLOAD(forks, "one worker forks and joins 0.2 us of work for 10 ms") {
  unsigned joins = (unsigned)(25000 * run->size) + 1;
  scale_begin();
  weft_pool_run(run->pool, forks_often, &joins);
  scale_end();
  run->work_ns = 400.0 * joins;
}
