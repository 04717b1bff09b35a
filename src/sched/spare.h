/* sched/spare.h - threads that take over while others are in blocking sections.
 *
 * A pool that has threads in blocking sections may have as many spares at work. A spare
 * sleeps in a class of its own; it is woken where an idle worker would be woken and none
 * is there. At the bottom of its stack it looks whether it is still needed.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_SCHED_SPARE_H
#define WF_SCHED_SPARE_H

#include "pool.h"

/* May one more spare work? */
static inline bool wf_spare_is_wanted(const weft_pool *pool) {
  /* seq_cst: pairs with the fence in weft_blocking_begin. Who begins a section relies on
   * idle workers to wake a spare, and they look here when they are idle no more, without
   * a fence of their own. */
  uint32_t blocked = wf_u32_load_seq_cst(&pool->x_blocked);
  /* Relaxed: a spare that stops looks for work after its fence in park. */
  return blocked > wf_u32_load_relaxed(&pool->x_spare_active);
}

/* Are more at work than threads are blocked? */
static inline bool wf_spare_is_surplus(const weft_pool *pool) {
  /* Relaxed: the next look, after the next task, will do too. */
  return wf_u32_load_relaxed(&pool->x_blocked) <
         wf_u32_load_relaxed(&pool->x_spare_active);
}

/* A spare goes to work, if it is needed, and stops. */
bool wf_spare_begin_work(wf_worker *worker);
void wf_spare_end_work(wf_worker *worker);

/* At the end of the pool: ends the threads. */
void wf_spare_stop(weft_pool *pool);

#endif
