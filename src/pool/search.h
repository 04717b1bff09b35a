/* pool/search.h - where a worker looks for work, in which order, and how patiently.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_POOL_SEARCH_H
#define WF_POOL_SEARCH_H

#include "pool.h"

/* Something to run: a task stolen from worker `owner`, or, if task is NULL, an injected
 * function. */
typedef struct wf_work {
  wf_task *task;
  unsigned owner;
  wf_injected injected;
} wf_work;

/* For a worker that has nothing to do: public tasks of all workers, then injected work;
 * in every 61st search the injected work first, so that it cannot starve. */
bool wf_search_anything(wf_worker *worker, wf_work *work);

/* For a worker that waits: public tasks of all workers. */
bool wf_search_anybody(wf_worker *worker, wf_work *work);

/* For a worker that waits: public tasks of the worker that has stolen its own; -1 for
 * none. They are parts of what it waits for. */
bool wf_search_thief(wf_worker *worker, int thief, wf_work *work);

/* How long to go on searching before sleeping: a time, by the pool's idle mode. */
typedef struct wf_patience {
  uint64_t start_ns;
  uint64_t spin_ns;  /* up to here pauses are a few instructions */
  uint64_t total_ns; /* up to here pauses give the CPU away; then it is time to sleep */
  uint64_t seize_ns; /* when to look into private parts next */
  unsigned rounds;
} wf_patience;

void wf_patience_start(wf_patience *patience, wf_worker *worker);
/* After a sleep that another thread ended. A worker that was woken for nothing several
 * times in a row searches shorter. */
void wf_patience_restart_after_sleep(wf_patience *patience, wf_worker *worker);
/* Enough others search. */
void wf_patience_end(wf_patience *patience);
/* Pauses a little, and takes over from owners that do not answer when it is time. False
 * if the time to search is over. */
bool wf_patience_pause(wf_patience *patience, wf_worker *worker);

#endif
