/* sched/mail.h - broadcasts: a call that each started thread makes once.
 *
 * A broadcast lives in the frame of the call that makes it and hangs in the pool's list
 * until every thread has taken it up, and in a second one until all have made the call.
 * Each worker has a count of those it has not taken up yet, so that looking costs one
 * load.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_SCHED_MAIL_H
#define WF_SCHED_MAIL_H

#include "pool.h"

enum { WF_MAIL_WORDS = (WEFT_MAX_THREADS + 64) / 64 };

typedef void wf_broadcast_fn(unsigned index, unsigned count, void *ctx);

typedef struct wf_broadcast {
  wf_broadcast_fn *fn;
  void *ctx;
  unsigned count;
  unsigned first_index;    /* of worker 1: 1 if the caller is not one of the workers */
  const wf_region *region; /* of the caller */
  unsigned waiter;         /* the worker that waits, if `blocks` does not say otherwise */
  bool blocks;             /* the waiter has no place: it waits on `done_outside` */
  wf_count_latch done;
  wf_once_latch done_outside;
  /* All of these under the pool's mail lock. */
  struct wf_broadcast *next, *next_under_way;
  uint64_t not_taken[WF_MAIL_WORDS]; /* workers that have not taken it up */
} wf_broadcast;

/* Puts a broadcast into the list, for all started threads except worker `except` (0 for
 * none), and wakes them. fn, ctx, count, first_index, region, waiter and blocks are set.
 */
bool wf_mail_post(weft_pool *pool, wf_broadcast *broadcast, unsigned except);

/* All calls of a broadcast that was posted have been made. */
void wf_mail_end(weft_pool *pool, const wf_broadcast *broadcast);

/* The next broadcast for this worker, taken up; NULL if there is none, or only such that
 * may not run inside what it has isolated. */
wf_broadcast *wf_mail_take(wf_worker *worker);

/* Makes the call. */
void wf_mail_deliver(wf_worker *worker, wf_broadcast *broadcast);

/* Isolated code has begun to wait for something: threads that have left broadcasts alone
 * because of their isolation look again. */
void wf_mail_remind(weft_pool *pool);

/* The pool is about to end its threads: no broadcasts from now on. */
void wf_mail_close(weft_pool *pool);

/* Would wf_mail_take find one? */
bool wf_mail_any(wf_worker *worker);

#endif
