/* sched/inject.c - work from outside: the queues of a pool, how much may wait in them,
 * and until when all of it has run. Protocols: inject.md.
 *
 * Any thread submits, and any thread may wait until nothing is left. Workers take from
 * the queues when they search (search.c), and say here what they have begun and ended.
 *
 * SPDX-License-Identifier: MIT */
#include "pool.h"

#include "background.h"
#include "record.h"

#include <weft/task.h>

/* ---- the limit ---- */

/* Counts one more function that waits; false at the limit. */
static bool take_room(weft_pool *pool) {
  /* Relaxed: the number publishes nothing, the queue does. A thread that knows of a
   * function that has begun sees at least that count (coherence). */
  uintptr_t queued = wf_word_load_relaxed(&pool->x_queued);
  do {
    WF_ASSERT(queued <= pool->queue_limit);
    if (queued >= pool->queue_limit) return false;
    /* Relaxed: as above. A compare-and-swap, and no add that is taken back: that would be
     * seen by others, and refuse what has room. */
  } while (!wf_word_cas_relaxed(&pool->x_queued, &queued, queued + 1));
  return true;
}

static void count_off_queued(weft_pool *pool) {
  /* Relaxed: as in take_room. */
  uintptr_t queued = wf_word_fetch_sub_relaxed(&pool->x_queued, 1);
  WF_ASSERT(queued >= 1 && queued <= pool->queue_limit);
}

/* Does the limit count this function? All that programs submit, and nothing that the
 * library queues for its own ends: a call that waits for its function, a task of a scope,
 * what follows on a handle. Those were let in before, or run in the call if they cannot
 * be queued. */
static bool is_counted(weft_fn *fn) {
  return fn != wf_guest_run_handed_in && fn != wf_scope_run_queued &&
         fn != wf_handle_run_then;
}

void wf_pool_begins(weft_pool *pool, weft_fn *fn) {
  WF_ASSERT(pool->queue_limit != 0);
  if (is_counted(fn)) count_off_queued(pool);
}

/* ---- the queues ---- */

static wf_injector *queue_of(weft_pool *pool, weft_lane lane) {
  return lane == WEFT_LANE_BACKGROUND ? &pool->background : &pool->injector;
}

/* Inlined into its callers: detaching is as short as it would be without a limit. */
static inline __attribute__((always_inline)) int push_and_wake(weft_pool *pool,
                                                               weft_lane lane,
                                                               weft_fn *fn, void *ctx,
                                                               wf_receipt *receipt) {
  WF_ASSERT(fn != NULL);
  WF_ASSERT(lane == WEFT_LANE_NORMAL || lane == WEFT_LANE_BACKGROUND);
  int status = wf_injector_push(queue_of(pool, lane), fn, ctx, receipt);
  if (status != 0) return status;
  if (lane == WEFT_LANE_BACKGROUND) {
    wf_record_inject(true);
    wf_background_tell(pool);
  } else {
    wf_record_inject(false);
    wf_sleep_new_injected(pool);
  }
  return 0;
}

int wf_pool_inject(weft_pool *pool, weft_lane lane, weft_fn *fn, void *ctx,
                   wf_receipt *receipt) {
  return push_and_wake(pool, lane, fn, ctx, receipt);
}

static __attribute__((noinline)) int submit_limited(weft_pool *pool, weft_lane lane,
                                                    weft_fn *fn, void *ctx,
                                                    wf_receipt *receipt) {
  if (!take_room(pool)) return WEFT_EAGAIN;
  int status = wf_pool_inject(pool, lane, fn, ctx, receipt);
  if (status != 0) count_off_queued(pool);
  return status;
}

static inline __attribute__((always_inline)) int
submit(weft_pool *pool, weft_lane lane, weft_fn *fn, void *ctx, wf_receipt *receipt) {
  if (WF_UNLIKELY(pool->queue_limit != 0))
    return submit_limited(pool, lane, fn, ctx, receipt);
  return push_and_wake(pool, lane, fn, ctx, receipt);
}

