/* pool/guest.c - threads from outside that take part in a pool.
 *
 * A caller leases one of the guests' places for its outermost call and runs its own code
 * on its own stack: no hand-over, no context switch. When all places are taken, a thread
 * that is in no pool hands its function to a started thread and blocks; a thread that is
 * a worker elsewhere must not block, or two pools could wait for each other, so it runs
 * the function itself, one thing after the other, in a context without a place.
 *
 * A thread may be in several pools, one inside the other. Coming back to one that it is
 * already in reuses the worker it is there.
 *
 * SPDX-License-Identifier: MIT */
#include "pool.h"

#include <string.h>

__thread wf_owner *wf_self;

/* The workers that this thread is, innermost first; each entry is in the frame of
 * wf_guest_run_as. */
typedef struct entry {
  wf_worker *worker;
  const struct entry *outer;
} entry;

static __thread const entry *innermost __attribute__((tls_model("initial-exec")));

/* ---- places ---- */

/* [any] Takes a place if it is free. */
static bool try_lease(weft_pool *pool, unsigned index) {
  if (wf_bitset_has(pool->x_present, index)) return false;
  /* The RMW pairs with the one of the guest that left: its fields are handed on. */
  return wf_bitset_add(pool->x_present, index);
}

/* The lowest free place, with a deque, or NULL. The lowest, so that a single caller is
 * always worker 0. */
static wf_worker *lease(weft_pool *pool) {
  unsigned index = 0;
  while (index < pool->slots && !try_lease(pool, index))
    index = index == 0 ? pool->thread_places + 1 : index + 1;
  if (index >= pool->slots) return NULL;
  wf_worker *worker = &pool->workers[index];
  if (wf_deque_prepare(&worker->deque) != 0) {
    wf_bitset_remove(pool->x_present, index);
    return NULL;
  }
  return worker;
}

static void leave(wf_worker *worker) {
  if (!wf_deque_is_empty(&worker->deque))
    wf_fatal("weft_pool_run", "the function has left forks that were not joined");
  /* Sealed now, while it is in this CPU's cache, and not by the next guest. */
  wf_deque_seal(&worker->deque);
  wf_bitset_remove(worker->pool->x_present, worker->index);
}

wf_worker *wf_guest_find(const weft_pool *pool) {
  const entry *here = innermost;
  while (here != NULL && here->worker->pool != pool) here = here->outer;
  return here != NULL ? here->worker : NULL;
}

/* ---- running in a pool ---- */

void wf_guest_run_as(wf_worker *worker, weft_fn *fn, void *ctx) {
  entry here = {worker, innermost};
  wf_owner *previous = wf_self;
  innermost = &here;
  wf_self = &worker->deque.owner;
  fn(ctx);
  wf_self = previous;
  innermost = here.outer;
}

/* The lowest number that no other call without a place has now; with a thousand such
 * calls at once, the thousand-and-first and later ones share one. */
static unsigned lease_number(weft_pool *pool) {
  unsigned number = 0;
  while (number < WF_SERIAL_NUMBERS && (wf_bitset_has(pool->x_serial, number) ||
                                        !wf_bitset_add(pool->x_serial, number)))
    number++;
  return number;
}

/* Without a place: a deque of one slot that is always closed, so that each fork and each
 * join takes the slow half, and that runs everything inline. */
static void run_serially(weft_pool *pool, weft_fn *fn, void *ctx) {
  struct {
    wf_worker worker;
    wf_ptr sentinel, slot;
  } place;
  memset(&place, 0, sizeof place);
  unsigned number = lease_number(pool);
  place.worker.pool = pool;
  place.worker.index = pool->slots + number; /* beyond the last place */
  place.worker.serial = true;
  wf_ptr_store_relaxed(&place.worker.deque.owner.x_bottom, &place.slot);
  wf_ptr_store_relaxed(&place.worker.deque.owner.x_gate, (void *)UINTPTR_MAX);
  wf_guest_run_as(&place.worker, fn, ctx);
  if (number < WF_SERIAL_NUMBERS) wf_bitset_remove(pool->x_serial, number);
}

/* A function handed to a started thread by a caller that blocks. */
typedef struct handed_in {
  weft_fn *fn;
  void *ctx;
  wf_once_latch done;
} handed_in;

static void run_handed_in(void *ctx) {
  handed_in *call = (handed_in *)ctx;
  call->fn(call->ctx);
  wf_once_latch_set(&call->done); /* the caller may be gone after this */
}

/* False if there is nobody to hand it to. */
static bool hand_in(weft_pool *pool, weft_fn *fn, void *ctx) {
  handed_in call = {fn, ctx, {{0}}};
  wf_once_latch_init(&call.done);
  if (wf_pool_started(pool) == 0) return false;
  if (weft_pool_detach(pool, run_handed_in, &call) != 0) return false;
  wf_once_latch_wait(&call.done);
  return true;
}

void weft_pool_run(weft_pool *pool, weft_fn *fn, void *ctx) {
  if (fn == NULL) return;
  if (pool == NULL) pool = weft_pool_current();
  if (pool == NULL) { /* no memory even for a pool */
    fn(ctx);
    return;
  }
  wf_worker *here = wf_guest_find(pool);
  if (here != NULL) {
    wf_guest_run_as(here, fn, ctx);
    return;
  }
  wf_worker *worker = lease(pool);
  if (worker != NULL) {
    wf_guest_run_as(worker, fn, ctx);
    leave(worker);
    return;
  }
  if (wf_self == NULL && hand_in(pool, fn, ctx)) return;
  run_serially(pool, fn, ctx);
}

int weft_worker_index(void) {
  return wf_self != NULL ? (int)wf_worker_of(wf_self)->index : -1;
}
