/* What the tests of the deque share: where indices start, and the fast join.
 *
 * SPDX-License-Identifier: MIT */
#ifndef DEQUE_SUPPORT_H
#define DEQUE_SUPPORT_H

#include "core/deque.h"
#include "harness/harness.h"

/* Every test of the deque runs with its indices started at each of these: at zero, and
 * close to where a narrower, a signed and the full index would come to its end. */
static const uint64_t DEQUE_STARTS[] = {0, (UINT64_C(1) << 31) - 2,
                                        (UINT64_C(1) << 32) - 2, (UINT64_C(1) << 63) - 2,
                                        UINT64_MAX - 1};

enum { DEQUE_START_COUNT = sizeof DEQUE_STARTS / sizeof DEQUE_STARTS[0] };

#define FOR_EACH_START(start)                                                            \
  for (uint64_t index_of_##start = 0, start;                                             \
       index_of_##start < DEQUE_START_COUNT &&                                           \
       (start = DEQUE_STARTS[index_of_##start], true);                                   \
       index_of_##start++)

/* The first half of the join in weft/detail/fork_join.h, step for step: true if the
 * newest task is private and now the owner's. *newest is then what its slot holds, which
 * the real join, knowing its task, does not look at. If false, bottom is where it was. */
static inline bool deque_join_fast(wf_deque *deque, wf_task **newest) {
  wf_ptr *bottom = (wf_ptr *)wf_ptr_load_relaxed(&deque->owner.x_bottom) - 1;
  wf_ptr_store_release(&deque->owner.x_bottom, bottom);
  wf_light_barrier();
  if ((uintptr_t)bottom >= (uintptr_t)wf_ptr_load_relaxed(&deque->owner.x_gate)) {
    *newest = (wf_task *)wf_ptr_load_relaxed(bottom);
    return true;
  }
  wf_ptr_store_release(&deque->owner.x_bottom, bottom + 1);
  return false;
}

/* The whole join: the fast half, or else the slow one. */
static inline wf_task *deque_join(wf_deque *deque, wf_deque_news *news) {
  wf_task *newest;
  if (deque_join_fast(deque, &newest)) {
    *news = (wf_deque_news){0, false};
    return newest;
  }
  return wf_deque_pop(deque, news);
}

/* The whole fork. Returns the task that found no room, if that happened. */
static inline wf_task *deque_fork(wf_deque *deque, wf_task *task, wf_deque_news *news) {
  *news = (wf_deque_news){0, false};
  return wf_deque_push(deque, task) ? wf_deque_fork_slow(deque, news) : NULL;
}

static inline unsigned deque_state(const wf_deque *deque) {
  return (unsigned)(wf_deque_asked(deque) & WF_ASKED_STATE_MASK);
}

#endif
