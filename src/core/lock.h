/* core/lock.h - the library's one mutual exclusion lock: a word that blocks.
 *
 * Protects the slow half of a deque, the injector and the global pool. Held for tens of
 * nanoseconds, so a waiter spins a little; then it blocks, because on a machine with more
 * threads than CPUs the holder may have been preempted. 4 bytes, zero is free.
 *
 *     FREE (0) --acquire--> HELD (1) --a waiter blocks--> CONTENDED (2) --release--> FREE
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_CORE_LOCK_H
#define WF_CORE_LOCK_H

#include "assert.h"
#include "atomic.h"

typedef struct wf_lock {
  wf_u32 x_state;
} wf_lock;

enum { WF_LOCK_FREE = 0, WF_LOCK_HELD = 1, WF_LOCK_CONTENDED = 2 };

void wf_lock_acquire_slow(wf_lock *lock);
void wf_lock_wake(wf_lock *lock);

static inline bool wf_lock_try(wf_lock *lock) {
  uint32_t expected = WF_LOCK_FREE;
  /* Acquire: pairs with the release in wf_lock_unlock of the previous holder. */
  return wf_u32_cas_acquire(&lock->x_state, &expected, WF_LOCK_HELD);
}

static inline void wf_lock_lock(wf_lock *lock) {
  if (!wf_lock_try(lock)) wf_lock_acquire_slow(lock);
}

/* For functions that want it to be held. That it is held by this thread is not known. */
static inline void wf_lock_assert_held(const wf_lock *lock) {
  WF_ASSERT(wf_u32_peek(&lock->x_state) != WF_LOCK_FREE);
}

static inline void wf_lock_unlock(wf_lock *lock) {
  /* Release: pairs with the acquire of the next holder, in wf_lock_try or the slow half.
   */
  if (wf_u32_exchange_release(&lock->x_state, WF_LOCK_FREE) == WF_LOCK_CONTENDED)
    wf_lock_wake(lock);
}

#endif
