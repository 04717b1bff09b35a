/* sched/handle.h - a handle: a function that was started asynchronously, and who wants to
 * know when it has returned. Protocols: handle.md.
 *
 * A handle has two users, the thread that runs the function and the one that waits for it
 * (or drops it), and is freed by the last of them. The first of the two to start the
 * handle runs the function: a thread that waits for a call that was not started makes the
 * call itself.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_SCHED_HANDLE_H
#define WF_SCHED_HANDLE_H

#include "broadcast.h"

#include <weft/task.h>

#include <stddef.h>

/* What is to happen when the function has returned. */
typedef enum wf_observer_kind {
  WF_OBSERVER_WAITER, /* the handle's own: a thread waits for this handle and others */
  WF_OBSERVER_THEN,   /* fn(ctx) runs in the pool */
  WF_OBSERVER_CALL,   /* fn(ctx) is called by the thread that was at the function */
  WF_OBSERVER_NOTIFY  /* fd is written to */
} wf_observer_kind;

typedef struct wf_observer {
  struct wf_observer *older; /* in the handle's list */
  wf_observer_kind kind;
  uint32_t generation; /* of the process that asked for it */
  weft_fn *fn;
  void *ctx;
  int fd;
} wf_observer;

/* A thread that waits for one or several handles, on its stack. The first of
 * them that is done tells it; it stays there until no handle knows it any more. */
typedef struct wf_waiter {
  weft_pool *pool; /* in which it helps, as worker `index`; NULL: it blocks */
  unsigned index;
  uint32_t generation;   /* of the process that it is in */
  wf_u32 x_told;         /* 1: one of the handles has told it */
  wf_latch latch;        /* set then, if it helps */
  wf_once_latch blocked; /* set then, if it blocks */
} wf_waiter;

/* Fields without x_ are written before the handle is published, or by one thread at a
 * time as their comments say. Invariants:
 *
 *     x_observers is WF_CLOSED   <=>  the function has returned and the list was taken
 *     told is set                 =>  x_observers is WF_CLOSED, and all of the list has
 *                                     happened; if the list was empty it is never set
 *     x_observed > 0              =>  the list was not empty when it was taken, or will
 *                                     not be, or somebody is just being added
 *     x_waiter is WF_CLOSED       =>  done is set, and told is set soon
 */
struct weft_handle {
  weft_fn *fn;
  void *ctx;
  weft_pool *pool;
  weft_lane lane;
  bool is_listed;      /* seen by weft_handle_wait_all; the waiting thread's */
  bool is_linked;      /* waiter_link is in the list; the waiting thread's */
  wf_receipt receipt;  /* its place in the queue; the waiter's alone */
  uint32_t generation; /* of the process that it was made in */
  wf_u32 x_started;    /* 0, or 1 when a thread has begun the function or is about to */
  wf_u32 x_users;
  wf_ptr x_waited_by[WF_WAITED_BY]; /* the isolations that wait for the function */
  wf_latch done;
  wf_once_latch done_outside; /* for a waiter without a place in the pool; set second */
  unsigned waiter; /* written by the waiter before its latch says that it sleeps */

  /* Those who asked to be told, the newest first. */
  wf_ptr x_observers;
  wf_u32 x_observed; /* how many were added, without waiter_link */
  wf_ptr x_teller;   /* the thread that tells them, see wf_handle_self */
  wf_once_latch told;
  wf_ptr x_waiter;         /* the wf_waiter of waiter_link */
  wf_observer waiter_link; /* stays in the list from its first use on */

  /* The copy of weft_async_copy, aligned as malloc aligns. */
  _Alignas(max_align_t) unsigned char args[];
};

/* In x_observers and x_waiter: the function has returned, nothing can be added. */
#define WF_CLOSED ((void *)(uintptr_t)1)

/* The handles whose functions a worker's thread has on its stack, innermost first. */
struct wf_running {
  const weft_handle *handle;
  const struct wf_running *outer;
};

/* An address for each thread, the same during a call of the program: its place in a pool,
 * or, without memory even for that, an address of its own. */
static inline void *wf_handle_self(void) {
  return wf_self != NULL ? (void *)wf_self : (void *)&wf_self;
}

static inline bool wf_handle_is_done(const weft_handle *h) {
  return wf_latch_probe(&h->done);
}

/* True for one of the two threads that may run the function. */
static inline bool wf_handle_start(weft_handle *h) {
  /* Acquire: pairs with nothing but itself; what the function needs was published with
   * the handle. explorer: relaxed suffices. */
  return wf_u32_exchange_acquire(&h->x_started, 1) == 0;
}

/* Runs the function, which the calling thread has started, in the handle's pool. */
void wf_handle_run_here(weft_handle *h);

/* Puts an observer into the list; false if the list is closed, and then the function has
 * returned. */
bool wf_handle_observe(weft_handle *h, wf_observer *observer);

/* The function has returned, and the caller has seen that: gives up the caller's use,
 * when all observers have been told. */
void wf_handle_finish(weft_handle *h);

#endif
