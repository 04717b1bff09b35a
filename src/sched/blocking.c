/* sched/blocking.c - weft_blocking_begin and _end, and the stand-ins they call for.
 *
 * A stand-in is a thread like a started one, with a place of its own, that works only
 * while other threads of the pool are in blocking sections. Stand-ins are started by the
 * thread that begins a section, one by one, and stay until the pool ends. The first part
 * of this file runs on stand-ins, the second on threads that block.
 *
 * SPDX-License-Identifier: MIT */
#include "blocking.h"

#include "idle.h"
#include "record.h"
#include "scope.h"
#include "search.h"

#include <weft/task.h>

/* ---- a stand-in ---- */

/* Goes to work, if one more is needed. */
static bool begin_work(wf_worker *worker) {
  weft_pool *pool = worker->pool;
  WF_ASSERT(worker->index >= pool->stand_in_first && worker->index < pool->slots);
  uint32_t active = wf_u32_load_relaxed(&pool->x_stand_ins_active); /* the CAS decides */
  do {
    /* Relaxed: what is not seen here is seen after the fence in park. */
    if (active >= wf_u32_load_relaxed(&pool->x_blocked)) return false;
    /* seq_cst: pairs with that of the other stand-ins. explorer: relaxed suffices: it is
     * one word, and a poster that wakes one too many for it does no harm. */
  } while (!wf_u32_cas_seq_cst(&pool->x_stand_ins_active, &active, active + 1));
  bool added = wf_bitset_add(pool->x_present, worker->index);
  WF_ASSERT(added);
  return true;
}

static void end_work(wf_worker *worker) {
  /* While it is away nobody asks it: the first task it makes next time must be offered.
   */
  wf_deque_seal_if_open(&worker->deque);
  wf_deque_seal_if_open(&worker->spawned);
  bool removed = wf_bitset_remove(worker->pool->x_present, worker->index);
  WF_ASSERT(removed);
  /* seq_cst: pairs with begin_work. explorer: relaxed suffices, the fence in park
   * follows. */
  uint32_t active = wf_u32_fetch_sub_seq_cst(&worker->pool->x_stand_ins_active, 1);
  WF_ASSERT(active > 0);
}

/* Are more stand-ins at work than threads are blocked? */
static bool is_surplus(const weft_pool *pool) {
  /* Relaxed: the next look, after the next task, comes early enough. */
  return wf_u32_load_relaxed(&pool->x_blocked) <
         wf_u32_load_relaxed(&pool->x_stand_ins_active);
}

/* Works until there is nothing to do, or nobody needs it any more. */
static void work_as_stand_in(wf_worker *worker) {
  wf_patience patience;
  wf_patience_start(&patience, worker);
  while (!worker->alone && !is_surplus(worker->pool)) {
    wf_work work;
    if (wf_search_anything(worker, &work)) {
      worker->was_woken = false;
      wf_sleep_wake_next(worker->pool);
      wf_worker_run_at_bottom(worker, &work);
      wf_patience_start(&patience, worker);
    } else if (!wf_patience_pause(&patience, worker)) {
      break;
    }
  }
  wf_worker_settle(worker);
  WF_ASSERT(worker->alone || (worker->frames == 1 && worker->help_depth == 0));
}

static void stand_in_until_the_end(void *ctx) {
  wf_worker *worker = (wf_worker *)ctx;
  wf_worker_call_start_hook(worker);
  while (!worker->alone && !wf_latch_probe(&worker->terminate)) {
    if (begin_work(worker)) {
      work_as_stand_in(worker);
      if (worker->alone) break;
      end_work(worker);
    }
    if (wf_latch_get_sleepy(&worker->terminate))
      wf_sleep_waiting(worker, &worker->terminate, WF_SLEEPER_STAND_IN);
  }
  wf_worker_call_exit_hook(worker);
}

void wf_stand_in_main(void *worker) {
  wf_worker_run_thread((wf_worker *)worker, stand_in_until_the_end);
}

