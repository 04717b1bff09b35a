/* task/join.h - a fork that may be taken back: for code that offers work to others while
 * it does something else, and goes on with that work itself if nobody has taken it.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_TASK_JOIN_H
#define WF_TASK_JOIN_H

#include "../pool/pool.h"

/* Forks fn(ctx). The task lives in the caller's frame. Offers are taken back in reverse
 * order, as joins are. */
void wf_offer(wf_owner *self, wf_task *task, weft_fn *fn, void *ctx);

/* True: nobody has taken it, and it is the caller's again. False: another thread has run
 * it to its end; the caller has waited for that, helping. */
bool wf_take_back(wf_owner *self, wf_task *task);

/* Does somebody want work? True too where nothing was offered yet by this worker, so that
 * the first offer is made at once. */
static inline bool wf_is_asked(const wf_worker *worker) {
  if (worker->deque.eager) return wf_deque_count(&worker->deque) == 0;
  /* Relaxed: a request is seen a little later. */
  return wf_ptr_load_relaxed(&worker->deque.owner.x_limit) == NULL;
}

#endif
