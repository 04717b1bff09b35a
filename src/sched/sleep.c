/* sched/sleep.c - sleeping and waking. Protocol, races and proofs: sleep.md.
 *
 * A sleeper registers (its bit in a set), and only then looks at every source of work
 * once more; a poster publishes, and only then looks for sleepers. The thread that takes
 * the bit out of the set has claimed the sleeper and, unless it is the sleeper itself,
 * wakes it: one wake-up per sleep. Any thread posts; the second part runs on the thread
 * that sleeps.
 *
 * SPDX-License-Identifier: MIT */
#include "sleep.h"

#include "blocking.h"
#include "record.h"
#include "search.h"
#include "stats.h"
#include "steer.h"

enum { AWAKE = 0, PARKED = 1 };

/* How long the watcher sleeps between two looks, and after how many looks at work that is
 * not taken it takes some itself although others make progress. So work whose wake-up was
 * held back waits for 2 ms at most, and for two looks where all awake threads are stuck.
 * A look costs about 5 us on a busy CPU, with the sleep around it: 2 % of one CPU. */
enum { WATCH_NS = 250000, WATCH_LOOKS = 8 };

/* How long a worker sleeps that could not look into private parts, because the system has
 * refused the barrier; then it looks again. A choice: a look costs some 20 us, so such a
 * sleeper takes 2 % of a CPU. It lasts as long as an owner computes without calling weft.
 */
enum { BLIND_SLEEP_NS = 1000000 };

/* If more workers than this are busy, one that was woken and has found work wakes others
 * even if some search, as long as there is one searching worker for four busy ones at
 * most. Choices: from all asleep to all at work in a tree of joins takes 0.5 ms instead
 * of 2 ms on 256 simulated cores; with fewer than 16, loops of 20 us wake too many
 * (docs/scaling.md). */
enum { WAKES_MORE_ABOVE = 16, BUSY_PER_SEARCHER = 4 };

/* ---- posters ---- */

/* The caller has taken worker `index` out of the set of its kind. */
static void unpark(weft_pool *pool, unsigned index) {
  WF_ASSERT(index < pool->slots);
  wf_worker *worker = &pool->workers[index];
  WF_ASSERT(wf_u32_peek(&worker->x_park) == PARKED); /* nobody else has claimed it */
  wf_pool_check_counters(pool);
  wf_u64_fetch_add_relaxed(&pool->sleep.x_wakes, 1); /* statistics */
  bool is_steered = wf_steer_before_wake(pool, worker);
  wf_record_wake(worker);
  /* Release: pairs with the acquire in park. explorer: needed against a store that
   * overtakes the claim, which it does not produce: the sleeper would go on and count
   * itself as busy while its bit still says that it is asleep. */
  wf_u32_store_release(&worker->x_park, AWAKE);
  wf_sys_wake_one(&worker->x_park);
  if (is_steered) wf_steer_after_wake(pool, worker);
}

/* The place of the calling thread in the pool, or -1. */
static int own_place(const weft_pool *pool) {
  const wf_worker *self = wf_worker_now();
  return self != NULL && self->pool == pool && !self->serial ? (int)self->index : -1;
}

/* The first n bits of a word. */
static uint64_t first_bits(uint64_t bits, unsigned n) {
  uint64_t rest = bits;
  for (; n > 0 && rest != 0; n--) rest &= rest - 1;
  return bits & ~rest;
}

static unsigned count_of(const wf_wakes *wakes) {
  return wf_bitset_count(wakes->among) + wakes->others;
}

/* Half of those that are still to be woken, for the sleeper that is woken next, so that
 * the number of wakers doubles with each wake-up. Those of other words come first: the
 * waker keeps the bits that it has chosen. */
static wf_wakes take_half(wf_wakes *wakes) {
  unsigned n = (count_of(wakes) + 1) / 2;
  wf_wakes half = {.word = wakes->word};
  half.others = n < wakes->others ? n : wakes->others;
  wakes->others -= half.others;
  half.among = first_bits(wakes->among, n - half.others);
  wakes->among &= ~half.among;
  return half;
}

