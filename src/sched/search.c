/* sched/search.c - finding work. See search.h for the order, ../core/deque.md for asking
 * and taking over.
 *
 * SPDX-License-Identifier: MIT */
#include "search.h"

#include "mail.h"
#include "scoped.h"
#include "spare.h"

/* The injector is looked at first in every so many searches, as in other schedulers: a
 * prime, so that it does not fall into step with the work. Background work, in turn. */
enum { INJECTOR_TURN = 61, BACKGROUND_TURN = 251 };

/* A worker looks around for so long before it asks: an owner that is about to finish is
 * left in peace. A tree of 1023 joins, pool awake: 3.0 us with this, 3.6 us without. */
enum { FIRST_ASK_NS = 300 };

/* Owners are given this long to answer an ask by their next fork or join. After that the
 * thief takes over, which costs a process-wide barrier (measured: 0.1 to 0.4 us). */
enum { FIRST_SEIZE_NS = 3000, NEXT_SEIZE_NS = 20000 };

/* A woken worker searches at least this long, however often it was woken for nothing: an
 * owner that forks small work has answered by then, and the worker does not need the
 * barrier before it sleeps again, which interrupts that owner. */
enum { LEAST_SEARCH_NS = 2000 };

/* Budgets of the idle modes, in nanoseconds. */
static const struct {
  uint64_t spin_ns, yield_ns;
} BUDGETS[] = {
    [WEFT_IDLE_LOW_LATENCY] = {50000, 450000},
    [WEFT_IDLE_BALANCED] = {5000, 10000},
    [WEFT_IDLE_POWER_SAVING] = {3500, 0},
};

enum { LONGEST_PAUSE = 8, FUTILE_WAKES_COUNTED = 6 };

/* After so many rounds patience ends whatever the clock says: one that stands still must
 * not keep a worker awake. A round takes 30 ns at the very least, so that a clock that
 * works always ends the longest budget first. */
enum { MOST_ROUNDS = 20000 };

/* ---- background work ---- */

static bool background_has_room(const weft_pool *pool) {
  /* Relaxed: a look; the CAS in begin_background decides. */
  return wf_u32_load_relaxed(&pool->x_background_count) < pool->background_limit;
}

/* Counts the worker as being at background work; false if enough others are. Whoever
 * looks for tasks sees its bit before it can push one. */
static bool begin_background(wf_worker *worker) {
  weft_pool *pool = worker->pool;
  uint32_t count = wf_u32_load_relaxed(&pool->x_background_count); /* the CAS decides */
  /* Never above the limit, not even for a moment: the worker that makes room would take
   * that for a full lane and tell nobody. seq_cst: pairs with the sub in
   * leave_background, and with the fence in park: a worker that sees no room here is
   * told by the one that makes it. explorer: acq_rel does as well, fences order it. */
  do {
    if (count >= pool->background_limit) return false;
  } while (!wf_u32_cas_seq_cst(&pool->x_background_count, &count, count + 1));
  wf_bitset_add(pool->x_background, worker->index);
  worker->background = true;
  return true;
}

static void leave_background(wf_worker *worker) {
  worker->background = false;
  wf_bitset_remove(worker->pool->x_background, worker->index);
  /* seq_cst: pairs with begin_background. explorer: acq_rel does as well, as there. */
  wf_u32_fetch_sub_seq_cst(&worker->pool->x_background_count, 1);
}

void wf_background_tell(weft_pool *pool) {
  /* Pairs with the fence in wf_background_end: either this thread sees that there is room
   * again, or the worker that made room sees the work. explorer: nothing is lost without
   * it, because that worker looks once more before it sleeps; but it may have other work
   * to do first, and others would sleep meanwhile. */
  wf_fence_seq_cst();
  if (background_has_room(pool)) wf_sleep_new_injected(pool);
}

void wf_background_end(wf_worker *worker) {
  leave_background(worker);
  /* Pairs with the fence in wf_background_tell. explorer: as there. */
  wf_fence_seq_cst();
  if (wf_injector_any(&worker->pool->background)) wf_background_tell(worker->pool);
}

