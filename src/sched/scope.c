/* sched/scope.c - the life of a scope: begin, count, queue, cancel, end.
 *
 * Spawning is in spawn.c; protocol and proofs are in scope.md. The thread that begins a
 * scope ends it, and owns its fields without x_. Counting, queueing, cancelling and
 * asking may be done by any thread.
 *
 * SPDX-License-Identifier: MIT */
#include "scope.h"
#include "record.h"

#include <string.h>

/* ---- begin ---- */

/* Makes the thread a worker of the pool, if it is not one, and opens a frame there. */
static void enter(weft_scope *s, weft_pool *pool) {
  wf_worker *worker = wf_worker_now();
  if (worker == NULL || worker->pool != pool) {
    worker = wf_guest_enter(&s->entry, pool);
    s->entered = worker != NULL;
  }
  if (worker == NULL) return;
  s->worker = worker;
  s->index = worker->index;
  s->blocks = worker->serial;
  /* The region differs from the one around only in the scope: no isolation ends. */
  wf_frame outer;
  wf_frame_open(worker, &outer, &s->region);
  s->outer_region = outer.region;
  s->outer_mark = outer.mark;
  s->frames = worker->frames;
  wf_record_begin(worker, WEFT_EVENT_SCOPE, NULL);
  wf_worker_check(worker);
}

/* The bytes of what a region is part of: a scope, or nothing else. Memory that was left
 * is looked at, and AddressSanitizer should not mind. */
__attribute__((no_sanitize("address"))) static size_t
region_size(const wf_region *region) {
  bool is_scope = region->scope == (const weft_scope *)(const void *)region;
  return is_scope ? sizeof(weft_scope) : sizeof *region;
}

/* A function that returns and has not ended its scope leaves the region of that scope
 * behind, in memory that others will use: what is spawned and counted next goes astray,
 * and the next end waits for ever. Such a region is below the frames in use, or where the
 * new scope is; what is in it does not matter. */
static void check_last_scope(const wf_region *around, const weft_scope *s,
                             const void *frame, const char *call) {
  if (around == NULL) return;
  if (wf_stack_was_left(around, frame))
    wf_fatal(call,
             "a function has returned and left its scope open: its weft_scope_end is "
             "missing");
  if (wf_bytes_overlap(around, region_size(around), s, sizeof *s))
    wf_fatal(call, "this scope, or one in the same place, is open already: its "
                   "weft_scope_end is missing");
}

/* `frame`: of the function that the program has called. */
static void begin_scope(const weft_opts *o, weft_scope *s, const void *frame,
                        const char *call) {
  weft_opts opts;
  if (wf_opts_read(&opts, o) != 0)
    wf_fatal(call, "invalid options; start from WEFT_OPTS_INIT");
  const wf_region *around = wf_guest_region();
  if (s == NULL) wf_fatal(call, "the scope is NULL");
  check_last_scope(around, s, frame, call);
  memset(s, 0, sizeof *s);
  s->state = WF_SCOPE_OPEN;
  s->generation = wf_fork_generation();
  s->fifo = opts.order == WEFT_ORDER_FIFO;
  s->region = around != NULL ? *around : (wf_region){0};
  s->parent = s->region.scope;
  s->region.scope = s;
  s->pool = wf_pool_or_current(opts.pool);
  wf_word_init(&s->x_pending, 1); /* the body */
  if (s->pool != NULL) enter(s, s->pool);
  if (s->worker == NULL) s->outer_region = wf_guest_set_region_outside(&s->region);
}

/* Not inlined, because their frames are compared with the addresses of scopes. */
__attribute__((noinline)) void weft_scope_begin(weft_scope *s) {
  begin_scope(NULL, s, __builtin_frame_address(0), "weft_scope_begin");
}

__attribute__((noinline)) void weft_scope_begin_with(const weft_opts *o, weft_scope *s) {
  begin_scope(o, s, __builtin_frame_address(0), "weft_scope_begin_with");
}

void wf_scope_begin_part(weft_scope *s) {
  weft_scope_begin_with(NULL, s);
  s->passes_up = s->parent != NULL;
}

