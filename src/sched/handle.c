/* sched/handle.c - asynchronous calls: made, run, and reported when they have returned.
 *
 * weft_async runs on any thread; the function runs on a thread of the pool, or on the one
 * that waits for it (handle_wait.c). The thread that was at the function then tells all
 * who asked: handle.md.
 *
 * SPDX-License-Identifier: MIT */
#include "handle.h"
#include "record.h"

#include <stdlib.h>
#include <string.h>

static void give_up(weft_handle *h) {
  /* acq_rel: pairs with itself, so that the last user has seen the other's end. */
  uint32_t users = wf_u32_fetch_sub_acq_rel(&h->x_users, 1);
  WF_ASSERT(users == 1 || users == 2);
  if (users == 1) free(h);
}

/* ---- telling ---- */

void wf_handle_run_then(void *ctx) {
  wf_observer then = *(wf_observer *)ctx;
  free(ctx);
  WF_ASSERT(then.kind == WF_OBSERVER_THEN);
  then.fn(then.ctx);
}

/* Queues what follows on the handle; 0 or a negative status. A pool without threads runs
 * it at once. */
static int queue_then(const weft_handle *h, wf_observer *then) {
  weft_pool *pool = wf_pool_or_current(h->pool); /* in a forked process it is revived */
  if (pool == NULL) return WEFT_ENOMEM;
  if (wf_pool_started(pool) > 0)
    return wf_pool_inject(pool, h->lane, wf_handle_run_then, then, NULL);
  weft_pool_run(pool, wf_handle_run_then, then);
  return 0;
}

/* The waiter and its pool are there until `told` is set. */
static void tell_waiter(wf_waiter *waiter) {
  if (waiter->generation != wf_fork_generation()) return; /* it is in the parent */
  /* acq_rel: pairs with itself: the first of several handles tells. explorer: relaxed
   * suffices, the latch orders. */
  if (wf_u32_exchange_acq_rel(&waiter->x_told, 1) != 0) return;
  if (waiter->pool == NULL)
    wf_once_latch_set(&waiter->blocked);
  else if (wf_latch_set(&waiter->latch))
    wf_sleep_wake_worker(waiter->pool, waiter->index);
}

/* Tells one of the list, and frees it unless it is the handle's own, or queued. */
static void tell_observer(weft_handle *h, wf_observer *observer) {
  WF_ASSERT(observer->kind != WF_OBSERVER_WAITER);
  bool is_ours = observer->generation == wf_fork_generation(); /* else the parent does */
  if (is_ours && observer->kind == WF_OBSERVER_THEN) {
    if (queue_then(h, observer) == 0) return;
    observer->fn(observer->ctx); /* no memory for the queue: it runs here */
  }
  if (is_ours && observer->kind == WF_OBSERVER_CALL) observer->fn(observer->ctx);
  if (is_ours && observer->kind == WF_OBSERVER_NOTIFY) wf_sys_fd_notify(observer->fd);
  free(observer);
}

/* The list in the order in which the observers came. */
static wf_observer *oldest_first(wf_observer *newest) {
  wf_observer *oldest = NULL;
  while (newest != NULL) {
    wf_observer *next = newest->older;
    newest->older = oldest;
    oldest = newest;
    newest = next;
  }
  return oldest;
}

/* A thread that waits comes last: when it goes on, all others have been told, or are
 * about to be, and that is what `told` is for. */
static void tell_all(weft_handle *h, wf_observer *newest) {
  bool has_waiter = false;
  wf_ptr_store_relaxed(&h->x_teller, wf_handle_self()); /* read by the same thread only */
  /* For weft_pool_wait_idle: this function counts as run when all have been told. */
  wf_worker *worker = wf_worker_now();
  struct wf_running here = {h, worker != NULL ? worker->running : NULL};
  if (worker != NULL) worker->running = &here;
  wf_observer *it = oldest_first(newest);
  while (it != NULL) {
    wf_observer *next = it->older;
    if (it == &h->waiter_link)
      has_waiter = true;
    else
      tell_observer(h, it);
    it = next;
  }
  if (worker != NULL) worker->running = here.outer;
  if (has_waiter) {
    /* acq_rel: pairs with the compare-and-swaps of the waiting thread (handle_wait.c):
     * this thread sees what the waiter is, and a waiter that comes too late sees what the
     * function did. */
    void *waiter = wf_ptr_exchange_acq_rel(&h->x_waiter, WF_CLOSED);
    WF_ASSERT(waiter != WF_CLOSED);
    if (waiter != NULL) tell_waiter((wf_waiter *)waiter);
  }
  wf_once_latch_set(&h->told); /* from here on the waiter may be gone */
}

/* The function has returned. This thread is still a user: the handle is there until it
 * gives it up. The pool is too, because a worker of it runs this. */
