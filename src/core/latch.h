/* core/latch.h - what waiters wait for: the four-state latch, and two built on it.
 *
 * A latch belongs to the thing waited for (a forked task, a group of tasks, the end of a
 * pool), not to the worker that waits, and it is handed to the wait. One thread waits on
 * a latch; any thread sets it, once.
 *
 *     UNSET --get_sleepy--> SLEEPY --fall_asleep--> SLEEPING
 *       ^------------- wake_up -----'---------------'
 *       any of them --set--> SET, and stays
 *
 * The states in between let the setter skip the wake-up of a waiter that is not asleep,
 * without a race: a waiter that is not SLEEPING yet finds out by its own transition
 * failing. set() touches nothing of the latch after its exchange: the waiter may already
 * have left the frame that holds it.
 *
 * A waiter that helps wants to know who runs its task: the bits above the state carry
 * the thief's worker index, and before that the address of the fork's region.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_CORE_LATCH_H
#define WF_CORE_LATCH_H

#include "atomic.h"

#include <weft/detail/fork_join.h>

enum {
  WF_LATCH_UNSET = 0,
  WF_LATCH_SLEEPY = 1,
  WF_LATCH_SLEEPING = 2,
  WF_LATCH_SET = 3,
  WF_LATCH_STATE_MASK = 3,
  WF_LATCH_THIEF_SHIFT = 2,
  WF_LATCH_MAX_THIEF = 8191 /* times 4, still below the first page that is ever used */
};

static inline void wf_latch_init(wf_latch *latch) {
  wf_word_init(&latch->x_state, WF_LATCH_UNSET);
}

/* For assertions: one of the states above. */
static inline unsigned wf_latch_peek(const wf_latch *latch) {
  return (unsigned)(wf_word_peek(&latch->x_state) & WF_LATCH_STATE_MASK);
}

/* ---- what the bits above the state are, from fork to join ---- */

/* A spawned task has no waiter of its own: its word is the scope that counts it. */
static inline void wf_latch_init_scope(wf_latch *latch, struct weft_scope *scope) {
  wf_word_init(&latch->x_state, (uintptr_t)scope);
}
static inline struct weft_scope *wf_latch_scope(const wf_latch *latch) {
  /* Relaxed: written once, before the task was handed on. */
  return (struct weft_scope *)wf_word_load_relaxed(&latch->x_state);
}

/* Is it set? Then everything the setter did before is visible. */
static inline bool wf_latch_probe(const wf_latch *latch) {
  /* Acquire: pairs with the exchange in wf_latch_set. */
  uintptr_t state = wf_word_load_acquire(&latch->x_state);
  return (state & WF_LATCH_STATE_MASK) == WF_LATCH_SET;
}

/* Does its waiter sleep, or is about to? To be asked after a fence. */
static inline bool wf_latch_is_sleeping(const wf_latch *latch) {
  /* Relaxed: ordered by the caller's fence. */
  uintptr_t state = wf_word_load_relaxed(&latch->x_state);
  return (state & WF_LATCH_STATE_MASK) == WF_LATCH_SLEEPING;
}

/* The waiter's transitions; false if the latch is set meanwhile. */
bool wf_latch_get_sleepy(wf_latch *latch);
bool wf_latch_fall_asleep(wf_latch *latch);
/* Back to UNSET from SLEEPY or SLEEPING, unless it is set. */
void wf_latch_wake_up(wf_latch *latch);

/* Sets the latch; true if the waiter sleeps and must be woken by the caller.
 *
 * Danger: the waiter may return and drop the memory of the latch as soon as the exchange
 * is visible. The caller copies whatever it needs for the wake-up before.
 *
 * The exchange publishes what the setter did (pairs with the acquire in wf_latch_probe)
 * and is seq_cst because it stands in a store-load race with the waiter's park: see
 * "Latch against sleeper" in src/sched/sleep.md. explorer: acq_rel does as well, because
 * all sides of that race are read-modify-writes of two words. */