/* Chooses a word with sleepers for the `others`, from place `start` on. False if nobody
 * sleeps but perhaps the caller, who is in place `own` (or -1): while it looks for the
 * last time it is in a set, and awake, and somebody else is to be woken. */
static bool choose_word(const weft_pool *pool, wf_sleeper kind, unsigned start, int own,
                        wf_wakes *wakes) {
  const wf_u64 *set = pool->sleep.x_sets[kind];
  unsigned word = start / WF_BITSET_WORD_BITS;
  uint64_t behind = ~(uint64_t)0 << (start % WF_BITSET_WORD_BITS);
  for (unsigned i = 0; i < pool->words; i++) {
    /* seq_cst: pairs with wf_bitset_add; sleep.md, "Post against sleep". explorer:
     * acquire suffices, as there. */
    uint64_t bits = wf_u64_load_seq_cst(&set[word * WF_SET_STRIDE]);
    if (own >= 0 && (unsigned)own / WF_BITSET_WORD_BITS == word)
      bits &= ~wf_bitset_bit((unsigned)own);
    if (bits != 0) {
      uint64_t among = first_bits(bits & behind, wakes->others);
      unsigned n = wf_bitset_count(among);
      among |= first_bits(bits & ~behind, wakes->others - n);
      wakes->word = word;
      wakes->among = among;
      wakes->others -= wf_bitset_count(among);
      return true;
    }
    word = word + 1 < pool->words ? word + 1 : 0;
  }
  return false;
}

/* Wakes those sleepers of a kind, or leaves a part of them to those that it wakes;
 * returns how many there were, or will be if they still sleep then. They look for work at
 * place `origin` first, if it is not -1. In large pools threads look for sleepers from
 * different places on, so that those who wake at the same time do not all want the same.
 */
static unsigned wake_for(weft_pool *pool, wf_wakes wakes, wf_sleeper kind, int origin) {
  int own = own_place(pool);
  wf_worker *self = pool->words > 1 && own >= 0 ? wf_worker_now() : NULL;
  bool in_tree = kind == WF_SLEEPER_IDLE && pool->wakes_in_trees;
  unsigned woken = 0, start = self != NULL ? self->index : 0;
  while (count_of(&wakes) > 0) {
    if (wakes.among == 0 && !choose_word(pool, kind, start, own, &wakes)) break;
    unsigned index =
        wakes.word * WF_BITSET_WORD_BITS + (unsigned)__builtin_ctzll(wakes.among);
    wakes.among &= wakes.among - 1;
    if (!wf_set_remove(pool->sleep.x_sets[kind], index)) {
      wakes.others++; /* another thread was faster: not to the same place again */
      if (self != NULL) start = wf_rng_bounded(&self->rng, pool->slots);
      continue;
    }
    wf_worker *sleeper = &pool->workers[index];
    wf_wakes half = in_tree ? take_half(&wakes) : (wf_wakes){0};
    sleeper->wakes = half; /* all three are its claimer's until it is unparked */
    sleeper->was_called = kind == WF_SLEEPER_HELPER;
    if (origin >= 0 && origin != (int)index) sleeper->last_victim = origin;
    woken += 1 + count_of(&half);
    unpark(pool, index);
  }
  return woken;
}

static unsigned wake_up_to(weft_pool *pool, unsigned n, wf_sleeper kind) {
  return wake_for(pool, (wf_wakes){.others = n}, kind, own_place(pool));
}

/* The worker was woken, and wakes others for its waker. */
static void wake_for_waker(wf_worker *worker) {
  wf_wakes wakes = worker->wakes;
  worker->wakes = (wf_wakes){0};
  if (count_of(&wakes) > 0)
    wake_for(worker->pool, wakes, WF_SLEEPER_IDLE, worker->last_victim);
}