/* May the worker take tasks of workers that are at background work? */
static bool takes_background(const wf_worker *worker) {
  const wf_region *region = worker->deque.owner.region;
  return region != NULL && region->background;
}

/* ---- one victim ---- */

/* The public part is empty. Asks for more when it is time, or, if a take-over has left
 * private tasks behind, goes on with it. True if there is something to take now. */
static bool claim_more(wf_worker *worker, wf_deque *deque) {
  uint64_t asked = wf_deque_asked(deque);
  if ((asked & WF_ASKED_STATE_MASK) != WF_ASKED_RICH) {
    if (worker->asks) wf_deque_ask(deque);
    return false;
  }
  if (wf_deque_claim(deque, asked) == 0) return false;
  wf_u64_count(&worker->x_takeovers, 1);
  return true;
}

/* Tries to take a task from one of a worker's deques; asks for one if there is none.
 * *again is set if another thread was faster. */
static bool take_from_deque(wf_worker *worker, unsigned index, wf_deque *deque,
                            wf_work *work, bool *again) {
  const wf_u64 *flags = &worker->pool->x_background[index / WF_BITSET_WORD_BITS];
  if (takes_background(worker) || worker->background) flags = NULL;
  switch (wf_deque_steal_unless(deque, flags, wf_bitset_bit(index), &work->task)) {
  case WF_STEAL_GOT:
    work->owner = index;
    worker->last_victim = (int)index;
    wf_u64_count(&worker->x_steals, 1);
    return true;
  case WF_STEAL_RETRY:
    *again = true;
    return false;
  case WF_STEAL_EMPTY:
    if (claim_more(worker, deque)) *again = true;
    return false;
  }
  return false;
}

/* Tasks of scopes come first: they are older than the forks of the task that runs, and
 * usually larger. Few workers have any, so most looks end at one line of memory. */
static bool take_from(wf_worker *worker, unsigned index, wf_work *work, bool *again) {
  wf_worker *victim = &worker->pool->workers[index];
  *work = (wf_work){.spawned = true};
  /* Relaxed: the ring is only a sign that the deque was ever used. */
  if (wf_ptr_load_relaxed(&victim->spawned.x_ring) != NULL &&
      take_from_deque(worker, index, &victim->spawned, work, again))
    return true;
  *work = (wf_work){.spawned = false};
  return take_from_deque(worker, index, &victim->deque, work, again);
}

bool wf_search_thief(wf_worker *worker, int thief, wf_work *work) {
  bool again = true;
  while (thief >= 0 && thief != (int)worker->index && again) {
    again = false;
    if (take_from(worker, (unsigned)thief, work, &again)) return true;
  }
  return false;
}

/* ---- all victims ---- */

/* Which victims to look at. */
typedef enum victims { NORMAL_VICTIMS, BACKGROUND_VICTIMS, ALL_VICTIMS } victims;

/* The workers of one word of the set that are present, without the searching one. */
static uint64_t others_in_word(const wf_worker *worker, unsigned word, victims which) {
  const weft_pool *pool = worker->pool;
  /* Acquire: pairs with the RMW by which a worker enters its place (guest.c, pool.c).
   * explorer: relaxed does, a thief reads nothing of a victim that is not ordered itself.
   */
  uint64_t bits = wf_u64_load_acquire(&pool->x_present[word]);
  if (worker->index / WF_BITSET_WORD_BITS == word) bits &= ~wf_bitset_bit(worker->index);
  if (which == ALL_VICTIMS) return bits;
  /* Relaxed: a hint; wf_deque_steal_unless looks again. */
  uint64_t background = wf_u64_load_relaxed(&pool->x_background[word]);
  return which == NORMAL_VICTIMS ? bits & ~background : bits & background;
}

/* The victims of a worker that waits. */
static victims victims_of_waiting(const wf_worker *worker) {
  return takes_background(worker) ? ALL_VICTIMS : NORMAL_VICTIMS;
}

