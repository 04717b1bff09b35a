/* core/lock.c - the slow half of the lock: spin, then block. See lock.h.
 *
 * SPDX-License-Identifier: MIT */
#include "lock.h"

#include "../sys/sys.h"

/* About a microsecond: some twenty times as long as the lock is held. The interleaving
 * explorer sets its own. */
#ifndef WF_LOCK_SPINS
#define WF_LOCK_SPINS 20
#endif

void wf_lock_acquire_slow(wf_lock *lock) {
  for (int spin = 0; spin < WF_LOCK_SPINS; spin++) {
    wf_sys_relax();
    /* Relaxed: only a hint that trying is worth it. */
    if (wf_u32_load_relaxed(&lock->x_state) == WF_LOCK_FREE && wf_lock_try(lock)) return;
  }
  /* From here on the word says CONTENDED whoever holds it, so that each release wakes one
   * waiter. Acquire: pairs with the release in wf_lock_unlock. */
  while (wf_u32_exchange_acquire(&lock->x_state, WF_LOCK_CONTENDED) != WF_LOCK_FREE)
    wf_sys_wait(&lock->x_state, WF_LOCK_CONTENDED);
}

void wf_lock_wake(wf_lock *lock) {
  wf_sys_wake_one(&lock->x_state);
}
