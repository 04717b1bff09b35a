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
 * The latch of a task carries more than its state. The two low bits are the state, the
 * bits above change their meaning in the course of the task's life:
 *
 *     task                             bits above the state, and who writes them
 *     ------------------------------- ---------------------------------------------------
 *     forked, in a deque               address of the fork's region: wf_latch_init_forked
 *     run by a thief                   index of the thief + 1: wf_latch_note_thief
 *     in no deque, its join runs it    all ones ("given back"): wf_latch_note_given_back
 *     done; the state is SET           0: wf_latch_set
 *     spawned, in a deque or a queue   address of its scope: wf_latch_init_scope. It
 * has no states: nobody waits for it, but for its scope
 *
 * Nobody needs two of them at once. A waiter that helps wants to know who runs its task,
 * and a thief needs the region only once. Regions and scopes are aligned to 4 bytes, so
 * the low bits of their addresses are 0, "UNSET"; and no address is as small as a thief's
 * index can be (see WF_LATCH_MAX_THIEF).
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_CORE_LATCH_H
#define WF_CORE_LATCH_H

#include "assert.h"
#include "atomic.h"

#include <weft/detail/fork_join.h>

enum {
  WF_LATCH_UNSET = 0,
  WF_LATCH_SLEEPY = 1,
  WF_LATCH_SLEEPING = 2,
  WF_LATCH_SET = 3,
  WF_LATCH_STATE_MASK = 3,
  WF_LATCH_THIEF_SHIFT = 2,
  /* The largest "index + 1". Together with the state it stays below 32768, where no
   * system puts data of a program: Linux maps nothing below vm.mmap_min_addr, which is
   * 65536 by default. */
  WF_LATCH_MAX_THIEF = 8191
};

/* Instead of a thief's index: the task is in no deque, and its join will run it. */
#define WF_LATCH_GIVEN_BACK (~(uintptr_t)WF_LATCH_STATE_MASK)

/* ---- reading the word ---- */

static inline uintptr_t wf_latch_state_in(uintptr_t word) {
  return word & WF_LATCH_STATE_MASK;
}

/* The index of the thief, or -1 if the word holds none. */
static inline int wf_latch_thief_in(uintptr_t word) {
  uintptr_t upper = word >> WF_LATCH_THIEF_SHIFT;
  return upper <= WF_LATCH_MAX_THIEF ? (int)upper - 1 : -1;
}

static inline bool wf_latch_is_given_back_in(uintptr_t word) {
  return word == WF_LATCH_GIVEN_BACK;
}

/* The region that the fork has left, if no thief has noted its index yet. */
static inline const wf_region *wf_latch_region_in(uintptr_t word) {
  WF_ASSERT(wf_latch_thief_in(word) < 0);
  WF_ASSERT((word & ~(uintptr_t)WF_LATCH_STATE_MASK) != WF_LATCH_GIVEN_BACK);
  return (const wf_region *)(word & ~(uintptr_t)WF_LATCH_STATE_MASK);
}

/* ---- the latch ---- */

static inline void wf_latch_init(wf_latch *latch) {
  wf_word_init(&latch->x_state, WF_LATCH_UNSET);
}

/* For assertions: the state. */
static inline unsigned wf_latch_peek(const wf_latch *latch) {
  return (unsigned)wf_latch_state_in(wf_word_peek(&latch->x_state));
}

/* Is it set? Then everything the setter did before is visible. */
static inline bool wf_latch_probe(const wf_latch *latch) {
  /* Acquire: pairs with the exchange in wf_latch_set. */
  return wf_latch_state_in(wf_word_load_acquire(&latch->x_state)) == WF_LATCH_SET;
}

/* Does its waiter sleep, or is it about to? To be asked after a fence. */
static inline bool wf_latch_is_sleeping(const wf_latch *latch) {
  /* Relaxed: ordered by the caller's fence. */
  return wf_latch_state_in(wf_word_load_relaxed(&latch->x_state)) == WF_LATCH_SLEEPING;
}

/* The waiter's transitions; false if the latch has been set meanwhile. */
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
 * "Latch against sleeper" in src/sched/sleep.md. explorer: acq_rel suffices, because all
 * sides of that race are read-modify-writes of two words. */
static inline bool wf_latch_set(wf_latch *latch) {
  uintptr_t old = wf_word_exchange_seq_cst(&latch->x_state, WF_LATCH_SET);
  WF_ASSERT(wf_latch_state_in(old) != WF_LATCH_SET);
  return wf_latch_state_in(old) == WF_LATCH_SLEEPING;
}

/* ---- the latch of a forked task (wf_latch_init_forked is in detail/fork_join.h) ---- */

/* A thief leaves its worker index, before it runs the task, where the fork has left its
 * region, and gets the region. */