int wf_pool_submit(weft_pool *pool, weft_lane lane, weft_fn *fn, void *ctx,
                   wf_receipt *receipt) {
  return submit(pool, lane, fn, ctx, receipt);
}

bool wf_pool_revoke(weft_pool *pool, weft_lane lane, const wf_receipt *receipt) {
  if (!wf_injector_revoke(queue_of(pool, lane), receipt)) return false;
  if (pool->queue_limit != 0) count_off_queued(pool);
  return true;
}

/* ---- until nothing is left ---- */

/* How many functions were ever injected, in both lanes, or handed back. */
static uint64_t injected_count(const weft_pool *pool) {
  /* Acquire: pairs with the release in wf_injector_push. explorer: relaxed suffices: the
   * caller has acquired the count of finished functions, and each of those finished after
   * its own pushes. */
  return wf_u64_load_acquire(&pool->injector.x_pushed) +
         wf_u64_load_acquire(&pool->background.x_pushed) + /* pairs as above */
         wf_u64_load_relaxed(&pool->x_handed_back);        /* relaxed: as there */
}

void wf_pool_handed_back(weft_pool *pool) {
  /* Relaxed: the caller's own wf_pool_injected_done, which follows, publishes it. */
  wf_u64_fetch_add_relaxed(&pool->x_handed_back, 1);
}

/* At one moment all of the first `count` functions had returned, and there were no more.
 * The end frees the pool when it sees that, so its latch comes last. */
static void tell_idle(weft_pool *pool, uint32_t draining, uint64_t count) {
  if ((draining & ~(uint32_t)WF_DRAIN_END) != 0) {
    uint64_t before = wf_u64_load_relaxed(&pool->x_idle_count); /* the CAS decides */
    /* seq_cst: pairs with the acquire in await_idle: what all functions did is visible.
     * explorer: acq_rel suffices. */
    while (before < count && !wf_u64_cas_seq_cst(&pool->x_idle_count, &before, count)) {
    }
    /* seq_cst: pairs with the acquire in await_idle, which sees the count above.
     * explorer: acq_rel suffices. */
    wf_u32_fetch_add_seq_cst(&pool->x_idle_moments, 1);
    wf_sys_wake_all(&pool->x_idle_moments);
  }
  if ((draining & WF_DRAIN_END) != 0) wf_once_latch_set(&pool->drained);
}

void wf_pool_injected_done(weft_pool *pool) {
  /* seq_cst, as the load below: pairs with the store of x_draining and the load after it
   * in wf_pool_drain, and with await_idle. One of the two sees the other. An acquire load
   * would not suffice: it may be performed before the store half of the RMW. */
  uint64_t done = wf_u64_fetch_add_seq_cst(&pool->x_injected_done, 1) + 1;
  WF_ASSERT(done <= wf_u64_peek(&pool->injector.x_pushed) +
                        wf_u64_peek(&pool->background.x_pushed) +
                        wf_u64_peek(&pool->x_handed_back));
  /* seq_cst: pairs with the fence in wf_pool_drain, and the RMW in await_idle. */
  uint32_t draining = wf_u32_load_seq_cst(&pool->x_draining);
  if (draining == 0) return;
  if (done == injected_count(pool)) tell_idle(pool, draining, done);
}

/* A function injects others before it returns, so the two counts are equal only when
 * nothing is left. The finished ones are read first: the count of pushed ones, read
 * later, is at least as large. */
static bool is_idle(const weft_pool *pool) {
  /* seq_cst: pairs with wf_pool_injected_done. explorer: acquire suffices after the fence
   * or RMW of the callers. */
  uint64_t done = wf_u64_load_seq_cst(&pool->x_injected_done);
  return done == injected_count(pool);
}

void wf_pool_drain(weft_pool *pool) {
  WF_ASSERT(wf_u32_peek(&pool->x_draining) == 0); /* nobody uses the pool any more */
  /* Release: pairs with wf_pool_injected_done, which must see all that was pushed before.
   * explorer: without it a function that returns may take an old count for the newest and
   * end the wait too early; but a search that could show this is too large, and the
   * threads run all that is queued before they end anyway. */
  wf_u32_store_release(&pool->x_draining, WF_DRAIN_END);
  wf_fence_seq_cst(); /* pairs with the RMW in wf_pool_injected_done */
  if (!is_idle(pool)) wf_once_latch_wait(&pool->drained);
  /* Hooks of threads that start or end now may have injected more meanwhile. */
}

