/* par/base/ordered.h - output in the order of the input, from blocks that end in any
 * order and whose number of results is not known in advance. Used by compactions of
 * arrays (array/compact.c: filter, partition, unique) and by iterators (iter/ordered.c).
 *
 * A thread asks for memory (wf_ordered_enter), writes the results of a block of the input
 * to it, and hands it over. When all blocks before it have been handed over, the block
 * has its turn: its results are delivered, or kept. If not, it waits in a list, and its
 * thread goes on with another one; the thread that hands over what was missing delivers
 * it. So nobody ever waits. ordered.md has the argument, and what happens without memory.
 *
 * The wf_ordered is in the frame of the call. Its lock is held for a few instructions,
 * never while results are made or copied. A block belongs to the thread that fills it,
 * then to the list, then to the thread that delivers it.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_PAR_ORDERED_H
#define WF_PAR_ORDERED_H

#include "../../core/assert.h"
#include "../../core/lock.h"

#include <stdbool.h>
#include <stddef.h>

enum { WF_ORDERED_OUTPUTS = 2 };

/* Results of a block for one output. The first page of each output is part of the block,
 * further ones are memory of their own. Invariant: used <= room. */
typedef struct wf_ordered_page {
  struct wf_ordered_page *next;
  size_t mapped;     /* bytes that came straight from the system, or 0 */
  size_t room, used; /* bytes */
} wf_ordered_page;

/* Data begins at a cache line, so that it is aligned for every type and vector. */
enum { WF_ORDERED_ALIGN = 64 };

static inline char *wf_ordered_data(wf_ordered_page *page) {
  return (char *)page + WF_ORDERED_ALIGN;
}

/* The results of the input [begin, end). */
typedef struct wf_ordered_block {
  struct wf_ordered_block *next, *previous; /* in the list, by begin */
  size_t begin, end;
  wf_ordered_page *first[WF_ORDERED_OUTPUTS], *last[WF_ORDERED_OUTPUTS];
  size_t count[WF_ORDERED_OUTPUTS]; /* elements for each output */
  size_t at[WF_ORDERED_OUTPUTS]; /* elements before them, once the block has its turn */
  bool is_small; /* has room for its results only; freed when they are delivered */
  bool lost;     /* there was no memory for all of its results */
} wf_ordered_block;

/* Starts as zeros and what the caller sets.
 *
 * Invariants under the lock: blocks in the list are disjoint, ascend, and begin at or
 * after `delivered`; count[l] is the number of elements that the input [0, delivered)
 * gives to output l. */
typedef struct wf_ordered {
  /* Set by the caller. */
  unsigned outputs;                      /* 1 or 2 */
  size_t size[WF_ORDERED_OUTPUTS];       /* bytes of an element */
  size_t page_bytes[WF_ORDERED_OUTPUTS]; /* room of a page, at least one element */
  bool keeps;         /* blocks that have their turn go to `kept` instead of `deliver` */
  bool one_at_a_time; /* only one thread at a time is in `deliver` */
  bool is_needed;     /* further pages come from the system if malloc has none */
  /* Brings the results of a block to where they belong, which block->at says. Several
   * threads call it at the same time, unless one_at_a_time; each block comes once, and
   * blocks get their turn in order. */
  void (*deliver)(wf_ordered_block *block, void *ctx);
  void *ctx;
  wf_lock lock;
  /* Under the lock. */
  size_t delivered;                 /* the input up to here has had its turn */
  size_t count[WF_ORDERED_OUTPUTS]; /* elements that it gives */
  bool delivering;                  /* with one_at_a_time: a thread is in `deliver` */
  wf_ordered_block *first, *last;   /* blocks that wait for their turn */
  wf_ordered_block *idle;           /* blocks to use again, linked by next */
  wf_ordered_block *kept, *kept_last;
} wf_ordered;

/* These two fit a wf_crew or a wf_iter_pulling whose context is the wf_ordered. */

/* A block to fill, used before or new; NULL: no memory. */
void *wf_ordered_enter(void *ordered);

/* Gives a block back that is not handed over: its results are forgotten. */
void wf_ordered_leave(void *block, void *ordered);

/* Empties the block, for the results of the input [begin, end). */
void wf_ordered_start(wf_ordered *o, wf_ordered_block *b, size_t begin, size_t end);

/* Appends n elements. False: there is no memory for them, the block is lost and must be
 * given back. */
bool wf_ordered_put(wf_ordered *o, wf_ordered_block *b, unsigned output,
                    const char *elems, size_t n);

/* For callers that write to the first page themselves: n elements are there now. */
static inline void wf_ordered_wrote(const wf_ordered *o, wf_ordered_block *b,
                                    unsigned output, size_t n) {
  WF_ASSERT(b->first[output] == b->last[output] && b->count[output] == 0);
  WF_ASSERT(n <= b->first[output]->room / o->size[output]);
  b->first[output]->used = n * o->size[output];
  b->count[output] = n;
}

/* Hands a block over, and delivers all that have their turn. Returns a block that the
 * thread can go on with, or NULL: no memory. */
wf_ordered_block *wf_ordered_hand_over(wf_ordered *o, wf_ordered_block *b);

/* For the calling thread, when no other one works any more. */

/* Delivers what has its turn. The end of the gap behind it, where the next block begins:
 * n if there is none. No gap if it returns o->delivered. */
size_t wf_ordered_gap(wf_ordered *o, size_t n);

/* The caller has brought the results of the gap to where they belong itself, and added to
 * o->count what they are. */
static inline void wf_ordered_fill_gap(wf_ordered *o, size_t end) {
  WF_ASSERT(end > o->delivered && (o->first == NULL || end <= o->first->begin));
  o->delivered = end;
}

/* Frees the blocks that were kept; and all blocks. */
void wf_ordered_free_kept(wf_ordered *o);
void wf_ordered_free(wf_ordered *o);

#endif
