/* sched/idle.c - the idle budgets, and what a worker does between two searches.
 *
 * Called by every loop that waits: worker.c (started threads and waiting workers) and
 * blocking.c (stand-ins), on the thread that waits. Times are used, not rounds, because a
 * round takes longer the more workers there are to look at.
 *
 * SPDX-License-Identifier: MIT */
#include "idle.h"

#include "pool.h"
#include "search.h"

/* The budgets of the idle modes, in nanoseconds: how long to spin, and then how long to
 * search with the CPU given away in between. They are choices around one measured figure:
 * a futex wake costs the waker 4.8 us, and the sleeper runs some microseconds later
 * (docs/investigations/small-work-in-a-sleeping-pool.md). Balanced spins for about one
 * such wake and searches for three; it was halved from 10 + 20 us when the benchmark rows
 * P1 to P4 were first run. Measured again when woken workers ran at once: 2 + 4, 3 + 6
 * and 5 + 10 us give the same latencies, CPU seconds and short calls within noise; 10 +
 * 20 us takes a tenth more CPU, no yields at all make bursts of 20 us half as slow again
 * (docs/investigations/woken-on-the-wakers-cpu.md). Low latency spends up to half a
 * millisecond of CPU to avoid a wake-up. Power saving searches just past
 * FIRST_TAKE_OVER_NS, so that an owner that is busy with one long function still gives
 * something away before the searcher sleeps. */
static const struct {
  uint64_t spin_ns, yield_ns;
} BUDGETS[] = {
    [WEFT_IDLE_LOW_LATENCY] = {50000, 450000},
    [WEFT_IDLE_BALANCED] = {5000, 10000},
    [WEFT_IDLE_POWER_SAVING] = {3500, 0},
};

/* A worker looks around for this long before it asks: an owner that is about to finish is
 * not disturbed. A tree of 1023 joins, pool awake: 3.0 us with this, 3.6 us without. */
enum { FIRST_ASK_NS = 300 };

/* Owners are given this long to answer an ask by their next fork or join. After that the
 * thief takes over, which costs a process-wide barrier (measured: 0.1 to 0.4 us). If
 * nothing was there, the next look comes after 20 us. Both are choices: earlier barriers
 * interrupt owners that would have answered, later ones leave a long function unshared
 * for longer. */
enum { FIRST_TAKE_OVER_NS = 3000, NEXT_TAKE_OVER_NS = 20000 };

/* One worker at a time takes over, for all that search, and after it nobody does for this
 * many times as long as it took: the more CPUs a barrier has to stop, the rarer it is. A
 * choice: at most a fifth of the time is spent with barriers. */
enum { TAKE_OVER_REST = 4 };

/* A woken worker searches at least this long, however often it was woken for nothing: an
 * owner that forks small work has answered by then, and the worker does not need the
 * barrier before it sleeps again. Bursts of 20 us every millisecond: 423 to 871 barriers
 * in 2 s without, 16 to 30 with (docs/investigations/spawned-and-detached-tasks.md). */
enum { LEAST_SEARCH_NS = 2000 };

/* A worker that has done its own part of a join waits awake for a quarter of the time
 * that the part took, at most this long. The other part began later by a wake-up, 40 to
 * 65 us from a halted virtual CPU, and therefore ends later by as much. With 15 us the
 * worker fell asleep in half of the joins of 300 us just before the other part ended, and
 * then had to be woken, 25 us more. */
enum { WAIT_SHARE = 4, LONGEST_WAIT_US = 100 };

/* A pause while spinning grows to this many relax instructions; more would add to the
 * latency that spinning is to avoid. Each futile wake-up in a row halves the budget; six
 * of them bring the longest, 500 us, below 8 us. Both are choices. */
enum { LONGEST_PAUSE = 8, FUTILE_WAKES_COUNTED = 6 };

/* After this many rounds patience ends whatever the clock says: one that stands still
 * must not keep a worker awake. A round takes 30 ns at the very least, so that a clock
 * that works always ends the longest budget, 500 us, first. */
enum { MOST_ROUNDS = 20000 };

static uint64_t at_least(uint64_t ns, uint64_t least_ns) {
  return ns > least_ns ? ns : least_ns;
}