weft_scope *weft_scope_current(void) {
  const wf_region *region = wf_guest_region();
  return region != NULL ? region->scope : NULL;
}

/* ---- counting ---- */

void wf_scope_finish(struct weft_scope *scope, uintptr_t n) {
  /* Constant since the scope began, but not readable once it may end. */
  bool blocks = scope->blocks;
  weft_pool *pool = scope->pool;
  unsigned index = scope->index;
  WF_ASSERT(n > 0);
  /* acq_rel: pairs with itself in the other threads, so that the last one has seen the
   * work of all before it sets the latch. */
  uintptr_t before = wf_word_fetch_sub_acq_rel(&scope->x_pending, n);
  WF_ASSERT(before >= n);
  if (before != n) return;
  /* If the body's own thread takes off the last part, it needs no latch and does not come
   * here (wait_for_tasks). All others find that thread waiting, or on its way there. */
  if (blocks)
    wf_once_latch_set((wf_once_latch *)&scope->x_blocked_end);
  else if (wf_latch_set(&scope->done))
    wf_sleep_wake_worker(pool, index);
}

/* ---- the pool's queue ---- */

/* What the queue holds for a task of a scope: this function and the task. */
void wf_scope_run_queued(void *ctx) {
  wf_task *task = (wf_task *)ctx;
  /* Relaxed: until this is seen, the scope's thread looks once more than it needs to. */
  uintptr_t waiting = wf_word_fetch_sub_relaxed(&wf_scope_of_task(task)->x_waiting, 1);
  WF_ASSERT(waiting > 0);
  task->execute(task);
}

static bool belongs_to(void *ctx, const void *scope) {
  return wf_scope_of_task((const wf_task *)ctx) == scope;
}

static weft_lane lane_of(const struct weft_scope *scope) {
  return scope->region.background ? WEFT_LANE_BACKGROUND : WEFT_LANE_NORMAL;
}

int wf_scope_enqueue(struct weft_scope *scope, wf_task *task) {
  weft_pool *pool = scope->pool;
  WF_ASSERT(wf_scope_of_task(task) == scope);
  WF_ASSERT(wf_word_peek(&scope->x_pending) > 0); /* the task is counted */
  /* A count of this thread's own: the task may have run, and the scope ended, before it
   * is through here. Relaxed: the task keeps the count above 0. */
  wf_word_fetch_add_relaxed(&scope->x_pending, 1);
  /* Relaxed: wf_pool_inject has a fence, which pairs with the one in park (sleep.c): the
   * scope's thread sees this count, or is seen below to sleep. */
  wf_word_fetch_add_relaxed(&scope->x_waiting, 1);
  int status = wf_pool_inject(pool, lane_of(scope), wf_scope_run_queued, task, NULL);
  if (status != 0)
    wf_word_fetch_sub_relaxed(&scope->x_waiting, 1); /* a count, as above */
  else if (scope->blocks)
    wf_once_latch_nudge((wf_once_latch *)&scope->x_blocked_end);
  else if (wf_latch_is_sleeping(&scope->done))
    /* The scope's own thread takes it if nobody else can. */
    wf_sleep_wake_worker(pool, scope->index);
  wf_scope_finish(scope, 1);
  return status;
}

bool wf_scope_dequeue(struct weft_scope *scope, wf_injected *out) {
  if (!wf_scope_has_queued(scope)) return false;
  wf_injector *queue = lane_of(scope) == WEFT_LANE_BACKGROUND ? &scope->pool->background
                                                              : &scope->pool->injector;
  return wf_injector_take_match(queue, wf_scope_run_queued, belongs_to, scope, out);
}

/* ---- cancellation ---- */

void wf_scope_expect_open(const weft_scope *s, const char *call) {
  if (s == NULL) wf_fatal(call, "the scope is NULL");
  if (WF_LIKELY(s->state == WF_SCOPE_OPEN)) return;
  wf_fatal(call, s->state == WF_SCOPE_ENDED ? "the scope has ended already"
                                            : "this scope was never begun");
}

