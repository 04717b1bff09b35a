/* sched/worker.c - what a worker does: look for work, run it, help while it waits.
 *
 * Two kinds of waiting share the search: a started thread with nothing to do waits for
 * its `terminate` latch and takes everything; a thread that waits for a forked task or
 * for a scope takes only what cannot make it late or its stack deep. Always: tasks that
 * the waiting code has spawned itself, queued tasks of the scope it waits for,
 * broadcasts. While there is room: older tasks of its own, tasks of the thread that runs
 * what it waits for, then of anybody. Never: injected work. Why nobody waits for ever
 * when there is no room: src/sched/scope.md.
 *
 * All functions run on the thread that is in the worker's place.
 *
 * SPDX-License-Identifier: MIT */
#include "pool.h"

#include "mail.h"
#include "scoped.h"
#include "search.h"
#include "spare.h"

#include <stdlib.h>

/* So many tasks of others may be on a waiting thread's stack before it takes tasks only
 * from the thief of its own, and so many before it takes none. */
enum { HELP_ANYBODY_DEPTH = 16, HELP_THIEF_DEPTH = 64 };

/* ---- running ---- */

static void run_stolen(wf_worker *worker, wf_task *task, unsigned owner) {
  const wf_region *region = wf_latch_note_thief(&task->completion, worker->index);
  wf_frame outer;
  wf_frame_enter(worker, &outer, region);
  task->execute(task->context);
  wf_frame_leave_task(worker, &outer);
  /* The task may be gone as soon as its latch is set: `owner` is a copy. */
  if (wf_latch_set(&task->completion)) wf_sleep_wake_worker(worker->pool, owner);
}

static void run_injected(wf_worker *worker, const wf_work *work) {
  static const wf_region background_region = {.background = true};
  wf_frame outer;
  wf_frame_enter(worker, &outer, work->background ? &background_region : NULL);
  work->injected.fn(work->injected.ctx);
  wf_frame_check(worker, &outer);
  wf_frame_leave(worker, &outer);
  if (!worker->alone) wf_pool_injected_done(worker->pool);
}

static void run(wf_worker *worker, const wf_work *work) {
  worker->asks = false;
  wf_u64_count(&worker->x_tasks, 1);
  if (work->mail != NULL)
    wf_mail_deliver(worker, work->mail);
  else if (work->task == NULL)
    run_injected(worker, work);
  else if (work->spawned)
    work->task->execute(work->task); /* it knows its scope and enters its own frame */
  else
    run_stolen(worker, work->task, work->owner);
  if (work->background && !worker->alone) wf_background_end(worker);
}

void wf_worker_tell_slow(wf_worker *worker, wf_deque_news news) {
  if (!worker->pool->steals || worker->alone) return;
  wf_u64_count(&worker->x_exposes, 1);
  if (worker->background)
    wf_background_tell(worker->pool);
  else
    wf_sleep_new_tasks(worker->pool, news.exposed, news.public_was_empty);
}

/* The newest of this worker's spawned tasks is not private, or there is none. */
wf_task *wf_worker_take_spawned_slow(wf_worker *worker) {
  wf_deque_news news;
  if (worker->spawned.slots == NULL) return NULL;
  wf_task *task = wf_deque_pop(&worker->spawned, &news);
  wf_worker_tell(worker, news);
  return task;
}

/* Runs what this worker has spawned, newest first, down to the mark. */
static void run_spawned_above(wf_worker *worker, uint64_t mark) {
  wf_task *task;
  while ((task = wf_worker_take_spawned(worker, mark)) != NULL) task->execute(task);
}

/* ---- a started thread ---- */

/* Is the pool ending? Then everything submitted has been run, except perhaps what the
 * exit hooks of other threads have detached. */
static bool is_done(const wf_worker *worker) {
  return wf_latch_probe(&worker->terminate) &&
         !wf_injector_any(&worker->pool->injector) &&
         !wf_injector_any(&worker->pool->background) &&
         wf_u32_load_relaxed(&worker->x_mail) == 0; /* ordered by the latch */
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
    else
      wf_patience_kept_awake(&patience);
  }
  leave_idle(worker);
  return true;
}

/* One round at the bottom of the stack: own tasks until there are none, then something
 * that was found. */
