/* sched/search.h - where a worker looks for work, in which order, and how patiently.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_SCHED_SEARCH_H
#define WF_SCHED_SEARCH_H

#include "pool.h"

/* Something to run: a broadcast, or a task stolen from worker `owner`, or, if both are
 * NULL, an injected function. */
typedef struct wf_work {
  struct wf_broadcast *mail;
  wf_task *task;
  bool spawned;    /* a task of a scope, not half of a join */
  bool background; /* the worker was counted as being at background work for it */
  unsigned owner;
  wf_injected injected;
} wf_work;

/* For a worker that has nothing to do: broadcasts, public tasks of all workers, injected
 * work, and last background work. In every 61st search injected work comes first and in
 * every 251st background work, so that neither can starve. */
bool wf_search_anything(wf_worker *worker, wf_work *work);

/* For a worker that waits: public tasks of all workers that are not at background work.
 * Only a worker that is at background work itself takes such too. */
bool wf_search_anybody(wf_worker *worker, wf_work *work);

/* For a worker that lets others through: as above, then injected work. */
bool wf_search_roots(wf_worker *worker, wf_work *work);

/* For a worker that waits: public tasks of the worker that has stolen its own; -1 for
 * none. They are parts of what it waits for. */
bool wf_search_thief(wf_worker *worker, int thief, wf_work *work);

/* ---- background work: how many workers are at it ---- */

/* The worker is through with the background work that it found. */
void wf_background_end(wf_worker *worker);

/* A worker at background work has made tasks public, or there is more in the lane: wakes
 * an idle worker if another one may take it. */
void wf_background_tell(weft_pool *pool);

/* ---- patience ---- */

/* How long to go on searching before sleeping: a time, by the pool's idle mode. */
typedef struct wf_patience {
  uint64_t start_ns;
  uint64_t spin_ns;  /* up to here pauses are a few instructions */
  uint64_t total_ns; /* up to here pauses give the CPU away; then it is time to sleep */
  uint64_t seize_ns; /* when to look into private parts next */
  unsigned rounds;
  bool kept_awake; /* it wanted to sleep, and something was there */
} wf_patience;

void wf_patience_start(wf_patience *patience, wf_worker *worker);
/* After a sleep that another thread ended. A worker that was woken for nothing several
 * times in a row searches shorter. */
void wf_patience_restart_after_sleep(wf_patience *patience, wf_worker *worker);
/* Enough others search. */
void wf_patience_end(wf_patience *patience);
/* The worker wanted to sleep but saw something, which it may not get hold of. If so, the
 * next pause gives the CPU away, once, however much time was spent. */
void wf_patience_kept_awake(wf_patience *patience);
/* Pauses a little, and takes over from owners that do not answer when it is time. False
 * if the time to search is over. */
bool wf_patience_pause(wf_patience *patience, wf_worker *worker);

#endif
