/* sched/sleep.h - who sleeps, and who is woken. Protocol and proofs: sleep.md.
 *
 * Posters are threads that have made work, or set a latch: any thread. Sleepers are
 * workers, each on its own thread.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_SCHED_SLEEP_H
#define WF_SCHED_SLEEP_H

#include "../core/bitset.h"
#include "../core/counters.h"
#include "../core/latch.h"

struct weft_pool;
struct wf_worker;

/* What a sleeping worker can be woken for, besides its latch. */
typedef enum wf_sleeper {
  WF_SLEEPER_IDLE,     /* has nothing to do: takes public tasks and injected ones */
  WF_SLEEPER_HELPER,   /* waits for a task of its own: takes public tasks, to help */
  WF_SLEEPER_CLOSED,   /* waits, and its stack is deep enough: woken for its latch only */
  WF_SLEEPER_STAND_IN, /* works only while others are in blocking sections */
  WF_SLEEPER_KINDS
} wf_sleeper;

/* A set of sleepers: each word of 64 has a cache line of its own, this many words apart.
 * Of many workers that sleep and wake at once, only neighbours wait for each other. */
enum { WF_SET_STRIDE = WF_CACHE_LINE / 8 };

/* As wf_bitset_add and wf_bitset_remove. */
static inline bool wf_set_add(wf_u64 *set, unsigned index) {
  return wf_bitset_add(&set[index / 64 * WF_SET_STRIDE], index % 64);
}
static inline bool wf_set_remove(wf_u64 *set, unsigned index) {
  return wf_bitset_remove(&set[index / 64 * WF_SET_STRIDE], index % 64);
}

/* Sleepers that a thread is to wake, if they still sleep then. */
typedef struct wf_wakes {
  uint64_t among; /* these of word `word` of the set */
  unsigned word;
  unsigned others; /* and this number of any others */
} wf_wakes;

/* Cache lines: every worker writes the counters when it gets idle and when it finds work,
 * so nothing else is in their line; what is only read has one, too. */
typedef struct wf_sleep {
  _Alignas(WF_CACHE_LINE) wf_counters counters; /* the idle workers */

  /* Which worker sleeps, by kind: sets of their own lines, constant pointers. */
  _Alignas(WF_CACHE_LINE) wf_u64 *x_sets[WF_SLEEPER_KINDS];

  _Alignas(WF_CACHE_LINE) wf_u64 x_wakes; /* statistics */
  /* Pools with more threads than CPUs; see "Held-back wake-ups" in sleep.md. */
  wf_u32 x_watched; /* 1: one idle worker, the watcher, looks again by itself */
  wf_u32 x_held;    /* 1: a wake-up was held back since the watcher looked last */

  /* The last look before a sleep, by which victims it looks at: does a sleeper look, and
   * have others come meanwhile? See "One look for all" in sleep.md. */
  _Alignas(WF_CACHE_LINE) wf_u32 x_looks[2];
  /* Workers that search (idle.c): does one take over, and when may the next one? */
  wf_u32 x_taking_over;
  wf_u64 x_next_take_over_ns;

  /* How long woken workers worked beyond what makes a wake-up pay, summed up, with a
   * sign: a hint of idle.c. Written rarely, so it has a line of its own. */
  _Alignas(WF_CACHE_LINE) wf_u64 x_worth;
} wf_sleep;

/* ---- posters ---- */

/* n tasks have become public. Wakes as many workers as that needs: none if enough awake
 * ones look for work and thieves keep up (the queue was empty); and none while as many
 * threads are awake as there are CPUs, then a watcher looks again soon. Returns how many
 * were woken. */
unsigned wf_sleep_new_tasks(struct weft_pool *pool, unsigned n, bool queue_was_empty);

/* Something was injected. Wakes an idle worker unless an awake one looks for work. */
unsigned wf_sleep_new_injected(struct weft_pool *pool);

/* A worker has found work: wakes the next one if nobody is left that looks for more. To
 * be called before the work is run. */
unsigned wf_sleep_wake_next(struct weft_pool *pool);

/* The same by a worker that was woken and has found work. In large pools it wakes others
 * even if some look for more: that it has found something shows that there was more work
 * than workers. */
unsigned wf_sleep_wake_more(struct weft_pool *pool);

/* There is work for n more workers than are awake, and the thread that has it gives it
 * away when asked: wakes up to n idle workers in one go. Returns how many. */
unsigned wf_sleep_wake_batch(struct weft_pool *pool, unsigned n);

/* The latch that worker `index` waits for was set, and its state said that the worker
 * sleeps. Does nothing if it is awake by now. */
void wf_sleep_wake_worker(struct weft_pool *pool, unsigned index);

/* ---- sleepers ---- */

/* An idle worker sleeps, unless something was posted since wf_counters_announce gave
 * `jec`. Its latch is SLEEPY. Returns when it was woken, or has found a reason not to
 * sleep; the latch is then UNSET or SET. True if it slept. */
bool wf_sleep_idle(struct wf_worker *worker, wf_latch *latch, uint32_t jec);

/* A worker that waits for a latch sleeps. The latch is SLEEPY. Returns as above. */
bool wf_sleep_waiting(struct wf_worker *worker, wf_latch *latch, wf_sleeper kind);
/* The same until *deadline_ns (WF_NEVER: no such time), which becomes 0 when the time has
 * come. NULL is WF_NEVER. */
bool wf_sleep_waiting_until(struct wf_worker *worker, wf_latch *latch, wf_sleeper kind,
                            uint64_t *deadline_ns);

#endif