struct wf_cancelled_scopes wf_cancelled_scopes;

/* Adds to the number of cancelled scopes. Relaxed, pairs with the load in
 * wf_scope_may_be_cancelled: scope.md, "Cancelled scopes". */
static void count_cancelled(int change) {
  wf_u32_fetch_add_relaxed(&wf_cancelled_scopes.x_count, (uint32_t)change);
}

void weft_scope_cancel(weft_scope *s, int error) {
  wf_scope_expect_open(s, "weft_scope_cancel");
  while (s->passes_up) s = s->parent; /* which stays open longer */
  uint32_t none = 0, value = (uint32_t)(error != 0 ? error : WEFT_ECANCELED);
  count_cancelled(1); /* first, so that nobody sees the error and not the count */
  /* seq_cst: pairs with the acquire in wf_scope_is_cancelled. The first one wins.
   * explorer: acq_rel suffices, it is one word. */
  if (!wf_u32_cas_seq_cst(&s->x_error, &none, value)) count_cancelled(-1);
}

bool weft_scope_cancelled(const weft_scope *s) {
  return wf_scope_is_cancelled(s);
}

/* The scope's own error, or that of the nearest scope around it which has one. */
static int first_error(const weft_scope *s) {
  if (!wf_scope_may_be_cancelled()) return 0;
  for (; s != NULL; s = s->parent) {
    /* Acquire: pairs with the CAS in weft_scope_cancel. */
    int error = (int)wf_u32_load_acquire(&s->x_error);
    if (error != 0) return error;
  }
  return 0;
}

/* ---- end ---- */

static void check_may_end(const weft_scope *s) {
  static const char call[] = "weft_scope_end";
  wf_scope_expect_open(s, call);
  const wf_worker *worker = s->worker;
  if (worker == NULL) return;
  if (wf_self != &worker->deque.owner)
    wf_fatal(call, "called by a thread that did not begin the scope, or from inside "
                   "another pool");
  if (worker->frames == s->frames && worker->deque.owner.region == &s->region) return;
  if (worker->frames > s->frames && worker->deque.owner.region == &s->region)
    wf_fatal(call, "called from a task of the scope: it would wait for itself");
  wf_fatal(call, "a scope that was begun later on this thread is still open");
}

/* Runs the tasks of this scope that are in the pool's queue. */
static void run_waiting(weft_scope *s) {
  wf_injected queued;
  while (wf_scope_dequeue(s, &queued)) {
    queued.fn(queued.ctx);
    wf_pool_injected_done(s->pool);
  }
  wf_worker_settle(s->worker);
}

/* Waits without a place in the pool: runs what is in the queue, and blocks while others
 * run the rest. They may put more into the queue, and perhaps no other thread is free to
 * take it, so this one is woken for that too. */
static void wait_blocking(weft_scope *s) {
  wf_once_latch *end = (wf_once_latch *)&s->x_blocked_end;
  if (s->generation != wf_fork_generation()) { /* the queue is the parent's */
    wf_worker_settle(s->worker);
    wf_fatal("weft_scope_end", "after a fork, the child waits for work that another "
                               "thread of the parent has taken");
  }
  for (;;) {
    run_waiting(s);
    wf_once_latch_announce(end);
    if (wf_scope_has_queued(s))
      wf_sys_thread_yield(); /* another thread is about to put it there, or to run it */
    else if (wf_once_latch_wait_announced(end))
      return;
  }
}

/* Runs what this thread has spawned, takes the body's count and its own credits off, and
 * waits for what others still run. */
static void wait_for_tasks(weft_scope *s, wf_worker *worker) {
  wf_worker_check(worker);
  wf_scope_run_spawned(s, worker);
  uintptr_t last = 1;
  if (worker->credit_scope == s) {
    last += worker->credits;
    worker->credits = 0;
  }
  /* acq_rel: pairs with wf_scope_finish: what the tasks did is visible. explorer: acquire
   * suffices, the last task reads nothing that the body wrote after the spawn. */
  uintptr_t before = wf_word_fetch_sub_acq_rel(&s->x_pending, last);
  WF_ASSERT(before >= last);
  if (before == last) return;
  if (s->blocks)
    wait_blocking(s);
  else
    wf_worker_wait(worker, &s->done, s, "weft_scope_end");
}

