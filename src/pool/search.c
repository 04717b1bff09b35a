/* pool/search.c - finding work. See search.h for the order, ../core/deque.md for asking
 * and taking over.
 *
 * SPDX-License-Identifier: MIT */
#include "search.h"

/* The injector is looked at first in every so many searches, as in other schedulers: a
 * prime, so that it does not fall into step with the work. */
enum { INJECTOR_TURN = 61 };

/* A worker looks around for so long before it asks: an owner that is about to finish is
 * left in peace. A tree of 1023 joins, pool awake: 3.0 us with this, 3.6 us without. */
enum { FIRST_ASK_NS = 300 };

/* Owners are given this long to answer an ask by their next fork or join. After that the
 * thief takes over, which costs a process-wide barrier (measured: 0.1 to 0.4 us). */
enum { FIRST_SEIZE_NS = 3000, NEXT_SEIZE_NS = 20000 };

/* Budgets of the idle modes, in nanoseconds. */
static const struct {
  uint64_t spin_ns, yield_ns;
} BUDGETS[] = {
    [WEFT_IDLE_LOW_LATENCY] = {50000, 450000},
    [WEFT_IDLE_BALANCED] = {5000, 10000},
    [WEFT_IDLE_POWER_SAVING] = {3500, 0},
};

enum { LONGEST_PAUSE = 8, FUTILE_WAKES_COUNTED = 6 };

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

/* Tries to take a task from one worker; asks for one if there is none. *again is set if
 * another thread was faster. */
