/* sched/worker.c - what a worker does: look for work, run it, help while it waits.
 *
 * There are two kinds of waiting. A started thread with nothing to do waits for its
 * `terminate` latch and takes everything. A thread that waits for a forked task or for a
 * scope takes only what cannot make it late or its stack deep. Always: tasks that the
 * waiting code has spawned itself, queued tasks of the scope it waits for, broadcasts.
 * While there is room: older tasks of its own, tasks of the thread that runs what it
 * waits for, then of anybody. Never: injected work. Why nobody waits for ever when there
 * is no room: scope.md.
 *
 * All functions run on the thread that is in the worker's place.
 *
 * SPDX-License-Identifier: MIT */
#include "worker.h"

#include "background.h"
#include "bind.h"
#include "broadcast.h"
#include "idle.h"
#include "parcel.h"
#include "record.h"
#include "scope.h"
#include "search.h"
#include "stats.h"

#include <limits.h>
#include <stdlib.h>

/* ---- room on the stack ---- */

/* The stack of this thread. Asked for once per thread; a size of 1 means that the system
 * did not tell. */
#if defined(_WIN32)
#define stack_low  (*(uintptr_t *)wf_sys_local(WF_LOCAL_STACK_LOW))
#define stack_size (*(size_t *)wf_sys_local(WF_LOCAL_STACK_SIZE))
#else
static __thread uintptr_t stack_low;
static __thread size_t stack_size;
#endif

static void find_stack(void) {
  if (stack_size == 0 && !wf_sys_thread_stack(&stack_low, &stack_size)) stack_size = 1;
}

bool wf_stack_is_half_free(void) {
  find_stack();
  uintptr_t here = (uintptr_t)__builtin_frame_address(0);
  /* Code that runs on a stack of its own making, as coroutines do, is not judged. */
  if (here - stack_low >= stack_size) return true;
  return here - stack_low >= stack_size / 2;
}

/* Stacks grow downwards. */
bool wf_stack_was_left(const void *address, const void *frame) {
  uintptr_t at = (uintptr_t)address, here = (uintptr_t)frame;
  if (WF_LIKELY(at >= here)) return false;
  find_stack();
  return at - stack_low < stack_size && here - stack_low < stack_size;
}

#undef stack_low /* other structures have such members */
#undef stack_size

bool wf_worker_has_room(const wf_worker *worker) {
  return worker->help_depth < WF_HELP_THIEF_DEPTH && wf_stack_is_half_free();
}

bool wf_worker_may_help(wf_worker *worker) {
  return !worker->stays && wf_isolation(worker) == NULL && !worker->alone &&
         wf_worker_has_room(worker);
}

/* ---- running ---- */

/* Runs a task that was stolen from worker `owner`, and completes it: the joiner goes on
 * when it sees the latch. */
static void run_stolen(wf_worker *worker, wf_task *task, unsigned owner) {
  WF_ASSERT(owner < worker->pool->slots && owner != worker->index);
  const wf_region *region = wf_latch_note_thief(&task->completion, worker->index);
  wf_frame outer;
  wf_frame_enter(worker, &outer, region);
  worker->begun = task;
  wf_record_call(worker, WF_TASK_STOLEN, task->execute, task->context, (int)owner);
  wf_frame_leave_task(worker, &outer);
  /* The task may be gone as soon as its latch is set: `owner` is a copy. */
  if (wf_latch_set(&task->completion)) wf_sleep_wake_worker(worker->pool, owner);
}

/* Runs a parcel that was taken from another worker. Its part counts as ended when the
 * frame is left: the region is the waiter's, who may then go on. */
static void run_parcel(wf_worker *worker, const wf_work *work) {
  wf_parcel parcel = work->parcel;
  wf_frame outer;
  wf_frame_enter(worker, &outer, work->region);
  wf_record_call(worker, WF_TASK_STOLEN, parcel.fn, &parcel, (int)work->owner);
  wf_frame_leave_task(worker, &outer);
  wf_shared_take_off(worker, parcel.work, parcel.amount);
}