void wf_stand_in_end_all(weft_pool *pool) {
  wf_lock_lock(&pool->stand_in_lock); /* stand-ins at work may be adding others */
  wf_u32_store_relaxed(&pool->x_stand_ins_closed, 1);
  uint32_t threads = wf_u32_load_relaxed(&pool->x_stand_ins); /* under the lock */
  wf_lock_unlock(&pool->stand_in_lock);
  for (uint32_t i = 0; i < threads; i++) {
    wf_worker *worker = &pool->workers[pool->stand_in_first + i];
    if (wf_latch_set(&worker->terminate)) wf_sleep_wake_worker(pool, worker->index);
  }
  for (uint32_t i = 0; i < threads; i++)
    wf_sys_thread_join(pool->workers[pool->stand_in_first + i].thread);
  wf_u32_store_relaxed(&pool->x_stand_ins, 0); /* no other thread is left */
}

/* ---- a thread that blocks ---- */

/* Are there fewer stand-ins than threads in sections, and may there be more? */
static bool lacks_stand_in(const weft_pool *pool) {
  /* Relaxed: a thread that begins a section later looks for itself. */
  uint32_t blocked = wf_u32_load_relaxed(&pool->x_blocked);
  uint32_t threads = wf_u32_load_relaxed(&pool->x_stand_ins);
  return threads < blocked && threads < pool->slots - pool->stand_in_first &&
         wf_u32_load_relaxed(&pool->x_stand_ins_closed) == 0;
}

/* Starts stand-ins until there are as many as threads in sections. If the system refuses
 * a thread, or memory, the section simply blocks. */
static void add_stand_ins(weft_pool *pool) {
  if (!lacks_stand_in(pool)) return;
  bool started = true;
  wf_lock_lock(&pool->stand_in_lock);
  while (started && lacks_stand_in(pool)) {
    uint32_t threads = wf_u32_load_relaxed(&pool->x_stand_ins); /* under the lock */
    WF_ASSERT(pool->stand_in_first + threads < pool->slots);
    wf_worker *worker = &pool->workers[pool->stand_in_first + threads];
    started = wf_deque_prepare(&worker->deque) == 0 &&
              wf_worker_start_thread(worker, wf_stand_in_main) == 0;
    if (started) wf_u32_store_relaxed(&pool->x_stand_ins, threads + 1);
  }
  wf_lock_unlock(&pool->stand_in_lock);
  wf_sys_threads_await();
}

void weft_blocking_begin(void) {
  wf_worker *worker = wf_worker_now();
  if (worker == NULL || worker->blocking_depth++ > 0) return;
  wf_record_begin(worker, WEFT_EVENT_BLOCKING, NULL);
  wf_u32_store_relaxed(&worker->x_state, WF_STATE_BLOCKED); /* its own word */
  if (worker->serial || worker->alone) return;
  weft_pool *pool = worker->pool;
  wf_u32_fetch_add_relaxed(&pool->x_blocked, 1); /* the fence below publishes it */
  add_stand_ins(pool);
  /* If nobody is idle there may be work that this thread would have done next. The fence
   * pairs with the one in park: a stand-in on its way to sleep sees the section, or is
   * seen below; and with the load in wf_stand_in_is_wanted: a worker that is idle here
   * sees the section too. */
  wf_fence_seq_cst();
  if (wf_counters_inactive(&pool->sleep.counters) == 0) wf_sleep_wake_next(pool);
}

void weft_blocking_end(void) {
  wf_worker *worker = wf_worker_now();
  if (worker == NULL) return;
  if (worker->blocking_depth == 0)
    wf_fatal("weft_blocking_end", "there was no weft_blocking_begin in this task");
  if (--worker->blocking_depth > 0) return;
  wf_u32_store_relaxed(&worker->x_state, WF_STATE_WORKING); /* its own word */
  wf_record_end(worker, WEFT_EVENT_BLOCKING);
  if (worker->serial || worker->alone) return;
  /* Relaxed: surplus stand-ins stop after their task. */
  uint32_t blocked = wf_u32_fetch_sub_relaxed(&worker->pool->x_blocked, 1);
  WF_ASSERT(blocked > 0);
}
