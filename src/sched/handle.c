/* sched/handle.c - asynchronous calls that somebody waits for.
 *
 * A handle has two users, the thread that runs the function and the one that waits for it
 * (or drops it), and is freed by the last of them. The first of the two to start the
 * handle runs the function: a thread that waits for a call that was not started makes the
 * call itself. Fields without x_ are written before the handle is published.
 *
 * SPDX-License-Identifier: MIT */
#include "broadcast.h"

#include <stdlib.h>
#include <weft/task.h>

enum { NOT_STARTED = 0, STARTED = 1 };

struct weft_handle {
  weft_fn *fn;
  void *ctx;
  weft_pool *pool;
  weft_lane lane;
  wf_receipt receipt;  /* its place in the queue; the waiter's alone */
  uint32_t generation; /* of the process that it was made in */
  wf_u32 x_started;    /* NOT_STARTED or STARTED */
  wf_u32 x_users;
  wf_ptr x_waited_by[WF_WAITED_BY]; /* the isolations that wait for the function */
  wf_latch done;
  wf_once_latch done_outside; /* for a waiter without a place in the pool; set second */
  /* Written by the waiter before its latch says that it sleeps. */
  unsigned waiter;
};

/* The handles whose functions a worker's thread has on its stack, innermost first. */
typedef struct wf_running {
  const weft_handle *handle;
  const struct wf_running *outer;
} wf_running;

static void give_up(weft_handle *h) {
  /* acq_rel: pairs with itself, so that the last user has seen the other's end. */
  uint32_t users = wf_u32_fetch_sub_acq_rel(&h->x_users, 1);
  WF_ASSERT(users == 1 || users == 2);
  if (users == 1) free(h);
}

/* True for one of the two threads that may run the function. */
static bool start_handle(weft_handle *h) {
  /* Acquire: pairs with nothing but itself; what the function needs was published with
   * the handle. explorer: relaxed suffices. */
  return wf_u32_exchange_acquire(&h->x_started, STARTED) == NOT_STARTED;
}

/* What isolated code waits for may broadcast, and then the isolated threads must take
 * part: notes which isolation waits. */
static void note_isolation(wf_ptr *waited_by, const wf_worker *worker) {
  /* Relaxed: broadcast_lock orders it, see wf_broadcast_remind. */
  wf_ptr_store_relaxed(waited_by, (void *)(uintptr_t)wf_isolation(worker));
}

/* Calls the function in a region of its own, which belongs to no scope and is isolated.
 * If other work ran on top of it, or of its parts on other threads, that work could wait
 * for this handle, and so for itself. */
static void call_isolated(weft_handle *h, wf_worker *worker) {
  const wf_region *around = worker->deque.owner.region;
  wf_region region = {NULL, &region, around != NULL && around->background,
                      wf_isolation(worker) == NULL || around->yields, h->x_waited_by};
  note_isolation(&h->x_waited_by[WF_BELOW], worker);
  wf_running here = {h, worker->running};
  wf_frame outer;
  wf_frame_open(worker, &outer, &region);
  worker->running = &here;
  h->fn(h->ctx);
  WF_ASSERT(worker->running == &here);
  worker->running = here.outer;
  wf_frame_expect_closed(worker, &outer);
  wf_frame_leave(worker, &outer);
}

static void run_handle(void *ctx) {
  weft_handle *h = (weft_handle *)ctx;
  if (wf_self != NULL)
    call_isolated(h, wf_worker_of(wf_self));
  else
    h->fn(h->ctx); /* no memory even for a pool */
  WF_ASSERT(wf_u32_peek(&h->x_started) == STARTED);
  /* Still a user: the handle is there until this function gives it up. The pool is too,
   * because a worker of it runs this. */
  if (wf_latch_set(&h->done)) wf_sleep_wake_worker(h->pool, h->waiter);
  wf_once_latch_set(&h->done_outside);
}

/* What the pool's queue holds. */
static void run_from_queue(void *ctx) {
  weft_handle *h = (weft_handle *)ctx;
  if (start_handle(h)) run_handle(h);
  give_up(h);
}