static void run_injected(wf_worker *worker, const wf_work *work) {
  WF_ASSERT(work->injected.fn != NULL);
  if (WF_UNLIKELY(worker->pool->queue_limit != 0))
    wf_pool_begins(worker->pool, work->injected.fn);
  wf_u64_count(&worker->x_injected, 1);
  static const wf_region background_region = {.background = true};
  wf_frame outer;
  wf_frame_enter(worker, &outer, work->background ? &background_region : NULL);
  wf_record_call(worker, WF_TASK_INJECTED, work->injected.fn, work->injected.ctx, -1);
  wf_frame_expect_closed(worker, &outer);
  wf_frame_leave(worker, &outer);
  if (!worker->alone) wf_pool_injected_done(worker->pool);
}

static void run_other(wf_worker *worker, const wf_work *work) {
  wf_u64_count(&worker->x_tasks, 1);
  if (work->broadcast != NULL)
    wf_broadcast_run(worker, work->broadcast);
  else if (work->is_parcel)
    run_parcel(worker, work);
  else if (work->spawned)
    work->task->execute(work->task); /* it knows its scope and enters its own frame */
  else
    run_stolen(worker, work->task, work->owner);
}

static void run(wf_worker *worker, const wf_work *work) {
  unsigned frames = worker->frames, help_depth = worker->help_depth;
  wf_worker_check(worker);
  WF_ASSERT(!worker->serial);
  WF_ASSERT(!work->background || worker->background);
  bool stays = worker->stays;
  worker->asks = false;
  worker->stays = false;
  if (work->broadcast == NULL && work->task == NULL)
    run_injected(worker, work);
  else
    run_other(worker, work);
  worker->stays = stays;
  if (work->background && !worker->alone) wf_background_end(worker);
  WF_ASSERT(worker->frames == frames && worker->help_depth == help_depth);
}

void wf_worker_tell_some(wf_worker *worker, wf_deque_news news, unsigned most) {
  WF_ASSERT(news.exposed > 0 && !worker->serial);
  if (!worker->pool->steals || worker->alone) return;
  wf_u64_count(&worker->x_exposes, 1);
  wf_record_expose(worker, news.exposed);
  worker->shared_ticks = wf_sys_ticks();
  wf_steer_note_cpu(worker);
  if (WF_UNLIKELY(worker->pool->victims != NULL))
    wf_victims_note(worker->pool->victims, worker, wf_sys_cpu_now());
  if (worker->background)
    wf_background_tell(worker->pool);
  else
    wf_sleep_new_tasks(worker->pool, news.exposed < most ? news.exposed : most,
                       news.public_was_empty);
}

void wf_worker_tell_slow(wf_worker *worker, wf_deque_news news) {
  wf_worker_tell_some(worker, news, UINT_MAX);
}

