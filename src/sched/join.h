/* sched/join.h - a fork that may be taken back: for code that offers work to others while
 * it does something else, and goes on with that work itself if nobody has taken it.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_SCHED_JOIN_H
#define WF_SCHED_JOIN_H

#include "pool.h"

/* Forks fn(ctx). The task lives in the caller's frame. Offers are taken back in reverse
 * order, as joins are. */
static inline void wf_offer(wf_owner *self, wf_task *task, weft_fn *fn, void *ctx) {
  task->execute = fn;
  task->context = ctx;
  wf_word_init(&task->completion.x_state, (uintptr_t)self->region);
  if (WF_UNLIKELY(wf_deque_push(&wf_worker_of(self)->deque, task))) wf_fork_slow(self);
}

/* The slow half of the next: the task is perhaps not private any more. `call` is named in
 * messages. */
bool wf_take_back_slow(wf_owner *self, wf_task *task, const char *call);

/* True: nobody has taken it, and it is the caller's again. False: another thread has run
 * it to its end; the caller has waited for that, helping. */
static inline bool wf_take_back(wf_owner *self, wf_task *task) {
  if (wf_join_pop(self)) return true;
  return wf_take_back_slow(self, task, "weft_join");
}

/* Does somebody want work? True too where nothing was offered yet by this worker, so that
 * the first offer is made at once. */
static inline bool wf_is_asked(const wf_worker *worker) {
  if (worker->deque.eager) return wf_deque_count(&worker->deque) == 0;
  /* Relaxed: a request is seen a little later. */
  return wf_ptr_load_relaxed(&worker->deque.owner.x_limit) == NULL;
}

#endif
