/* weft/detail/scope.h - what is inside a weft_scope. Not API.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WEFT_DETAIL_SCOPE_H
#define WEFT_DETAIL_SCOPE_H

#include <weft/detail/fork_join.h>

struct weft_scope;
struct weft_pool;
struct wf_worker;
struct wf_spawned;

/* A worker that a thread is, from entering a pool until leaving it. The thread knows the
 * innermost worker, and that its newest entry. See src/sched/guest.c. */
typedef struct wf_entry {
  struct wf_worker *worker;
  struct wf_entry *outer;        /* of the thread, before */
  struct wf_entry *before;       /* of the worker, before */
  const wf_region *outer_region; /* the worker's, before, and its mark */
  uint64_t outer_mark;
  bool leased; /* this entry has the place, and will give it back */
} wf_entry;

/* Fields with x_ are written by any thread, the others by the thread that begins and ends
 * the scope. Protocol and proofs: src/sched/scope.md. */
struct weft_scope {
  wf_region region; /* first: a region that is a scope's starts the scope */
  uint32_t state;   /* open or ended, by two numbers that memory rarely holds */
  bool fifo;
  bool entered; /* this scope has brought the thread into the pool */
  bool blocks;  /* its thread has no place in the pool: it waits on x_blocked_end */
  struct weft_scope *parent;
  struct weft_pool *pool;
  struct wf_worker *worker; /* what the thread is in the pool; NULL: no memory for one */
  unsigned index;           /* of that worker */
  unsigned frames;          /* how many the worker had, this one included */
  uint32_t generation;      /* of the process that it was begun in */
  const wf_region *outer_region;
  uint64_t outer_mark;
  wf_entry entry;

  wf_word x_pending; /* tasks not finished, credits held by workers, one for the body */
  wf_latch done;     /* set when x_pending has come down to 0 */
  wf_u32 x_blocked_end;
  wf_u32 x_error;    /* the first error, as an int; 0: not cancelled */
  wf_word x_waiting; /* tasks of this scope in the pool's queue */

  wf_u32 x_fifo_lock; /* WEFT_ORDER_FIFO: the tasks in the order of their spawns */
  struct wf_spawned *fifo_first;
  struct wf_spawned *fifo_last;
};

#endif