/* The newest of this worker's spawned tasks is not private, or there is none. */
wf_task *wf_worker_take_spawned_slow(wf_worker *worker) {
  wf_deque_news news;
  WF_ASSERT(wf_self == &worker->deque.owner);
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

/* May the thread end? When the pool ends, everything submitted has been run, except
 * perhaps what the exit hooks of other threads have detached. */
static bool is_done(const wf_worker *worker) {
  return wf_latch_probe(&worker->terminate) &&
         !wf_injector_any(&worker->pool->injector) &&
         !wf_injector_any(&worker->pool->background) &&
         wf_u32_load_relaxed(&worker->x_broadcasts) == 0; /* ordered by the latch */
}

/* The worker has nothing to do, and has again. */
static void begin_idle(wf_worker *worker) {
  wf_u32_store_relaxed(&worker->x_state, WF_STATE_SEARCHING); /* its own word */
  wf_record_begin(worker, WEFT_EVENT_IDLE, NULL);
}

static void end_idle(wf_worker *worker) {
  wf_u32_store_relaxed(&worker->x_state, WF_STATE_WORKING); /* its own word */
  wf_record_end(worker, WEFT_EVENT_IDLE);
}

/* The worker has found work: it is not idle any more. The next sleeper is woken before
 * the work is run, which may take long. */
static void leave_idle(wf_worker *worker) {
  wf_counters_sub_inactive(&worker->pool->sleep.counters, wf_worker_group(worker));
  wf_pool_check_counters(worker->pool);
  bool was_woken = worker->was_woken;
  worker->futile_wakes = 0;
  worker->was_woken = false;
  end_idle(worker);
  if (was_woken) {
    wf_idle_begin_woken(worker);
    wf_sleep_wake_more(worker->pool);
  } else {
    wf_sleep_wake_next(worker->pool);
  }
}

/* Do more others search than are wanted? In large pools the group of the worker stands
 * for all. */
static bool enough_search(const wf_worker *worker) {
  const wf_counters *counters = &worker->pool->sleep.counters;
  unsigned inactive = wf_counters_inactive_about(counters, wf_worker_group(worker));
  return inactive > worker->pool->max_searchers + wf_sleep_sleeping(worker->pool);
}

/* Looks for work, with pauses, until there is some (true) or the pool ends (false). */
static bool wait_for_work(wf_worker *worker, wf_work *work) {
  weft_pool *pool = worker->pool;
  wf_counters_add_inactive(&pool->sleep.counters, wf_worker_group(worker));
  wf_pool_check_counters(pool);
  begin_idle(worker);
  wf_patience patience;
  wf_patience_start(&patience, worker);
  wf_idle_note_worth(worker, patience.start_ns);
  if (enough_search(worker)) wf_patience_end(&patience);

  for (;;) {
    if (wf_search_anything(worker, work)) break;
    if (is_done(worker)) {
      wf_counters_sub_inactive(&pool->sleep.counters, wf_worker_group(worker));
      end_idle(worker);
      return false;
    }
    if (wf_patience_pause(&patience, worker)) continue;

    if (!wf_latch_get_sleepy(&worker->terminate)) continue;
    uint32_t jec = wf_counters_announce(&pool->sleep.counters);
    if (wf_search_anything(worker, work)) {
      wf_latch_wake_up(&worker->terminate);
      break;
    }
    if (wf_sleep_idle(worker, &worker->terminate, jec))
      wf_patience_restart_after_sleep(&patience, worker);
    else
      wf_patience_kept_awake(&patience, worker);
  }
  leave_idle(worker);
  return true;
}

/* At the bottom of the stack there is the entry of the thread, and nothing else. */
static void check_bottom(const wf_worker *worker) {
  WF_ASSERT(worker->frames == 1 && worker->entry != NULL);
  WF_ASSERT(worker->help_depth == 0 && worker->spawn_depth == 0);
  WF_ASSERT(worker->waits_for == NULL && worker->running == NULL);
  WF_ASSERT(worker->blocking_depth == 0 && worker->broadcast_waits == 0);
}

/* The task at `index`, the newest of `spawned`, was taken. Was it one that this worker
 * had stolen? The index is from before: if it was the last one, bottom may be anywhere
 * now. */
static bool note_kept(wf_worker *worker, uint64_t index) {
  if ((int64_t)(index - worker->kept_end) >= 0) return false;
  worker->kept_end = index;
  return true;
}

/* Runs all that is in `spawned`: what the work has left there, and what came with it. */
static void run_kept(wf_worker *worker) {
  for (;;) {
    uint64_t index = wf_deque_bottom(&worker->spawned) - 1;
    wf_task *task = wf_worker_take_spawned(worker, worker->mark);
    if (task == NULL) break;
    bool kept = note_kept(worker, index);
    if (kept && worker->alone) continue; /* it is the parent process's */
    if (kept) wf_u64_count(&worker->x_tasks, 1);
    task->execute(task);
  }
}

void wf_worker_run_at_bottom(wf_worker *worker, const wf_work *work) {
  check_bottom(worker);
  run(worker, work);
  run_kept(worker);
}

void wf_worker_call_start_hook(const wf_worker *worker) {
  const wf_options *options = &worker->pool->options;
  if (options->on_start != NULL) options->on_start(worker->index, options->hook_ctx);
}

/* The hook may spawn; the thread runs that too before it ends. */
void wf_worker_call_exit_hook(wf_worker *worker) {
  const wf_options *options = &worker->pool->options;
  if (options->on_exit != NULL) options->on_exit(worker->index, options->hook_ctx);
  run_spawned_above(worker, worker->mark);
  wf_worker_settle(worker);
  WF_ASSERT(worker->credits == 0);
}

/* Runs on a started thread, as its worker. */
static void work_until_the_end(void *ctx) {
  wf_worker *worker = (wf_worker *)ctx;
  if (worker->pool->options.on_start != NULL) wf_pool_await_start(worker->pool);
  wf_worker_call_start_hook(worker);
  run_spawned_above(worker, worker->mark);
  wf_work work;
  /* In a child that was forked by a task, the thread ends with the task. */
  while (!worker->alone &&
         (wf_search_anything(worker, &work) || wait_for_work(worker, &work)))
    wf_worker_run_at_bottom(worker, &work);
  wf_worker_call_exit_hook(worker);
}

/* A thread ends. In a child that was forked by a task, this was the only thread that the
 * child had of its own: the process ends as it would if it had no pool. */
static void end_thread(const wf_worker *worker) {
  if (worker->alone) exit(0); /* NOLINT(concurrency-mt-unsafe): it is the only thread */
  wf_guest_end_thread();
}

void wf_worker_run_thread(wf_worker *worker, weft_fn *loop) {
  wf_bind_self(worker);
  wf_timer_start(&worker->x_presence, wf_sys_now_ns());
  wf_guest_run_as(worker, loop, worker);
  wf_timer_stop(&worker->x_presence, wf_sys_now_ns());
  WF_ASSERT(worker->frames == 0 && worker->entry == NULL);
  end_thread(worker);
}

void wf_worker_main(void *worker) {
  wf_worker_run_thread((wf_worker *)worker, work_until_the_end);
}

/* ---- waiting for tasks of one's own ---- */

/* A ticket stands for the oldest task of its scope, which any thread may have made: a
 * stranger's task. Without room for one the ticket goes into the pool's queue. */
void wf_worker_draw_ticket(wf_worker *worker, wf_task *task) {
  struct weft_scope *scope = wf_scope_of_task(task);
  WF_ASSERT(scope->fifo);
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

/* A worker that was woken for tasks of others turns to something else: another one has to
 * look for them. "Called away" in sleep.md. */
static void pass_call_on(wf_worker *worker) {
  if (!worker->was_called) return;
  worker->was_called = false;
  wf_sleep_wake_next(worker->pool);
}

/* A worker that waits has found something to do. Returns its state, for search_again. */
static uint32_t stop_searching(wf_worker *worker) {
  uint32_t state = wf_u32_load_relaxed(&worker->x_state); /* its own word */
  wf_u32_store_relaxed(&worker->x_state, WF_STATE_WORKING);
  worker->was_woken = false;
  pass_call_on(worker);
  return state;
}

static void search_again(wf_worker *worker, uint32_t state) {
  wf_u32_store_relaxed(&worker->x_state, state); /* its own word */
}

/* Runs work that the waiting code has made itself, or that is meant for this thread. */
static bool run_own(wf_worker *worker, struct weft_scope *scope) {
  wf_task *task = worker->stays ? NULL : wf_worker_take_spawned(worker, worker->mark);
  if (task != NULL) {
    uint32_t state = stop_searching(worker);
    wf_worker_run_newest(worker, task, scope);
    search_again(worker, state);
    return true;
  }
  wf_worker_settle(worker);        /* from here on it turns to other things */
  if (worker->alone) return false; /* the queue is the parent process's */
  wf_work work = {0};
  bool found = scope != NULL && wf_scope_dequeue(scope, &work.injected);
  if (!found) found = (work.broadcast = wf_broadcast_take(worker)) != NULL;
  if (!found) return false;
  uint32_t state = stop_searching(worker);
  run(worker, &work);
  search_again(worker, state);
  return true;
}

/* Takes an older task of this worker's own, which counts like a stranger's. */
static bool take_older(wf_worker *worker, wf_work *work) {
  if (wf_deque_count(&worker->spawned) == 0) return false;
  uint64_t index = wf_deque_bottom(&worker->spawned) - 1;
  *work = (wf_work){.task = wf_worker_take_spawned_slow(worker), .spawned = true};
  worker->mark = wf_deque_bottom(&worker->spawned);
  if (work->task != NULL) (void)note_kept(worker, index);
  return work->task != NULL;
}

static bool find_help(wf_worker *worker, const wf_latch *latch, wf_work *work) {
  if (!wf_worker_may_help(worker)) return false;
  if (take_older(worker, work)) return true;
  if (!worker->pool->steals) return false;
  if (wf_search_thief(worker, wf_latch_thief(latch), work)) return true;
  return worker->help_depth < WF_HELP_ANYBODY_DEPTH && wf_search_anybody(worker, work);
}

static void run_as_help(wf_worker *worker, const wf_work *work) {
  WF_ASSERT(worker->help_depth < WF_HELP_THIEF_DEPTH);
  worker->futile_wakes = 0;
  worker->was_called = false;
  wf_sleep_wake_next(worker->pool);
  worker->help_depth++;
  wf_stats_depth(worker);
  uint32_t state = stop_searching(worker);
  run(worker, work);
  search_again(worker, state);
  worker->help_depth--;
}

static wf_sleeper waiting_kind(wf_worker *worker) {
  return worker->help_depth < WF_HELP_ANYBODY_DEPTH && wf_worker_may_help(worker)
             ? WF_SLEEPER_HELPER
             : WF_SLEEPER_CLOSED;
}

/* In a forked process, when this thread has done what it can by itself: ends the program
 * if the rest was taken by a thread that does not exist here. */
static void check_not_lost(const wf_worker *worker, const wf_latch *latch,
                           const char *call) {
  if (worker->alone && !wf_latch_probe(latch))
    wf_fatal(call, "after a fork, the child waits for work that another thread of the "
                   "parent has taken");
}

/* Has the time come? Asks the clock only if there is a time. */
static bool time_is_over(uint64_t deadline_ns) {
  return deadline_ns != WF_NEVER && wf_sys_now_ns() >= deadline_ns;
}

bool wf_worker_wait_until(wf_worker *worker, wf_latch *latch, struct weft_scope *scope,
                          uint64_t deadline_ns, const char *call) {
  struct weft_scope *outer = worker->waits_for;
  unsigned frames = worker->frames, help_depth = worker->help_depth;
  wf_worker_check(worker);
  WF_ASSERT(!worker->serial); /* it would block, and others wait for it */
  worker->waits_for = scope;
  uint32_t state = wf_u32_load_relaxed(&worker->x_state); /* its own word */
  wf_u32_store_relaxed(&worker->x_state, WF_STATE_SEARCHING);
  wf_record_begin(worker, WEFT_EVENT_WAIT, call);
  wf_patience patience;
  wf_patience_start_waiting(&patience, worker);
  bool set, looked = false;
  /* It looks once, however short the time is: a thread that waits again and again, each
   * time too late, would never answer the broadcast of what it waits for. */
  while (!(set = wf_latch_probe(latch)) && !(looked && time_is_over(deadline_ns))) {
    wf_work work;
    looked = true;
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
    if (wf_sleep_waiting_until(worker, latch, waiting_kind(worker), &deadline_ns))
      wf_patience_restart_after_sleep(&patience, worker);
    else
      wf_patience_kept_awake(&patience, worker);
  }
  WF_ASSERT(worker->waits_for == scope);
  WF_ASSERT(worker->frames == frames && worker->help_depth == help_depth);
  worker->was_woken = false;
  pass_call_on(worker);
  worker->shared_ticks = wf_sys_ticks();
  wf_record_end(worker, WEFT_EVENT_WAIT);
  wf_u32_store_relaxed(&worker->x_state, state);
  worker->waits_for = outer;
  wf_worker_settle_outside(worker);
  return set;
}

void wf_worker_wait(wf_worker *worker, wf_latch *latch, struct weft_scope *scope,
                    const char *call) {
  wf_worker_wait_until(worker, latch, scope, WF_NEVER, call);
}

bool wf_worker_run_any(wf_worker *worker) {
  wf_work work;
  wf_worker_check(worker);
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