/* Wakes up to n idle sleepers, of `sleeping`. */
static unsigned wake_idle(weft_pool *pool, unsigned n, unsigned sleeping) {
  return sleeping > 0 ? wake_up_to(pool, n < sleeping ? n : sleeping, WF_SLEEPER_IDLE)
                      : 0;
}

/* Wakes up to n stand-ins, if threads are in blocking sections that have none yet. */
static unsigned wake_stand_ins(weft_pool *pool, unsigned n) {
  return wf_stand_in_is_wanted(pool) ? wake_up_to(pool, n, WF_SLEEPER_STAND_IN) : 0;
}

unsigned wf_sleep_count_slow(const weft_pool *pool, wf_sleeper kind) {
  unsigned sleeping = 0, words = wf_sleep_words(pool, kind);
  for (unsigned word = 0; word < words; word++)
    sleeping += wf_bitset_count(wf_sleep_word(pool, kind, word));
  return sleeping;
}

/* ---- wake-ups that are held back ---- */

/* How many threads are awake in the pool: those that are in a place, do not sleep there
 * and are in no blocking section. The number is about right, which is enough: the watcher
 * mends what a wrong one leaves. */
static unsigned awake_count(const weft_pool *pool) {
  const wf_sleep *sleep = &pool->sleep;
  unsigned awake = 0;
  for (unsigned word = 0; word < pool->words; word++) {
    /* Relaxed, all of it: see above. */
    uint64_t asleep =
        wf_u64_load_relaxed(&sleep->x_sets[WF_SLEEPER_IDLE][word * WF_SET_STRIDE]) |
        wf_u64_load_relaxed(&sleep->x_sets[WF_SLEEPER_HELPER][word * WF_SET_STRIDE]) |
        wf_u64_load_relaxed(&sleep->x_sets[WF_SLEEPER_CLOSED][word * WF_SET_STRIDE]);
    uint64_t present = wf_u64_load_relaxed(&pool->x_present[word]);
    awake += wf_bitset_count(present & ~asleep);
  }
  unsigned blocked = wf_u32_load_relaxed(&pool->x_blocked);
  return awake > blocked ? awake - blocked : 0;
}

/* How many more could have a CPU of their own. */
static unsigned room_for_more(const weft_pool *pool) {
  unsigned awake = awake_count(pool);
  return awake < pool->options.cpus ? pool->options.cpus - awake : 0;
}

static bool anybody_sleeps(const weft_pool *pool) {
  bool any = false;
  for (unsigned word = 0; word < pool->words; word++)
    /* Relaxed: after the fence in hold_back. */
    any = any || wf_u64_load_relaxed(
                     &pool->sleep.x_sets[WF_SLEEPER_IDLE][word * WF_SET_STRIDE]) != 0;
  return any;
}

static int take_any(weft_pool *pool) {
  for (unsigned word = 0; word < pool->words; word++) {
    int bit =
        wf_bitset_take_any(&pool->sleep.x_sets[WF_SLEEPER_IDLE][word * WF_SET_STRIDE], 1);
    if (bit >= 0) return (int)(word * 64) + bit;
  }
  return -1;
}

/* A wake-up is held back, after a fence or a seq_cst operation of the caller: makes sure
 * that somebody looks again. */
static void hold_back(weft_pool *pool) {
  /* Relaxed: the watcher clears it before it looks, and looks again if it was set. */
  if (wf_u32_load_relaxed(&pool->sleep.x_held) == 0)
    wf_u32_store_relaxed(&pool->sleep.x_held, 1);
  do {
    uint32_t nobody = 0;
    /* seq_cst: pairs with the store in stop_watching. Either this thread sees that nobody
     * watches, or the watcher's last look sees what this thread leaves. */
    if (wf_u32_load_seq_cst(&pool->sleep.x_watched) != 0) return;
    /* seq_cst: pairs as above. explorer: relaxed suffices, one thread makes the watcher.
     */
    if (!wf_u32_cas_seq_cst(&pool->sleep.x_watched, &nobody, 1)) return;
    int index = take_any(pool);
    if (index >= 0) {
      pool->workers[index].watches = true; /* its claimer's, until it is unparked */
      unpark(pool, (unsigned)index);
      return;
    }
    /* Nobody sleeps: a worker that is about to will see the work before it does. But
     * meanwhile another thread may have counted on a watcher, for one that sleeps by now.
     * Release, and the fence: pairs with the load above in that thread. */
    wf_u32_store_release(&pool->sleep.x_watched, 0);
    wf_fence_seq_cst(); /* pairs with the fence of the sleeper in park */
  } while (anybody_sleeps(pool));
}