static void run_at_bottom(wf_worker *worker, const wf_work *work) {
  run(worker, work);
  run_spawned_above(worker, worker->mark);
}

static void call_hook(const wf_worker *worker, void (*hook)(unsigned, void *)) {
  if (hook != NULL) hook(worker->index, worker->pool->options.hook_ctx);
}

/* Runs on a started thread, as its worker. */
static void work_until_the_end(void *ctx) {
  wf_worker *worker = (wf_worker *)ctx;
  if (worker->pool->options.on_start != NULL) wf_pool_await_start(worker->pool);
  call_hook(worker, worker->pool->options.on_start);
  run_spawned_above(worker, worker->mark);
  wf_work work;
  /* In a child that was forked by a task, the thread ends with the task. */
  while (!worker->alone &&
         (wf_search_anything(worker, &work) || wait_for_work(worker, &work)))
    run_at_bottom(worker, &work);
  call_hook(worker, worker->pool->options.on_exit);
  run_spawned_above(worker, worker->mark);
  wf_worker_settle(worker);
}

/* A thread ends. In a child that was forked by a task, this was the only thread that the
 * child had of its own: the process ends as it would if it had no pool. */
static void end_thread(const wf_worker *worker) {
  if (worker->alone) exit(0); /* NOLINT(concurrency-mt-unsafe): it is the only thread */
  wf_guest_end_thread();
}

void wf_worker_main(void *worker) {
  wf_guest_run_as((wf_worker *)worker, work_until_the_end, worker);
  end_thread((wf_worker *)worker);
}

/* ---- a spare: a thread that takes over for one in a blocking section ---- */

/* Works until there is nothing to do, or nobody needs it any more. */
static void work_as_spare(wf_worker *worker) {
  wf_patience patience;
  wf_patience_start(&patience, worker);
  while (!worker->alone && !wf_spare_is_surplus(worker->pool)) {
    wf_work work;
    if (wf_search_anything(worker, &work)) {
      wf_sleep_wake_next(worker->pool);
      run_at_bottom(worker, &work);
      wf_patience_start(&patience, worker);
    } else if (!wf_patience_pause(&patience, worker)) {
      break;
    }
  }
  wf_worker_settle(worker);
}

static void spare_until_the_end(void *ctx) {
  wf_worker *worker = (wf_worker *)ctx;
  call_hook(worker, worker->pool->options.on_start);
  while (!worker->alone && !wf_latch_probe(&worker->terminate)) {
    if (wf_spare_begin_work(worker)) {
      work_as_spare(worker);
      if (worker->alone) break;
      wf_spare_end_work(worker);
    }
    if (wf_latch_get_sleepy(&worker->terminate))
      wf_sleep_waiting(worker, &worker->terminate, WF_SLEEPER_SPARE);
  }
  call_hook(worker, worker->pool->options.on_exit);
  run_spawned_above(worker, worker->mark);
  wf_worker_settle(worker);
}

void wf_spare_main(void *worker) {
  wf_guest_run_as((wf_worker *)worker, spare_until_the_end, worker);
  end_thread((wf_worker *)worker);
}

/* ---- waiting for tasks of one's own ---- */

bool wf_worker_has_room(const wf_worker *worker) {
  return worker->help_depth < HELP_THIEF_DEPTH && wf_stack_is_half_free();
}

bool wf_worker_may_help(wf_worker *worker) {
  return wf_isolation(worker) == NULL && !worker->alone && wf_worker_has_room(worker);
}

/* The entry of a FIFO scope is a ticket for the oldest task of the scope, which anybody
 * may have made: a stranger's, unless it is the scope that is waited for. Without room
 * for that the ticket goes into the pool's queue. */
void wf_worker_draw_ticket(wf_worker *worker, wf_task *task) {
  struct weft_scope *scope = wf_scope_of_task(task);
  if (worker->alone) {
    task->execute(task);
  } else if (wf_worker_may_help(worker)) {
    worker->help_depth++;
    task->execute(task);
    worker->help_depth--;
  } else if (wf_pool_started(worker->pool) == 0 || wf_scope_enqueue(scope, task) != 0) {
    task->execute(task); /* nobody else would */
  }
}

