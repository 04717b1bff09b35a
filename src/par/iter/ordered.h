/* par/iter/ordered.h - what iter_order.c and iter_gaps.c share: blocks whose results wait
 * for their turn.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_PAR_ITER_ORDER_H
#define WF_PAR_ITER_ORDER_H

#include "../base/crew.h"
#include "iter.h"

/* Of a page, without its head, unless one element is larger: some microseconds of work,
 * and the cache holds it. A page waits as it is if at least this part of it is used. */
enum { PAGE_BYTES = 32 << 10, PAGE_ALIGN = 64, PAGE_WASTE = 4 };

typedef struct wf_order_page {
  struct wf_order_page *next;
  size_t mapped;     /* bytes that came straight from the system, or 0 */
  size_t room, used; /* bytes */
} wf_order_page;

/* malloc's alignment, as for elements everywhere. */
static inline char *wf_page_data(wf_order_page *page) {
  return (char *)page + PAGE_ALIGN;
}

static inline const char *wf_page_const(const wf_order_page *page) {
  return (const char *)page + PAGE_ALIGN;
}

struct wf_ordering;

/* The owner is the thread that runs the block, then whoever delivers it. */
typedef struct wf_order_block {
  struct wf_order_block *next, *previous; /* in the list, by begin */
  struct wf_ordering *ordering;
  size_t begin, end; /* positions, or the number of the batch */
  wf_order_page *first[2], *last[2];
  size_t count[2]; /* elements for each lane */
  size_t at[2];    /* how many are in front of them */
  bool is_small;   /* has room for just this, and is freed when it is delivered */
  bool lost;       /* there was no memory for all of it */
} wf_order_block;

typedef struct wf_ordering {
  wf_iter_order order; /* first, so that sinks can be given it alone */
  unsigned lanes;
  size_t page_bytes[2];
  size_t block; /* most positions of a block */
  bool pulls;
  bool direct;     /* the calling thread is alone and puts elements where they belong */
  size_t pull_key; /* of the next batch */
  bool pull_ended;
  wf_lock lock;
  /* Under the lock. */
  size_t delivered; /* all blocks up to here have their places */
  bool merging;     /* somebody merges: others leave their blocks in the list */
  wf_order_block *first, *last; /* made, but what is in front of them is not delivered */
  wf_order_block *idle;         /* by next */
  wf_order_block *kept, *kept_last;
} wf_ordering;

/* Is what the blocks have kept, until it is known how much it is? */
static inline bool wf_order_keeps(const wf_ordering *o) {
  return o->order.buffer != NULL;
}

void wf_block_free(wf_order_block *b);

/* Delivers the blocks that have their turn. */
void wf_order_settle(wf_ordering *o);

/* When no other thread is at work any more: everything that was not delivered. */
void wf_order_close_gaps(wf_ordering *o);

/* Puts elements where they belong. False: no memory. */
bool wf_order_put_direct(wf_ordering *o, unsigned lane, const char *elems, size_t n);

#endif