static bool take_from_bits(wf_worker *worker, unsigned word, uint64_t bits, wf_work *work,
                           bool *again) {
  for (; bits != 0; bits &= bits - 1) {
    unsigned index = word * WF_BITSET_WORD_BITS + (unsigned)__builtin_ctzll(bits);
    if (take_from(worker, index, work, again)) return true;
  }
  return false;
}

/* Is nobody else in the pool now? So it is where all work comes from outside. */
static bool has_no_others(const wf_worker *worker) {
  const weft_pool *pool = worker->pool;
  unsigned own = worker->index / WF_BITSET_WORD_BITS;
  uint64_t others = 0;
  /* Relaxed: a hint; one who comes a moment later is found by the next search, and by the
   * look before a sleep (sees_public). */
  for (unsigned word = 0; word < pool->words; word++)
    others |= wf_u64_load_relaxed(&pool->x_present[word]) &
              ~(word == own ? wf_bitset_bit(worker->index) : 0);
  return others == 0;
}

/* Every other worker once, from a random place on. */
static bool sweep(wf_worker *worker, victims which, wf_work *work, bool *again) {
  weft_pool *pool = worker->pool;
  unsigned start = wf_rng_bounded(&worker->rng, pool->slots);
  unsigned word = start / WF_BITSET_WORD_BITS;
  uint64_t from_start = ~(uint64_t)0 << (start % WF_BITSET_WORD_BITS);
  for (unsigned i = 0; i <= pool->words; i++, word++) {
    if (word == pool->words) word = 0;
    uint64_t bits = others_in_word(worker, word, which);
    if (i == 0) bits &= from_start;
    if (i == pool->words) bits &= ~from_start;
    if (take_from_bits(worker, word, bits, work, again)) return true;
  }
  return false;
}

static bool sees_public(const wf_worker *worker, victims which) {
  for (unsigned word = 0; word < worker->pool->words; word++) {
    for (uint64_t bits = others_in_word(worker, word, which); bits != 0;
         bits &= bits - 1) {
      unsigned index = word * WF_BITSET_WORD_BITS + (unsigned)__builtin_ctzll(bits);
      const wf_worker *victim = &worker->pool->workers[index];
      if (wf_deque_has_public(&victim->deque) || wf_deque_has_public(&victim->spawned))
        return true;
    }
  }
  return false;
}

static bool sweep_until_sure(wf_worker *worker, victims which, wf_work *work) {
  bool again;
  if (has_no_others(worker)) return false;
  do {
    again = false;
    if (sweep(worker, which, work, &again)) return true;
  } while (again);
  return false;
}

bool wf_search_anybody(wf_worker *worker, wf_work *work) {
  bool again = false;
  int last = worker->last_victim;
  if (last >= 0 && wf_bitset_has(worker->pool->x_present, (unsigned)last) &&
      take_from(worker, (unsigned)last, work, &again))
    return true;
  worker->last_victim = -1;
  return sweep_until_sure(worker, victims_of_waiting(worker), work);
}

/* ---- injected work ---- */

static bool take_injected(wf_worker *worker, wf_work *work) {
  *work = (wf_work){0};
  return wf_injector_take(&worker->pool->injector, &work->injected);
}

/* From the lane, or a part of what another worker took from there. */
static bool take_background(wf_worker *worker, wf_work *work) {
  weft_pool *pool = worker->pool;
  bool queued = wf_injector_any(&pool->background);
  /* Relaxed: a hint, so that the bit sets are left alone in most searches. */
  if (!queued && wf_u32_load_relaxed(&pool->x_background_count) == 0) return false;
  if (!queued && !(pool->steals && sees_public(worker, BACKGROUND_VICTIMS))) return false;
  if (!begin_background(worker)) return false;
  bool found = pool->steals && sweep_until_sure(worker, BACKGROUND_VICTIMS, work);
  if (!found) {
    *work = (wf_work){0};
    found = wf_injector_take(&pool->background, &work->injected);
  }
  work->background = found;
  if (!found) leave_background(worker);
  return found;
}

