/* sched/stats.h - how the scheduler counts and measures for weft_pool_stats.
 *
 * Everything is counted on slow paths, by the thread in the worker's place, with plain
 * stores; any thread reads at any time. stats.c adds up.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_SCHED_STATS_H
#define WF_SCHED_STATS_H

#include "pool.h"

/* ---- timers ---- */

/* A timer is one word, so that a reader never sees half of a change. While it stands, the
 * word is the time that was measured. While it runs, the time at which it was started is
 * subtracted from that, so the word is negative: nothing is measured for longer than the
 * system's clock has run. One thread writes it. Relaxed: any recent value will do. */
static inline void wf_timer_start(wf_u64 *timer, uint64_t now_ns) {
  wf_u64_store_relaxed(timer, wf_u64_load_relaxed(timer) - now_ns);
}

static inline void wf_timer_stop(wf_u64 *timer, uint64_t now_ns) {
  wf_u64_store_relaxed(timer, wf_u64_load_relaxed(timer) + now_ns);
}

static inline uint64_t wf_timer_read(const wf_u64 *timer, uint64_t now_ns) {
  uint64_t word = wf_u64_load_relaxed(timer);
  if ((int64_t)word >= 0) return word;
  /* A timer that was started after the caller looked at the clock shows 0. */
  return (int64_t)(word + now_ns) > 0 ? word + now_ns : 0;
}

/* ---- events ---- */

/* The worker was woken. If nothing came of the last time, that one was futile. */
static inline void wf_stats_woken(wf_worker *worker) {
  wf_u64_count(&worker->x_wakes, 1);
  if (worker->was_woken) wf_u64_count(&worker->x_futile, 1);
  worker->was_woken = true;
}

/* A task of others begins on top of another task. */
static inline void wf_stats_depth(wf_worker *worker) {
  if (worker->help_depth > wf_u64_load_relaxed(&worker->x_deepest)) /* its own word */
    wf_u64_store_relaxed(&worker->x_deepest, worker->help_depth);
}

/* ---- reading ---- */

/* What one worker has counted. now_ns: from wf_sys_now_ns. */
void wf_stats_of_worker(const wf_worker *worker, uint64_t now_ns, weft_stats *out);

/* The same for the whole pool. */
void wf_stats_of_pool(const weft_pool *pool, weft_stats *out);

#endif
