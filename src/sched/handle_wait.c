/* sched/handle_wait.c - waiting for handles: for one, with a time limit or without, for
 * any of several, for all of several. Protocols: handle.md.
 *
 * Who runs what: weft_handle_wait and weft_handle_wait_all run functions that nobody has
 * begun. Waits with a time limit, or for any of several, leave those to the threads of
 * the pool, so that a function that takes long does not make them late. Only where the
 * waiting thread is itself one of a pool's threads, or a guest that is at a task of
 * others, does it run one: perhaps nobody else can. While it waits, a thread that is in a
 * pool helps there; others sleep.
 *
 * Everything here runs on the thread that waits. One thread at a time waits for a handle.
 *
 * SPDX-License-Identifier: MIT */
#include "handle.h"

#include <weft/detail/typed_async.h>

/* ---- misuse ---- */

static void check_not_waiting_for_itself(const weft_handle *h, const char *call) {
  const wf_worker *worker = wf_guest_find(h->pool); /* where its function would run */
  const struct wf_running *it = worker != NULL ? worker->running : NULL;
  for (; it != NULL; it = it->outer)
    if (it->handle == h)
      wf_fatal(call,
               "called by the function that the handle stands for, or by a task on top "
               "of it: it would wait for itself");
}

/* The function was started by another thread: does that thread exist? */
static void check_not_lost_by_fork(const weft_handle *h, const char *call) {
  if (h->generation != wf_fork_generation())
    wf_fatal(call, "after a fork, the child waits for work that another thread of the "
                   "parent has taken");
}

/* ---- isolation ---- */

/* What isolated code waits for may broadcast, and then the isolated threads must take
 * part: notes which isolation waits, or, with NULL, that it does so no more. */
static void note_waiter(weft_handle *h, const wf_region *isolation) {
  /* Relaxed: broadcast_lock orders it, see wf_broadcast_remind. */
  wf_ptr_store_relaxed(&h->x_waited_by[WF_WAITER], (void *)(uintptr_t)isolation);
}

/* ---- one handle, as long as it takes ---- */

/* Waits inside the pool, with a place or without. */
static void wait_inside(weft_handle *h, const char *call) {
  wf_worker *worker = wf_worker_now();
  if (worker == NULL || worker->pool != h->pool || worker->serial || worker->alone) {
    wf_once_latch_wait(&h->done_outside);
    return;
  }
  WF_ASSERT(worker->index < h->pool->slots);
  h->waiter = worker->index;
  if (wf_isolation(worker) != NULL) {
    note_waiter(h, wf_isolation(worker));
    wf_broadcast_remind(h->pool);
  }
  wf_worker_wait(worker, &h->done, NULL, call);
}

/* Waits for a function that another thread has started. */
static void wait_for_other(weft_handle *h, const char *call) {
  check_not_waiting_for_itself(h, call);
  check_not_lost_by_fork(h, call);
  wf_entry entry;
  if (wf_guest_enter(&entry, h->pool) == NULL) {
    wait_inside(h, call);
    return;
  }
  wait_inside(h, call);
  wf_guest_leave(&entry, call);
}

/* Waits, and leaves the handle as it is. */
static void await(weft_handle *h, const char *call) {
  if (wf_handle_is_done(h)) return;
  if (wf_handle_start(h))
    wf_handle_run_here(h);
  else
    wait_for_other(h, call);
}

int weft_handle_wait(weft_handle *h) {
  if (h == NULL) return WEFT_EINVAL;
  await(h, "weft_handle_wait");
  wf_handle_finish(h);
  return 0;
}

/* ---- any of several, until a time ---- */

/* The first of them that is done, or n. */
static size_t first_done(weft_handle *const *h, size_t n) {
  size_t i = 0;
  while (i < n && !wf_handle_is_done(h[i])) i++;
  return i;
}