static inline bool wf_latch_set(wf_latch *latch) {
  uintptr_t old = wf_word_exchange_seq_cst(&latch->x_state, WF_LATCH_SET);
  return (old & WF_LATCH_STATE_MASK) == WF_LATCH_SLEEPING;
}

/* A thief leaves its worker index, before it runs the task, where the fork has left its
 * region, and gets the region. */
static inline const wf_region *wf_latch_note_thief(wf_latch *latch, unsigned thief) {
  uintptr_t index = ((uintptr_t)thief + 1) << WF_LATCH_THIEF_SHIFT;
  /* Relaxed: the fork wrote the word before it published the task, and the index is only
   * a hint where to look for work. */
  uintptr_t seen = wf_word_load_relaxed(&latch->x_state);
  /* seq_cst: pairs with the waiter's own transitions, which are kept. explorer: relaxed
   * would do, one word only. */
  while (!wf_word_cas_seq_cst(&latch->x_state, &seen,
                              (seen & WF_LATCH_STATE_MASK) | index)) {
  }
  return (const wf_region *)(seen & ~(uintptr_t)WF_LATCH_STATE_MASK);
}

/* The worker index of the thief, or -1 if none has said so yet: then a region's address,
 * which is larger than any index, or 0 is there. */
static inline int wf_latch_thief(const wf_latch *latch) {
  /* Relaxed: a hint, as above. */
  uintptr_t upper = wf_word_load_relaxed(&latch->x_state) >> WF_LATCH_THIEF_SHIFT;
  return upper <= WF_LATCH_MAX_THIEF ? (int)upper - 1 : -1;
}

/* The task is in no deque and nobody runs it: its join will. Instead of a thief's index.
 */
#define WF_LATCH_GIVEN_BACK (~(uintptr_t)WF_LATCH_STATE_MASK)

static inline void wf_latch_note_given_back(wf_latch *latch) {
  wf_word_init(&latch->x_state, WF_LATCH_GIVEN_BACK); /* no other thread sees the task */
}

static inline bool wf_latch_is_given_back(const wf_latch *latch) {
  return wf_word_load_relaxed(&latch->x_state) == WF_LATCH_GIVEN_BACK; /* own note */
}

/* ---- counting latch: set when a count of things has come down to zero ---- */

/* Starts at the number of things still to happen; whoever keeps adding holds one count of
 * its own, so that zero is reached once. */
typedef struct wf_count_latch {
  wf_u32 x_count;
  wf_latch latch;
} wf_count_latch;

void wf_count_latch_init(wf_count_latch *counter, uint32_t count);
void wf_count_latch_add(wf_count_latch *counter, uint32_t n);
/* Takes one off and says whether it was the last, without setting the latch: for those
 * who have something else to set. */
bool wf_count_latch_count_off(wf_count_latch *counter);
/* Takes one off. Only the last one sets the latch and may return true, "wake the waiter";
 * as with wf_latch_set the memory may be gone when this returns. */
bool wf_count_latch_done(wf_count_latch *counter);

/* ---- once-latch: for a thread that is no worker and simply blocks ---- */

typedef struct wf_once_latch {
  wf_u32 x_state;
} wf_once_latch;

void wf_once_latch_init(wf_once_latch *once);
/* Sets it and wakes the waiter if it blocks. The memory may be gone when this returns. */
void wf_once_latch_set(wf_once_latch *once);
bool wf_once_latch_probe(const wf_once_latch *once);
/* Blocks until it is set. One thread. */
void wf_once_latch_wait(wf_once_latch *once);

/* For a waiter that must also look at something else. It announces that it is about to
 * block and looks; if there is nothing, it blocks until the latch is set (true) or until
 * it was nudged after the announcement (false). A nudge costs nothing if nobody blocks.
 * The memory must be there during a nudge. */
void wf_once_latch_announce(wf_once_latch *once);
bool wf_once_latch_wait_announced(wf_once_latch *once);
void wf_once_latch_nudge(wf_once_latch *once);

#endif
