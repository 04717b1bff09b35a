/* sched/search.h - where a worker looks for work, and in which order.
 *
 * All functions run on the thread of the worker that searches. How long a worker goes on
 * searching is decided in idle.h.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_SCHED_SEARCH_H
#define WF_SCHED_SEARCH_H

#include "pool.h"

/* Something to run: a broadcast, or a task stolen from worker `owner`, or, if both are
 * NULL, an injected function. */
typedef struct wf_work {
  struct wf_broadcast *broadcast;
  wf_task *task;
  bool spawned;    /* a task of a scope, not half of a join */
  bool is_parcel;  /* a copy: the task itself is not touched any more */
  bool background; /* the worker was counted as being at background work for it */
  unsigned owner;
  wf_injected injected;
  wf_parcel parcel; /* set if is_parcel, as is its region */
  const wf_region *region;
} wf_work;

/* For a worker that has nothing to do: broadcasts, public tasks of other workers,
 * injected work, and last background work. In large pools a search looks at some workers
 * only. In every 61st search injected work comes first, and in every 251st background
 * work, so that neither can starve. */
bool wf_search_anything(wf_worker *worker, wf_work *work);

/* For a worker that waits: public tasks of all workers that are not at background work.
 * A worker that waits in background work takes those of all workers. */
bool wf_search_anybody(wf_worker *worker, wf_work *work);

/* For weft_yield: as wf_search_anybody, then injected work. */
bool wf_search_roots(wf_worker *worker, wf_work *work);

/* For a worker that waits: public tasks of the worker that has stolen its task, which are
 * parts of what it waits for. `thief` is -1 if nobody has. */
bool wf_search_thief(wf_worker *worker, int thief, wf_work *work);

/* Closes the pins of all victims of a worker that waits and makes half of their private
 * tasks public, after a process-wide barrier. Returns how many. */
unsigned wf_search_take_over(wf_worker *worker);

/* Is there work that a sleeper of this kind would take? Looks into private parts too. */
bool wf_search_sees_work(wf_worker *worker, wf_sleeper kind);

/* The last look before a sleep, by a worker that is registered as a sleeper. As above,
 * but if another sleeper looks at the tasks already, that one looks once more instead: if
 * it sees some, it wakes a sleeper. `latch` is what the worker waits for. */
bool wf_search_last_look(wf_worker *worker, const wf_latch *latch, wf_sleeper kind);

/* Is there anything that an idle worker must take at once: a broadcast, or injected work?
 */
bool wf_search_sees_urgent(wf_worker *worker);

#endif
