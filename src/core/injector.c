/* core/injector.c - the two ends of the queue, and the holes in between.
 *
 * The pool pushes what is injected (src/sched/pool.c); its workers take it when they
 * search (src/sched/search.c). What the producers' lock protects, and what the
 * consumers', is in injector.h.
 *
 * SPDX-License-Identifier: MIT */
#include "injector.h"

#include <stdlib.h>

void wf_injector_init(wf_injector *injector, uint64_t first_index) {
  *injector = (wf_injector){0};
  /* Relaxed: nobody else sees the queue yet. */
  wf_u64_store_relaxed(&injector->x_pushed, first_index);
  wf_u64_store_relaxed(&injector->x_taken, first_index);
  wf_u64_store_relaxed(&injector->x_seen, first_index);
}

/* ---- invariants ---- */

#ifdef WEFT_DEBUG

/* [push lock] */
static void check_push(const wf_injector *injector) {
  WF_ASSERT_HELD(&injector->push_lock);
  WF_ASSERT(injector->last_used <= WF_SEGMENT_ENTRIES);
  WF_ASSERT(injector->last == NULL || injector->last->next == NULL);
  WF_ASSERT((injector->last == NULL) == (wf_ptr_peek(&injector->x_head) == NULL));
}

/* [take lock] */
static void check_take(const wf_injector *injector) {
  uint64_t taken = wf_u64_peek(&injector->x_taken), seen = wf_u64_peek(&injector->x_seen);
  WF_ASSERT_HELD(&injector->take_lock);
  WF_ASSERT((int64_t)(seen - taken) >= 0);
  WF_ASSERT((int64_t)(wf_u64_peek(&injector->x_pushed) - seen) >= 0);
  WF_ASSERT(injector->first_used <= WF_SEGMENT_ENTRIES);
  WF_ASSERT(injector->first != NULL || injector->first_used == 0);
  if (taken == seen || injector->first == NULL) return;
  /* Producers are in a later segment before they write the first entry of it. */
  const wf_segment *segment = injector->first;
  bool in_next = injector->first_used == WF_SEGMENT_ENTRIES;
  if (in_next) segment = segment->next;
  WF_ASSERT(segment != NULL);
  WF_ASSERT(segment->entries[in_next ? 0 : injector->first_used].fn != NULL);
}

#else

static void check_push(const wf_injector *injector) {
  (void)injector;
}

static void check_take(const wf_injector *injector) {
  (void)injector;
}

#endif

void wf_injector_destroy(wf_injector *injector) {
  /* Relaxed: the caller has made sure that nobody uses the queue any more. In a forked
   * child its locks may still be in the hands of threads that are not there. */
  wf_segment *segment = injector->first;
  if (segment == NULL) segment = (wf_segment *)wf_ptr_load_relaxed(&injector->x_head);
  while (segment != NULL) {
    wf_segment *next = segment->next;
    free(segment);
    segment = next;
  }
  free(wf_ptr_load_relaxed(&injector->x_reserve));
  wf_injector_init(injector, 0);
}

/* ---- the producers' end ---- */

/* [push lock] Makes the last segment one that has room. */
static bool add_segment(wf_injector *injector) {
  WF_ASSERT(injector->last == NULL || injector->last_used == WF_SEGMENT_ENTRIES);
  /* Acquire: pairs with the release in recycle_segment. */
  wf_segment *segment = (wf_segment *)wf_ptr_exchange_acquire(&injector->x_reserve, NULL);
  if (segment == NULL) segment = (wf_segment *)malloc(sizeof *segment);
  if (segment == NULL) return false;
  segment->next = NULL;
  if (injector->last != NULL)
    injector->last->next = segment; /* published with the first entry, by x_pushed */
  else
    wf_ptr_store_relaxed(&injector->x_head, segment); /* as well */
  injector->last = segment;
  injector->last_used = 0;
  return true;
}

int wf_injector_push(wf_injector *injector, weft_fn *fn, void *ctx, wf_receipt *receipt) {
  int status = WEFT_ENOMEM;
  WF_ASSERT(fn != NULL); /* that would be a hole */
  wf_lock_lock(&injector->push_lock);
  if ((injector->last != NULL && injector->last_used < WF_SEGMENT_ENTRIES) ||
      add_segment(injector)) {
    wf_injected *entry = &injector->last->entries[injector->last_used++];
    *entry = (wf_injected){fn, ctx};
    /* Relaxed: written under the lock only. Release: pairs with the acquires in
     * wf_injector_any and of the consumers. */
    uint64_t pushed = wf_u64_load_relaxed(&injector->x_pushed);
    if (receipt != NULL) *receipt = (wf_receipt){entry, pushed};
    wf_u64_store_release(&injector->x_pushed, pushed + 1);
    status = 0;
  }
  check_push(injector);
  wf_lock_unlock(&injector->push_lock);
  return status;
}

