/* sched/fork.c - pools in a forked process.
 *
 * The child of a fork has one thread, and copies of pools whose threads do not exist. Any
 * of those threads may have held a lock, or been in the middle of something. So nothing
 * of a pool is used as it was: the first call that wants a pool gives it new innards and
 * new threads at the same address. What was queued belongs to the parent, which runs it.
 *
 * A thread that forks inside a task keeps the places it has, with their deques, in the
 * old innards, which nobody else knows any more: there it goes on alone. If other threads
 * had taken parts of a join or a scope, it can never end there, and the program ends with
 * a message (check_not_lost in worker.c).
 *
 * SPDX-License-Identifier: MIT */
#include "record.h"

#include <string.h>

static wf_u32 x_generation; /* forks between the first process and this one */
static wf_lock revive_lock;

uint32_t wf_fork_generation(void) {
  return wf_u32_load_relaxed(&x_generation); /* written while there is one thread */
}

/* Runs in the child, before fork returns. */
static void after_fork(void) {
  wf_u32_store_relaxed(&x_generation, wf_fork_generation() + 1);
  revive_lock = (wf_lock){{WF_LOCK_FREE}};
  wf_global_after_fork();
  wf_guest_after_fork();
  wf_record_after_fork();
}

void wf_fork_prepare(void) {
  static void (*const handler)(void) = after_fork;
  wf_sys_on_fork(&handler);
}

/* [locked] Makes everything but the options anew. The caller writes the generation when
 * all is done. */
static bool refurnish(weft_pool *pool) {
  wf_lock_assert_held(&revive_lock);
  WF_ASSERT(wf_u32_peek(&pool->x_generation) < wf_fork_generation());
  weft_pool old;
  memcpy(&old, pool, offsetof(weft_pool, x_generation));
  memset(pool, 0, offsetof(weft_pool, x_generation));
  pool->options = old.options;
  if (!wf_pool_furnish(pool)) {
    wf_pool_clear(pool);
    memcpy(pool, &old, offsetof(weft_pool, x_generation));
    return false;
  }
  /* The thread that forked may still be in some of the old places. */
  if (!old.has_alone) wf_pool_clear(&old);
  return true;
}

bool wf_fork_revive(weft_pool *pool) {
  bool revived = true;
  wf_lock_lock(&revive_lock);
  if (wf_fork_is_stale(pool)) {
    revived = refurnish(pool);
    if (revived) {
      /* Release: pairs with the acquire in wf_fork_is_stale. explorer: as there. */
      wf_u32_store_release(&pool->x_generation, wf_fork_generation());
      wf_record_prepare();
      (void)wf_pool_start(pool); /* the pool works with the threads it gets */
    }
  }
  wf_lock_unlock(&revive_lock);
  return revived;
}
