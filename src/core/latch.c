/* core/latch.c - the waiter's transitions of a latch, the counting latch, and the
 * once-latch that blocks by itself.
 *
 * Workers call the first two while they wait (src/sched/worker.c, sleep.c), and threads
 * that are no workers block on the third. The waiter owns nothing but its own
 * transitions; any thread sets.
 *
 * SPDX-License-Identifier: MIT */
#include "latch.h"

#include "../sys/sys.h"

/* Moves the state from `from` to `to` and keeps the bits above it; false if the state is
 * another one. */
static bool transition(wf_latch *latch, uintptr_t from, uintptr_t to) {
  /* Relaxed: the compare-and-swap decides. */
  uintptr_t seen = wf_word_load_relaxed(&latch->x_state);
  while (wf_latch_state_in(seen) == from) {
    uintptr_t next = (seen & ~(uintptr_t)WF_LATCH_STATE_MASK) | to;
    /* seq_cst: pairs with the exchange in wf_latch_set; see "Latch against sleeper" in
     * src/sched/sleep.md. It fails and is tried again when a thief notes its index.
     * explorer: acq_rel suffices, see wf_latch_set. */
    if (wf_word_cas_seq_cst(&latch->x_state, &seen, next)) return true;
  }
  return false;
}

/* After a transition that failed. Only the waiter leaves the other states, and the waiter
 * is this thread: so another thread has set the latch. */
static void check_set(const wf_latch *latch) {
  (void)latch;
  WF_ASSERT(wf_latch_peek(latch) == WF_LATCH_SET);
}

bool wf_latch_get_sleepy(wf_latch *latch) {
  bool done = transition(latch, WF_LATCH_UNSET, WF_LATCH_SLEEPY);
  if (!done) check_set(latch);
  return done;
}

bool wf_latch_fall_asleep(wf_latch *latch) {
  bool done = transition(latch, WF_LATCH_SLEEPY, WF_LATCH_SLEEPING);
  if (!done) check_set(latch);
  return done;
}

void wf_latch_wake_up(wf_latch *latch) {
  if (!transition(latch, WF_LATCH_SLEEPING, WF_LATCH_UNSET) &&
      !transition(latch, WF_LATCH_SLEEPY, WF_LATCH_UNSET))
    check_set(latch);
}

/* ---- counting latch ---- */

void wf_count_latch_init(wf_count_latch *counter, uint32_t count) {
  WF_ASSERT(count > 0);
  wf_u32_store_relaxed(&counter->x_count, count); /* nobody else sees it yet */
  wf_latch_init(&counter->latch);
}

void wf_count_latch_add(wf_count_latch *counter, uint32_t n) {
  /* Relaxed: the caller holds a count, so zero cannot be reached meanwhile; what it adds
   * is published by whatever publishes the thing that will take it off again. */
  uint32_t old = wf_u32_fetch_add_relaxed(&counter->x_count, n);
  WF_ASSERT(old > 0 && n <= UINT32_MAX - old);
}

bool wf_count_latch_count_off(wf_count_latch *counter) {
  /* acq_rel: pairs with itself in the other threads, so that the last one has seen the
   * work of all. */
  uint32_t old = wf_u32_fetch_sub_acq_rel(&counter->x_count, 1);
  WF_ASSERT(old > 0);
  return old == 1;
}

bool wf_count_latch_done(wf_count_latch *counter) {
  return wf_count_latch_count_off(counter) && wf_latch_set(&counter->latch);
}

/* ---- waiting until a time ---- */

uint64_t wf_deadline_in(uint64_t timeout_ns) {
  uint64_t now = wf_sys_now_ns();
  return timeout_ns < WF_NEVER - now ? now + timeout_ns : WF_NEVER;
}

bool wf_wait_until(wf_u32 *word, uint32_t expected, uint64_t deadline_ns) {
  if (deadline_ns == WF_NEVER) {
    wf_sys_wait(word, expected);
    return true;
  }
  uint64_t before = wf_sys_now_ns();
  if (before >= deadline_ns) return false;
  if (wf_sys_wait_for(word, expected, deadline_ns - before)) return true;
  /* A system that refuses to wait says so too early: then the clock decides. A clock that
   * stands still never would. */
  uint64_t now = wf_sys_now_ns();
  return now < deadline_ns && now != before;
}

/* ---- once-latch ---- */

enum { ONCE_UNSET = 0, ONCE_WAITING = 1, ONCE_SET = 2 };

void wf_once_latch_init(wf_once_latch *once) {
  wf_u32_store_relaxed(&once->x_state, ONCE_UNSET); /* nobody else sees it yet */
}

bool wf_once_latch_probe(const wf_once_latch *once) {
  /* Acquire: pairs with the exchange in wf_once_latch_set. */
  return wf_u32_load_acquire(&once->x_state) == ONCE_SET;
}

void wf_once_latch_set(wf_once_latch *once) {
  /* Release: pairs with the acquire of the waiter. From here on the word may be gone; the
   * wake-up uses its address only. */
  uint32_t old = wf_u32_exchange_release(&once->x_state, ONCE_SET);
  WF_ASSERT(old <= ONCE_SET);
  if (old == ONCE_WAITING) wf_sys_wake_one(&once->x_state);
}

void wf_once_latch_wait(wf_once_latch *once) {
  do {
    wf_once_latch_announce(once);
  } while (!wf_once_latch_wait_announced(once));
}

void wf_once_latch_announce(wf_once_latch *once) {
  uint32_t seen = ONCE_UNSET;
  /* seq_cst, and the fence: pairs with the fence in wf_once_latch_nudge. Either what the
   * waiter looks at after this shows what the other has put there, or the other sees
   * WAITING. A failure shows SET, or WAITING from the announcement before, and the wait
   * below looks again. explorer: the fence alone suffices. */
  wf_u32_cas_seq_cst(&once->x_state, &seen, ONCE_WAITING);
  WF_ASSERT(seen <= ONCE_SET);
  wf_fence_seq_cst();
}

bool wf_once_latch_wait_announced(wf_once_latch *once) {
  uint32_t state;
  /* Acquire: pairs with the exchange in wf_once_latch_set. */
  while ((state = wf_u32_load_acquire(&once->x_state)) == ONCE_WAITING)
    wf_sys_wait(&once->x_state, ONCE_WAITING);
  WF_ASSERT(state == ONCE_UNSET || state == ONCE_SET);
  return state == ONCE_SET;
}

bool wf_once_latch_wait_until(wf_once_latch *once, uint64_t deadline_ns) {
  bool in_time = true;
  wf_once_latch_announce(once);
  while (in_time && !wf_once_latch_probe(once))
    in_time = wf_wait_until(&once->x_state, ONCE_WAITING, deadline_ns);
  /* It stays WAITING if the time was over: then its setter wakes nobody. */
  return in_time || wf_once_latch_probe(once);
}

void wf_once_latch_nudge(wf_once_latch *once) {
  uint32_t seen = ONCE_WAITING;
  wf_fence_seq_cst(); /* pairs with the one in wf_once_latch_announce */
  /* seq_cst: what was put there before is visible to the waiter that is nudged. explorer:
   * acq_rel suffices. */
  if (wf_u32_load_relaxed(&once->x_state) == ONCE_WAITING &&
      wf_u32_cas_seq_cst(&once->x_state, &seen, ONCE_UNSET))
    wf_sys_wake_one(&once->x_state);
}