static bool take_mail(wf_worker *worker, wf_work *work) {
  *work = (wf_work){.mail = wf_mail_take(worker)};
  return work->mail != NULL;
}

bool wf_search_anything(wf_worker *worker, wf_work *work) {
  wf_worker_settle(worker);
  if (take_mail(worker, work)) return true;
  unsigned turn = ++worker->search_count;
  if (turn % INJECTOR_TURN == 0 && take_injected(worker, work)) return true;
  if (turn % BACKGROUND_TURN == 0 && take_background(worker, work)) return true;
  if (worker->pool->steals && wf_search_anybody(worker, work)) return true;
  return take_injected(worker, work) || take_background(worker, work);
}

bool wf_search_roots(wf_worker *worker, wf_work *work) {
  if (worker->pool->steals && wf_search_anybody(worker, work)) return true;
  return take_injected(worker, work);
}

/* ---- private parts ---- */

/* Closes the pins of a worker's deques, joins and spawned tasks, and notes what they were
 * at. True if a barrier is needed before a claim. */
static bool pin_both(wf_worker *victim, uint64_t asked[2]) {
  wf_deque *deques[2] = {&victim->deque, &victim->spawned};
  bool barrier_needed = false;
  for (int i = 0; i < 2; i++) {
    wf_deque_pin(deques[i]);
    asked[i] = wf_deque_asked(deques[i]);
    if ((asked[i] & WF_ASKED_STATE_MASK) == WF_ASKED_PINNED) barrier_needed = true;
  }
  return barrier_needed;
}

static unsigned claim_both(wf_worker *victim, const uint64_t asked[2]) {
  return wf_deque_claim(&victim->deque, asked[0]) +
         wf_deque_claim(&victim->spawned, asked[1]);
}

/* Looks into the private parts of the workers in one word of the set, after a barrier,
 * and makes half of what is there public. Returns how many tasks that is. */
static unsigned seize_word(wf_worker *worker, unsigned word, victims which) {
  wf_worker *workers = &worker->pool->workers[(size_t)word * WF_BITSET_WORD_BITS];
  uint64_t asked[WF_BITSET_WORD_BITS][2];
  uint64_t seized_from = others_in_word(worker, word, which);
  bool barrier_needed = false;
  for (uint64_t bits = seized_from; bits != 0; bits &= bits - 1) {
    unsigned i = (unsigned)__builtin_ctzll(bits);
    if (pin_both(&workers[i], asked[i])) barrier_needed = true;
  }
  if (barrier_needed) wf_sys_barrier();
  unsigned total = 0;
  for (uint64_t bits = seized_from; bits != 0; bits &= bits - 1) {
    unsigned i = (unsigned)__builtin_ctzll(bits);
    unsigned exposed = claim_both(&workers[i], asked[i]);
    if (exposed > 0) wf_u64_count(&worker->x_takeovers, 1);
    total += exposed;
  }
  return total;
}

/* All private parts. Returns how many tasks have become public. */
static unsigned seize(wf_worker *worker, victims which) {
  unsigned total = 0;
  for (unsigned word = 0; word < worker->pool->words; word++)
    total += seize_word(worker, word, which);
  return total;
}

/* Which victims a worker that goes to sleep would take from when it is woken. */
static victims victims_of_sleeper(const wf_worker *worker, wf_sleeper kind) {
  if (kind == WF_SLEEPER_HELPER) return victims_of_waiting(worker);
  return background_has_room(worker->pool) ? ALL_VICTIMS : NORMAL_VICTIMS;
}