static void complete(weft_handle *h) {
  WF_ASSERT(wf_u32_peek(&h->x_started) == 1);
  if (wf_latch_set(&h->done)) wf_sleep_wake_worker(h->pool, h->waiter);
  wf_once_latch_set(&h->done_outside);
  /* acq_rel: pairs with the compare-and-swap in wf_handle_observe: this thread sees the
   * observers, and one that comes too late sees what the function did. */
  void *observers = wf_ptr_exchange_acq_rel(&h->x_observers, WF_CLOSED);
  WF_ASSERT(observers != WF_CLOSED);
  if (WF_UNLIKELY(observers != NULL)) tell_all(h, (wf_observer *)observers);
}

/* ---- running ---- */

/* What isolated code waits for may broadcast, and then the isolated threads must take
 * part: notes which isolation lies below. */
static void note_below(weft_handle *h, const wf_worker *worker) {
  /* Relaxed: broadcast_lock orders it, see wf_broadcast_remind. */
  wf_ptr_store_relaxed(&h->x_waited_by[WF_BELOW],
                       (void *)(uintptr_t)wf_isolation(worker));
}

/* Calls the function in a region of its own, which belongs to no scope and is isolated.
 * If other work ran on top of it, or of its parts on other threads, that work could wait
 * for this handle, and so for itself. */
static void call_isolated(weft_handle *h, wf_worker *worker) {
  const wf_region *around = worker->deque.owner.region;
  wf_region region = {NULL, &region, around != NULL && around->background,
                      wf_isolation(worker) == NULL || around->yields, h->x_waited_by};
  note_below(h, worker);
  struct wf_running here = {h, worker->running};
  wf_frame outer;
  wf_frame_open(worker, &outer, &region);
  worker->running = &here;
  h->fn(h->ctx);
  WF_ASSERT(worker->running == &here);
  worker->running = here.outer;
  wf_frame_expect_closed(worker, &outer);
  wf_frame_leave(worker, &outer);
}

static void run_handle(weft_handle *h) {
  if (wf_self != NULL)
    call_isolated(h, wf_worker_of(wf_self));
  else
    h->fn(h->ctx); /* no memory even for a pool */
  complete(h);
}

/* What the pool's queue holds. */
static void run_from_queue(void *ctx) {
  weft_handle *h = (weft_handle *)ctx;
  wf_record_retask(WF_TASK_ASYNC, h->fn);
  if (wf_handle_start(h))
    run_handle(h);
  else
    wf_pool_handed_back(h->pool); /* the thread that waits for it runs it */
  give_up(h);
}

/* In a pool without threads there is no queue, and no count. */
static void run_in_call(void *ctx) {
  weft_handle *h = (weft_handle *)ctx;
  wf_u32_store_relaxed(&h->x_started, 1); /* nobody else sees it yet */
  run_handle(h);
  give_up(h);
}

static void run_waited(void *ctx) {
  weft_handle *h = (weft_handle *)ctx;
  run_handle(h);
  /* Not in a process that was forked before, or by the function. */
  if (h->generation == wf_fork_generation()) wf_pool_injected_done(h->pool);
}

/* The queue's entry is of no use any more; in a forked process it is the parent's. */
void wf_handle_run_here(weft_handle *h) {
  if (h->generation == wf_fork_generation() &&
      wf_pool_revoke(h->pool, h->lane, &h->receipt)) {
    /* The use by the queue. acq_rel: pairs with give_up; the caller has a use of its own
     * and gives it up later. explorer: relaxed suffices, nobody else has one now. */
    uint32_t users = wf_u32_fetch_sub_acq_rel(&h->x_users, 1);
    WF_ASSERT(users == 2);
  }
  weft_pool_run(h->pool, run_waited, h);
}

/* ---- making ---- */

static weft_handle *make_handle(weft_fn *fn, void *ctx, const void *args, size_t size) {
  if (size > SIZE_MAX - sizeof(weft_handle)) return NULL;
  weft_handle *h = (weft_handle *)malloc(sizeof *h + size);
  if (h == NULL) return NULL;
  memset(h, 0, sizeof *h);
  if (size > 0) memcpy(h->args, args, size);
  h->fn = fn;
  h->ctx = ctx != NULL || args == NULL ? ctx : h->args;
  h->generation = wf_fork_generation();
  h->waiter_link.kind = WF_OBSERVER_WAITER;
  wf_u32_store_relaxed(&h->x_users, 2); /* nobody else sees it yet */
  return h;
}

static int start_handle(const weft_opts *o, weft_handle **out, weft_fn *fn, void *ctx,
                        const void *args, size_t size) {
  weft_opts opts;
  if (out == NULL) return WEFT_EINVAL;
  *out = NULL;
  if (fn == NULL || wf_opts_read(&opts, o) != 0) return WEFT_EINVAL;
  weft_pool *pool = wf_pool_or_current(opts.pool);
  if (pool == NULL) return WEFT_ENOMEM;
  weft_handle *h = make_handle(fn, ctx, args, size);
  if (h == NULL) return WEFT_ENOMEM;
  h->pool = pool;
  h->lane = opts.lane;
  int status = 0;
  if (wf_pool_started(pool) == 0)
    weft_pool_run(pool, run_in_call, h);
  else
    status = wf_pool_submit(pool, opts.lane, run_from_queue, h, &h->receipt);
  if (status != 0)
    free(h);
  else
    *out = h;
  return status;
}

