/* par/shared/local.c - weft_local: one slot for each thread.
 *
 * Called by programs, on any thread. The slots and how a thread finds its own are in
 * core/per_thread.c; a thread is known by the address of its wf_self, which no other
 * thread has as long as it runs.
 *
 * SPDX-License-Identifier: MIT */
#include "../../core/per_thread.h"
#include "../base/call.h"
#include "shared.h"

#include <stdlib.h>
#include <weft/local.h>

struct weft_local {
  wf_per_thread slots;
};

int weft_local_create(weft_local **out, size_t size, void (*init)(void *slot, void *ctx),
                      void *ctx) {
  if (out == NULL) return WEFT_EINVAL;
  *out = NULL;
  if (size == 0 || size > WF_PER_THREAD_MOST) return WEFT_EINVAL;
  weft_local *l = (weft_local *)malloc(sizeof *l);
  if (l == NULL) return WEFT_ENOMEM;
  int status = wf_per_thread_init(&l->slots, size, WF_FIRST_ENTRIES_LOG2, init, ctx);
  if (status != 0)
    free(l);
  else
    *out = l;
  return status;
}

void *weft_local_get(weft_local *l) {
  wf_refuse_if(l == NULL, "weft_local_get", "the local is NULL");
  return wf_per_thread_get(&l->slots, wf_thread_key());
}

int weft_local_reserve(weft_local *l, size_t count) {
  return l == NULL ? WEFT_EINVAL : wf_per_thread_reserve(&l->slots, count);
}

void weft_local_each(weft_local *l, void (*fn)(void *slot, void *ctx), void *ctx) {
  wf_refuse_if(l == NULL, "weft_local_each", "the local is NULL");
  wf_refuse_if(fn == NULL, "weft_local_each", "the function is NULL");
  const wf_thread_slot *slot = wf_per_thread_first(&l->slots);
  for (; slot != NULL; slot = slot->next) fn(wf_slot_memory(slot), ctx);
}

size_t weft_local_count(const weft_local *l) {
  wf_refuse_if(l == NULL, "weft_local_count", "the local is NULL");
  return wf_word_load_relaxed(&l->slots.x_made); /* any recent number will do */
}

void weft_local_destroy(weft_local *l) {
  if (l == NULL) return;
  wf_per_thread_destroy(&l->slots);
  free(l);
}