static bool sees_tasks(wf_worker *worker, wf_sleeper kind) {
  victims which = victims_of_sleeper(worker, kind);
  if (sees_public(worker, which)) return true;
  unsigned seized = seize(worker, which);
  /* An idle worker takes one of them; a helper may be called away before it does. */
  unsigned taken = kind == WF_SLEEPER_IDLE ? 1 : 0;
  if (seized > taken) wf_sleep_new_tasks(worker->pool, seized - taken, true);
  /* Once more: a task that an owner published between the first look and the closing of
   * its pins is seen here; one that it publishes later goes through the slow half, which
   * looks for sleepers. */
  return seized > 0 || sees_public(worker, which);
}

static bool sees_injected(const weft_pool *pool) {
  return wf_injector_any(&pool->injector) ||
         (wf_injector_any(&pool->background) && background_has_room(pool));
}

bool wf_worker_sees_work(wf_worker *worker, wf_sleeper kind) {
  if (wf_mail_any(worker)) return true;
  if (worker->waits_for != NULL && wf_scope_has_queued(worker->waits_for)) return true;
  if (kind == WF_SLEEPER_CLOSED) return false;
  if (kind == WF_SLEEPER_SPARE && !wf_spare_is_wanted(worker->pool)) return false;
  if (kind != WF_SLEEPER_HELPER && sees_injected(worker->pool)) return true;
  return worker->pool->steals && sees_tasks(worker, kind);
}

/* ---- patience ---- */

static uint64_t at_least(uint64_t ns, uint64_t least_ns) {
  return ns > least_ns ? ns : least_ns;
}

static void set_budget(wf_patience *patience, wf_worker *worker, unsigned shift) {
  worker->asks = false;
  weft_idle mode = worker->pool->options.idle;
  uint64_t total_ns = BUDGETS[mode].spin_ns + BUDGETS[mode].yield_ns;
  patience->start_ns = wf_sys_now_ns();
  patience->spin_ns = at_least(BUDGETS[mode].spin_ns >> shift, LEAST_SEARCH_NS);
  patience->total_ns = at_least(total_ns >> shift, LEAST_SEARCH_NS);
  patience->seize_ns = FIRST_SEIZE_NS;
  patience->rounds = 0;
  patience->kept_awake = false;
}

void wf_patience_start(wf_patience *patience, wf_worker *worker) {
  set_budget(patience, worker, 0);
}

void wf_patience_restart_after_sleep(wf_patience *patience, wf_worker *worker) {
  set_budget(patience, worker, worker->futile_wakes);
  if (worker->futile_wakes < FUTILE_WAKES_COUNTED) worker->futile_wakes++;
}

void wf_patience_end(wf_patience *patience) {
  patience->spin_ns = 0;
  patience->total_ns = 0;
}

void wf_patience_kept_awake(wf_patience *patience) {
  patience->kept_awake = true;
}

/* The budget is used up. What kept the worker from sleeping, and what it did not get hold
 * of then, is perhaps the business of a thread that waits for this CPU. */
static bool pause_beyond(wf_patience *patience) {
  if (!patience->kept_awake) return false;
  patience->kept_awake = false;
  wf_sys_thread_yield();
  return true;
}

bool wf_patience_pause(wf_patience *patience, wf_worker *worker) {
  uint64_t elapsed = wf_sys_now_ns() - patience->start_ns;
  if (++patience->rounds > MOST_ROUNDS) elapsed = patience->total_ns;
  if (elapsed >= FIRST_ASK_NS) worker->asks = true;
  if (elapsed >= patience->total_ns) return pause_beyond(patience);
  if (elapsed >= patience->seize_ns && worker->pool->steals) {
    patience->seize_ns = elapsed + NEXT_SEIZE_NS;
    unsigned seized = seize(worker, victims_of_waiting(worker));
    /* This worker may get something better to do before it takes one of them. */
    if (seized > 0) {
      wf_sleep_new_tasks(worker->pool, seized, true);
      return true;
    }
  }
  if (elapsed < patience->spin_ns) {
    unsigned pauses = patience->rounds < LONGEST_PAUSE ? patience->rounds : LONGEST_PAUSE;
    for (unsigned i = 0; i < pauses; i++) wf_sys_relax();
  } else {
    wf_sys_thread_yield();
  }
  return true;
}