int weft_async_with(const weft_opts *o, weft_handle **out, weft_fn *fn, void *ctx) {
  return start_handle(o, out, fn, ctx, NULL, 0);
}

int weft_async(weft_handle **out, weft_fn *fn, void *ctx) {
  return start_handle(NULL, out, fn, ctx, NULL, 0);
}

int weft_async_copy_with(const weft_opts *o, weft_handle **out, const void *args,
                         size_t size, weft_fn *fn) {
  static const unsigned char nothing[1];
  if (args == NULL && size > 0) {
    if (out != NULL) *out = NULL;
    return WEFT_EINVAL;
  }
  return start_handle(o, out, fn, NULL, args != NULL ? args : nothing, size);
}

int weft_async_copy(weft_handle **out, const void *args, size_t size, weft_fn *fn) {
  return weft_async_copy_with(NULL, out, args, size, fn);
}

void *weft_handle_args(weft_handle *h) {
  return h != NULL && h->ctx == h->args ? h->args : NULL;
}

bool weft_handle_done(const weft_handle *h) {
  return h != NULL && wf_handle_is_done(h);
}

void weft_handle_drop(weft_handle *h) {
  if (h != NULL) give_up(h);
}

/* ---- observers ---- */

bool wf_handle_observe(weft_handle *h, wf_observer *observer) {
  for (;;) {
    /* Acquire: pairs with the exchange in complete: what the function did is visible. */
    void *newest = wf_ptr_load_acquire(&h->x_observers);
    if (newest == WF_CLOSED) return false;
    observer->older = (wf_observer *)newest;
    /* Release: pairs with the exchange in complete, which reads the observer. */
    if (wf_ptr_cas_release(&h->x_observers, &newest, observer)) return true;
  }
}

static wf_observer *make_observer(wf_observer_kind kind, weft_fn *fn, void *ctx, int fd) {
  wf_observer *made = (wf_observer *)malloc(sizeof *made);
  if (made != NULL) *made = (wf_observer){NULL, kind, wf_fork_generation(), fn, ctx, fd};
  return made;
}

/* Adds an observer. If the list was closed, it is to be told by the caller: *late. Else
 * the handle may be gone already: a function that is called may free it. */
static int add_observer(weft_handle *h, wf_observer *made, bool *late) {
  *late = false;
  if (made == NULL) return WEFT_ENOMEM;
  /* Relaxed, both: for the thread that waits for the handle, which this one hands it to
   * if it is another. */
  wf_u32_fetch_add_relaxed(&h->x_observed, 1);
  *late = !wf_handle_observe(h, made);
  if (*late) wf_u32_fetch_sub_relaxed(&h->x_observed, 1);
  return 0;
}

int weft_handle_then(weft_handle *h, weft_fn *fn, void *ctx) {
  bool late;
  if (h == NULL || fn == NULL) return WEFT_EINVAL;
  wf_observer *made = make_observer(WF_OBSERVER_THEN, fn, ctx, -1);
  int status = add_observer(h, made, &late);
  if (!late) return status;
  status = queue_then(h, made);
  if (status != 0) free(made);
  return status;
}

int weft_handle_on_done(weft_handle *h, weft_fn *fn, void *ctx) {
  bool late;
  if (h == NULL || fn == NULL) return WEFT_EINVAL;
  wf_observer *made = make_observer(WF_OBSERVER_CALL, fn, ctx, -1);
  int status = add_observer(h, made, &late);
  if (late) tell_observer(h, made);
  return status;
}

int weft_handle_notify(weft_handle *h, int fd) {
  bool late;
  if (h == NULL || !wf_sys_fd_is_writable(fd)) return WEFT_EINVAL;
  wf_observer *made = make_observer(WF_OBSERVER_NOTIFY, NULL, NULL, fd);
  int status = add_observer(h, made, &late);
  if (late) tell_observer(h, made);
  return status;
}

/* ---- the end of a handle ---- */

/* Afterwards the caller may close what was to be written to, or free what the functions
 * use. A function that is called by the handle, on this thread, does not wait for itself.
 */
void wf_handle_finish(weft_handle *h) {
  WF_ASSERT(wf_latch_peek(&h->done) == WF_LATCH_SET);
  /* Relaxed: written by this thread, or by one that has handed it the handle. */
  if (wf_u32_load_relaxed(&h->x_observed) != 0 &&
      wf_ptr_load_relaxed(&h->x_teller) != wf_handle_self()) /* relaxed: one's own */
    wf_once_latch_wait(&h->told);
  give_up(h);
}
