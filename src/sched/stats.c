/* sched/stats.c - adding up what the workers have counted on their slow paths.
 *
 * SPDX-License-Identifier: MIT */
#include "pool.h"

#include <string.h>

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
  }
  /* Whole numbers only: half of one would be none. */
  size_t size = total->struct_size < sizeof sum ? total->struct_size : sizeof sum;
  size -= (size - sizeof sum.struct_size) % sizeof sum.tasks;
  sum.struct_size = total->struct_size;
  memcpy(total, &sum, size);
}
