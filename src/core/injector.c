/* core/injector.c - see injector.h.
 *
 * SPDX-License-Identifier: MIT */
#include "injector.h"

#include <stdlib.h>

enum { FIRST_CAPACITY = 64 };

void wf_injector_init(wf_injector *injector, uint64_t first_index) {
  injector->lock = (wf_lock){{WF_LOCK_FREE}};
  /* Relaxed: nobody else sees the queue yet. */
  wf_u64_store_relaxed(&injector->x_pushed, first_index);
  wf_u64_store_relaxed(&injector->x_taken, first_index);
  injector->entries = NULL;
  injector->capacity = 0;
}

void wf_injector_destroy(wf_injector *injector) {
  free(injector->entries);
  injector->entries = NULL;
}

/* [locked] Doubles the ring, or makes the first one. */
static bool grow_queue(wf_injector *injector, uint64_t taken, uint64_t pushed) {
  uint64_t capacity = injector->capacity == 0 ? FIRST_CAPACITY : injector->capacity * 2;
  if (capacity > SIZE_MAX / sizeof(wf_injected)) return false;
  wf_injected *entries = (wf_injected *)malloc((size_t)capacity * sizeof *entries);
  if (entries == NULL) return false;
  for (uint64_t i = taken; i != pushed; i++)
    entries[i & (capacity - 1)] = injector->entries[i & (injector->capacity - 1)];
  /* The old ring is freed last: a process that is forked in between finds one that is
   * whole. */
  wf_injected *old = injector->entries;
  injector->entries = entries;
  injector->capacity = capacity;
  free(old);
  return true;
}

static wf_injected *entry_at(wf_injector *injector, uint64_t index) {
  return &injector->entries[index & (injector->capacity - 1)];
}

/* [locked] The first index from `index` on that is not a hole. */
static uint64_t skip_holes(wf_injector *injector, uint64_t index, uint64_t pushed) {
  while (index != pushed && entry_at(injector, index)->fn == NULL) index++;
  return index;
}

int wf_injector_push(wf_injector *injector, weft_fn *fn, void *ctx) {
  int status = WEFT_ENOMEM;
  wf_lock_lock(&injector->lock);
  /* Relaxed: both are written under the lock only. */
  uint64_t pushed = wf_u64_load_relaxed(&injector->x_pushed);
  uint64_t taken = wf_u64_load_relaxed(&injector->x_taken);
  if (pushed - taken < injector->capacity || grow_queue(injector, taken, pushed)) {
    injector->entries[pushed & (injector->capacity - 1)] = (wf_injected){fn, ctx};
    /* Release: pairs with the acquire in wf_injector_any. */
    wf_u64_store_release(&injector->x_pushed, pushed + 1);
    status = 0;
  }
  wf_lock_unlock(&injector->lock);
  return status;
}

bool wf_injector_take(wf_injector *injector, wf_injected *out) {
  if (!wf_injector_any(injector)) return false;
  bool found = false;
  wf_lock_lock(&injector->lock);
  /* Relaxed: both are written under the lock only. */
  uint64_t pushed = wf_u64_load_relaxed(&injector->x_pushed);
  uint64_t taken = wf_u64_load_relaxed(&injector->x_taken);
  if (pushed != taken) {
    *out = *entry_at(injector, taken); /* the oldest one is never a hole */
    /* Release: pairs with the acquire in wf_injector_any. */
    wf_u64_store_release(&injector->x_taken, skip_holes(injector, taken + 1, pushed));
    found = true;
  }
  wf_lock_unlock(&injector->lock);
  return found;
}

bool wf_injector_take_match(wf_injector *injector, weft_fn *fn, wf_match_fn *matches,
                            const void *arg, wf_injected *out) {
  bool found = false;
  wf_lock_lock(&injector->lock);
  /* Relaxed: both are written under the lock only. */
  uint64_t pushed = wf_u64_load_relaxed(&injector->x_pushed);
  uint64_t taken = wf_u64_load_relaxed(&injector->x_taken);
  for (uint64_t i = taken; i != pushed && !found; i++) {
    wf_injected *entry = entry_at(injector, i);
    if (entry->fn != fn || !matches(entry->ctx, arg)) continue;
    *out = *entry;
    entry->fn = NULL;
    found = true;
  }
  /* Release: pairs with the acquire in wf_injector_any. */
  if (found)
    wf_u64_store_release(&injector->x_taken, skip_holes(injector, taken, pushed));
  wf_lock_unlock(&injector->lock);
  return found;
}
