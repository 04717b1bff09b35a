/* core/latch.c - transitions of the latches. States and rules: latch.h.
 *
 * SPDX-License-Identifier: MIT */
#include "latch.h"

#include "../sys/sys.h"

/* Moves the state from `from` to `to` and keeps the thief's index; false if the state is
 * another one. */
static bool transition(wf_latch *latch, uintptr_t from, uintptr_t to) {
  /* Relaxed: the compare-and-swap decides. */
  uintptr_t seen = wf_word_load_relaxed(&latch->x_state);
  while ((seen & WF_LATCH_STATE_MASK) == from) {
    uintptr_t next = (seen & ~(uintptr_t)WF_LATCH_STATE_MASK) | to;
    /* seq_cst: pairs with the exchange in wf_latch_set; see "Latch against sleeper" in
     * src/sched/sleep.md. It fails and is tried again when a thief notes its index.
     * explorer: acq_rel does as well, see wf_latch_set. */
    if (wf_word_cas_seq_cst(&latch->x_state, &seen, next)) return true;
  }
  return false;
}

bool wf_latch_get_sleepy(wf_latch *latch) {
  return transition(latch, WF_LATCH_UNSET, WF_LATCH_SLEEPY);
}

bool wf_latch_fall_asleep(wf_latch *latch) {
  return transition(latch, WF_LATCH_SLEEPY, WF_LATCH_SLEEPING);
}

void wf_latch_wake_up(wf_latch *latch) {
  if (!transition(latch, WF_LATCH_SLEEPING, WF_LATCH_UNSET))
    transition(latch, WF_LATCH_SLEEPY, WF_LATCH_UNSET);
}

/* ---- counting latch ---- */

void wf_count_latch_init(wf_count_latch *counter, uint32_t count) {
  wf_u32_store_relaxed(&counter->x_count, count); /* nobody else sees it yet */
  wf_latch_init(&counter->latch);
}

void wf_count_latch_add(wf_count_latch *counter, uint32_t n) {
  /* Relaxed: the caller holds a count, so zero cannot be reached meanwhile; what it adds
   * is published by whatever publishes the thing that will take it off again. */
  wf_u32_fetch_add_relaxed(&counter->x_count, n);
}

bool wf_count_latch_count_off(wf_count_latch *counter) {
  /* acq_rel: pairs with itself in the other threads, so that the last one has seen the
   * work of all. */
  return wf_u32_fetch_sub_acq_rel(&counter->x_count, 1) == 1;
}

bool wf_count_latch_done(wf_count_latch *counter) {
  return wf_count_latch_count_off(counter) && wf_latch_set(&counter->latch);
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
  if (wf_u32_exchange_release(&once->x_state, ONCE_SET) == ONCE_WAITING)
    wf_sys_wake_one(&once->x_state);
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
   * WAITING. A failure shows SET or WAITING, and the wait below looks again.
   * explorer: the fence alone does it. */
  wf_u32_cas_seq_cst(&once->x_state, &seen, ONCE_WAITING);
  wf_fence_seq_cst();
}

bool wf_once_latch_wait_announced(wf_once_latch *once) {
  uint32_t state;
  /* Acquire: pairs with the exchange in wf_once_latch_set. */
  while ((state = wf_u32_load_acquire(&once->x_state)) == ONCE_WAITING)
    wf_sys_wait(&once->x_state, ONCE_WAITING);
  return state == ONCE_SET;
}

void wf_once_latch_nudge(wf_once_latch *once) {
  uint32_t seen = ONCE_WAITING;
  wf_fence_seq_cst(); /* pairs with the one in wf_once_latch_announce */
  /* seq_cst: what was put there before is visible to the nudged; more than it needs.
   * explorer: acq_rel does as well. */
  if (wf_u32_load_relaxed(&once->x_state) == ONCE_WAITING &&
      wf_u32_cas_seq_cst(&once->x_state, &seen, ONCE_UNSET))
    wf_sys_wake_one(&once->x_state);
}
