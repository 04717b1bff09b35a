/* sched/search.c - finding work: stealing from other workers, taking from the queues.
 *
 * Called by the loops of worker.c and blocking.c, on the thread of the worker that
 * searches. A victim's deque is only touched through its [any] functions; asking and
 * taking over are explained in ../core/deque.md. The order of the sources is in search.h.
 *
 * SPDX-License-Identifier: MIT */
#include "search.h"

#include "background.h"
#include "blocking.h"
#include "broadcast.h"
#include "parcel.h"
#include "record.h"
#include "scope.h"

/* In every 61st search the injector comes first, as in Go (schedtick % 61) and Tokio:
 * else work from outside starves while workers keep each other busy. A prime, so that it
 * does not fall into step with the work. Background work comes first in every 251st, the
 * next prime after four times that: a choice, it may wait longer. */
enum { INJECTOR_TURN = 61, BACKGROUND_TURN = 251 };

/* A search looks at this many workers, from a random place on. In a pool of 256 a look at
 * all of them takes 30 us, because the lines of busy workers have to come from their
 * CPUs, and then most of what it saw is old. Before a worker sleeps, one looks at all for
 * it (look_for_all), and when that sees something the next search does so too. A choice:
 * with 4 or 16 the figures of docs/scaling.md differ little. */
enum { SEARCH_WIDTH = 8 };

/* How many thieves a search follows. A choice: in a pool that wakes up most of the work
 * is at one thread, and 256 leaves of a tree are eight steals away from it. */
enum { MOST_THIEVES = 8 };

/* How many tasks of a scope an idle worker takes from one victim at once, besides the one
 * that it runs. A choice: 10,000 tasks of 1 us on 64 simulated cores take 2.4 ms with 16,
 * 2.1 ms with 32, 1.9 ms with 64. */
enum { LARGEST_BATCH = 64 };

/* ---- one victim ---- */

/* The public part of the deque is empty. Asks for more when it is time, or, if a
 * take-over has left private tasks behind, goes on with it. True if there is something to
 * take now.
 */
static bool take_over_more(wf_worker *worker, unsigned index, wf_deque *deque) {
  uint64_t asked = wf_deque_asked(deque);
  if ((asked & WF_ASKED_STATE_MASK) != WF_ASKED_RICH) {
    if (worker->asks) wf_deque_ask(deque);
    return false;
  }
  unsigned exposed = wf_deque_take_over(deque, asked);
  if (exposed == 0) return false;
  wf_u64_count(&worker->x_takeovers, 1);
  wf_record_take_over(worker, index, exposed);
  return true;
}

/* Tries to take a task from one of a worker's deques; asks for one if there is none.
 * *again is set if another thread was faster. */
static bool take_from_deque(wf_worker *worker, unsigned index, wf_deque *deque,
                            wf_work *work, bool *again) {
  const wf_u64 *flags = &worker->pool->x_background[index / WF_BITSET_WORD_BITS];
  if (wf_background_is_around(worker) || worker->background) flags = NULL;
  switch (wf_deque_steal_unless(deque, flags, wf_bitset_bit(index), &work->task)) {
  case WF_STEAL_GOT:
    WF_ASSERT(work->task != NULL && work->task->execute != NULL);
    work->owner = index;
    worker->last_victim = (int)index;
    /* Relaxed: a hint, pairs with the load in follow_thieves. */
    wf_u32_store_relaxed(&deque->x_thief, worker->index + 1);
    wf_u64_count(&worker->x_steals, 1);
    /* First the copy, for which the owner waits. Spawned tasks are not looked at. */
    if (!work->spawned && work->task->execute == wf_parcel_mark)
      wf_parcel_copy(worker, work);
    wf_record_steal(worker, index);
    return true;
  case WF_STEAL_RETRY:
    *again = true;
    return false;
  case WF_STEAL_EMPTY:
    if (take_over_more(worker, index, deque)) *again = true;
    return false;
  }
  return false;
}

/* ---- batches: see scope.md ---- */

/* Without a look at the victim's own lines. */
static unsigned index_of(const wf_worker *worker, const wf_worker *victim) {
  return (unsigned)(victim - worker->pool->workers);
}

