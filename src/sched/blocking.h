/* sched/blocking.h - blocking sections, and the threads that stand in meanwhile.
 *
 * While threads of a pool are in blocking sections, as many stand-ins may work. A
 * stand-in sleeps in a set of its own (WF_SLEEPER_STAND_IN); it is woken where an idle
 * worker would be woken and there is none. Between two tasks it checks whether it is
 * still needed. Why none is missed: sleep.md, "Stand-ins".
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_SCHED_BLOCKING_H
#define WF_SCHED_BLOCKING_H

#include "pool.h"

/* [any] May one more stand-in work? */
static inline bool wf_stand_in_is_wanted(const weft_pool *pool) {
  /* seq_cst: pairs with the fence in weft_blocking_begin. A thread that begins a section
   * relies on idle workers to wake a stand-in, and they look here when they are idle no
   * more, without a fence of their own. */
  uint32_t blocked = wf_u32_load_seq_cst(&pool->x_blocked);
  /* Relaxed: a stand-in that stops looks for work after its fence in park. */
  return blocked > wf_u32_load_relaxed(&pool->x_stand_ins_active);
}

/* What the thread of a stand-in runs. */
void wf_stand_in_main(void *worker);

/* At the end of the pool: ends the threads. */
void wf_stand_in_end_all(weft_pool *pool);

#endif
