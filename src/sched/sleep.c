/* sched/sleep.c - sleeping and waking. Protocol, races and proofs: sleep.md.
 *
 * A sleeper registers (counter, then its bit in a set), and only then looks at every
 * source of work once more; a poster publishes, and only then looks for sleepers. The
 * thread that takes the bit out of the set has claimed the sleeper, counts it off and,
 * unless it is the sleeper itself, wakes it: one wake-up per sleep. Any thread posts; the
 * second part runs on the thread that sleeps.
 *
 * SPDX-License-Identifier: MIT */
#include "sleep.h"

#include "blocking.h"
#include "pool.h"
#include "search.h"

enum { AWAKE = 0, PARKED = 1 };

/* ---- posters ---- */

/* The caller has taken a sleeper of this kind out of its set, which came after the
 * sleeper was counted: so the counts are not 0. */
static void count_off(weft_pool *pool, wf_sleeper kind) {
  if (kind == WF_SLEEPER_IDLE) {
    wf_pool_check_counters(pool, wf_u64_peek(&pool->sleep.counters.x_word));
    WF_ASSERT(wf_counters_sleeping(wf_u64_peek(&pool->sleep.counters.x_word)) > 0);
    wf_counters_sub_sleeping(&pool->sleep.counters);
  }
  if (kind == WF_SLEEPER_HELPER) {
    /* seq_cst: pairs with wf_sleep_waiting. explorer: acq_rel suffices, as there. */
    uint32_t helpers = wf_u32_fetch_sub_seq_cst(&pool->sleep.x_helpers, 1);
    WF_ASSERT(helpers > 0);
  }
}

/* The caller has taken worker `index` out of the set of its kind. */
static void unpark(weft_pool *pool, unsigned index, wf_sleeper kind) {
  WF_ASSERT(index < pool->slots);
  wf_worker *worker = &pool->workers[index];
  WF_ASSERT(wf_u32_peek(&worker->x_park) == PARKED); /* nobody else has claimed it */
  count_off(pool, kind);
  wf_u64_fetch_add_relaxed(&pool->sleep.x_wakes, 1); /* statistics */
  /* Release: pairs with the acquire in park. explorer: needed against a store that
   * overtakes the counting off, which it does not produce: the sleeper would go on and
   * count itself as busy while it is still counted as asleep. */
  wf_u32_store_release(&worker->x_park, AWAKE);
  wf_sys_wake_one(&worker->x_park);
}

/* Wakes up to n sleepers of a kind; returns how many there were. */
static unsigned wake_up_to(weft_pool *pool, unsigned n, wf_sleeper kind) {
  unsigned woken = 0;
  while (woken < n) {
    int index = wf_bitset_take_any(pool->sleep.x_sets[kind], pool->words);
    if (index < 0) break;
    unpark(pool, (unsigned)index, kind);
    woken++;
  }
  WF_ASSERT(woken <= n);
  return woken;
}

/* Wakes up to n stand-ins, if threads are in blocking sections that have none yet. */
static unsigned wake_stand_ins(weft_pool *pool, unsigned n) {
  return wf_stand_in_is_wanted(pool) ? wake_up_to(pool, n, WF_SLEEPER_STAND_IN) : 0;
}

/* How many helpers sleep. */
static unsigned helper_count(const weft_pool *pool) {
  /* Relaxed: ordered by the fences of the callers. */
  return wf_u32_load_relaxed(&pool->sleep.x_helpers);
}

unsigned wf_sleep_new_tasks(weft_pool *pool, unsigned n, bool queue_was_empty) {
  /* Pairs with the fence in park: either the sleeper sees the tasks, or this thread sees
   * the sleeper. */
  wf_fence_seq_cst();
  uint64_t word = wf_counters_post(&pool->sleep.counters);
  unsigned helpers = helper_count(pool);
  if (wf_counters_sleeping(word) == 0 && helpers == 0) return wake_stand_ins(pool, 1);
  if (queue_was_empty) {
    unsigned awake = wf_counters_awake_idle(word);
    n = n > awake ? n - awake : 0;
  }
  unsigned woken = 0;
  if (wf_counters_sleeping(word) > 0) woken = wake_up_to(pool, n, WF_SLEEPER_IDLE);
  if (woken < n) woken += wake_stand_ins(pool, n - woken);
  if (woken < n && helpers > 0) woken += wake_up_to(pool, n - woken, WF_SLEEPER_HELPER);
  return woken;
}

unsigned wf_sleep_new_injected(weft_pool *pool) {
  wf_fence_seq_cst(); /* pairs with the fence in park, as above */
  uint64_t word = wf_counters_post(&pool->sleep.counters);
  if (wf_counters_awake_idle(word) > 0) return 0;
  unsigned woken = 0;
  if (wf_counters_sleeping(word) > 0) woken = wake_up_to(pool, 1, WF_SLEEPER_IDLE);
  return woken > 0 ? woken : wake_stand_ins(pool, 1);
}

