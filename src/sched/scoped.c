/* sched/scoped.c - see scoped.h.
 *
 * SPDX-License-Identifier: MIT */
#include "scoped.h"

void wf_scope_finish(struct weft_scope *scope, uintptr_t n) {
  /* Constant since the scope began, but not readable once it may end. */
  bool blocks = scope->blocks;
  weft_pool *pool = scope->pool;
  unsigned index = scope->index;
  /* acq_rel: pairs with itself in the other threads, so that the last one has seen the
   * work of all before it sets the latch. */
  if (wf_word_fetch_sub_acq_rel(&scope->x_pending, n) != n) return;
  /* Only the thread that waits for the scope's end gives up the last count itself; all
   * others find it waiting, or on its way there. */
  if (blocks)
    wf_once_latch_set((wf_once_latch *)&scope->x_blocked_end);
  else if (wf_latch_set(&scope->done))
    wf_sleep_wake_worker(pool, index);
}

/* What the queue holds for a task of a scope: this function and the task. */
static void run_queued(void *ctx) {
  wf_task *task = (wf_task *)ctx;
  /* Relaxed: until this is seen, the scope's thread looks once more than it needs to. */
  wf_word_fetch_sub_relaxed(&wf_scope_of_task(task)->x_waiting, 1);
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
  /* A count of this thread's own: the task may have run, and the scope ended, before it
   * is through here. Relaxed: the task keeps the count above 0. */
  wf_word_fetch_add_relaxed(&scope->x_pending, 1);
  /* Relaxed: wf_pool_inject has a fence, which pairs with the one in park (sleep.c): the
   * scope's thread sees this count, or is seen below to sleep. */
  wf_word_fetch_add_relaxed(&scope->x_waiting, 1);
  int status = wf_pool_inject(pool, lane_of(scope), run_queued, task, NULL);
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
  return wf_injector_take_match(queue, run_queued, belongs_to, scope, out);
}

void wf_scope_after_fork(struct weft_scope *scope) {
  for (; scope != NULL; scope = scope->parent) {
    /* Whatever step another thread was at, the list is whole from the front on. */
    wf_block *it = (wf_block *)(void *)scope->fifo_first;
    wf_block *last = NULL;
    for (; it != NULL; it = it->next) last = it;
    scope->fifo_last = (struct wf_spawned *)(void *)last;
    *(wf_lock *)&scope->x_fifo_lock = (wf_lock){{WF_LOCK_FREE}};
  }
}