/* Puts the waiter into a handle; false if the function has returned. */
static bool enlist(weft_handle *h, wf_waiter *waiter, const char *call) {
  void *there = NULL;
  /* Release: pairs with the exchange in tell_all, which reads the waiter. */
  if (!wf_ptr_cas_release(&h->x_waiter, &there, waiter)) {
    if (there == waiter) return true; /* the same handle twice */
    /* Acquire: pairs with the exchange in tell_all: what the function did is visible. */
    if (wf_ptr_load_acquire(&h->x_waiter) == WF_CLOSED) return false;
    wf_fatal(call, "another thread waits for the handle already");
  }
  if (h->is_linked) return true; /* the handle tells whoever is there when it is done */
  h->is_linked = wf_handle_observe(h, &h->waiter_link);
  return h->is_linked;
}

/* Takes the waiter out again. Where the handle was faster it is telling the waiter, which
 * must exist until that is over. */
static void delist(weft_handle *h, wf_waiter *waiter) {
  void *there = waiter;
  /* Release: pairs with the exchange in tell_all. explorer: relaxed suffices, NULL has
   * nothing to read behind it. */
  if (wf_ptr_cas_release(&h->x_waiter, &there, NULL)) return;
  WF_ASSERT(there == NULL || there == WF_CLOSED); /* NULL: the same handle twice */
  if (there == WF_CLOSED) wf_once_latch_wait(&h->told);
}

/* Notes, or takes back, that isolated code of the worker waits for the handles. */
static void note_waiter_of_all(weft_handle *const *h, size_t n, const wf_worker *worker,
                               const wf_region *isolation) {
  weft_pool *pool = worker->pool;
  wf_lock_lock(&pool->broadcast_lock);
  for (size_t i = 0; i < n; i++)
    if (h[i]->pool == pool) note_waiter(h[i], isolation);
  wf_lock_unlock(&pool->broadcast_lock);
  if (isolation != NULL) wf_broadcast_remind(pool);
}

/* Waits until a handle that the waiter is in has told it, or the time has come. */
static void wait_until_told(wf_waiter *waiter, weft_handle *const *h, size_t n,
                            uint64_t deadline_ns, const char *call) {
  if (waiter->pool == NULL) {
    wf_once_latch_wait_until(&waiter->blocked, deadline_ns);
    return;
  }
  wf_worker *worker = wf_worker_now();
  const wf_region *isolation = wf_isolation(worker);
  if (isolation != NULL) note_waiter_of_all(h, n, worker, isolation);
  wf_worker_wait_until(worker, &waiter->latch, NULL, deadline_ns, call);
  /* The isolation may end before the functions do. */
  if (isolation != NULL) note_waiter_of_all(h, n, worker, NULL);
}

/* All functions have been started, or will be by others. Returns when one of them has
 * returned, or the time has come. */
static void wait_for_any(weft_handle *const *h, size_t n, uint64_t deadline_ns,
                         const char *call) {
  const wf_worker *worker = wf_worker_now();
  bool helps = worker != NULL && !worker->serial && !worker->alone;
  wf_waiter waiter = {.pool = helps ? worker->pool : NULL,
                      .index = helps ? worker->index : 0,
                      .generation = wf_fork_generation()};
  wf_latch_init(&waiter.latch);
  wf_once_latch_init(&waiter.blocked);
  size_t listed = 0;
  while (listed < n && enlist(h[listed], &waiter, call)) listed++;
  if (listed == n) wait_until_told(&waiter, h, n, deadline_ns, call);
  /* One that was done when it was to be enlisted may have got the waiter all the same. */
  for (size_t i = 0; i < n && i <= listed; i++) delist(h[i], &waiter);
}

/* May threads of a pool depend on this one? If a pool has started it, it may be the only
 * one. If it is a guest that helps, a thread of the pool may wait for the task that it
 * has taken, and while that thread waits it takes nothing from the queue. */
static bool is_depended_on(void) {
  const wf_worker *worker = wf_worker_now();
  for (const wf_entry *it = worker != NULL ? worker->entry : NULL; it != NULL;
       it = it->outer)
    if (wf_worker_is_thread(it->worker) || it->worker->help_depth > 0) return true;
  return false;
}

/* Runs the first of the functions that nobody has begun, if this thread has to: true, and
 * that one is done. In a forked process nobody else will ever run what the parent has
 * queued. */
