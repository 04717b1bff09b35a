/* core/lock.h - the library's one mutual exclusion lock: a word that blocks.
 *
 * Protects the slow half of a deque, the ends of the injector, the global pool and other
 * things that are rare. It is held for tens of nanoseconds, so a waiter spins a little.
 * Then it blocks, because on a machine with more threads than CPUs the holder may have
 * been preempted. 4 bytes; zero is free.
 *
 *     FREE (0) --acquire--> HELD (1) --a waiter blocks--> CONTENDED (2) --release--> FREE
 *
 * Any thread. The thread that acquires a lock releases it, and no thread acquires one
 * that it holds. A debug build keeps a list of the locks that each thread holds, outside
 * of the lock itself: its size is the same in every build, because public structures hold
 * locks.
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

/* For assertions: does the calling thread hold the lock? Only debug builds know. */
bool wf_lock_is_held(const wf_lock *lock);
#define WF_ASSERT_HELD(lock) WF_ASSERT(wf_lock_is_held(lock))

#ifdef WEFT_DEBUG
void wf_lock_note_acquired(const wf_lock *lock);
void wf_lock_note_released(const wf_lock *lock);
#else
static inline void wf_lock_note_acquired(const wf_lock *lock) {
  (void)lock;
}
static inline void wf_lock_note_released(const wf_lock *lock) {
  (void)lock;
}
#endif

static inline bool wf_lock_try(wf_lock *lock) {
  uint32_t expected = WF_LOCK_FREE;
  /* Acquire: pairs with the release in wf_lock_unlock of the previous holder. */
  if (!wf_u32_cas_acquire(&lock->x_state, &expected, WF_LOCK_HELD)) {
    WF_ASSERT(expected == WF_LOCK_HELD || expected == WF_LOCK_CONTENDED);
    return false;
  }
  wf_lock_note_acquired(lock);
  return true;
}

static inline void wf_lock_lock(wf_lock *lock) {
  WF_ASSERT(!wf_lock_is_held(lock)); /* it would wait for itself */
  if (!wf_lock_try(lock)) wf_lock_acquire_slow(lock);
}

/* For functions that want it to be held. That it is held by this thread is not known. */
static inline void wf_lock_assert_held(const wf_lock *lock) {
  WF_ASSERT(wf_u32_peek(&lock->x_state) != WF_LOCK_FREE);
}

static inline void wf_lock_unlock(wf_lock *lock) {
  WF_ASSERT_HELD(lock);
  wf_lock_note_released(lock);
  /* Release: pairs with the acquire of the next holder, in wf_lock_try or the slow half.
   */
  uint32_t old = wf_u32_exchange_release(&lock->x_state, WF_LOCK_FREE);
  WF_ASSERT(old != WF_LOCK_FREE);
  if (old == WF_LOCK_CONTENDED) wf_lock_wake(lock);
}

#endif
