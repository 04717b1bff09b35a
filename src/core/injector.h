/* core/injector.h - the queue through which work enters a pool: first in, first out, for
 * any number of producers and consumers.
 *
 * A list of segments of {function, context} pairs with a lock at each end, so that
 * producers and consumers do not wait for each other; each lock is held for a few
 * nanoseconds. A segment is freed or recycled under the lock of the consumers, when the
 * producers have left it, so there is no ABA. Counters that only grow show without a lock
 * whether anything is queued: an entry counts from before its push returns until a
 * consumer has it. An entry that is taken out of the middle leaves a hole, without a
 * function, that the consumers pass over.
 *
 * Any thread calls any function, except init and destroy.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_CORE_INJECTOR_H
#define WF_CORE_INJECTOR_H

#include "assert.h"
#include "atomic.h"
#include "lock.h"

#include <weft/base.h>

typedef struct wf_injected {
  weft_fn *fn; /* NULL: a hole */
  void *ctx;
} wf_injected;

/* With the link, a segment is just below 1 KiB: a choice between few allocations and
 * little memory for a pool that queues little. */
enum { WF_SEGMENT_ENTRIES = 63 };

typedef struct wf_segment {
  struct wf_segment *next; /* written once, before the first entry of the next one */
  wf_injected entries[WF_SEGMENT_ENTRIES];
} wf_segment;

/* Invariants, which check_push and check_take in injector.c assert:
 *
 *     producers:  last_used <= 63, last->next = NULL
 *                 last = NULL: nothing was ever pushed
 *     consumers:  x_taken <= x_seen <= x_pushed (as differences), first_used <= 63
 *                 x_taken < x_seen: the entry at first_used, or the first of the next
 *                 segment, is the oldest and no hole
 *                 x_taken = x_seen: all that was pushed when a consumer last looked is
 *                 taken
 */
typedef struct wf_injector {
  /* The producers' end. */
  wf_lock push_lock;
  unsigned last_used; /* entries of the last segment that are written */
  wf_segment *last;   /* NULL before the first push */
  wf_u64 x_pushed;    /* written under the lock */
  wf_ptr x_head;      /* the very first segment, from which the consumers start */

  /* The consumers' end. */
  _Alignas(WF_CACHE_LINE) wf_lock take_lock;
  unsigned first_used; /* entries of the first segment that are taken */
  wf_segment *first;   /* NULL before the first take */
  wf_u64 x_taken;      /* written under the lock; x_pushed - x_taken are queued */
  wf_u64 x_seen;       /* x_pushed when a consumer last looked; written under the lock */
  wf_ptr x_reserve;    /* a segment that was used up, for the next one that is needed */
} wf_injector;

/* Sets up an empty queue; it allocates with the first push. first_index is where the
 * counters start (tests start them shortly before they wrap around). */
void wf_injector_init(wf_injector *injector, uint64_t first_index);
void wf_injector_destroy(wf_injector *injector);

/* Where an entry is, for a producer that may want it back. */
typedef struct wf_receipt {
  wf_injected *entry;
  uint64_t number; /* how many came before it; shows whether the entry is still there */
} wf_receipt;

/* Appends fn, which is not NULL; 0, or WEFT_ENOMEM if there was no memory for a segment.
 * `receipt` may be NULL. */
int wf_injector_push(wf_injector *injector, weft_fn *fn, void *ctx, wf_receipt *receipt);

/* Takes back what was appended; false if a consumer has taken it. */
bool wf_injector_revoke(wf_injector *injector, const wf_receipt *receipt);

/* Takes the oldest; false if there is none. */
bool wf_injector_take(wf_injector *injector, wf_injected *out);

/* Takes the oldest entry with this function for whose context `matches` returns true;
 * false if there is none. Looks at every entry in between: for rare cases. */
typedef bool wf_match_fn(void *ctx, const void *arg);
bool wf_injector_take_match(wf_injector *injector, weft_fn *fn, wf_match_fn *matches,
                            const void *arg, wf_injected *out);

/* Is anything queued? Never misses a push that has returned. May say yes to what another
 * consumer is taking at the moment. While some of what a consumer saw is left it does not
 * touch the producers' line. */
static inline bool wf_injector_any(const wf_injector *injector) {
  /* Acquire on both counters: pairs with the release stores in injector.c. taken first:
   * then the answer "no" means that all pushes up to the last load had been taken. */
  uint64_t taken = wf_u64_load_acquire(&injector->x_taken);
  /* Relaxed: a "yes" is a hint, a consumer looks again under the lock. */
  if (wf_u64_load_relaxed(&injector->x_seen) != taken) return true;
  /* Acquire: pairs with the release in wf_injector_push. explorer: relaxed suffices,
   * entries are looked at under the lock, which acquires again. */
  return wf_u64_load_acquire(&injector->x_pushed) != taken;
}

#endif