static bool take_from(wf_worker *worker, unsigned index, wf_work *work, bool *again) {
  wf_deque *deque = &worker->pool->workers[index].deque;
  switch (wf_deque_steal(deque, &work->task)) {
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

bool wf_search_thief(wf_worker *worker, int thief, wf_work *work) {
  bool again = true;
  while (thief >= 0 && thief != (int)worker->index && again) {
    again = false;
    if (take_from(worker, (unsigned)thief, work, &again)) return true;
  }
  return false;
}

/* ---- all victims ---- */

/* The workers of one word of the set that are present, without the searching one. */
static uint64_t others_in_word(const wf_worker *worker, unsigned word) {
  /* Acquire: pairs with the RMW by which a worker enters its place (guest.c, pool.c). */
  uint64_t bits = wf_u64_load_acquire(&worker->pool->x_present[word]);
  if (worker->index / WF_BITSET_WORD_BITS == word) bits &= ~wf_bitset_bit(worker->index);
  return bits;
}

static bool take_from_bits(wf_worker *worker, unsigned word, uint64_t bits, wf_work *work,
                           bool *again) {
  for (; bits != 0; bits &= bits - 1) {
    unsigned index = word * WF_BITSET_WORD_BITS + (unsigned)__builtin_ctzll(bits);
    if (take_from(worker, index, work, again)) return true;
  }
  return false;
}

/* Every other worker once, from a random place on. */
static bool sweep(wf_worker *worker, wf_work *work, bool *again) {
  weft_pool *pool = worker->pool;
  unsigned start = wf_rng_bounded(&worker->rng, pool->slots);
  unsigned first_word = start / WF_BITSET_WORD_BITS;
  uint64_t from_start = ~(uint64_t)0 << (start % WF_BITSET_WORD_BITS);
  for (unsigned i = 0; i <= pool->words; i++) {
    unsigned word = (first_word + i) % pool->words;
    uint64_t bits = others_in_word(worker, word);
    if (i == 0) bits &= from_start;
    if (i == pool->words) bits &= ~from_start;
    if (take_from_bits(worker, word, bits, work, again)) return true;
  }
  return false;
}

bool wf_search_anybody(wf_worker *worker, wf_work *work) {
  bool again = false;
  int last = worker->last_victim;
  if (last >= 0 && wf_bitset_has(worker->pool->x_present, (unsigned)last) &&
      take_from(worker, (unsigned)last, work, &again))
    return true;
  worker->last_victim = -1;
  do {
    again = false;
    if (sweep(worker, work, &again)) return true;
  } while (again);
  return false;
}

static bool take_injected(wf_worker *worker, wf_work *work) {
  work->task = NULL;
  return wf_injector_take(&worker->pool->injector, &work->injected);
}

bool wf_search_anything(wf_worker *worker, wf_work *work) {
  bool injected_first = ++worker->search_count % INJECTOR_TURN == 0;
  if (injected_first && take_injected(worker, work)) return true;
  if (worker->pool->steals && wf_search_anybody(worker, work)) return true;
  return take_injected(worker, work);
}

/* ---- private parts ---- */

/* Looks into the private parts of the workers in one word of the set, after a barrier,
 * and makes half of what is there public. Returns how many tasks that is. */
static unsigned seize_word(wf_worker *worker, unsigned word) {
  wf_worker *workers = &worker->pool->workers[word * WF_BITSET_WORD_BITS];
  uint64_t asked[WF_BITSET_WORD_BITS];
  uint64_t victims = others_in_word(worker, word);
  bool barrier_needed = false;
  for (uint64_t bits = victims; bits != 0; bits &= bits - 1) {
    unsigned i = (unsigned)__builtin_ctzll(bits);
    wf_deque_pin(&workers[i].deque);
    asked[i] = wf_deque_asked(&workers[i].deque);
    if ((asked[i] & WF_ASKED_STATE_MASK) == WF_ASKED_PINNED) barrier_needed = true;
  }
  if (barrier_needed) wf_sys_barrier();
  unsigned total = 0;
  for (uint64_t bits = victims; bits != 0; bits &= bits - 1) {
    unsigned i = (unsigned)__builtin_ctzll(bits);
    unsigned exposed = wf_deque_claim(&workers[i].deque, asked[i]);
    if (exposed > 0) wf_u64_count(&worker->x_takeovers, 1);
    total += exposed;
  }
  return total;
}

/* All private parts. Returns how many tasks have become public. */
static unsigned seize(wf_worker *worker) {
  unsigned total = 0;
  for (unsigned word = 0; word < worker->pool->words; word++)
    total += seize_word(worker, word);
  return total;
}

static bool sees_public(const wf_worker *worker) {
  for (unsigned word = 0; word < worker->pool->words; word++) {
    for (uint64_t bits = others_in_word(worker, word); bits != 0; bits &= bits - 1) {
      unsigned index = word * WF_BITSET_WORD_BITS + (unsigned)__builtin_ctzll(bits);
      if (wf_deque_has_public(&worker->pool->workers[index].deque)) return true;
    }
  }
  return false;
}

bool wf_worker_sees_work(wf_worker *worker, wf_sleeper kind) {
  if (kind == WF_SLEEPER_CLOSED) return false;
  if (kind == WF_SLEEPER_IDLE && wf_injector_any(&worker->pool->injector)) return true;
  if (!worker->pool->steals) return false;
  if (sees_public(worker)) return true;
  unsigned seized = seize(worker);
  /* An idle worker takes one of them; a helper may be called away before it does. */
  unsigned taken = kind == WF_SLEEPER_IDLE ? 1 : 0;
  if (seized > taken) wf_sleep_new_tasks(worker->pool, seized - taken, true);
  /* Once more: a task that an owner published between the first look and the closing of
   * its pins is seen here; one that it publishes later goes through the slow half, which
   * looks for sleepers. */
  return seized > 0 || sees_public(worker);
}

/* ---- patience ---- */

static void set_budget(wf_patience *patience, wf_worker *worker, unsigned shift) {
  worker->asks = false;
  weft_idle mode = worker->pool->options.idle;
  patience->start_ns = wf_sys_now_ns();
  patience->spin_ns = BUDGETS[mode].spin_ns >> shift;
  patience->total_ns = (BUDGETS[mode].spin_ns + BUDGETS[mode].yield_ns) >> shift;
  patience->seize_ns = FIRST_SEIZE_NS;
  patience->rounds = 0;
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

bool wf_patience_pause(wf_patience *patience, wf_worker *worker) {
  uint64_t elapsed = wf_sys_now_ns() - patience->start_ns;
  if (elapsed >= FIRST_ASK_NS) worker->asks = true;
  if (elapsed >= patience->total_ns) return false;
  if (elapsed >= patience->seize_ns && worker->pool->steals) {
    patience->seize_ns = elapsed + NEXT_SEIZE_NS;
    unsigned seized = seize(worker);
    /* This worker may get something better to do before it takes one of them. */
    if (seized > 0) {
      wf_sleep_new_tasks(worker->pool, seized, true);
      return true;
    }
  }
  if (elapsed < patience->spin_ns) {
    unsigned pauses =
        patience->rounds < LONGEST_PAUSE ? ++patience->rounds : LONGEST_PAUSE;
    for (unsigned i = 0; i < pauses; i++) wf_sys_relax();
  } else {
    wf_sys_thread_yield();
  }
  return true;
}
