/* sched/scope.h - scopes: what workers and spawns need of them.
 *
 * A scope counts in x_pending what must still happen before it may end. To keep that one
 * word out of the way of spawns, workers hold credits: parts of the count that stand for
 * no task at the moment. A spawn uses up a credit of its worker, a task that ends makes
 * one; the count itself is touched when a worker has none left, and when it turns to
 * something else ("settles"). A worker holds credits only while it is inside the scope or
 * about to run another of its tasks. Protocol and proofs: scope.md.
 *
 *     x_pending = unfinished tasks + credits of all workers + 1 for the body
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_SCHED_SCOPE_H
#define WF_SCHED_SCOPE_H

#include "frame.h"
#include "pool.h"

#include <weft/scope.h>

/* Values of weft_scope.state: two numbers that memory which was never a scope is unlikely
 * to hold. */
enum { WF_SCOPE_OPEN = 0x5c09e0be, WF_SCOPE_ENDED = 0x5c09e1ed };

/* Ends the program if the scope is not open. */
void wf_scope_expect_open(const weft_scope *s, const char *call);

/* ---- counting ---- */

/* How many credits a worker takes from a scope's count at a time. A choice: a worker
 * touches the shared count at most once in 64 spawns, and then counting is no measurable
 * part of a spawn (docs/investigations/spawned-and-detached-tasks.md). */
enum { WF_CREDIT_BATCH = 64 };

/* [any] Takes n off a scope's count. The scope may be gone when this returns. */
void wf_scope_finish(struct weft_scope *scope, uintptr_t n);

/* Gives back all credits that the worker holds. */
static inline void wf_worker_settle(wf_worker *worker) {
  uintptr_t credits = worker->credits;
  if (credits == 0) return;
  WF_ASSERT(worker->credit_scope != NULL);
  worker->credits = 0;
  wf_scope_finish(worker->credit_scope, credits);
}

/* The worker goes back to code in a region: it may keep credits of that scope only,
 * because the scope cannot end before that code does. */
static inline void wf_worker_settle_outside(wf_worker *worker) {
  const wf_region *region = worker->deque.owner.region;
  if (region == NULL || region->scope != worker->credit_scope) wf_worker_settle(worker);
}

/* A task is spawned by this worker. The caller is inside the scope. */
static inline void wf_scope_take_credit(struct weft_scope *scope, wf_worker *worker) {
  WF_ASSERT(wf_word_peek(&scope->x_pending) > worker->credits ||
            worker->credit_scope != scope); /* the caller is counted too */
  if (worker->credit_scope != scope || worker->credits == 0) {
    wf_worker_settle(worker);
    /* Relaxed: the caller keeps the count above 0, and what it adds here is published by
     * whatever publishes the task. */
    wf_word_fetch_add_relaxed(&scope->x_pending, WF_CREDIT_BATCH);
    worker->credit_scope = scope;
    worker->credits = WF_CREDIT_BATCH;
  }
  worker->credits--;
}

/* A task has ended on this worker. */
static inline void wf_scope_give_credit(struct weft_scope *scope, wf_worker *worker) {
  if (worker->credit_scope != scope) {
    wf_worker_settle(worker);
    worker->credit_scope = scope;
  }
  worker->credits++;
  WF_ASSERT(worker->credits <= wf_word_peek(&scope->x_pending));
}

/* ---- tasks ---- */

/* The scope that a spawned task belongs to. */
static inline struct weft_scope *wf_scope_of_task(const wf_task *task) {
  return wf_latch_scope(&task->completion);
}

/* Runs what the worker, which is in the scope's own region, has spawned there. (spawn.c)
 */
void wf_scope_run_spawned(weft_scope *s, wf_worker *worker);

/* The same, and tells the trace and the observer of each task. */
void wf_scope_run_recorded(const weft_scope *s, wf_worker *worker);

/* Draws a ticket of a FIFO scope that is not the scope waited for: runs the scope's
 * oldest task if there is room for it, else queues the ticket. (worker.c) */
void wf_worker_draw_ticket(wf_worker *worker, wf_task *task);

/* Runs a task that wf_worker_take_spawned has returned. `own` is the scope that the code
 * around waits for, or spawns into: its tasks are no strangers, even if other threads
 * made them. */
static inline void wf_worker_run_newest(wf_worker *worker, wf_task *task,
                                        const struct weft_scope *own) {
  const struct weft_scope *scope = wf_scope_of_task(task);
  WF_ASSERT(scope->state == WF_SCOPE_OPEN); /* it cannot end before the task */
  if (WF_LIKELY(!scope->fifo || scope == own))
    task->execute(task);
  else
    wf_worker_draw_ticket(worker, task);
}

/* ---- the pool's queue ---- */

/* [any] Puts a task of a scope, for which it was counted, into the pool's queue. The
 * scope may be gone when this returns 0. On failure (no memory) nothing has happened. */
int wf_scope_enqueue(struct weft_scope *scope, wf_task *task);

/* Takes a task of this scope out of the pool's queue. */
bool wf_scope_dequeue(struct weft_scope *scope, wf_injected *out);

/* Is one there? */
static inline bool wf_scope_has_queued(const struct weft_scope *scope) {
  /* Relaxed: the fence in park or the lock of the queue decides. */
  return wf_word_load_relaxed(&scope->x_waiting) != 0;
}

/* ---- fork ---- */

/* In a forked process: makes a scope, and those around it, usable by the only thread. */
void wf_scope_after_fork(struct weft_scope *scope);

#endif
