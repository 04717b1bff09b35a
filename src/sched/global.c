/* sched/global.c - the global pool, and which pool is the current one.
 *
 * The global pool starts with the first call that needs a pool and is in none, on the
 * calling thread, and ends with weft_shutdown. Any thread may call everything here.
 *
 * SPDX-License-Identifier: MIT */
#include "pool.h"

static wf_lock global_lock; /* starting and ending the global pool */
static wf_ptr x_global;     /* the global pool, or NULL; written under the lock */

/* [locked] Makes the global pool. */
static int start_global(const weft_config *config, weft_pool **out) {
  wf_lock_assert_held(&global_lock);
  WF_ASSERT(wf_ptr_peek(&x_global) == NULL);
  int status = weft_pool_create(out, config);
  /* Release: pairs with the acquire in global_pool. */
  if (status == 0) wf_ptr_store_release(&x_global, *out);
  return status;
}

/* The global pool, started if need be; NULL if it cannot be started. */
static weft_pool *global_pool(void) {
  /* Acquire: pairs with the release in start_global. */
  weft_pool *pool = (weft_pool *)wf_ptr_load_acquire(&x_global);
  if (pool != NULL) return pool;
  wf_lock_lock(&global_lock);
  pool = (weft_pool *)wf_ptr_load_relaxed(&x_global); /* relaxed: under the lock */
  if (pool == NULL && start_global(NULL, &pool) != 0) pool = NULL;
  wf_lock_unlock(&global_lock);
  return pool;
}

int weft_init(const weft_config *config) {
  int status = WEFT_EBUSY;
  weft_pool *pool;
  wf_lock_lock(&global_lock);
  if (wf_ptr_load_relaxed(&x_global) == NULL) /* relaxed: under the lock */
    status = start_global(config, &pool);
  wf_lock_unlock(&global_lock);
  return status;
}

void weft_shutdown(void) {
  wf_lock_lock(&global_lock);
  weft_pool *pool = (weft_pool *)wf_ptr_load_relaxed(&x_global); /* under the lock */
  if (pool != NULL && wf_guest_find(pool) != NULL) {
    wf_lock_unlock(&global_lock); /* the fatal handler may leave by exit */
    wf_fatal("weft_shutdown", "called from inside the pool: it would wait for itself (or "
                              "a scope was not ended)");
  }
  wf_ptr_store_relaxed(&x_global, NULL); /* relaxed: NULL has nothing to read behind it */
  wf_lock_unlock(&global_lock);
  wf_pool_destroy(pool, "weft_shutdown");
}

weft_pool *wf_global_if_running(void) {
  /* Acquire: pairs with the release in start_global. */
  weft_pool *pool = (weft_pool *)wf_ptr_load_acquire(&x_global);
  return pool != NULL && !wf_guest_thread_has_ended() && !wf_fork_is_stale(pool) ? pool
                                                                                 : NULL;
}

void wf_global_after_fork(void) {
  global_lock = (wf_lock){{WF_LOCK_FREE}};
}

/* A thread of a pool that is past its end, in the destructors of its thread-local
 * variables, is on its own: the global pool may be what waits for it. */
weft_pool *weft_pool_current(void) {
  weft_pool *pool = NULL;
  if (wf_self != NULL)
    pool = wf_worker_of(wf_self)->pool;
  else if (!wf_guest_thread_has_ended())
    pool = global_pool();
  return pool != NULL && wf_fork_is_stale(pool) && !wf_fork_revive(pool) ? NULL : pool;
}

weft_pool *wf_pool_or_current(const weft_pool *given) {
  if (given == NULL) return weft_pool_current();
  weft_pool *pool = (weft_pool *)(uintptr_t)given;
  return wf_fork_is_stale(pool) && !wf_fork_revive(pool) ? NULL : pool;
}