static bool run_one(weft_handle *const *h, size_t n) {
  bool runs_all = is_depended_on();
  for (size_t i = 0; i < n; i++) {
    if (!runs_all && h[i]->generation == wf_fork_generation()) continue;
    if (!wf_handle_start(h[i])) continue;
    wf_handle_run_here(h[i]);
    return true;
  }
  return false;
}

/* Returns the index of one that is done, or n if the time has come before. */
static size_t await_any(weft_handle *const *h, size_t n, uint64_t timeout_ns,
                        const char *call) {
  size_t found = first_done(h, n);
  if (found < n || timeout_ns == 0) return found;
  uint64_t deadline_ns = wf_deadline_in(timeout_ns);
  if (!run_one(h, n)) {
    for (size_t i = 0; i < n; i++) {
      check_not_waiting_for_itself(h[i], call);
      check_not_lost_by_fork(h[i], call);
    }
    wait_for_any(h, n, deadline_ns, call);
  }
  /* Also if the time has come: a function that has returned meanwhile counts. */
  return first_done(h, n);
}

/* Would the array have more bytes than an object can have? */
static bool are_too_many(size_t n) {
  return n > PTRDIFF_MAX / sizeof(weft_handle *);
}

static void check_handles(weft_handle *const *h, size_t n, const char *call) {
  if (n == 0) wf_fatal(call, "n is 0: there is nothing to wait for");
  if (h == NULL) wf_fatal(call, "h is NULL");
  if (are_too_many(n)) wf_fatal(call, "the array is larger than memory can be");
  for (size_t i = 0; i < n; i++)
    if (h[i] == NULL) wf_fatal(call, "one of the handles is NULL");
}

size_t weft_handle_wait_any(weft_handle *const *h, size_t n) {
  check_handles(h, n, "weft_handle_wait_any");
  size_t found = await_any(h, n, WF_NEVER, "weft_handle_wait_any");
  WF_ASSERT(found < n);
  return found;
}

size_t weft_handle_wait_any_for(weft_handle *const *h, size_t n, uint64_t timeout_ns) {
  check_handles(h, n, "weft_handle_wait_any_for");
  size_t found = await_any(h, n, timeout_ns, "weft_handle_wait_any_for");
  return found < n ? found : SIZE_MAX;
}

int weft_handle_wait_for(weft_handle *h, uint64_t timeout_ns) {
  if (h == NULL) return WEFT_EINVAL;
  if (await_any(&h, 1, timeout_ns, "weft_handle_wait_for") == 1) return WEFT_EBUSY;
  wf_handle_finish(h);
  return 0;
}

/* ---- all of several ---- */

int weft_handle_wait_all(weft_handle *const *h, size_t n) {
  static const char *const call = "weft_handle_wait_all";
  if ((h == NULL && n > 0) || are_too_many(n)) return WEFT_EINVAL;
  for (size_t i = 0; i < n; i++)
    if (h[i] == NULL) return WEFT_EINVAL;
  for (size_t i = 0; i < n; i++) {
    if (h[i]->is_listed) wf_fatal(call, "the same handle is there twice");
    h[i]->is_listed = true;
  }
  /* The newest first: the pool begins with the oldest. */
  for (size_t i = n; i-- > 0;)
    if (!wf_handle_is_done(h[i]) && wf_handle_start(h[i])) wf_handle_run_here(h[i]);
  for (size_t i = 0; i < n; i++) {
    await(h[i], call);
    wf_handle_finish(h[i]);
  }
  return 0;
}

/* ---- typed handles ---- */

void *wf_async_await(weft_handle *h, const char *call) {
  if (h == NULL) wf_fatal(call, "the handle is NULL: was the call refused?");
  await(h, call);
  return h->args;
}

void *wf_async_await_for(weft_handle *h, uint64_t timeout_ns, const char *call) {
  if (h == NULL) wf_fatal(call, "the handle is NULL: was the call refused?");
  return await_any(&h, 1, timeout_ns, call) == 0 ? h->args : NULL;
}

void wf_async_free(weft_handle *h) {
  wf_handle_finish(h);
}