unsigned wf_sleep_wake_next(weft_pool *pool) {
  uint64_t word = wf_counters_load(&pool->sleep.counters);
  if (wf_counters_awake_idle(word) > 0) return 0;
  unsigned woken = 0;
  if (wf_counters_sleeping(word) > 0) woken = wake_up_to(pool, 1, WF_SLEEPER_IDLE);
  if (woken == 0) woken = wake_stand_ins(pool, 1);
  if (woken == 0 && helper_count(pool) > 0)
    woken = wake_up_to(pool, 1, WF_SLEEPER_HELPER);
  return woken;
}

unsigned wf_sleep_wake_batch(weft_pool *pool, unsigned n) {
  return wake_up_to(pool, n, WF_SLEEPER_IDLE);
}

void wf_sleep_wake_worker(weft_pool *pool, unsigned index) {
  WF_ASSERT(index < pool->slots); /* contexts without a place block elsewhere */
  for (int kind = 0; kind < WF_SLEEPER_KINDS; kind++) {
    if (wf_bitset_remove(pool->sleep.x_sets[kind], index)) {
      unpark(pool, index, (wf_sleeper)kind);
      return;
    }
  }
  /* In no set: the sleeper has not parked yet and will see its latch, or another thread
   * is waking it already. */
}

/* ---- sleepers ---- */

/* A worker that is awake is in no set. On its own thread: after a wake-up the claim,
 * which took the bit out, came before the store to x_park that ended the sleep. */
static void check_in_no_set(const wf_worker *worker) {
  unsigned word = worker->index / WF_BITSET_WORD_BITS;
  for (int kind = 0; kind < WF_SLEEPER_KINDS; kind++)
    WF_ASSERT_SLOW((wf_u64_peek(&worker->pool->sleep.x_sets[kind][word]) &
                    wf_bitset_bit(worker->index)) == 0);
}

/* Blocks until claimed, unless the latch is set or there is work after all. The worker is
 * counted as a sleeper of its kind. True if it was woken by somebody. */
static bool park(wf_worker *worker, wf_latch *latch, wf_sleeper kind) {
  wf_u64 *set = worker->pool->sleep.x_sets[kind];
  WF_ASSERT(!worker->serial && worker->index < worker->pool->slots);
  WF_ASSERT(worker->credits == 0); /* a sleeper keeps no scope from ending */
  check_in_no_set(worker);
  /* Relaxed: adding the bit below publishes it to the threads that may write it. */
  wf_u32_store_relaxed(&worker->x_park, PARKED);
  wf_bitset_add(set, worker->index);
  /* Pairs with the fences of the posters, and with the exchange in wf_latch_set. */
  wf_fence_seq_cst();
  if (wf_latch_probe(latch) || wf_search_sees_work(worker, kind)) {
    if (wf_bitset_remove(set, worker->index)) {
      count_off(worker->pool, kind);
      return false;
    }
    /* Somebody has claimed this sleep and is about to say so. */
  }
  wf_u64_count(&worker->x_sleeps, 1);
  /* Acquire: pairs with the release in unpark. explorer: as there. */
  while (wf_u32_load_acquire(&worker->x_park) == PARKED)
    wf_sys_wait(&worker->x_park, PARKED);
  check_in_no_set(worker);
  return true;
}

/* The waiter's own view of its latch, before and after. */
static void check_sleepy(const wf_latch *latch) {
  WF_ASSERT(wf_latch_peek(latch) == WF_LATCH_SLEEPY ||
            wf_latch_peek(latch) == WF_LATCH_SET);
}

static void check_awake(const wf_latch *latch) {
  WF_ASSERT(wf_latch_peek(latch) == WF_LATCH_UNSET ||
            wf_latch_peek(latch) == WF_LATCH_SET);
}

bool wf_sleep_idle(wf_worker *worker, wf_latch *latch, uint32_t jec) {
  check_sleepy(latch);
  if (!wf_latch_fall_asleep(latch)) return false;
  bool slept = false;
  if (wf_counters_try_sleep(&worker->pool->sleep.counters, jec))
    slept = park(worker, latch, WF_SLEEPER_IDLE);
  wf_latch_wake_up(latch);
  check_awake(latch);
  return slept;
}

bool wf_sleep_waiting(wf_worker *worker, wf_latch *latch, wf_sleeper kind) {
  WF_ASSERT(kind != WF_SLEEPER_IDLE && kind < WF_SLEEPER_KINDS);
  check_sleepy(latch);
  if (!wf_latch_fall_asleep(latch)) return false;
  if (kind == WF_SLEEPER_HELPER) {
    /* seq_cst: pairs with count_off. explorer: acq_rel suffices, the fences in park and
     * of the posters order it. */
    uint32_t others = wf_u32_fetch_add_seq_cst(&worker->pool->sleep.x_helpers, 1);
    WF_ASSERT(others < worker->pool->slots);
  }
  bool slept = park(worker, latch, kind);
  wf_latch_wake_up(latch);
  check_awake(latch);
  return slept;
}
