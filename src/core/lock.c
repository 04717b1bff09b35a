/* core/lock.c - the slow half of the lock: spin, then block; and, in a debug build, which
 * locks a thread holds.
 *
 * Called through the inline functions of lock.h, by any thread. The list of held locks is
 * thread-local: each thread reads and writes its own.
 *
 * SPDX-License-Identifier: MIT */
#include "lock.h"

#include "../sys/sys.h"

/* About a microsecond, which is some twenty times as long as the lock is held: a pause
 * instruction takes about 40 ns (140 cycles on Intel CPUs since Skylake; less on others,
 * which then block a little earlier). The number is a choice: longer spins waste the CPU
 * that a preempted holder needs, shorter ones pay for a system call (some microseconds)
 * where the holder was about to leave. The interleaving explorer sets its own. */
#ifndef WF_LOCK_SPINS
#define WF_LOCK_SPINS 20
#endif

void wf_lock_acquire_slow(wf_lock *lock) {
  for (int spin = 0; spin < WF_LOCK_SPINS; spin++) {
    wf_sys_relax();
    /* Relaxed: only a hint that trying is worth it. */
    if (wf_u32_load_relaxed(&lock->x_state) == WF_LOCK_FREE && wf_lock_try(lock)) return;
  }
  /* From here on the word says CONTENDED, whichever thread holds it, so that each release
   * wakes one waiter. Acquire: pairs with the release in wf_lock_unlock. */
  while (wf_u32_exchange_acquire(&lock->x_state, WF_LOCK_CONTENDED) != WF_LOCK_FREE)
    wf_sys_wait(&lock->x_state, WF_LOCK_CONTENDED);
  wf_lock_note_acquired(lock);
}

void wf_lock_wake(wf_lock *lock) {
  wf_sys_wake_one(&lock->x_state);
}

#ifdef WEFT_DEBUG

/* A thread holds at most two locks at once today. More room would cost programs that load
 * several copies of a debug build: libc has little thread-local memory for them. */
enum { MOST_HELD = 2 };
static __thread const wf_lock *held_locks[MOST_HELD];

/* Where in the list the lock is, or the first free place for NULL; MOST_HELD if nowhere.
 */
static unsigned held_at(const wf_lock *lock) {
  unsigned i = 0;
  while (i < MOST_HELD && held_locks[i] != lock) i++;
  return i;
}

bool wf_lock_is_held(const wf_lock *lock) {
  return held_at(lock) < MOST_HELD;
}

void wf_lock_note_acquired(const wf_lock *lock) {
  unsigned free_place = held_at(NULL);
  WF_ASSERT(wf_u32_peek(&lock->x_state) != WF_LOCK_FREE);
  WF_ASSERT(free_place < MOST_HELD);
  held_locks[free_place] = lock;
}

void wf_lock_note_released(const wf_lock *lock) {
  unsigned place = held_at(lock);
  WF_ASSERT(place < MOST_HELD);
  held_locks[place] = NULL;
}

#endif