/* ---- the consumers' end ---- */

/* [take lock] Keeps a segment that nobody uses any more for the next one that is needed.
 */
static void recycle_segment(wf_injector *injector, wf_segment *segment) {
  void *none = NULL;
  /* Release: pairs with the acquire in add_segment. */
  if (!wf_ptr_cas_release(&injector->x_reserve, &none, segment)) free(segment);
}

/* [take lock, something is queued] The oldest entry, holes included. */
static wf_injected *first_entry(wf_injector *injector) {
  WF_ASSERT_HELD(&injector->take_lock);
  /* Relaxed: published by x_pushed, which the caller has acquired. */
  if (injector->first == NULL)
    injector->first = (wf_segment *)wf_ptr_load_relaxed(&injector->x_head);
  if (injector->first_used == WF_SEGMENT_ENTRIES) {
    wf_segment *used_up = injector->first;
    injector->first = used_up->next;
    injector->first_used = 0;
    WF_ASSERT(injector->first != NULL); /* something is queued, so it is in there */
    recycle_segment(injector, used_up);
  }
  return &injector->first->entries[injector->first_used];
}

/* [take lock] Is anything queued behind the first `taken`? Looks at the producers'
 * counter only if all that was there the last time is taken: its cache line is theirs. */
static bool any_behind(wf_injector *injector, uint64_t taken) {
  /* Relaxed: written under the lock only. */
  if (wf_u64_load_relaxed(&injector->x_seen) != taken) return true;
  /* Acquire: pairs with the release of the producers; the entries up to there are
   * written, for this thread and, by the lock, for those that take later. */
  uint64_t pushed = wf_u64_load_acquire(&injector->x_pushed);
  /* Relaxed: readers without the lock take it for a hint. */
  wf_u64_store_relaxed(&injector->x_seen, pushed);
  return pushed != taken;
}

/* [take lock] Passes over holes, so that the oldest entry is one that can be taken. */
static void pass_holes(wf_injector *injector, uint64_t taken) {
  while (any_behind(injector, taken) && first_entry(injector)->fn == NULL) {
    injector->first_used++;
    taken++;
  }
  /* Release: pairs with the acquire in wf_injector_any. */
  wf_u64_store_release(&injector->x_taken, taken);
  check_take(injector);
}

bool wf_injector_take(wf_injector *injector, wf_injected *out) {
  if (!wf_injector_any(injector)) return false;
  wf_lock_lock(&injector->take_lock);
  /* Relaxed: written under the lock only. */
  uint64_t taken = wf_u64_load_relaxed(&injector->x_taken);
  bool found = any_behind(injector, taken);
  if (found) {
    *out = *first_entry(injector);
    WF_ASSERT(out->fn != NULL); /* holes were passed over */
    injector->first_used++;
    pass_holes(injector, taken + 1);
  }
  wf_lock_unlock(&injector->take_lock);
  return found;
}

bool wf_injector_revoke(wf_injector *injector, const wf_receipt *receipt) {
  wf_lock_lock(&injector->take_lock);
  uint64_t taken = wf_u64_load_relaxed(&injector->x_taken); /* relaxed: under the lock */
  bool there = (int64_t)(receipt->number - taken) >= 0;
  if (there) {
    WF_ASSERT(receipt->entry->fn != NULL); /* revoked once, by its owner */
    receipt->entry->fn = NULL;
    pass_holes(injector, taken);
  }
  wf_lock_unlock(&injector->take_lock);
  return there;
}

/* [take lock] Looks at all entries; the one that is taken becomes a hole. */
static bool take_match_locked(wf_injector *injector, uint64_t count, weft_fn *fn,
                              wf_match_fn *matches, const void *arg, wf_injected *out) {
  if (count == 0) return false;
  wf_injected *entry = first_entry(injector);
  wf_segment *segment = injector->first;
  for (; count > 0; count--, entry++) {
    if (entry == segment->entries + WF_SEGMENT_ENTRIES) {
      segment = segment->next;
      WF_ASSERT(segment != NULL); /* `count` entries are there */
      entry = segment->entries;
    }
    if (entry->fn != fn || !matches(entry->ctx, arg)) continue;
    *out = *entry;
    entry->fn = NULL;
    return true;
  }
  return false;
}

bool wf_injector_take_match(wf_injector *injector, weft_fn *fn, wf_match_fn *matches,
                            const void *arg, wf_injected *out) {
  wf_lock_lock(&injector->take_lock);
  /* Relaxed: under the lock. Acquire: pairs with the release of the producers. */
  uint64_t taken = wf_u64_load_relaxed(&injector->x_taken);
  uint64_t pushed = wf_u64_load_acquire(&injector->x_pushed);
  bool found = take_match_locked(injector, pushed - taken, fn, matches, arg, out);
  if (found) pass_holes(injector, taken);
  wf_lock_unlock(&injector->take_lock);
  return found;
}