/* Starts with the budget of the pool's mode, halved `shift` times. */
static void set_budget(wf_patience *patience, wf_worker *worker, unsigned shift) {
  worker->asks = false;
  weft_idle mode = worker->pool->options.idle;
  WF_ASSERT((unsigned)mode < sizeof BUDGETS / sizeof BUDGETS[0]);
  WF_ASSERT(shift <= FUTILE_WAKES_COUNTED);
  uint64_t total_ns = BUDGETS[mode].spin_ns + BUDGETS[mode].yield_ns;
  patience->start_ns = wf_sys_now_ns();
  patience->spin_ns = at_least(BUDGETS[mode].spin_ns >> shift, LEAST_SEARCH_NS);
  patience->total_ns = at_least(total_ns >> shift, LEAST_SEARCH_NS);
  patience->take_over_ns = FIRST_TAKE_OVER_NS;
  patience->counted_ns = 0;
  patience->rounds = 0;
  patience->kept_awake = false;
  WF_ASSERT(patience->spin_ns <= patience->total_ns);
}

void wf_patience_start(wf_patience *patience, wf_worker *worker) {
  set_budget(patience, worker, 0);
}

/* What others took runs at the same time as the worker's own part, so the longer that
 * was, the likelier it is that they end soon after. */
void wf_patience_start_waiting(wf_patience *patience, wf_worker *worker) {
  set_budget(patience, worker, 0);
  if (worker->shared_ticks == 0) return;
  if (worker->pool->options.idle == WEFT_IDLE_POWER_SAVING) return;
  uint64_t own_us = (wf_sys_ticks() - worker->shared_ticks) / wf_sys_ticks_per_us();
  uint64_t wait_us = own_us / WAIT_SHARE;
  if (wait_us > LONGEST_WAIT_US) wait_us = LONGEST_WAIT_US;
  patience->total_ns = at_least(patience->total_ns, 1000 * wait_us);
}

void wf_patience_restart_after_sleep(wf_patience *patience, wf_worker *worker) {
  set_budget(patience, worker, worker->futile_wakes);
  if (worker->futile_wakes < FUTILE_WAKES_COUNTED) worker->futile_wakes++;
}

void wf_patience_end(wf_patience *patience) {
  patience->spin_ns = 0;
  patience->total_ns = 0;
}

void wf_patience_kept_awake(wf_patience *patience, wf_worker *worker) {
  patience->kept_awake = true;
  worker->looks_at_all = true;
}

/* The budget is used up. What kept the worker from sleeping, and what it then did not get
 * hold of, is perhaps in the hands of a thread that waits for this CPU. */
static bool pause_beyond(wf_patience *patience, wf_worker *worker) {
  if (!patience->kept_awake) return false;
  patience->kept_awake = false;
  wf_steer_yield(worker);
  return true;
}

/* May this worker take over now? */
static bool begin_take_over(wf_sleep *sleep, uint64_t now_ns) {
  uint32_t nobody = 0;
  /* Relaxed, both: hints about time. A thread that is stopped meanwhile takes over a
   * little too often, or leaves it to the look before the next sleep. */
  if (now_ns < wf_u64_load_relaxed(&sleep->x_next_take_over_ns)) return false;
  if (wf_u32_load_relaxed(&sleep->x_taking_over) != 0) return false;
  /* Acquire: pairs with the release in end_take_over. explorer: relaxed suffices, the
   * words say only when to look. */
  return wf_u32_cas_acquire(&sleep->x_taking_over, &nobody, 1);
}

static void end_take_over(wf_sleep *sleep, uint64_t begin_ns) {
  uint64_t now_ns = wf_sys_now_ns();
  /* Relaxed: as above. */
  wf_u64_store_relaxed(&sleep->x_next_take_over_ns,
                       now_ns + TAKE_OVER_REST * (now_ns - begin_ns));
  /* Release: pairs with begin_take_over. explorer: relaxed suffices, as there. */
  wf_u32_store_release(&sleep->x_taking_over, 0);
}

/* Takes over private tasks of owners that have not answered; true if there were some. */
static bool take_over_in_time(wf_patience *patience, wf_worker *worker,
                              uint64_t elapsed) {
  if (elapsed < patience->take_over_ns || !worker->pool->steals) return false;
  uint64_t now_ns = patience->start_ns + elapsed;
  if (!begin_take_over(&worker->pool->sleep, now_ns)) return false;
  patience->take_over_ns = elapsed + NEXT_TAKE_OVER_NS;
  unsigned exposed = wf_search_take_over(worker);
  end_take_over(&worker->pool->sleep, now_ns);
  /* This worker may get something better to do before it takes one of them. */
  if (exposed > 0) wf_sleep_new_tasks(worker->pool, exposed, true);
  return exposed > 0;
}