/* May the task wait in the deque of the worker that has stolen it? A task of isolated
 * code may not: its owner could not help itself to it, and others may block on a lock
 * that its owner holds. Reading the scope costs a transfer for each task, so that is done
 * only where the victim has ever spawned such a task. */
static bool may_keep(const wf_worker *victim, const wf_task *task) {
  /* Relaxed: written before the task was pushed, which the steal has acquired. */
  if (wf_u32_load_relaxed(&victim->x_isolates) == 0) return true;
  return wf_scope_of_task(task)->region.isolation == NULL;
}

/* How many tasks a batch takes besides the first: half of those that are public, and no
 * more than fit into the worker's own ring as it is. So it needs no memory once there is
 * a ring, and never has a task in hand that it can neither run nor keep. */
static unsigned batch_size(wf_worker *worker, const wf_worker *victim) {
  uint64_t half = wf_deque_public_count(&victim->spawned) / 2;
  if (half == 0 || !wf_worker_prepare_spawned(worker)) return 0;
  WF_ASSERT(wf_deque_is_empty(&worker->spawned)); /* its stack is */
  uint64_t room = wf_deque_room(&worker->spawned);
  if (half > room) half = room;
  return half < LARGEST_BATCH ? (unsigned)half : LARGEST_BATCH;
}

/* Puts stolen tasks into the worker's own deque, where others find them. */
static void keep(wf_worker *worker, wf_task *const *tasks, unsigned n) {
  if (n == 0) return;
  wf_deque_push_public(&worker->spawned, tasks, n);
  worker->kept_end = wf_deque_bottom(&worker->spawned);
  /* Pairs with the fence in park: either the sleeper sees the tasks, or this thread sees
   * the sleeper, here or in leave_idle if it is counted as idle itself. The tasks were
   * posted when they became public; a worker that has got sleepy since looks again. */
  wf_fence_seq_cst();
  /* Relaxed: its own word. */
  if (wf_u32_load_relaxed(&worker->x_state) != WF_STATE_SEARCHING)
    wf_sleep_wake_next(worker->pool);
}

/* The worker has the victim's turn: takes a task to run, and some to keep. The last one
 * is run, so that a task which may not be kept can end the batch. */
static bool steal_batch(wf_worker *worker, wf_worker *victim, wf_work *work,
                        bool *again) {
  wf_task *kept[LARGEST_BATCH];
  unsigned n = 0;
  bool found =
      take_from_deque(worker, index_of(worker, victim), &victim->spawned, work, again);
  if (found && may_keep(victim, work->task)) {
    unsigned most = batch_size(worker, victim);
    wf_work next = *work;
    bool lost = false; /* to a faster thread: the batch ends there */
    while (n < most && take_from_deque(worker, index_of(worker, victim), &victim->spawned,
                                       &next, &lost)) {
      kept[n++] = work->task;
      work->task = next.task;
      if (!may_keep(victim, next.task)) break;
    }
  }
  wf_u32_store_relaxed(&victim->x_turn, WF_TURN_FREE); /* relaxed: only a hint */
  keep(worker, kept, n);
  return found;
}

/* Takes spawned tasks for a worker whose stack is empty. If another thief has the turn,
 * it goes on to the next victim and leaves the deque alone. But a thief may be stopped
 * there: a worker that has seen tasks before it would have slept does not care. */
static bool take_spawned_or_many(wf_worker *worker, wf_worker *victim, wf_work *work,
                                 bool *again) {
  uint32_t turn = wf_u32_load_relaxed(&victim->x_turn); /* relaxed: a hint, as below */
  if (turn == WF_TURN_NONE) return false;
  if (turn == WF_TURN_TAKEN)
    return worker->looks_at_all && take_from_deque(worker, index_of(worker, victim),
                                                   &victim->spawned, work, again);
  /* Acquire, pairs with nothing: each steal is right by itself, whoever has the turn.
   * explorer: relaxed suffices, but there is no such function. */
  if (!wf_u32_cas_acquire(&victim->x_turn, &turn, WF_TURN_TAKEN)) return false;
  return steal_batch(worker, victim, work, again);
}

