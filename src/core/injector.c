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
  free(injector->entries);
  injector->entries = entries;
  injector->capacity = capacity;
  return true;
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
    *out = injector->entries[taken & (injector->capacity - 1)];
    /* Release: pairs with the acquire in wf_injector_any. */
    wf_u64_store_release(&injector->x_taken, taken + 1);
    found = true;
  }
  wf_lock_unlock(&injector->lock);
  return found;
}
