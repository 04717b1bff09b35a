/* sched/background.c - counting workers in and out of background work.
 *
 * Called by search.c when a worker takes background work, by worker.c when it is through,
 * and by threads that put more into the lane. The bit and the field `background` of a
 * worker are written by its own thread; the count by all.
 *
 * SPDX-License-Identifier: MIT */
#include "background.h"

bool wf_background_begin(wf_worker *worker) {
  weft_pool *pool = worker->pool;
  WF_ASSERT(!worker->background);
  uint32_t count = wf_u32_load_relaxed(&pool->x_background_count); /* the CAS decides */
  /* Never above the limit, not even for a moment: the worker that makes room would take
   * that for a full lane and wake nobody. seq_cst: pairs with the sub in
   * wf_background_cancel, and with the fence in park: a worker that sees no room here is
   * woken by the one that makes it. explorer: acq_rel suffices, fences order it. */
  do {
    if (count >= pool->background_limit) return false;
  } while (!wf_u32_cas_seq_cst(&pool->x_background_count, &count, count + 1));
  /* Thieves see this bit before they can see a task that the worker pushes. */
  bool added = wf_bitset_add(pool->x_background, worker->index);
  WF_ASSERT(added);
  worker->background = true;
  return true;
}

void wf_background_cancel(wf_worker *worker) {
  WF_ASSERT(worker->background);
  worker->background = false;
  bool removed = wf_bitset_remove(worker->pool->x_background, worker->index);
  WF_ASSERT(removed);
  /* seq_cst: pairs with wf_background_begin. explorer: acq_rel suffices, as there. */
  uint32_t count = wf_u32_fetch_sub_seq_cst(&worker->pool->x_background_count, 1);
  WF_ASSERT(count > 0 && count <= worker->pool->background_limit);
}

void wf_background_end(wf_worker *worker) {
  wf_background_cancel(worker);
  /* Pairs with the fence in wf_background_tell. explorer: as there. */
  wf_fence_seq_cst();
  if (wf_injector_any(&worker->pool->background)) wf_background_tell(worker->pool);
}

void wf_background_tell(weft_pool *pool) {
  /* Pairs with the fence in wf_background_end: either this thread sees that there is room
   * again, or the worker that made room sees the work. explorer: nothing is lost without
   * it, because that worker looks once more before it sleeps; but it may have other work
   * to do first, and others would sleep meanwhile. */
  wf_fence_seq_cst();
  if (wf_background_has_room(pool)) wf_sleep_new_injected(pool);
}