/* Relaxed: the ring is only a sign that the deque was ever used. */
static bool take_spawned(wf_worker *worker, wf_worker *victim, wf_work *work,
                         bool *again) {
  if (worker->takes_batches) return take_spawned_or_many(worker, victim, work, again);
  return wf_ptr_load_relaxed(&victim->spawned.x_ring) != NULL &&
         take_from_deque(worker, index_of(worker, victim), &victim->spawned, work, again);
}

/* ---- both deques ---- */

/* Tasks of scopes come first: they are older than the forks of the task that runs, and
 * usually larger. Few workers have any, so most looks touch one cache line only. */
static bool take_from(wf_worker *worker, unsigned index, wf_work *work, bool *again) {
  WF_ASSERT(index < worker->pool->slots && index != worker->index);
  wf_worker *victim = &worker->pool->workers[index];
  *work = (wf_work){.spawned = true};
  if (take_spawned(worker, victim, work, again)) return true;
  *work = (wf_work){.spawned = false};
  return take_from_deque(worker, index, &victim->deque, work, again);
}

bool wf_search_thief(wf_worker *worker, int thief, wf_work *work) {
  bool again = true;
  WF_ASSERT(thief < (int)worker->pool->slots);
  while (thief >= 0 && thief != (int)worker->index && again) {
    again = false;
    if (take_from(worker, (unsigned)thief, work, &again)) return true;
  }
  return false;
}

/* ---- all victims ---- */

/* Which victims to look at. */
typedef enum victims { NORMAL_VICTIMS, BACKGROUND_VICTIMS, ALL_VICTIMS } victims;

