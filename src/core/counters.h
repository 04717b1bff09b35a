/* core/counters.h - how many workers are idle, and whether work was posted since a worker
 * got sleepy. Who sleeps is in the sets of sched/sleep.h.
 *
 * The inactive workers, those that look for work, the sleeping ones included, are counted
 * for each group of eight, in a line of its own. When hundreds of workers get idle and
 * find work again at the same time, as at the end of a loop, one word for all would be
 * the place where they wait for each other.
 *
 * The jobs event counter (JEC): even if a worker is sleepy and nothing was posted since,
 * odd otherwise; it wraps around. A worker that gets sleepy makes it even, a poster makes
 * it odd; each increments it only if the parity is not yet right. So in a busy pool
 * posting costs one load. The sleepy worker keeps the value it left, and stays awake if
 * the counter has moved when it looks again. That saves most sleeps that would be in
 * vain, not all: a worker that is in the set of sleepers looks for work once more
 * (sleep.md). Pools with more than one group do without: something is posted all the
 * time there, and all would want this one word.
 *
 * Invariants: a worker in the set of idle sleepers is counted as inactive; inactive <=
 * workers of the pool.
 *
 * Who calls: the sleep protocol of the pool (src/sched/sleep.c), from any thread.
 *
 * All operations are seq_cst: they pair with each other. explorer: everywhere in this
 * file acquire and acq_rel suffice. The updates of one word have an order anyway, and
 * against other words the callers' fences order them (sleep.md); seq_cst is the same
 * instruction on x86-64 and aarch64, and needs no argument.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_CORE_COUNTERS_H
#define WF_CORE_COUNTERS_H

#include "assert.h"
#include "atomic.h"

/* Workers that count together: a choice, as many as share a cache on many servers. Pools
 * with more than 256 workers count several such groups together. */
enum { WF_COUNTERS_GROUP = 8, WF_COUNTERS_GROUPS = 32 };

typedef struct wf_counters {
  wf_u32 x_jec;
  unsigned groups; /* constant; 0 is as good as 1 */
  struct {
    _Alignas(WF_CACHE_LINE) wf_u32 x_inactive;
  } of[WF_COUNTERS_GROUPS];
} wf_counters;

/* For a pool with this number of workers; all counts are 0. */
static inline void wf_counters_init(wf_counters *counters, unsigned workers) {
  unsigned groups = workers / WF_COUNTERS_GROUP + (workers % WF_COUNTERS_GROUP != 0);
  counters->groups = groups < WF_COUNTERS_GROUPS ? groups : WF_COUNTERS_GROUPS;
}

/* The group of worker `index`. */
static inline unsigned wf_counters_group(const wf_counters *counters, unsigned index) {
  return counters->groups > 1 ? index / WF_COUNTERS_GROUP % counters->groups : 0;
}

/* ---- idle workers ---- */

/* A worker of this group starts, or stops, looking for work. */
static inline void wf_counters_add_inactive(wf_counters *counters, unsigned group) {
  /* pairs with the other operations on the counts */
  wf_u32_fetch_add_seq_cst(&counters->of[group].x_inactive, 1);
}

static inline void wf_counters_sub_inactive(wf_counters *counters, unsigned group) {
  /* pairs with the other operations on the counts */
  uint32_t old = wf_u32_fetch_sub_seq_cst(&counters->of[group].x_inactive, 1);
  WF_ASSERT(old > 0); /* the caller is counted */
}

/* How many are inactive. */
static inline unsigned wf_counters_inactive(const wf_counters *counters) {
  /* pairs with the RMWs above; here and below */
  unsigned inactive = wf_u32_load_seq_cst(&counters->of[0].x_inactive);
  for (unsigned group = 1; group < counters->groups; group++)
    inactive += wf_u32_load_seq_cst(&counters->of[group].x_inactive);
  return inactive;
}

/* About how many, by those of one group: exact if there is one group. */
static inline unsigned wf_counters_inactive_about(const wf_counters *counters,
                                                  unsigned group) {
  /* Relaxed: a hint. */
  uint32_t here = wf_u32_load_relaxed(&counters->of[group].x_inactive);
  return counters->groups > 1 ? here * counters->groups : here;
}

/* ---- the jobs event counter ---- */

static inline bool wf_counters_has_jec(const wf_counters *counters) {
  return counters->groups <= 1;
}

/* Increments the JEC if its lowest bit is `parity`; returns it as it is then. */
static inline uint32_t wf_counters_flip_from(wf_counters *counters, uint32_t parity) {
  WF_ASSERT(parity <= 1);
  /* pairs with the compare-and-swap */
  uint32_t jec = wf_u32_load_seq_cst(&counters->x_jec);
  while ((jec & 1) == parity) {
    /* pairs with itself in other threads */
    if (wf_u32_cas_seq_cst(&counters->x_jec, &jec, jec + 1)) {
      jec++;
      break;
    }
  }
  return jec;
}

/* A worker gets sleepy: the JEC is even afterwards. Returns it, for has_moved. */
static inline uint32_t wf_counters_announce(wf_counters *counters) {
  if (!wf_counters_has_jec(counters)) return 0;
  uint32_t jec = wf_counters_flip_from(counters, 1);
  WF_ASSERT((jec & 1) == 0);
  return jec;
}

/* Work was posted: the JEC is odd afterwards. */
static inline void wf_counters_post(wf_counters *counters) {
  if (!wf_counters_has_jec(counters)) return;
  uint32_t jec = wf_counters_flip_from(counters, 0);
  WF_ASSERT((jec & 1) == 1);
  (void)jec;
}

/* Has something been posted since wf_counters_announce returned `jec`? It may be a moment
 * after the look: that is as good as after the caller is in the set of sleepers. */
static inline bool wf_counters_has_moved(const wf_counters *counters, uint32_t jec) {
  WF_ASSERT((jec & 1) == 0);
  /* pairs with the compare-and-swap above */
  return wf_u32_load_seq_cst(&counters->x_jec) != jec;
}

#endif
