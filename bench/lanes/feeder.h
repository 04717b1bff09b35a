/* lanes/feeder.h - a thread outside the pool that keeps it supplied with detached tasks
 * of a given length in a given lane.
 *
 * The feeder does not send tasks at a fixed rate: one that is a little too high would
 * make the queue longer and longer, and one that is too low would let the pool rest. It
 * looks at the pool every period and fills up to a fixed number of tasks that have not
 * ended yet. So the queue has a known length, which is the larger part of what a task
 * that is detached behind it must wait. dry counts how often the feeder came too late.
 *
 * SPDX-License-Identifier: MIT */
#ifndef BENCH_LANES_FEEDER_H
#define BENCH_LANES_FEEDER_H

#include "../common/weft_start.h"
#include <pthread.h>
#include <sys/prctl.h>

typedef struct feeder {
  weft_opts options; /* the lane */
  uint64_t steps;    /* the length of a task, in steps of bench_spin */
  uint64_t answer;   /* of a task */
  long depth;        /* tasks that are kept waiting or running */
  long period_us;
  pthread_t thread;
  uint32_t stop;
  long looks, dry; /* how often the feeder looked, and found no task left */
  long sent;
  long ended; /* written by the tasks */
} feeder;

static void feeder_task(void *ctx) {
  feeder *f = (feeder *)ctx;
  bench_check("feeder", bench_spin(1, f->steps), f->answer);
  __atomic_fetch_add(&f->ended, 1, __ATOMIC_RELEASE);
}

static long feeder_waiting(feeder *f) {
  return f->sent - __atomic_load_n(&f->ended, __ATOMIC_ACQUIRE);
}

static void feeder_fill(feeder *f) {
  while (feeder_waiting(f) < f->depth) {
    int status = weft_detach_with(&f->options, feeder_task, f);
    bench_check("feeder", (uint64_t)status, 0);
    f->sent++;
  }
}

static void *feeder_main(void *arg) {
  feeder *f = (feeder *)arg;
  prctl(PR_SET_TIMERSLACK, 1000UL, 0UL, 0UL, 0UL); /* or each sleep is 50 us longer */
  while (__atomic_load_n(&f->stop, __ATOMIC_ACQUIRE) == 0) {
    bench_sleep_us(f->period_us);
    f->looks++;
    f->dry += feeder_waiting(f) == 0;
    feeder_fill(f);
  }
  return NULL;
}

/* Returns when the pool has its first tasks. */
static void feeder_start(feeder *f, weft_lane lane, uint64_t steps, long depth,
                         long period_us) {
  memset(f, 0, sizeof *f);
  weft_opts defaults = WEFT_OPTS_INIT;
  f->options = defaults;
  f->options.lane = lane;
  f->steps = steps;
  f->answer = bench_spin(1, steps);
  f->depth = depth;
  f->period_us = period_us;
  feeder_fill(f);
  if (pthread_create(&f->thread, NULL, feeder_main, f) != 0) exit(2);
}

/* Returns when all its tasks have ended. */
static void feeder_stop(feeder *f) {
  __atomic_store_n(&f->stop, 1, __ATOMIC_RELEASE);
  pthread_join(f->thread, NULL);
  while (feeder_waiting(f) != 0) bench_sleep_us(200);
}

#endif