/* Nothing of the scope is left, and nobody holds credits of it. */
static void check_ended(const weft_scope *s) {
  WF_ASSERT(wf_word_peek(&s->x_pending) == 0);
  WF_ASSERT(wf_word_peek(&s->x_waiting) == 0);
  WF_ASSERT(s->fifo_first == NULL && s->fifo_last == NULL);
  WF_ASSERT(s->worker->credit_scope != s || s->worker->credits == 0);
}

/* The function that a part has called, or a task of it, has spawned: waits for all that,
 * and makes the scope as it was after its begin. Nobody else touches it then, as at its
 * end. */
static void end_part(weft_scope *s, wf_worker *worker) {
  if (WF_UNLIKELY(wf_trace_is_on())) wf_scope_run_recorded(s, worker);
  wait_for_tasks(s, worker);
  check_ended(s);
  wf_word_init(&s->x_pending, 1);
  wf_latch_init(&s->done);
  wf_once_latch_init((wf_once_latch *)&s->x_blocked_end);
}

void wf_scope_call(weft_scope *s, weft_fn *fn, void *ctx) {
  wf_worker *worker = s->worker;
  if (WF_UNLIKELY(worker == NULL)) { /* no memory for a pool: spawns run at once */
    fn(ctx);
    return;
  }
  WF_ASSERT(s->state == WF_SCOPE_OPEN && worker->frames == s->frames);
  wf_frame outer;
  wf_frame_open(worker, &outer, &s->region);
  fn(ctx);
  wf_frame_expect_closed(worker, &outer);
  /* Acquire: pairs with wf_scope_finish, where a task was counted off that somebody has
   * taken. While this worker holds credits the count is above 1. */
  if (WF_UNLIKELY(wf_word_load_acquire(&s->x_pending) != 1)) end_part(s, worker);
  wf_frame_leave(worker, &outer);
}

/* Asked once: a trace that starts meanwhile has the tasks of the next scope. */
static __attribute__((noinline)) void wait_and_record(weft_scope *s, wf_worker *worker) {
  wf_scope_run_recorded(s, worker);
  wait_for_tasks(s, worker);
  wf_record_end(worker, WEFT_EVENT_SCOPE);
}

int weft_scope_end(weft_scope *s) {
  check_may_end(s);
  wf_worker *worker = s->worker;
  if (worker != NULL) {
    if (WF_UNLIKELY(wf_trace_is_on()))
      wait_and_record(s, worker);
    else
      wait_for_tasks(s, worker);
    check_ended(s);
    wf_frame outer = {.region = s->outer_region, .mark = s->outer_mark};
    wf_frame_leave(worker, &outer);
    wf_worker_settle_outside(worker);
    if (s->entered) wf_guest_leave(&s->entry, "weft_scope_end");
  } else {
    wf_guest_set_region_outside(s->outer_region);
  }
  s->state = WF_SCOPE_ENDED;
  int error = first_error(s);
  /* Relaxed: all that cancel the scope have done so by now. */
  if (WF_UNLIKELY(error != 0) && wf_u32_load_relaxed(&s->x_error) != 0)
    count_cancelled(-1);
  return error;
}

/* ---- fork ---- */

void wf_scope_after_fork(struct weft_scope *scope) {
  for (; scope != NULL; scope = scope->parent) {
    /* Another thread may have been at any step, but the list is whole from its front. */
    wf_cell *it = (wf_cell *)(void *)scope->fifo_first;
    wf_cell *last = NULL;
    for (; it != NULL; it = it->next) last = it;
    scope->fifo_last = (struct wf_spawned *)(void *)last;
    *(wf_lock *)&scope->x_fifo_lock = (wf_lock){{WF_LOCK_FREE}};
  }
}