/* ---- weft_pool_wait_idle ---- */

/* Has there been a moment at which the first `count` functions had returned, and no other
 * was there? */
static bool was_idle(const weft_pool *pool, uint64_t count) {
  /* Acquire: pairs with tell_idle. */
  return wf_u64_load_acquire(&pool->x_idle_count) >= count || is_idle(pool);
}

/* Blocks until such a moment for all functions that are there now. Work that comes later
 * cannot keep the caller waiting once there was one. */
static void await_idle(weft_pool *pool) {
  uint64_t count = injected_count(pool);
  /* seq_cst: pairs with the load in wf_pool_injected_done: that thread sees the waiter,
   * or the waiter sees its count. */
  wf_u32_fetch_add_seq_cst(&pool->x_draining, 1);
  for (;;) {
    /* Acquire: pairs with tell_idle. Read before the look: a moment that the look misses
     * changes it. */
    uint32_t moments = wf_u32_load_acquire(&pool->x_idle_moments);
    if (was_idle(pool, count)) break;
    wf_sys_wait(&pool->x_idle_moments, moments);
  }
  /* seq_cst: pairs with the load in wf_pool_injected_done. explorer: relaxed suffices, a
   * wake-up too many is harmless. */
  uint32_t draining = wf_u32_fetch_sub_seq_cst(&pool->x_draining, 1);
  WF_ASSERT((draining & ~(uint32_t)WF_DRAIN_END) >= 1);
}

/* Is the calling thread at a function that the pool waits for, as far as the worker
 * knows? Threads of the pool run nothing else; a guest may be helping, or have begun the
 * function of a handle, or tell others that it has returned. */
static bool is_waited_for(const wf_worker *worker) {
  return wf_worker_is_thread(worker) || worker->help_depth > 0 || worker->running != NULL;
}

void weft_pool_wait_idle(weft_pool *pool) {
  wf_worker *self = wf_worker_now();
  if (pool == NULL) pool = self != NULL ? self->pool : wf_global_if_running();
  /* In a forked process: what was queued is the parent's. */
  if (pool == NULL || wf_fork_is_stale(pool)) return;
  wf_worker *worker = wf_guest_find(pool);
  if (worker != NULL && !worker->alone) {
    if (is_waited_for(worker))
      wf_fatal("weft_pool_wait_idle",
               "called by a function that the pool runs: it would wait for itself");
    if (worker == self && !worker->serial)
      while (!is_idle(pool) && wf_worker_run_any(worker)) {
      }
  }
  weft_blocking_begin(); /* does nothing outside of pools */
  await_idle(pool);
  weft_blocking_end();
}

/* ---- detached work ---- */

/* Detaches fn(ctx). A pool without threads runs it at once. */
static int detach(const weft_pool *given, weft_lane lane, weft_fn *fn, void *ctx) {
  if (fn == NULL) return WEFT_EINVAL;
  weft_pool *pool = wf_pool_or_current(given);
  if (pool == NULL) return WEFT_ENOMEM;
  if (wf_pool_started(pool) == 0) {
    weft_pool_run(pool, fn, ctx);
    return 0;
  }
  return submit(pool, lane, fn, ctx, NULL);
}

int weft_detach_with(const weft_opts *o, weft_fn *fn, void *ctx) {
  weft_opts opts;
  if (wf_opts_read(&opts, o) != 0) return WEFT_EINVAL;
  return detach(opts.pool, opts.lane, fn, ctx);
}

int weft_pool_detach(weft_pool *pool, weft_fn *fn, void *ctx) {
  return detach(pool, WEFT_LANE_NORMAL, fn, ctx);
}

int weft_detach(weft_fn *fn, void *ctx) {
  return detach(NULL, WEFT_LANE_NORMAL, fn, ctx);
}