bool wf_patience_pause(wf_patience *patience, wf_worker *worker) {
  wf_steer_give_way(worker);
  uint64_t elapsed = wf_sys_now_ns() - patience->start_ns;
  wf_u64_count(&worker->x_searching_ns, elapsed - patience->counted_ns);
  patience->counted_ns = elapsed;
  if (++patience->rounds > MOST_ROUNDS) elapsed = patience->total_ns;
  if (elapsed >= FIRST_ASK_NS) worker->asks = true;
  if (elapsed >= patience->total_ns) return pause_beyond(patience, worker);
  if (take_over_in_time(patience, worker, elapsed)) return true;
  if (elapsed < patience->spin_ns) {
    unsigned pauses = patience->rounds < LONGEST_PAUSE ? patience->rounds : LONGEST_PAUSE;
    for (unsigned i = 0; i < pauses; i++) wf_sys_relax();
  } else {
    wf_steer_yield(worker);
  }
  return true;
}

/* ---- forks that are public at once ---- */

/* Forks are given away at once only while more than this many workers sleep. A choice:
 * pools of up to 9 threads never do it. */
enum { GIVES_ABOVE = 8 };

/* A wake-up pays if the worker then works for this long, which is about what it takes to
 * wake 256 workers one from the other. A run that is longer counts for a few short ones
 * at most. Both are choices: with 50 and 100 us, some runs of loops of 20 us on 256
 * simulated cores never learned (docs/scaling.md). */
enum { WAKE_PAYS_NS = 200000, LONGEST_RUN_NS = 1000000 };

/* A new pool gives forks away until the wake-ups of a quarter of its threads did not pay.
 * A choice: with four wake-ups instead, fib takes 6 % longer on 256 simulated cores, and
 * loops of 20 us 15 % less (docs/scaling.md). */
enum { PATIENT_SHARE = 4 };

/* x_worth is between this and its negative. So after long work as many wake-ups for
 * nothing are needed to change the pool's mind as it has threads, and the short tasks at
 * the end of a tree do not. */
static int64_t most_worth(const weft_pool *pool) {
  return (int64_t)WAKE_PAYS_NS * (int64_t)pool->thread_places;
}

/* Do wake-ups pay in this pool? */
static bool wakes_pay(const weft_pool *pool) {
  /* Relaxed: a hint, pairs with the store in wf_idle_note_worth. */
  int64_t worth = (int64_t)wf_u64_load_relaxed(&pool->sleep.x_worth);
  return worth > -most_worth(pool) / PATIENT_SHARE;
}

void wf_idle_give_forks(wf_worker *worker) {
  unsigned sleeping = wf_sleep_sleeping(worker->pool), forks = 0;
  /* Each fork gives away half of what is left, and wakes one: with log n of them all n
   * sleepers are woken, if those that are woken do the same. */
  for (; sleeping > GIVES_ABOVE && sleeping >> forks != 0; forks++) {
  }
  if (forks > 0 && !wakes_pay(worker->pool)) forks = 0;
  wf_deque_give_forks(&worker->deque, forks);
}

/* A clock of the worker's own that stands still while it searches or sleeps. */
static uint64_t working_ns(const wf_worker *worker, uint64_t now_ns) {
  /* Relaxed: its own words. */
  return now_ns - wf_u64_load_relaxed(&worker->x_searching_ns) -
         wf_u64_load_relaxed(&worker->x_asleep);
}

void wf_idle_begin_woken(wf_worker *worker) {
  if (!worker->pool->wakes_in_trees) return;
  worker->measures = true;
  worker->woken_at_ns = working_ns(worker, wf_sys_now_ns());
  wf_idle_give_forks(worker);
}

void wf_idle_note_worth(wf_worker *worker, uint64_t now_ns) {
  weft_pool *pool = worker->pool;
  if (!worker->measures) return;
  worker->measures = false;
  uint64_t ran_ns = working_ns(worker, now_ns) - worker->woken_at_ns;
  if (ran_ns > LONGEST_RUN_NS) ran_ns = LONGEST_RUN_NS;
  int64_t most = most_worth(pool);
  /* Relaxed, both: a hint, pairs with the load in wakes_pay. A note that is lost because
   * two workers write at the same time is one of hundreds. In a program that always does
   * the same the value stays at one of its ends, and nobody writes. */
  int64_t old = (int64_t)wf_u64_load_relaxed(&pool->sleep.x_worth);
  int64_t worth = old + (int64_t)ran_ns - WAKE_PAYS_NS;
  if (worth > most) worth = most;
  if (worth < -most) worth = -most;
  if (worth != old) wf_u64_store_relaxed(&pool->sleep.x_worth, (uint64_t)worth);
}
