/* sched/idle.h - patience: how long a worker searches before it sleeps.
 *
 * A budget of time by the pool's idle mode: first the worker spins between two searches,
 * then it gives its CPU away, then it is time to sleep (sleep.h). The budgets are in
 * idle.c. A wf_patience lives in the frame of the thread that waits.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_SCHED_IDLE_H
#define WF_SCHED_IDLE_H

#include "worker.h"

/* spin_ns <= total_ns, both counted from start_ns. */
typedef struct wf_patience {
  uint64_t start_ns;
  uint64_t spin_ns;  /* up to here pauses are a few instructions */
  uint64_t total_ns; /* up to here pauses give the CPU away; then it is time to sleep */
  uint64_t take_over_ns; /* when to look into private parts next */
  uint64_t counted_ns;   /* of the time since the start, in the statistics */
  unsigned rounds;
  bool kept_awake; /* it wanted to sleep, and something was there */
} wf_patience;

void wf_patience_start(wf_patience *patience, wf_worker *worker);

/* The same for a worker that has done its part and waits for what others took from it:
 * the longer its own part was, the longer it searches. */
void wf_patience_start_waiting(wf_patience *patience, wf_worker *worker);

/* After a sleep that another thread ended. A worker that was woken for nothing several
 * times in a row searches for a shorter time. */
void wf_patience_restart_after_sleep(wf_patience *patience, wf_worker *worker);

/* Enough others search: the next pause says that the time is over. */
void wf_patience_end(wf_patience *patience);

/* The worker wanted to sleep but saw something, which it may not get hold of. Its next
 * search looks at all workers. If it finds nothing, the next pause gives the CPU away,
 * once, even if the time is over. */
void wf_patience_kept_awake(wf_patience *patience, wf_worker *worker);

/* Pauses a little, and takes over from owners that do not answer when it is time. False
 * if the time to search is over. */
bool wf_patience_pause(wf_patience *patience, wf_worker *worker);

/* ---- forks that are public at once: see sleep.md ---- */

/* The worker begins something new, and its deque is empty. While many others sleep and
 * wake-ups pay, its next forks are public at once. */
void wf_idle_give_forks(wf_worker *worker);

/* The same for a worker that was woken and has found work. */
void wf_idle_begin_woken(wf_worker *worker);

/* The worker has nothing to do: notes whether its last wake-up has paid. */
void wf_idle_note_worth(wf_worker *worker, uint64_t now_ns);

#endif
