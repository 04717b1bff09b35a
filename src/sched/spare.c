/* sched/spare.c - blocking sections, and the threads that take over meanwhile. See
 * spare.h and, for sleeping and waking, sleep.md.
 *
 * SPDX-License-Identifier: MIT */
#include "spare.h"

#include <weft/task.h>

/* ---- the spare's side ---- */

bool wf_spare_begin_work(wf_worker *worker) {
  weft_pool *pool = worker->pool;
  uint32_t active = wf_u32_load_relaxed(&pool->x_spare_active); /* the CAS decides */
  do {
    /* Relaxed: what is not seen here is seen after the fence in park. */
    if (active >= wf_u32_load_relaxed(&pool->x_blocked)) return false;
    /* seq_cst: pairs with the other spares'. explorer: relaxed does as well, it is one
     * word, and who wakes too many for it does no harm. */
  } while (!wf_u32_cas_seq_cst(&pool->x_spare_active, &active, active + 1));
  wf_bitset_add(pool->x_present, worker->index);
  return true;
}

void wf_spare_end_work(wf_worker *worker) {
  /* While it is away nobody asks it: the first task it makes next time must be offered.
   */
  wf_deque_seal_if_open(&worker->deque);
  wf_deque_seal_if_open(&worker->spawned);
  wf_bitset_remove(worker->pool->x_present, worker->index);
  /* seq_cst: pairs with wf_spare_begin_work. explorer: relaxed does as well, the fence in
   * park follows. */
  wf_u32_fetch_sub_seq_cst(&worker->pool->x_spare_active, 1);
}

void wf_spare_stop(weft_pool *pool) {
  wf_lock_lock(&pool->spare_lock); /* spares at work may be adding others */
  wf_u32_store_relaxed(&pool->x_spares_closed, 1);
  uint32_t threads = wf_u32_load_relaxed(&pool->x_spare_threads); /* under the lock */
  wf_lock_unlock(&pool->spare_lock);
  for (uint32_t i = 0; i < threads; i++) {
    wf_worker *worker = &pool->workers[pool->spare_first + i];
    if (wf_latch_set(&worker->terminate)) wf_sleep_wake_worker(pool, worker->index);
  }
  for (uint32_t i = 0; i < threads; i++)
    wf_sys_thread_join(pool->workers[pool->spare_first + i].thread);
  wf_u32_store_relaxed(&pool->x_spare_threads, 0); /* no other thread is left */
}

/* ---- blocking sections ---- */

/* Are there fewer spares than threads in sections, and may there be more? */
static bool needs_spare(const weft_pool *pool) {
  /* Relaxed: who comes into a section later looks for itself. */
  uint32_t blocked = wf_u32_load_relaxed(&pool->x_blocked);
  uint32_t threads = wf_u32_load_relaxed(&pool->x_spare_threads);
  return threads < blocked && threads < pool->slots - pool->spare_first &&
         wf_u32_load_relaxed(&pool->x_spares_closed) == 0;
}

/* Starts spares until there are as many as threads in sections. A refusal by the system,
 * or a lack of memory, means that the section simply blocks. */
static void add_spares(weft_pool *pool) {
  if (!needs_spare(pool)) return;
  bool started = true;
  wf_lock_lock(&pool->spare_lock);
  while (started && needs_spare(pool)) {
    uint32_t threads = wf_u32_load_relaxed(&pool->x_spare_threads); /* under the lock */
    wf_worker *worker = &pool->workers[pool->spare_first + threads];
    started = wf_deque_prepare(&worker->deque) == 0 &&
              wf_worker_start_thread(worker, wf_spare_main) == 0;
    if (started) wf_u32_store_relaxed(&pool->x_spare_threads, threads + 1);
  }
  wf_lock_unlock(&pool->spare_lock);
  wf_sys_threads_await();
}

void weft_blocking_begin(void) {
  wf_worker *worker = wf_self != NULL ? wf_worker_of(wf_self) : NULL;
  if (worker == NULL || worker->blocking_depth++ > 0) return;
  if (worker->serial || worker->alone) return;
  weft_pool *pool = worker->pool;
  wf_u32_fetch_add_relaxed(&pool->x_blocked, 1); /* the fence below publishes it */
  add_spares(pool);
  /* If nobody is idle there may be work that this thread would have done next. The fence
   * pairs with the one in park: a spare on its way to sleep sees the section, or is seen
   * below; and with the load in wf_spare_is_wanted: so does a worker that is idle here.
   */
  wf_fence_seq_cst();
  if (wf_counters_inactive(wf_counters_load(&pool->sleep.counters)) == 0)
    wf_sleep_wake_next(pool);
}

void weft_blocking_end(void) {
  wf_worker *worker = wf_self != NULL ? wf_worker_of(wf_self) : NULL;
  if (worker == NULL) return;
  if (worker->blocking_depth == 0)
    wf_fatal("weft_blocking_end", "there was no weft_blocking_begin in this task");
  if (--worker->blocking_depth > 0 || worker->serial || worker->alone) return;
  /* Relaxed: spares that are too many stop after their task. */
  wf_u32_fetch_sub_relaxed(&worker->pool->x_blocked, 1);
}