int weft_async_with(const weft_opts *o, weft_handle **out, weft_fn *fn, void *ctx) {
  weft_opts opts;
  if (out == NULL) return WEFT_EINVAL;
  *out = NULL;
  if (fn == NULL || wf_opts_read(&opts, o) != 0) return WEFT_EINVAL;
  weft_pool *pool = wf_pool_or_current(opts.pool);
  weft_handle *h = (weft_handle *)calloc(1, sizeof *h);
  if (pool == NULL || h == NULL) {
    free(h);
    return WEFT_ENOMEM;
  }
  h->fn = fn;
  h->ctx = ctx;
  h->pool = pool;
  h->generation = wf_fork_generation();
  h->lane = opts.lane;
  wf_u32_store_relaxed(&h->x_users, 2); /* nobody else sees it yet */
  int status = 0;
  if (wf_pool_started(pool) == 0)
    weft_pool_run(pool, run_from_queue, h);
  else
    status = wf_pool_inject(pool, opts.lane, run_from_queue, h, &h->receipt);
  if (status != 0)
    free(h);
  else
    *out = h;
  return status;
}

int weft_async(weft_handle **out, weft_fn *fn, void *ctx) {
  return weft_async_with(NULL, out, fn, ctx);
}

bool weft_handle_done(const weft_handle *h) {
  return h != NULL && wf_latch_probe(&h->done);
}

/* ---- waiting ---- */

static void check_not_waiting_for_itself(const weft_handle *h) {
  const wf_worker *worker = wf_guest_find(h->pool); /* where its function would run */
  const wf_running *it = worker != NULL ? worker->running : NULL;
  for (; it != NULL; it = it->outer)
    if (it->handle == h)
      wf_fatal(
          "weft_handle_wait",
          "called by the function that the handle stands for, or by a task on top of "
          "it: it would wait for itself");
}

/* Waits inside the pool, with a place or without. */
static void wait_inside(void *ctx) {
  weft_handle *h = (weft_handle *)ctx;
  wf_worker *worker = wf_worker_now();
  if (worker == NULL || worker->pool != h->pool || worker->serial || worker->alone) {
    wf_once_latch_wait(&h->done_outside);
    return;
  }
  WF_ASSERT(worker->index < h->pool->slots);
  h->waiter = worker->index;
  if (wf_isolation(worker) != NULL) {
    note_isolation(&h->x_waited_by[WF_WAITER], worker);
    wf_broadcast_remind(h->pool);
  }
  wf_worker_wait(worker, &h->done, NULL, "weft_handle_wait");
}

/* Waits for a function that another thread has started. */
static void wait_for_other(weft_handle *h) {
  check_not_waiting_for_itself(h);
  if (h->generation != wf_fork_generation())
    wf_fatal("weft_handle_wait", "after a fork, the child waits for work that another "
                                 "thread of the parent has taken");
  wf_entry entry;
  if (wf_guest_enter(&entry, h->pool) == NULL) {
    wait_inside(h);
    return;
  }
  wait_inside(h);
  wf_guest_leave(&entry, "weft_handle_wait");
}

/* Runs the function, which this thread has started. The queue's entry is of no use any
 * more; in a forked process it is the parent's. */
static void run_here(weft_handle *h) {
  if (h->generation == wf_fork_generation() &&
      wf_pool_revoke(h->pool, h->lane, &h->receipt)) {
    /* The use by the queue. acq_rel: pairs with give_up; the caller has a use of its own
     * and gives it up later. explorer: relaxed suffices, nobody else has one now. */
    uint32_t users = wf_u32_fetch_sub_acq_rel(&h->x_users, 1);
    WF_ASSERT(users == 2);
  }
  weft_pool_run(h->pool, run_handle, h);
}

int weft_handle_wait(weft_handle *h) {
  if (h == NULL) return WEFT_EINVAL;
  if (!wf_latch_probe(&h->done)) {
    if (start_handle(h))
      run_here(h);
    else
      wait_for_other(h);
  }
  WF_ASSERT(wf_latch_peek(&h->done) == WF_LATCH_SET);
  give_up(h);
  return 0;
}

void weft_handle_drop(weft_handle *h) {
  if (h != NULL) give_up(h);
}
