/* pool/global.c - the global pool, and which pool is the current one.
 *
 * SPDX-License-Identifier: MIT */
#include "pool.h"

static wf_lock global_lock; /* starting and ending the global pool */
static wf_ptr x_global;     /* the global pool, or NULL; written under the lock */

/* [locked] */
static int start_global(const weft_config *config, weft_pool **out) {
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
  if (pool != NULL && wf_guest_find(pool) != NULL)
    wf_fatal("weft_shutdown", "called from inside the pool: it would wait for itself");
  wf_ptr_store_release(&x_global, NULL); /* pairs with the acquire in global_pool */
  wf_lock_unlock(&global_lock);
  weft_pool_destroy(pool);
}

weft_pool *wf_pool_or_current(const weft_pool *pool) {
  return pool != NULL ? (weft_pool *)(uintptr_t)pool : weft_pool_current();
}

weft_pool *weft_pool_current(void) {
  return wf_self != NULL ? wf_worker_of(wf_self)->pool : global_pool();
}

unsigned weft_thread_count(void) {
  const weft_pool *pool = weft_pool_current();
  return pool != NULL && pool->steals ? wf_pool_started(pool) + 1 : 1;
}

unsigned weft_worker_limit(void) {
  const weft_pool *pool = weft_pool_current();
  return pool != NULL ? pool->slots : 1;
}
