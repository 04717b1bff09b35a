/* sched/broadcast.h - broadcasts: a call that each started thread makes once.
 *
 * A broadcast lives in the frame of the call that makes it. It hangs in the pool's list
 * `broadcasts_due` until every thread has taken it up, and in `broadcasts_under_way`
 * until all have made the call. Each worker has a count of those it has not taken up yet
 * (x_broadcasts), so that looking costs one load.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_SCHED_BROADCAST_H
#define WF_SCHED_BROADCAST_H

#include "frame.h"
#include "pool.h"

/* A bit for each started thread, and one for place 0, which has none. */
enum { WF_BROADCAST_WORDS = (WEFT_MAX_THREADS + 64) / 64 };

typedef void wf_broadcast_fn(unsigned index, unsigned count, void *ctx);

/* Invariants, under the lock:
 *
 *     in broadcasts_due       <=>  a bit of not_taken is set
 *     in broadcasts_due        =>  in broadcasts_under_way
 *     worker.x_broadcasts       =  broadcasts due whose not_taken has the worker's bit
 *     done.x_count             >=  bits of not_taken */
typedef struct wf_broadcast {
  wf_broadcast_fn *fn;
  void *ctx;
  unsigned count;          /* of calls */
  unsigned first_index;    /* of worker 1: 1 if the caller is not one of the workers */
  const wf_region *region; /* of the caller */
  unsigned waiter;         /* the worker that waits, unless `blocks` */
  bool blocks;             /* the waiter has no place: it waits on `done_outside` */
  wf_count_latch done;
  wf_once_latch done_outside;
  /* Under the pool's broadcast_lock. */
  struct wf_broadcast *next, *next_under_way;
  uint64_t not_taken[WF_BROADCAST_WORDS]; /* workers that have not taken it up */
} wf_broadcast;

/* The next broadcast for this worker, taken up; NULL if there is none, or only such that
 * may not run inside what it has isolated. */
wf_broadcast *wf_broadcast_take(wf_worker *worker);

/* Makes the call of a broadcast that the worker has taken up. */
void wf_broadcast_run(wf_worker *worker, wf_broadcast *broadcast);

/* Would wf_broadcast_take find one? */
bool wf_broadcast_any(wf_worker *worker);

/* [any] Isolated code has begun to wait for something: threads that have left broadcasts
 * alone because of their isolation look again. */
void wf_broadcast_remind(weft_pool *pool);

/* The pool is about to end its threads: no broadcasts from now on. */
void wf_broadcast_close(weft_pool *pool);

#endif
