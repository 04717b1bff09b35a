/* core/counters.h - one word that says how many workers sleep, how many are idle, and
 * whether work was posted since somebody got sleepy.
 *
 *     bits  0-15  sleeping: workers that are registered as asleep
 *     bits 16-31  inactive: workers that look for work, the sleeping ones included
 *     bits 32-63  jobs event counter (JEC); wraps around without touching the others
 *
 *     sleeping <= inactive <= workers (<= 65535)
 *
 * The JEC is even while somebody is sleepy and nothing was posted since, odd otherwise.
 * A worker that gets sleepy makes it even, a poster makes it odd; each increments only if
 * the parity is not yet right. So in a busy pool posting costs one load. The sleepy
 * worker keeps the value it left and registers as sleeping only if the counter still has
 * it.
 *
 * All operations are seq_cst on this one word: they pair with each other.
 * explorer: everywhere in this file acquire and acq_rel do as well. The updates of one
 * word have an order anyway, and against other words the callers' fences order them
 * (sleep.md); seq_cst is the same instruction on x86-64 and aarch64, and needs no
 * argument.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_CORE_COUNTERS_H
#define WF_CORE_COUNTERS_H

#include "atomic.h"

typedef struct wf_counters {
  wf_u64 x_word;
} wf_counters;

#define WF_ONE_SLEEPING ((uint64_t)1)
#define WF_ONE_INACTIVE ((uint64_t)1 << 16)
#define WF_ONE_JEC      ((uint64_t)1 << 32)

static inline unsigned wf_counters_sleeping(uint64_t word) {
  return (unsigned)(word & 0xffff);
}

static inline unsigned wf_counters_inactive(uint64_t word) {
  return (unsigned)(word >> 16 & 0xffff);
}

static inline uint32_t wf_counters_jec(uint64_t word) {
  return (uint32_t)(word >> 32);
}

/* Workers that look for work and do not sleep. */
static inline unsigned wf_counters_awake_idle(uint64_t word) {
  unsigned sleeping = wf_counters_sleeping(word);
  unsigned inactive = wf_counters_inactive(word);
  return inactive > sleeping ? inactive - sleeping : 0;
}

static inline uint64_t wf_counters_load(const wf_counters *counters) {
  return wf_u64_load_seq_cst(&counters->x_word); /* pairs with the RMWs below */
}

/* A worker starts, or stops, looking for work. Both return the word as it is then. */
static inline uint64_t wf_counters_add_inactive(wf_counters *counters) {
  /* pairs with the other operations on the word */
  return wf_u64_fetch_add_seq_cst(&counters->x_word, WF_ONE_INACTIVE) + WF_ONE_INACTIVE;
}

static inline uint64_t wf_counters_sub_inactive(wf_counters *counters) {
  /* pairs with the other operations on the word */
  return wf_u64_fetch_sub_seq_cst(&counters->x_word, WF_ONE_INACTIVE) - WF_ONE_INACTIVE;
}

/* Increments the JEC if its lowest bit is `parity`; returns the word as it is then. */
static inline uint64_t wf_counters_flip_from(wf_counters *counters, uint32_t parity) {
  uint64_t word = wf_counters_load(counters);
  while ((wf_counters_jec(word) & 1) == parity) {
    /* pairs with the other operations on the word */
    if (wf_u64_cas_seq_cst(&counters->x_word, &word, word + WF_ONE_JEC))
      return word + WF_ONE_JEC;
  }
  return word;
}

/* A worker gets sleepy: the JEC is even afterwards. */
static inline uint64_t wf_counters_announce(wf_counters *counters) {
  return wf_counters_flip_from(counters, 1);
}

/* Work was posted: the JEC is odd afterwards. */
static inline uint64_t wf_counters_post(wf_counters *counters) {
  return wf_counters_flip_from(counters, 0);
}

/* Registers a worker as sleeping, unless the JEC has moved since it was `jec`. */
static inline bool wf_counters_try_sleep(wf_counters *counters, uint32_t jec) {
  uint64_t word = wf_counters_load(counters);
  while (wf_counters_jec(word) == jec) {
    /* pairs with the other operations on the word */
    if (wf_u64_cas_seq_cst(&counters->x_word, &word, word + WF_ONE_SLEEPING)) return true;
  }
  return false;
}

/* Whoever takes a worker out of its sleep counts it off: the waker, or the sleeper itself
 * if it changed its mind. */
static inline void wf_counters_sub_sleeping(wf_counters *counters) {
  /* pairs with the other operations on the word */
  wf_u64_fetch_sub_seq_cst(&counters->x_word, WF_ONE_SLEEPING);
}

#endif
