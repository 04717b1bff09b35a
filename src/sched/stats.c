/* sched/stats.c - what can be asked about a pool: its size, how busy it is, statistics.
 *
 * Any thread may ask. The first part answers the program, the second the algorithms of
 * src/par, which see a pool only through sched.h and ask about the pool that the calling
 * thread is in.
 *
 * SPDX-License-Identifier: MIT */
#include "pool.h"

#include <string.h>

/* ---- for the program ---- */

unsigned weft_thread_count(void) {
  const weft_pool *pool = weft_pool_current();
  return pool != NULL && pool->steals ? wf_pool_started(pool) + 1 : 1;
}

unsigned weft_worker_limit(void) {
  const weft_pool *pool = weft_pool_current();
  return pool != NULL ? pool->slots : 1;
}

void weft_pool_stats(const weft_pool *pool, weft_stats *total) {
  if (total == NULL || total->struct_size < sizeof(size_t)) return;
  weft_stats sum = WEFT_STATS_INIT;
  pool = wf_pool_or_current(pool);
  for (unsigned i = 0; pool != NULL && i < pool->slots; i++) {
    const wf_worker *worker = &pool->workers[i];
    /* Relaxed: each has one writer, and any recent value will do. */
    sum.tasks += wf_u64_load_relaxed(&worker->x_tasks);
    sum.steals += wf_u64_load_relaxed(&worker->x_steals);
    sum.exposes += wf_u64_load_relaxed(&worker->x_exposes);
    sum.takeovers += wf_u64_load_relaxed(&worker->x_takeovers);
    sum.sleeps += wf_u64_load_relaxed(&worker->x_sleeps);
  }
  if (pool != NULL) {
    sum.injected = wf_u64_load_relaxed(&pool->injector.x_pushed) +
                   wf_u64_load_relaxed(&pool->background.x_pushed);
    sum.wakes = wf_u64_load_relaxed(&pool->sleep.x_wakes);
    sum.misplaced = wf_u64_load_relaxed(&pool->steering.x_misplaced);
    sum.steered = wf_u64_load_relaxed(&pool->steering.x_steered);
  }
  /* An older header may end anywhere: only whole numbers are copied. */
  size_t size = total->struct_size < sizeof sum ? total->struct_size : sizeof sum;
  size -= (size - sizeof sum.struct_size) % sizeof sum.tasks;
  sum.struct_size = total->struct_size;
  memcpy(total, &sum, size);
}

/* ---- for algorithms ---- */

weft_pool *wf_sched_pool(void) {
  const wf_worker *worker = wf_worker_now();
  return worker != NULL ? worker->pool : NULL;
}

unsigned wf_sched_threads(void) {
  const wf_worker *worker = wf_worker_now();
  if (worker == NULL || worker->serial || worker->alone || !worker->pool->steals)
    return 1;
  return wf_pool_started(worker->pool) + 1;
}

wf_load wf_sched_load(void) {
  WF_ASSERT(wf_self != NULL);
  const weft_pool *pool = wf_worker_of(wf_self)->pool;
  uint64_t word = wf_counters_load(&pool->sleep.counters);
  return (wf_load){pool->options.cpus, wf_counters_sleeping(word),
                   wf_counters_awake_idle(word)};
}

unsigned wf_sched_wake(unsigned n) {
  WF_ASSERT(wf_self != NULL);
  return wf_sleep_wake_batch(wf_worker_of(wf_self)->pool, n);
}