/* The workers of one word of the set that are present, without the one that searches. */
static uint64_t others_in_word(const wf_worker *worker, unsigned word, victims which) {
  const weft_pool *pool = worker->pool;
  /* Acquire: pairs with the RMW by which a worker enters its place (guest.c, pool.c).
   * explorer: relaxed suffices, all that a thief reads of a victim is ordered by itself.
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
  return wf_background_is_around(worker) ? ALL_VICTIMS : NORMAL_VICTIMS;
}

/* Tries the workers of these bits, and counts them off from *most until it is 0. */
static bool take_from_bits(wf_worker *worker, unsigned word, uint64_t bits,
                           unsigned *most, wf_work *work, bool *again) {
  for (; bits != 0 && *most > 0; bits &= bits - 1, --*most) {
    unsigned index = word * WF_BITSET_WORD_BITS + (unsigned)__builtin_ctzll(bits);
    if (take_from(worker, index, work, again)) return true;
  }
  return false;
}

/* Is nobody else in the pool now? Usual where all work is injected from outside. */
static bool has_no_others(const wf_worker *worker) {
  const weft_pool *pool = worker->pool;
  unsigned own = worker->index / WF_BITSET_WORD_BITS;
  uint64_t others = 0;
  /* Relaxed: a hint; a worker that comes a moment later is found by the next search, and
   * by the look before a sleep (sees_public). */
  for (unsigned word = 0; word < pool->words; word++)
    others |= wf_u64_load_relaxed(&pool->x_present[word]) &
              ~(word == own ? wf_bitset_bit(worker->index) : 0);
  return others == 0;
}

/* Tries other workers once, and counts them off from *most; only those in `class`, unless
 * it is NULL. Begins at a random thread: behind the threads come the places of guests, of
 * which few are taken, and a start there would lead to the same threads each time. */
static inline __attribute__((always_inline)) bool
sweep_those(wf_worker *worker, victims which, const uint64_t *class, unsigned *most,
            wf_work *work, bool *again) {
  weft_pool *pool = worker->pool;
  unsigned start = wf_rng_bounded(&worker->rng, pool->thread_places + 1);
  unsigned word = start / WF_BITSET_WORD_BITS;
  uint64_t from_start = ~(uint64_t)0 << (start % WF_BITSET_WORD_BITS);
  for (unsigned i = 0; i <= pool->words && *most > 0; i++, word++) {
    if (word == pool->words) word = 0;
    uint64_t bits = others_in_word(worker, word, which);
    if (class != NULL) bits &= class[word];
    if (i == 0) bits &= from_start;
    if (i == pool->words) bits &= ~from_start;
    if (take_from_bits(worker, word, bits, most, work, again)) return true;
  }
  return false;
}

/* The same from near to far. A search that is not for all looks at near workers with two
 * of its eight tries, and anywhere with the others: so what is far gets around, too. A
 * choice: on 256 simulated cores trees of joins reach 0.75 of ideal with two, 0.71 with
 * four, 0.65 with none; what loops reach differs by chance as much. */
static __attribute__((noinline)) bool sweep_near_first(wf_worker *worker, victims which,
                                                       unsigned most, wf_work *work,
                                                       bool *again) {
  wf_victim_walk walk;
  unsigned near_ones = most < worker->pool->slots ? most / 4 : most;
  unsigned others = most - near_ones;
  wf_victims_note(worker->pool->victims, worker, wf_sys_cpu_now());
  wf_victims_begin(&walk, worker->pool->victims, worker);
  while (near_ones > 0 && wf_victims_next(&walk))
    if (sweep_those(worker, which, walk.now, &near_ones, work, again)) return true;
  return sweep_those(worker, which, NULL, &others, work, again);
}

static bool sweep(wf_worker *worker, victims which, unsigned most, wf_work *work,
                  bool *again) {
  if (WF_UNLIKELY(worker->pool->victims != NULL))
    return sweep_near_first(worker, which, most, work, again);
  return sweep_those(worker, which, NULL, &most, work, again);
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

static bool sweep_until_sure(wf_worker *worker, victims which, unsigned most,
                             wf_work *work) {
  bool again;
  if (has_no_others(worker)) return false;
  do {
    again = false;
    if (sweep(worker, which, most, work, &again)) return true;
  } while (again);
  wf_u64_count(&worker->x_failed_steals, 1);
  return false;
}

/* Nothing was left at worker `index`: what it had went to its last thief, who may have
 * made parts of that public since, or lost them to its own last thief, and so on. */
static bool follow_thieves(wf_worker *worker, unsigned index, wf_work *work) {
  const weft_pool *pool = worker->pool;
  bool again = false;
  for (unsigned steps = 0; steps < MOST_THIEVES; steps++) {
    /* Relaxed: a hint, pairs with the store in take_from_deque. Tasks of scopes are not
     * followed: whoever takes one has no part of the others. */
    unsigned thief = wf_u32_load_relaxed(&pool->workers[index].deque.x_thief);
    if (thief == 0 || thief > pool->slots) return false;
    index = thief - 1;
    if (index == worker->index || !wf_bitset_has(pool->x_present, index)) return false;
    if (take_from(worker, index, work, &again)) return true;
  }
  return false;
}

bool wf_search_anybody(wf_worker *worker, wf_work *work) {
  bool again = false;
  int last = worker->last_victim;
  WF_ASSERT(worker->pool->steals && last < (int)worker->pool->slots);
  if (last >= 0 && wf_bitset_has(worker->pool->x_present, (unsigned)last) &&
      (take_from(worker, (unsigned)last, work, &again) ||
       (worker->pool->thread_places > SEARCH_WIDTH &&
        follow_thieves(worker, (unsigned)last, work))))
    return true;
  worker->last_victim = -1;
  const weft_pool *pool = worker->pool;
  bool all = worker->looks_at_all || pool->thread_places <= SEARCH_WIDTH;
  unsigned most = all ? pool->slots : SEARCH_WIDTH;
  bool found = sweep_until_sure(worker, victims_of_waiting(worker), most, work);
  worker->looks_at_all = false;
  return found;
}

/* ---- injected work ---- */

static bool take_injected(wf_worker *worker, wf_work *work) {
  *work = (wf_work){0};
  bool found = wf_injector_take(&worker->pool->injector, &work->injected);
  WF_ASSERT(!found || work->injected.fn != NULL);
  return found;
}

/* Takes from the background lane, or a part of what another worker took from there. */
static bool take_background(wf_worker *worker, wf_work *work) {
  weft_pool *pool = worker->pool;
  bool queued = wf_injector_any(&pool->background);
  /* Relaxed: a hint, so that the bit sets are left alone in most searches. */
  if (!queued && wf_u32_load_relaxed(&pool->x_background_count) == 0) return false;
  if (!queued && !(pool->steals && sees_public(worker, BACKGROUND_VICTIMS))) return false;
  if (!wf_background_begin(worker)) return false;
  bool found =
      pool->steals && sweep_until_sure(worker, BACKGROUND_VICTIMS, pool->slots, work);
  if (!found) {
    *work = (wf_work){0};
    found = wf_injector_take(&pool->background, &work->injected);
  }
  work->background = found;
  if (!found) wf_background_cancel(worker);
  WF_ASSERT(worker->background == found);
  return found;
}

static bool take_broadcast(wf_worker *worker, wf_work *work) {
  *work = (wf_work){.broadcast = wf_broadcast_take(worker)};
  return work->broadcast != NULL;
}

bool wf_search_anything(wf_worker *worker, wf_work *work) {
  WF_ASSERT(worker->help_depth == 0 && !worker->background); /* the stack is empty */
  wf_worker_settle(worker);
  wf_arena_send_away(&worker->arena);
  if (take_broadcast(worker, work)) return true;
  unsigned turn = ++worker->search_count;
  if (turn % INJECTOR_TURN == 0 && take_injected(worker, work)) return true;
  if (turn % BACKGROUND_TURN == 0 && take_background(worker, work)) return true;
  /* Stand-ins do not: they leave their places when they are not needed. */
  worker->takes_batches =
      worker->pool->steals_batches && worker->index <= worker->pool->thread_places;
  bool found = worker->pool->steals && wf_search_anybody(worker, work);
  worker->takes_batches = false;
  return found || take_injected(worker, work) || take_background(worker, work);
}

bool wf_search_roots(wf_worker *worker, wf_work *work) {
  worker->looks_at_all = true; /* it is the only search */
  if (worker->pool->steals && wf_search_anybody(worker, work)) return true;
  return take_injected(worker, work);
}

/* ---- private parts ---- */

/* Closes the pins of both deques of a worker and notes their state. True if a barrier is
 * needed before a take-over. */
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

static unsigned take_over_both(wf_worker *victim, const uint64_t asked[2]) {
  return wf_deque_take_over(&victim->deque, asked[0]) +
         wf_deque_take_over(&victim->spawned, asked[1]);
}

/* The system refuses the barrier, which it did not when the pool was made. From now on
 * the pool is one without a barrier: every owner makes its tasks public at once, as soon
 * as it comes by. Sleepers are woken for that, once. "When the barrier is refused" in
 * sleep.md. */
static void make_all_eager(weft_pool *pool, unsigned self) {
  for (unsigned i = 0; i < pool->slots; i++) {
    wf_deque *deques[2] = {&pool->workers[i].deque, &pool->workers[i].spawned};
    bool is_new = false;
    for (int j = 0; j < 2; j++) {
      if (wf_deque_is_eager(deques[j])) continue;
      wf_deque_make_eager(deques[j]);
      is_new = true;
    }
    if (!is_new || i == self) continue;
    /* Pairs with the fence in park: either this thread sees the sleeper, or the sleeper
     * sees that its deques are eager. */
    wf_fence_seq_cst();
    wf_sleep_wake_worker(pool, i);
  }
}

/* There was no barrier: a deque that needed one is not taken over from. */
static void forget_pinned(uint64_t asked[2]) {
  for (int i = 0; i < 2; i++)
    if ((asked[i] & WF_ASKED_STATE_MASK) == WF_ASKED_PINNED) asked[i] = WF_ASKED_NOT;
}

/* Looks into the private parts of the workers in one word of the set, but not of those in
 * `without`, after a barrier, and makes half of what is there public. Returns how many
 * tasks that is. */
static unsigned take_over_word(wf_worker *worker, unsigned word, victims which,
                               uint64_t without) {
  WF_ASSERT(word < worker->pool->words);
  wf_worker *workers = &worker->pool->workers[(size_t)word * WF_BITSET_WORD_BITS];
  uint64_t asked[WF_BITSET_WORD_BITS][2];
  uint64_t victims_here = others_in_word(worker, word, which) & ~without;
  bool barrier_needed = false;
  for (uint64_t bits = victims_here; bits != 0; bits &= bits - 1) {
    unsigned i = (unsigned)__builtin_ctzll(bits);
    if (pin_both(&workers[i], asked[i])) barrier_needed = true;
  }
  bool sees_private = !barrier_needed || wf_sys_barrier();
  if (!sees_private) {
    worker->is_blind = true;
    make_all_eager(worker->pool, worker->index);
  }
  unsigned total = 0;
  for (uint64_t bits = victims_here; bits != 0; bits &= bits - 1) {
    unsigned i = (unsigned)__builtin_ctzll(bits);
    if (!sees_private) forget_pinned(asked[i]);
    unsigned exposed = take_over_both(&workers[i], asked[i]);
    total += exposed;
    if (exposed == 0) continue;
    wf_u64_count(&worker->x_takeovers, 1);
    wf_record_take_over(worker, workers[i].index, exposed);
  }
  return total;
}

/* The same for all workers. */
static unsigned take_over_all(wf_worker *worker, victims which) {
  unsigned total = 0;
  for (unsigned word = 0; word < worker->pool->words; word++)
    total += take_over_word(worker, word, which, 0);
  return total;
}

/* Idle sleepers have nothing. It does not matter if one wakes up meanwhile: the look
 * before a sleep is at all. */
unsigned wf_search_take_over(wf_worker *worker) {
  victims which = victims_of_waiting(worker);
  const wf_u64 *asleep = worker->pool->sleep.x_sets[WF_SLEEPER_IDLE];
  unsigned total = 0;
  for (unsigned word = 0; word < worker->pool->words; word++) /* Relaxed: a hint. */
    total += take_over_word(worker, word, which,
                            wf_u64_load_relaxed(&asleep[word * WF_SET_STRIDE]));
  return total;
}

/* ---- the last look before a sleep ---- */

/* Which victims a worker that goes to sleep would take from when it is woken. */
static victims victims_of_sleeper(const wf_worker *worker, wf_sleeper kind) {
  if (kind == WF_SLEEPER_HELPER) return victims_of_waiting(worker);
  return wf_background_has_room(worker->pool) ? ALL_VICTIMS : NORMAL_VICTIMS;
}

/* True also if the latch, which may be NULL, is set meanwhile: in a large pool the look
 * takes longer than the worker should be late. */
static bool sees_tasks(wf_worker *worker, const wf_latch *latch, wf_sleeper kind,
                       victims which) {
  if (sees_public(worker, which)) return true;
  if (latch != NULL && wf_latch_probe(latch)) return true;
  unsigned exposed = take_over_all(worker, which);
  /* An idle worker takes one of them; a helper may be called away before it does. */
  unsigned taken = kind == WF_SLEEPER_IDLE ? 1 : 0;
  if (exposed > taken) wf_sleep_new_tasks(worker->pool, exposed - taken, true);
  /* Once more: a task that an owner published between the first look and the closing of
   * its pins is seen here; one that it publishes later goes through the slow half, which
   * looks for sleepers. */
  return exposed > 0 || sees_public(worker, which);
}

/* ---- one look for all: see sleep.md ---- */

/* Values of wf_sleep.x_looks. */
enum { NOBODY_LOOKS, ONE_LOOKS, LOOK_AGAIN };

/* True: the caller is to look. False: another sleeper looks, and once more after this. */
static bool begin_look(wf_u32 *x_looks) {
  for (;;) {
    /* seq_cst: pairs with the exchange in end_look. A sleeper that reads LOOK_AGAIN comes
     * before it, and so does its registration. explorer: relaxed suffices here and in
     * end_look, the fences in park and in end_look order it. */
    uint32_t state = wf_u32_load_seq_cst(x_looks);
    if (state == LOOK_AGAIN) return false;
    uint32_t next = state == NOBODY_LOOKS ? ONE_LOOKS : LOOK_AGAIN;
    /* seq_cst: pairs with end_look. explorer: as above. */
    if (wf_u32_cas_seq_cst(x_looks, &state, next)) return next == ONE_LOOKS;
  }
}

/* False: others have come meanwhile and rely on the caller. It has to look once more, or,
 * if it leaves, to wake one of them: then somebody else may look from now on. */
static bool end_look(wf_u32 *x_looks, bool leaves) {
  uint32_t state = ONE_LOOKS;
  /* seq_cst: pairs with begin_look: a sleeper that comes later looks for itself.
   * explorer: as there. */
  if (wf_u32_cas_seq_cst(x_looks, &state, NOBODY_LOOKS)) return true;
  WF_ASSERT(state == LOOK_AGAIN);
  /* seq_cst: pairs with begin_look. Who has read LOOK_AGAIN comes before this. explorer:
   * as there. */
  wf_u32_exchange_seq_cst(x_looks, leaves ? NOBODY_LOOKS : ONE_LOOKS);
  /* Pairs with the fences of the posters, as the fence in park does for this worker's own
   * sleep. explorer: needed for a third sleeper, that reads LOOK_AGAIN and writes
   * nothing; from the second this thread has it all by the exchange. */
  wf_fence_seq_cst();
  return false;
}

/* A worker that waits for something else may have forks that it has not joined yet. */
static bool has_own_tasks(const wf_worker *worker) {
  return wf_deque_count(&worker->deque) > 0 || wf_deque_count(&worker->spawned) > 0;
}

/* The look of a sleeper at the tasks, and of all that come to sleep meanwhile. Only one
 * worker at a time makes the process-wide barrier for that. */
static bool look_for_all(wf_worker *worker, const wf_latch *latch, wf_sleeper kind) {
  weft_pool *pool = worker->pool;
  victims which = victims_of_sleeper(worker, kind);
  /* Each looks for itself where the barrier was refused, and if it has tasks that its own
   * look leaves out: see sleep.md. */
  if (wf_deque_is_eager(&worker->deque) || has_own_tasks(worker))
    return sees_tasks(worker, latch, kind, which);
  wf_u32 *x_looks = &pool->sleep.x_looks[which == ALL_VICTIMS];
  if (!begin_look(x_looks)) return false;
  /* A worker that stays awake leaves, and wakes one of those that rely on it. But where
   * the look is at workers that are at background work, which not every sleeper looks at,
   * only an idle worker may: it looks at them itself before it sleeps. */
  bool may_leave = which == NORMAL_VICTIMS || kind == WF_SLEEPER_IDLE;
  bool sees = sees_tasks(worker, latch, kind, which), relied_on = false;
  while (!end_look(x_looks, may_leave && sees)) {
    relied_on = true;
    if (may_leave && sees) break;
    sees = sees_tasks(worker, may_leave ? latch : NULL, kind, which);
  }
  /* This worker may be called away, and the others do not know of the tasks. Not before
   * the look has ended: those that are woken may soon sleep again, and would rely on it
   * once more, for ever. */
  if (relied_on && sees) wf_sleep_new_tasks(pool, 1, false);
  return sees;
}

static bool sees_injected(const weft_pool *pool) {
  return wf_injector_any(&pool->injector) ||
         (wf_injector_any(&pool->background) && wf_background_has_room(pool));
}

bool wf_search_sees_urgent(wf_worker *worker) {
  return wf_broadcast_any(worker) || sees_injected(worker->pool);
}

/* Is there anything but tasks of other workers? *looks_on: and may it take such tasks? */
static bool sees_other(wf_worker *worker, wf_sleeper kind, bool *looks_on) {
  *looks_on = false;
  if (wf_broadcast_any(worker)) return true;
  if (worker->waits_for != NULL && wf_scope_has_queued(worker->waits_for)) return true;
  if (kind == WF_SLEEPER_CLOSED) return false;
  if (kind == WF_SLEEPER_STAND_IN && !wf_stand_in_is_wanted(worker->pool)) return false;
  if (kind != WF_SLEEPER_HELPER && sees_injected(worker->pool)) return true;
  *looks_on = worker->pool->steals;
  return false;
}

bool wf_search_sees_work(wf_worker *worker, wf_sleeper kind) {
  bool looks_on;
  if (sees_other(worker, kind, &looks_on)) return true;
  return looks_on && sees_tasks(worker, NULL, kind, victims_of_sleeper(worker, kind));
}

bool wf_search_last_look(wf_worker *worker, const wf_latch *latch, wf_sleeper kind) {
  bool looks_on;
  if (sees_other(worker, kind, &looks_on)) return true;
  return looks_on && look_for_all(worker, latch, kind);
}