void wf_worker_run_leftovers(wf_worker *worker) {
  wf_task *task;
  while ((task = wf_worker_take_spawned(worker, worker->mark)) != NULL)
    wf_worker_run_newest(worker, task, NULL);
}

/* Work that the waiting code has made itself, or that is meant for this very thread. */
static bool run_own(wf_worker *worker, struct weft_scope *scope) {
  wf_task *task = wf_worker_take_spawned(worker, worker->mark);
  if (task != NULL) {
    wf_worker_run_newest(worker, task, scope);
    return true;
  }
  wf_worker_settle(worker);        /* from here on it turns to other things */
  if (worker->alone) return false; /* the queue is the parent process's */
  wf_work work = {0};
  bool found = scope != NULL && wf_scope_dequeue(scope, &work.injected);
  if (!found) found = (work.mail = wf_mail_take(worker)) != NULL;
  if (found) run(worker, &work);
  return found;
}

/* An older task of this worker's own, as if it were a stranger's. */
static bool take_older(wf_worker *worker, wf_work *work) {
  if (wf_deque_count(&worker->spawned) == 0) return false;
  *work = (wf_work){.task = wf_worker_take_spawned_slow(worker), .spawned = true};
  worker->mark = wf_deque_bottom(&worker->spawned);
  return work->task != NULL;
}

static bool find_help(wf_worker *worker, const wf_latch *latch, wf_work *work) {
  if (!wf_worker_may_help(worker)) return false;
  if (take_older(worker, work)) return true;
  if (!worker->pool->steals) return false;
  if (wf_search_thief(worker, wf_latch_thief(latch), work)) return true;
  return worker->help_depth < HELP_ANYBODY_DEPTH && wf_search_anybody(worker, work);
}

static void run_as_help(wf_worker *worker, const wf_work *work) {
  worker->futile_wakes = 0;
  wf_sleep_wake_next(worker->pool);
  worker->help_depth++;
  run(worker, work);
  worker->help_depth--;
}

static wf_sleeper waiting_kind(wf_worker *worker) {
  return worker->help_depth < HELP_ANYBODY_DEPTH && wf_worker_may_help(worker)
             ? WF_SLEEPER_HELPER
             : WF_SLEEPER_CLOSED;
}

/* In a forked process, when this thread has done what it can by itself. */
static void check_not_lost(const wf_worker *worker, const wf_latch *latch,
                           const char *call) {
  if (worker->alone && !wf_latch_probe(latch))
    wf_fatal(call, "after a fork, the child waits for work that another thread of the "
                   "parent has taken");
}

void wf_worker_wait(wf_worker *worker, wf_latch *latch, struct weft_scope *scope,
                    const char *call) {
  struct weft_scope *outer = worker->waits_for;
  worker->waits_for = scope;
  wf_patience patience;
  wf_patience_start(&patience, worker);
  while (!wf_latch_probe(latch)) {
    wf_work work;
    if (run_own(worker, scope)) {
      wf_patience_start(&patience, worker);
      continue;
    }
    if (find_help(worker, latch, &work)) {
      run_as_help(worker, &work);
      wf_patience_start(&patience, worker);
      continue;
    }
    check_not_lost(worker, latch, call);
    if (wf_patience_pause(&patience, worker)) continue;
    if (!wf_latch_get_sleepy(latch)) continue;
    if (wf_sleep_waiting(worker, latch, waiting_kind(worker)))
      wf_patience_restart_after_sleep(&patience, worker);
    else
      wf_patience_kept_awake(&patience);
  }
  worker->waits_for = outer;
  wf_worker_settle_outside(worker);
}

bool wf_worker_run_any(wf_worker *worker) {
  wf_work work;
  const wf_region *region = worker->deque.owner.region;
  bool lets_through = region == NULL || region->isolation == NULL || region->yields;
  bool ran = wf_stack_is_half_free() && run_own(worker, NULL);
  if (!ran && lets_through && !worker->alone && wf_worker_has_room(worker) &&
      (take_older(worker, &work) || wf_search_roots(worker, &work))) {
    run_as_help(worker, &work);
    ran = true;
  }
  wf_worker_settle_outside(worker);
  return ran;
}