static inline const wf_region *wf_latch_note_thief(wf_latch *latch, unsigned thief) {
  WF_ASSERT(thief < WF_LATCH_MAX_THIEF);
  uintptr_t index = ((uintptr_t)thief + 1) << WF_LATCH_THIEF_SHIFT;
  /* Relaxed: the fork wrote the word before it published the task, and the index is only
   * a hint where to look for work. */
  uintptr_t seen = wf_word_load_relaxed(&latch->x_state);
  /* seq_cst: pairs with the waiter's own transitions, which are kept. explorer: relaxed
   * suffices, only one word is involved. */
  while (!wf_word_cas_seq_cst(&latch->x_state, &seen, wf_latch_state_in(seen) | index)) {
  }
  WF_ASSERT(wf_latch_state_in(seen) != WF_LATCH_SET);
  return wf_latch_region_in(seen);
}

/* The worker index of the thief, or -1 if none has noted it yet. */
static inline int wf_latch_thief(const wf_latch *latch) {
  return wf_latch_thief_in(wf_word_load_relaxed(&latch->x_state)); /* relaxed: a hint */
}

/* [the forking thread; the task is in no deque] Its join will run it. */
static inline void wf_latch_note_given_back(wf_latch *latch) {
  /* It never was public, or was taken back: no thief has noted itself. */
  WF_ASSERT(wf_latch_thief_in(wf_word_peek(&latch->x_state)) < 0);
  wf_word_init(&latch->x_state, WF_LATCH_GIVEN_BACK); /* no other thread sees the task */
}

static inline bool wf_latch_is_given_back(const wf_latch *latch) {
  /* Relaxed: the thread's own note. */
  return wf_latch_is_given_back_in(wf_word_load_relaxed(&latch->x_state));
}

/* ---- the word of a spawned task, which nobody waits for ---- */

struct weft_scope;

static inline void wf_latch_init_scope(wf_latch *latch, struct weft_scope *scope) {
  WF_ASSERT(wf_latch_state_in((uintptr_t)scope) == WF_LATCH_UNSET && scope != NULL);
  wf_word_init(&latch->x_state, (uintptr_t)scope);
}

/* The scope that a spawned task belongs to. */
static inline struct weft_scope *wf_latch_scope(const wf_latch *latch) {
  /* Relaxed: written once, before the task was handed on. */
  struct weft_scope *scope = (struct weft_scope *)wf_word_load_relaxed(&latch->x_state);
  WF_ASSERT(wf_latch_state_in((uintptr_t)scope) == WF_LATCH_UNSET && scope != NULL);
  return scope;
}

/* ---- counting latch: set when a count of things has come down to zero ---- */

/* x_count is the number of things still to happen. A thread that adds some holds one
 * count itself, so that
 *
 *     x_count > 0 until the last one is counted off, and then it is 0 for ever. */
typedef struct wf_count_latch {
  wf_u32 x_count;
  wf_latch latch;
} wf_count_latch;

/* count is at least 1. */
void wf_count_latch_init(wf_count_latch *counter, uint32_t count);
/* [a thread that holds a count] */
void wf_count_latch_add(wf_count_latch *counter, uint32_t n);
/* Takes one off and says whether it was the last, without setting the latch: for callers
 * that have something else to set. */
bool wf_count_latch_count_off(wf_count_latch *counter);
/* Takes one off. Only the last one sets the latch and may return true, "wake the waiter";
 * as with wf_latch_set the memory may be gone when this returns. */
bool wf_count_latch_done(wf_count_latch *counter);

/* ---- once-latch: for a thread that is no worker and simply blocks ---- */

/* x_state: UNSET -> WAITING (the waiter announces that it will block) -> SET. A nudge
 * leads from WAITING back to UNSET. SET stays. */
typedef struct wf_once_latch {
  wf_u32 x_state;
} wf_once_latch;

void wf_once_latch_init(wf_once_latch *once);
/* Sets it and wakes the waiter if it blocks. The memory may be gone when this returns,
 * unless it may be set again, which changes nothing: a pool whose exit hooks detach work
 * is drained more than once. */
void wf_once_latch_set(wf_once_latch *once);
bool wf_once_latch_probe(const wf_once_latch *once);
/* Blocks until it is set. Only one thread waits. */
void wf_once_latch_wait(wf_once_latch *once);

/* The same until wf_sys_now_ns() has come to deadline_ns; false if it is not set then. */
bool wf_once_latch_wait_until(wf_once_latch *once, uint64_t deadline_ns);

/* A time that never comes, for the calls that take one. */
#define WF_NEVER UINT64_MAX

/* The time that is timeout_ns from now. */
uint64_t wf_deadline_in(uint64_t timeout_ns);

/* wf_sys_wait that ends at a time; WF_NEVER is a wait without one. False if the time has
 * come; true if something else ended the wait, perhaps nothing at all. */
bool wf_wait_until(wf_u32 *word, uint32_t expected, uint64_t deadline_ns);

/* For a waiter that must also look at something else. It announces that it is about to
 * block, and then looks. If there is nothing, it blocks until the latch is set (true) or
 * until it was nudged after the announcement (false). A nudge is a fence and a load if
 * nobody blocks. The memory must exist during a nudge. */
void wf_once_latch_announce(wf_once_latch *once);
bool wf_once_latch_wait_announced(wf_once_latch *once);
void wf_once_latch_nudge(wf_once_latch *once);

#endif