/* There are n new tasks, and `sleeping` idle workers or some helpers sleep. */
static __attribute__((noinline)) unsigned
wake_for_tasks(weft_pool *pool, unsigned n, bool queue_was_empty, unsigned sleeping) {
  if (queue_was_empty) {
    unsigned awake = wf_sleep_searching_beside(pool, sleeping);
    n = n > awake ? n - awake : 0;
  }
  /* Where no idle worker sleeps, helpers and stand-ins are woken as in any pool: nobody
   * could be the watcher. */
  if (pool->exceeds_cpus && n > 0 && sleeping > 0) {
    unsigned room = room_for_more(pool);
    if (room < n) hold_back(pool);
    if (room == 0) return 0;
    if (room < n) n = room;
  }
  unsigned woken = wake_idle(pool, n, sleeping);
  if (woken < n) woken += wake_stand_ins(pool, n - woken);
  if (woken < n) woken += wake_up_to(pool, n - woken, WF_SLEEPER_HELPER);
  return woken;
}

unsigned wf_sleep_new_tasks(weft_pool *pool, unsigned n, bool queue_was_empty) {
  /* Pairs with the fence in park: either the sleeper sees the tasks, or this thread sees
   * the sleeper. */
  wf_fence_seq_cst();
  wf_counters_post(&pool->sleep.counters);
  unsigned sleeping = wf_sleep_sleeping(pool);
  if (sleeping == 0 && !wf_sleep_any(pool, WF_SLEEPER_HELPER))
    return wake_stand_ins(pool, 1);
  return wake_for_tasks(pool, n, queue_was_empty, sleeping);
}

unsigned wf_sleep_new_injected(weft_pool *pool) {
  wf_fence_seq_cst(); /* pairs with the fence in park, as above */
  wf_counters_post(&pool->sleep.counters);
  unsigned sleeping = wf_sleep_sleeping(pool);
  if (wf_sleep_searching_beside(pool, sleeping) > 0) return 0;
  unsigned woken = wake_idle(pool, 1, sleeping);
  return woken > 0 ? woken : wake_stand_ins(pool, 1);
}

/* Wakes the next one, of `sleeping` idle ones or of others. */
static unsigned wake_next(weft_pool *pool, unsigned sleeping) {
  if (pool->exceeds_cpus && sleeping > 0 && room_for_more(pool) == 0) {
    hold_back(pool);
    return 0;
  }
  unsigned woken = wake_idle(pool, pool->wakes_in_trees ? 2 : 1, sleeping);
  if (woken == 0) woken = wake_stand_ins(pool, 1);
  if (woken == 0) woken = wake_up_to(pool, 1, WF_SLEEPER_HELPER);
  return woken;
}

/* Is there anybody to wake for tasks? If not, nobody has to know how many search. */
static bool has_sleepers(const weft_pool *pool, unsigned sleeping) {
  return sleeping > 0 || wf_sleep_any(pool, WF_SLEEPER_HELPER) ||
         wf_stand_in_is_wanted(pool);
}

unsigned wf_sleep_wake_next(weft_pool *pool) {
  unsigned sleeping = wf_sleep_sleeping(pool);
  if (!has_sleepers(pool, sleeping) || wf_sleep_searching_beside(pool, sleeping) > 0)
    return 0;
  return wake_next(pool, sleeping);
}

