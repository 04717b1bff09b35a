/* pool/worker.c - what a worker does: look for work, run it, help while it waits.
 *
 * Two kinds of waiting share the search: a started thread with nothing to do waits for
 * its `terminate` latch and takes everything; a thread whose forked task was stolen waits
 * for that task and takes only what cannot make it late or its stack deep: tasks of the
 * thief first, then of anybody while few strangers are on its stack, never injected work.
 *
 * All functions run on the thread that is in the worker's place.
 *
 * SPDX-License-Identifier: MIT */
#include "pool.h"

#include "search.h"

/* So many tasks of others may be on a waiting thread's stack before it takes tasks only
 * from the thief of its own, and so many before it takes none. */
enum { HELP_ANYBODY_DEPTH = 16, HELP_THIEF_DEPTH = 64 };

/* ---- running ---- */

static void run_stolen(wf_worker *worker, wf_task *task, unsigned owner) {
  wf_u64_count(&worker->x_tasks, 1);
  wf_latch_note_thief(&task->completion, worker->index);
  task->execute(task->context);
  /* The task may be gone as soon as its latch is set: `owner` is a copy. */
  if (wf_latch_set(&task->completion)) wf_sleep_wake_worker(worker->pool, owner);
}

static void run(wf_worker *worker, const wf_work *work) {
  worker->asks = false;
  if (work->task != NULL) {
    run_stolen(worker, work->task, work->owner);
  } else {
    wf_u64_count(&worker->x_tasks, 1);
    work->injected.fn(work->injected.ctx);
    wf_pool_injected_done(worker->pool);
  }
}

void wf_worker_tell(wf_worker *worker, wf_deque_news news) {
  if (news.exposed == 0 || !worker->pool->steals) return;
  wf_u64_count(&worker->x_exposes, 1);
  wf_sleep_new_tasks(worker->pool, news.exposed, news.public_was_empty);
}

/* ---- a started thread ---- */

/* Is the pool ending? Then everything submitted has been run, except perhaps what the
 * exit hooks of other threads have detached. */
static bool is_done(const wf_worker *worker) {
  return wf_latch_probe(&worker->terminate) && !wf_injector_any(&worker->pool->injector);
}

/* The worker has found work: it is not idle any more. The next sleeper is woken before
 * the work is run, which may take long. */
static void leave_idle(wf_worker *worker) {
  wf_counters_sub_inactive(&worker->pool->sleep.counters);
  worker->futile_wakes = 0;
  wf_sleep_wake_next(worker->pool);
}

/* Looks for work, with pauses, until there is some (true) or the pool ends (false). */
static bool wait_for_work(wf_worker *worker, wf_work *work) {
  weft_pool *pool = worker->pool;
  uint64_t word = wf_counters_add_inactive(&pool->sleep.counters);
  wf_patience patience;
  wf_patience_start(&patience, worker);
  if (wf_counters_awake_idle(word) > pool->max_searchers) wf_patience_end(&patience);

  for (;;) {
    if (wf_search_anything(worker, work)) break;
    if (is_done(worker)) {
      wf_counters_sub_inactive(&pool->sleep.counters);
      return false;
    }
    if (wf_patience_pause(&patience, worker)) continue;

    if (!wf_latch_get_sleepy(&worker->terminate)) continue;
    uint64_t announced = wf_counters_announce(&pool->sleep.counters);
    if (wf_search_anything(worker, work)) {
      wf_latch_wake_up(&worker->terminate);
      break;
    }
    if (wf_sleep_idle(worker, &worker->terminate, wf_counters_jec(announced)))
      wf_patience_restart_after_sleep(&patience, worker);
  }
  leave_idle(worker);
  return true;
}

/* Runs on a started thread, as its worker. */
static void work_until_the_end(void *ctx) {
  wf_worker *worker = (wf_worker *)ctx;
  const wf_options *options = &worker->pool->options;
  if (options->on_start != NULL) options->on_start(worker->index, options->hook_ctx);
  wf_work work;
  while (wf_search_anything(worker, &work) || wait_for_work(worker, &work))
    run(worker, &work);
  if (options->on_exit != NULL) options->on_exit(worker->index, options->hook_ctx);
}

void wf_worker_main(void *worker) {
  wf_guest_run_as((wf_worker *)worker, work_until_the_end, worker);
}

/* ---- waiting for a task of one's own ---- */

static bool find_help(wf_worker *worker, const wf_latch *latch, wf_work *work) {
  if (worker->help_depth >= HELP_THIEF_DEPTH) return false;
  if (wf_search_thief(worker, wf_latch_thief(latch), work)) return true;
  return worker->help_depth < HELP_ANYBODY_DEPTH && wf_search_anybody(worker, work);
}

void wf_worker_wait(wf_worker *worker, wf_latch *latch) {
  wf_patience patience;
  wf_patience_start(&patience, worker);
  while (!wf_latch_probe(latch)) {
    wf_work work;
    if (find_help(worker, latch, &work)) {
      worker->futile_wakes = 0;
      wf_sleep_wake_next(worker->pool);
      worker->help_depth++;
      run(worker, &work);
      worker->help_depth--;
      wf_patience_start(&patience, worker);
      continue;
    }
    if (wf_patience_pause(&patience, worker)) continue;
    if (!wf_latch_get_sleepy(latch)) continue;
    wf_sleeper kind =
        worker->help_depth < HELP_ANYBODY_DEPTH ? WF_SLEEPER_HELPER : WF_SLEEPER_CLOSED;
    if (wf_sleep_waiting(worker, latch, kind))
      wf_patience_restart_after_sleep(&patience, worker);
  }
}
