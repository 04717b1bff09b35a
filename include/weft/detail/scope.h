/* weft/detail/scope.h - what is inside a weft_scope. Not API.
 *
 * Public only so that programs can put scopes on their stacks; all code that uses the
 * fields is in src/sched/scope.c and spawn.c.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WEFT_DETAIL_SCOPE_H
#define WEFT_DETAIL_SCOPE_H

#include <weft/detail/fork_join.h>

struct weft_scope;
struct weft_pool;
struct wf_worker;
struct wf_spawned;

/* A thread in a pool, from entering it until leaving it. A thread may be in several
 * pools, one inside the other; wf_self leads to the innermost worker, and the worker to
 * its newest entry. The entries are in frames of their thread, which alone uses them
 * (src/sched/guest.c). */
typedef struct wf_entry {
  struct wf_worker *worker;      /* that the thread is in the pool */
  struct wf_entry *outer;        /* the entry of this thread before this one, or NULL */
  struct wf_entry *before;       /* the entry of this worker before this one, or NULL */
  const wf_region *outer_region; /* what the worker's region was before */
  uint64_t outer_mark;           /* what the worker's mark was before */
  bool leased;                   /* this entry took the place, and will give it back */
} wf_entry;

/* Fields with x_ are written by any thread, the others by the thread that begins and ends
 * the scope. Protocol and proofs: src/sched/scope.md. */
struct weft_scope {
  wf_region region; /* of code in the scope; first, so that its address is the scope's */
  uint32_t state;   /* open or ended: two numbers that memory rarely holds by accident */
  bool fifo;        /* WEFT_ORDER_FIFO */
  bool entered;     /* this scope has brought the thread into the pool */
  bool blocks;      /* its thread has no place in the pool: it waits on x_blocked_end */
  bool passes_up;   /* to cancel it is to cancel its parent; see wf_scope_begin_part */
  struct weft_scope *parent;     /* the scope around it, or NULL */
  struct weft_pool *pool;        /* NULL: no memory even for a pool */
  struct wf_worker *worker;      /* that the thread is in the pool; NULL: no memory */
  unsigned index;                /* of that worker */
  unsigned frames;               /* that the worker had at the start, this one included */
  uint32_t generation;           /* of the process in which the scope was begun */
  const wf_region *outer_region; /* what the worker's region was before */
  uint64_t outer_mark;           /* what the worker's mark was before */
  wf_entry entry;

  wf_word x_pending; /* tasks not finished, credits held by workers, one for the body */
  wf_latch done;     /* set when x_pending has come down to 0 */
  wf_u32 x_blocked_end; /* a once-latch, instead of `done`, where `blocks` */
  wf_u32 x_error;       /* the first error, as an int; 0: not cancelled */
  wf_word x_waiting;    /* how many tasks of this scope are in the pool's queue */

  /* WEFT_ORDER_FIFO: the tasks in the order of their spawns, and a lock for the list. */
  wf_u32 x_fifo_lock;
  struct wf_spawned *fifo_first;
  struct wf_spawned *fifo_last;
};

#endif