unsigned wf_sleep_wake_more(weft_pool *pool) {
  unsigned sleeping = wf_sleep_sleeping(pool);
  if (!has_sleepers(pool, sleeping)) return 0;
  unsigned searching = wf_sleep_searching_beside(pool, sleeping),
           idle = sleeping + searching, busy = 0;
  if (pool->wakes_in_trees && pool->thread_places > idle)
    busy = pool->thread_places - idle;
  if (searching > (busy > WAKES_MORE_ABOVE ? busy / BUSY_PER_SEARCHER : 0)) return 0;
  return wake_next(pool, sleeping);
}

unsigned wf_sleep_wake_batch(weft_pool *pool, unsigned n) {
  if (pool->exceeds_cpus) {
    unsigned room = room_for_more(pool);
    if (room < n) n = room;
  }
  return wake_up_to(pool, n, WF_SLEEPER_IDLE);
}

void wf_sleep_wake_worker(weft_pool *pool, unsigned index) {
  WF_ASSERT(index < pool->slots); /* contexts without a place block elsewhere */
  for (int kind = 0; kind < WF_SLEEPER_KINDS; kind++) {
    if (wf_set_remove(pool->sleep.x_sets[kind], index)) {
      unpark(pool, index);
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
    WF_ASSERT_SLOW((wf_u64_peek(&worker->pool->sleep.x_sets[kind][word * WF_SET_STRIDE]) &
                    wf_bitset_bit(worker->index)) == 0);
}

/* The sleeper itself takes its bit out of the set, before somebody has claimed it; false
 * if somebody has. */
static bool claim_itself(wf_worker *worker, wf_sleeper kind) {
  if (!wf_set_remove(worker->pool->sleep.x_sets[kind], worker->index)) return false;
  wf_u32_store_relaxed(&worker->x_park, AWAKE); /* relaxed: its own again */
  return true;
}

/* When a worker that has seen no work must wake by itself: at its deadline, or sooner if
 * it could not see all there is. */
static uint64_t sleep_until(const wf_worker *worker, uint64_t deadline_ns) {
  if (!worker->is_blind) return deadline_ns;
  uint64_t look_again_ns = wf_sys_now_ns() + BLIND_SLEEP_NS;
  return look_again_ns < deadline_ns ? look_again_ns : deadline_ns;
}

/* A thread that has nothing to do has empty deques. Where the barrier was refused, others
 * cannot know that unless it says so, by a seal. */
static void seal_if_eager(wf_deque *deque) {
  if (wf_deque_is_eager(deque) && wf_deque_is_pinned(deque)) wf_deque_seal(deque);
}

/* Blocks until claimed, unless the latch is set or there is work after all, or the time
 * has come: then that becomes 0. The worker is counted as a sleeper of its kind. True if
 * it was woken by somebody. */
static bool park(wf_worker *worker, wf_latch *latch, wf_sleeper kind,
                 uint64_t *deadline_ns) {
  wf_u64 *set = worker->pool->sleep.x_sets[kind];
  uint64_t never = WF_NEVER;
  if (deadline_ns == NULL) deadline_ns = &never;
  WF_ASSERT(!worker->serial && worker->index < worker->pool->slots);
  WF_ASSERT(worker->credits == 0); /* a sleeper keeps no scope from ending */
  check_in_no_set(worker);
  worker->wake_ns = 0; /* no waker has come yet */
  bool was_called = worker->was_called;
  worker->was_called = false;
  worker->is_blind = false;
  /* Relaxed: adding the bit below publishes it to the threads that may write it. */
  wf_u32_store_relaxed(&worker->x_park, PARKED);
  wf_set_add(set, worker->index);
  /* Pairs with the fences of the posters, and with the exchange in wf_latch_set. */
  wf_fence_seq_cst();
  if (kind == WF_SLEEPER_IDLE) {
    seal_if_eager(&worker->deque);
    seal_if_eager(&worker->spawned);
  }
  bool stays = wf_latch_probe(latch) || wf_search_last_look(worker, latch, kind);
  if (stays && claim_itself(worker, kind)) {
    worker->was_called = was_called; /* it still is: it has not looked at all */
    return false;
  } /* else somebody has claimed this sleep and is about to say so */
  wf_u64_count(&worker->x_sleeps, 1);
  wf_record_sleep(worker, kind);
  wf_timer_start(&worker->x_asleep, wf_sys_now_ns());
  uint64_t until_ns = sleep_until(worker, *deadline_ns);
  /* Acquire: pairs with the release in unpark. explorer: as there. */
  while (wf_u32_load_acquire(&worker->x_park) == PARKED) {
    if (wf_wait_until(&worker->x_park, PARKED, until_ns)) continue;
    if (until_ns == *deadline_ns) *deadline_ns = 0;
    if (claim_itself(worker, kind)) {
      wf_timer_stop(&worker->x_asleep, wf_sys_now_ns());
      wf_record_sleep_end(worker, false);
      return false;
    }
    until_ns = WF_NEVER; /* somebody was faster, as above */
  }
  check_in_no_set(worker);
  if (stays && was_called) worker->was_called = true; /* as above */
  wf_steer_after_sleep(worker);
  wf_timer_stop(&worker->x_asleep, wf_sys_now_ns());
  wf_stats_woken(worker);
  wf_record_sleep_end(worker, true);
  return true;
}

/* ---- the watcher ---- */

/* Slow-path events of the threads that are awake: if the sum has changed, somebody has
 * stolen, exposed or begun something. */
static uint64_t progress(const weft_pool *pool) {
  uint64_t sum = 0;
  for (unsigned word = 0; word < pool->words; word++) {
    /* Relaxed, all of it: a number to compare with the one of the next look. */
    uint64_t bits =
        wf_u64_load_relaxed(&pool->x_present[word]) &
        ~wf_u64_load_relaxed(&pool->sleep.x_sets[WF_SLEEPER_IDLE][word * WF_SET_STRIDE]);
    for (; bits != 0; bits &= bits - 1) {
      const wf_worker *worker =
          &pool->workers[word * WF_BITSET_WORD_BITS + (unsigned)__builtin_ctzll(bits)];
      sum += wf_u64_load_relaxed(&worker->x_tasks) +
             wf_u64_load_relaxed(&worker->x_injected) +
             wf_u64_load_relaxed(&worker->x_steals) +
             wf_u64_load_relaxed(&worker->x_exposes);
    }
  }
  return sum;
}

/* Sleeps for WATCH_NS as an idle sleeper that anybody may claim. True if somebody has, or
 * if there is something that it must not leave; false if the time is over. Afterwards the
 * worker is counted as idle and awake. */
static bool watch_for_a_while(wf_worker *worker, const wf_latch *latch) {
  weft_pool *pool = worker->pool;
  wf_u64 *set = pool->sleep.x_sets[WF_SLEEPER_IDLE];
  wf_steer_before_sleep(worker);
  worker->wake_ns = 0;
  wf_record_sleep(worker, WF_SLEEPER_IDLE);
  wf_u32_store_relaxed(&worker->x_park, PARKED); /* relaxed: as in park */
  wf_set_add(set, worker->index);
  wf_fence_seq_cst(); /* pairs with the fences of the posters, as in park */
  bool urgent = wf_latch_probe(latch) || wf_search_sees_urgent(worker);
  bool over = urgent;
  /* Acquire: pairs with the release in unpark. explorer: as there. */
  while (!over && wf_u32_load_acquire(&worker->x_park) == PARKED)
    over = !wf_sys_wait_for(&worker->x_park, PARKED, WATCH_NS);
  if (over && claim_itself(worker, WF_SLEEPER_IDLE)) {
    wf_record_sleep_end(worker, false);
    return urgent;
  }
  /* Acquire: pairs with the release in unpark. explorer: as there. */
  while (wf_u32_load_acquire(&worker->x_park) == PARKED)
    wf_sys_wait(&worker->x_park, PARKED);
  wf_steer_after_sleep(worker);
  wf_u64_count(&worker->x_sleeps, 1); /* looks that end by themselves are none */
  wf_stats_woken(worker);
  wf_record_sleep_end(worker, true);
  return true;
}

/* Does the watcher have to take what it sees? */
static bool must_take(const weft_pool *pool, uint64_t *seen, unsigned looks) {
  uint64_t now = progress(pool);
  bool is_stuck = now == *seen;
  *seen = now;
  /* The watcher itself counts as awake here. */
  return is_stuck || looks >= WATCH_LOOKS || awake_count(pool) <= pool->options.cpus;
}

static void stop_watching(weft_pool *pool) {
  /* Release: pairs with the seq_cst load in hold_back, by the fence that follows. What a
   * thread has left to the watcher before is seen by the worker's next search, which
   * comes after the fence. */
  wf_u32_store_release(&pool->sleep.x_watched, 0);
  wf_fence_seq_cst(); /* pairs with the seq_cst operations of those who hold back */
}

/* The worker was woken to be the watcher: it sleeps with a time limit, and looks whether
 * work for which nobody was woken is still there. Returns when it has to search for work
 * itself, or when nothing is held back any more. */
static void watch(wf_worker *worker, const wf_latch *latch) {
  weft_pool *pool = worker->pool;
  uint64_t seen = progress(pool);
  unsigned looks = 0;
  worker->watches = false;
  wf_timer_start(&worker->x_asleep, wf_sys_now_ns());
  while (!watch_for_a_while(worker, latch)) {
    /* Relaxed: cleared before the look; one that comes later sets it again. */
    bool was_held = wf_u32_load_relaxed(&pool->sleep.x_held) != 0;
    wf_u32_store_relaxed(&pool->sleep.x_held, 0);
    if (wf_search_sees_work(worker, WF_SLEEPER_IDLE)) {
      if (must_take(pool, &seen, ++looks)) break;
    } else if (!was_held) {
      break;
    } else {
      looks = 0;
    }
  }
  wf_timer_stop(&worker->x_asleep, wf_sys_now_ns());
  stop_watching(pool);
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

/* May an idle worker sleep? Not if something was posted since it got sleepy, but that
 * does not keep it awake twice in a row. The look in park does not depend on the JEC. */
static bool may_sleep(wf_worker *worker, uint32_t jec) {
  const wf_counters *counters = &worker->pool->sleep.counters;
  bool may = worker->insists || !wf_counters_has_moved(counters, jec);
  worker->insists = !may;
  return may;
}

bool wf_sleep_idle(wf_worker *worker, wf_latch *latch, uint32_t jec) {
  check_sleepy(latch);
  wf_steer_before_sleep(worker);
  if (!wf_latch_fall_asleep(latch)) return false;
  bool slept = false;
  if (may_sleep(worker, jec)) slept = park(worker, latch, WF_SLEEPER_IDLE, NULL);
  if (slept) wake_for_waker(worker);
  if (slept && worker->watches) watch(worker, latch);
  wf_latch_wake_up(latch);
  check_awake(latch);
  return slept;
}

bool wf_sleep_waiting_until(wf_worker *worker, wf_latch *latch, wf_sleeper kind,
                            uint64_t *deadline_ns) {
  WF_ASSERT(kind != WF_SLEEPER_IDLE && kind < WF_SLEEPER_KINDS);
  check_sleepy(latch);
  wf_steer_before_sleep(worker);
  if (!wf_latch_fall_asleep(latch)) return false;
  bool slept = park(worker, latch, kind, deadline_ns);
  wf_latch_wake_up(latch);
  check_awake(latch);
  return slept;
}

bool wf_sleep_waiting(wf_worker *worker, wf_latch *latch, wf_sleeper kind) {
  return wf_sleep_waiting_until(worker, latch, kind, NULL);
}
