/* core/counters.h - one word that says how many workers sleep, how many are idle, and
 * whether work was posted since a worker got sleepy.
 *
 *     bits  0-15  sleeping: workers that are registered as asleep
 *     bits 16-31  inactive: workers that look for work, the sleeping ones included
 *     bits 32-63  jobs event counter (JEC); wraps around without touching the others
 *
 * Invariants of every value that the word has:
 *
 *     sleeping <= inactive <= workers of the pool <= 65535
 *     JEC even: a worker is sleepy and nothing was posted since; odd: otherwise
 *
 * A worker that gets sleepy makes the JEC even, a poster makes it odd; each increments it
 * only if the parity is not yet right. So in a busy pool posting costs one load. The
 * sleepy worker keeps the value it left, and stays awake if the counter has moved when it
 * looks again. That saves most sleeps that would be in vain, not all: a worker that has
 * registered as sleeping looks for work once more (sleep.md).
 *
 * Who calls: the sleep protocol of the pool (src/sched/sleep.c), from any thread.
 *
 * All operations are seq_cst on this one word: they pair with each other.
 * explorer: everywhere in this file acquire and acq_rel suffice. The updates of one word
 * have an order anyway, and against other words the callers' fences order them
 * (sleep.md); seq_cst is the same instruction on x86-64 and aarch64, and needs no
 * argument.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_CORE_COUNTERS_H
#define WF_CORE_COUNTERS_H

#include "assert.h"
#include "atomic.h"

typedef struct wf_counters {
  wf_u64 x_word;
} wf_counters;

#define WF_ONE_SLEEPING   ((uint64_t)1)
#define WF_ONE_INACTIVE   ((uint64_t)1 << 16)
#define WF_ONE_JEC        ((uint64_t)1 << 32)
#define WF_COUNTERS_LIMIT 65535u /* of each of the two counts */

static inline unsigned wf_counters_sleeping(uint64_t word) {
  return (unsigned)(word & WF_COUNTERS_LIMIT);
}

static inline unsigned wf_counters_inactive(uint64_t word) {
  return (unsigned)(word >> 16 & WF_COUNTERS_LIMIT);
}

static inline uint32_t wf_counters_jec(uint64_t word) {
  return (uint32_t)(word >> 32);
}

/* Asserts the invariants of a value of the word; `workers` is how many the pool has. */
static inline void wf_counters_check(uint64_t word, unsigned workers) {
  (void)word, (void)workers;
  WF_ASSERT(wf_counters_sleeping(word) <= wf_counters_inactive(word));
  WF_ASSERT(wf_counters_inactive(word) <= workers);
}

/* Workers that look for work and do not sleep. */
static inline unsigned wf_counters_awake_idle(uint64_t word) {
  wf_counters_check(word, WF_COUNTERS_LIMIT);
  return wf_counters_inactive(word) - wf_counters_sleeping(word);
}

static inline uint64_t wf_counters_load(const wf_counters *counters) {
  /* pairs with the RMWs below */
  uint64_t word = wf_u64_load_seq_cst(&counters->x_word);
  wf_counters_check(word, WF_COUNTERS_LIMIT);
  return word;
}

/* A worker starts, or stops, looking for work. Both return the word as it is then. */
static inline uint64_t wf_counters_add_inactive(wf_counters *counters) {
  /* pairs with the other operations on the word */
  uint64_t old = wf_u64_fetch_add_seq_cst(&counters->x_word, WF_ONE_INACTIVE);
  WF_ASSERT(wf_counters_inactive(old) < WF_COUNTERS_LIMIT);
  return old + WF_ONE_INACTIVE;
}

static inline uint64_t wf_counters_sub_inactive(wf_counters *counters) {
  /* pairs with the other operations on the word */
  uint64_t old = wf_u64_fetch_sub_seq_cst(&counters->x_word, WF_ONE_INACTIVE);
  /* The caller is counted as inactive and does not sleep. */
  WF_ASSERT(wf_counters_inactive(old) > wf_counters_sleeping(old));
  return old - WF_ONE_INACTIVE;
}

/* Increments the JEC if its lowest bit is `parity`; returns the word as it is then. */
static inline uint64_t wf_counters_flip_from(wf_counters *counters, uint32_t parity) {
  WF_ASSERT(parity <= 1);
  uint64_t word = wf_counters_load(counters);
  while ((wf_counters_jec(word) & 1) == parity) {
    /* pairs with the other operations on the word */
    if (wf_u64_cas_seq_cst(&counters->x_word, &word, word + WF_ONE_JEC)) {
      word += WF_ONE_JEC;
      break;
    }
  }
  return word;
}

/* A worker gets sleepy: the JEC is even afterwards. */
static inline uint64_t wf_counters_announce(wf_counters *counters) {
  uint64_t word = wf_counters_flip_from(counters, 1);
  WF_ASSERT((wf_counters_jec(word) & 1) == 0);
  return word;
}

/* Work was posted: the JEC is odd afterwards. */
static inline uint64_t wf_counters_post(wf_counters *counters) {
  uint64_t word = wf_counters_flip_from(counters, 0);
  WF_ASSERT((wf_counters_jec(word) & 1) == 1);
  return word;
}

/* Registers a worker, which is counted as inactive, as sleeping whatever was posted: it
 * looks again by itself. */
static inline void wf_counters_add_sleeping(wf_counters *counters) {
  /* pairs with the other operations on the word */
  uint64_t old = wf_u64_fetch_add_seq_cst(&counters->x_word, WF_ONE_SLEEPING);
  WF_ASSERT(wf_counters_sleeping(old) < wf_counters_inactive(old));
}

/* The same, unless the JEC is seen to have moved since wf_counters_announce returned a
 * word with `jec`. It may move between the look and the registration: that is as good as
 * a moment later. A CAS would fail whenever another worker registers: 255 workers that
 * get idle at once would each try again 128 times on average. */
static inline bool wf_counters_try_sleep(wf_counters *counters, uint32_t jec) {
  WF_ASSERT((jec & 1) == 0);
  if (wf_counters_jec(wf_counters_load(counters)) != jec) return false;
  wf_counters_add_sleeping(counters);
  return true;
}

/* The thread that ends a worker's sleep counts it off: the waker, or the sleeper itself
 * if it finds work on its way to sleep. */
static inline void wf_counters_sub_sleeping(wf_counters *counters) {
  /* pairs with the other operations on the word */
  uint64_t old = wf_u64_fetch_sub_seq_cst(&counters->x_word, WF_ONE_SLEEPING);
  WF_ASSERT(wf_counters_sleeping(old) > 0);
}

#endif
