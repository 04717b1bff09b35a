/* sched/join.c - the slow halves of weft_join, and of offers that are taken back; and
 * weft_invoke, a tree of joins.
 *
 * The fast halves are inlined: include/weft/detail/fork_join.h and sched.h. A slow half
 * is called when another thread has asked for work, when the ring has come to its end,
 * and by contexts without a place. Everything runs on the thread that owns the deque.
 *
 * SPDX-License-Identifier: MIT */
#include "pool.h"

#include <stdio.h>
#include <weft/join.h>

/* A fork whose limit was reached: somebody asked for work, or the ring has come to its
 * end. */
void wf_fork_slow(wf_owner *self) {
  wf_worker *worker = wf_worker_of(self);
  if (worker->serial) {
    /* Take the task out again: its join will run it. */
    wf_ptr *bottom = (wf_ptr *)wf_ptr_load_relaxed(&self->x_bottom); /* own deque */
    wf_ptr_store_relaxed(&self->x_bottom, bottom - 1);
    return;
  }
  WF_ASSERT(worker->index < worker->pool->slots);
  wf_deque_news news;
  wf_task *left_over = wf_deque_fork_slow(&worker->deque, &news);
  wf_worker_tell(worker, news);
  /* The ring is full and cannot grow: the join will run the task. */
  if (left_over != NULL) wf_latch_note_given_back(&left_over->completion);
}

/* The fast half has moved bottom below the task; it goes back first, and the lock decides
 * who may run the task. */
bool wf_take_back_unless_taken(wf_owner *self, wf_task *task, const char *call) {
  wf_worker *worker = wf_worker_of(self);
  WF_ASSERT(self == wf_self && task->execute != NULL);
  wf_owner_unpop(self, wf_owner_bottom(self));
  if (worker->serial || wf_latch_is_given_back(&task->completion)) return true;
  if (wf_latch_probe(&task->completion)) return false; /* the thief was fast */
  wf_deque_news news;
  wf_task *newest = wf_deque_pop(&worker->deque, &news);
  wf_worker_tell(worker, news);
  if (newest == task) return true;
  if (newest != NULL) wf_fatal(call, "forks and joins of this thread are not nested");
  return false;
}

bool wf_take_back_slow(wf_owner *self, wf_task *task, const char *call) {
  if (wf_take_back_unless_taken(self, task, call)) return true;
  wf_latch *completion = &task->completion;
  if (!wf_latch_probe(completion))
    wf_worker_wait(wf_worker_of(self), completion, NULL, call);
  WF_ASSERT(wf_latch_peek(completion) == WF_LATCH_SET);
  return false;
}

void wf_join_slow(wf_owner *self, wf_task *task) {
  if (wf_take_back_slow(self, task, "weft_join")) task->execute(task->context);
}

void wf_join_refuse(void) {
  wf_fatal("weft_join", "a function is NULL");
}

typedef struct both_halves {
  weft_fn *a;
  void *a_ctx;
  weft_fn *b;
  void *b_ctx;
} both_halves;

static void join_inside(void *ctx) {
  const both_halves *both = (const both_halves *)ctx;
  if (wf_self != NULL) {
    wf_join_inline(both->a, both->a_ctx, both->b, both->b_ctx);
    return;
  }
  /* There was no memory to enter the pool, and another try would fail in the same way. */
  both->a(both->a_ctx);
  both->b(both->b_ctx);
}

/* A join by a thread that is in no pool. */
void wf_join_outside(weft_fn *a, void *a_ctx, weft_fn *b, void *b_ctx) {
  both_halves both = {a, a_ctx, b, b_ctx};
  weft_pool *pool = weft_pool_current();
  if (pool != NULL) {
    weft_pool_run(pool, join_inside, &both);
    return;
  }
  a(a_ctx);
  b(b_ctx);
}

/* ---- any number of functions ---- */

/* Invariant: n >= 1. */
typedef struct invoke_part {
  const weft_call *calls;
  size_t n;
} invoke_part;

/* Inside a pool, or without memory for one. The lower half comes first, so that one
 * thread alone calls the functions in their order. */
static void invoke_calls(void *ctx) {
  const invoke_part *part = (const invoke_part *)ctx;
  const weft_call *calls = part->calls;
  WF_ASSERT(part->n >= 1);
  if (part->n == 1) {
    calls->fn(calls->ctx);
  } else if (wf_self == NULL) {
    for (size_t i = 0; i < part->n; i++) calls[i].fn(calls[i].ctx);
  } else if (part->n == 2) {
    wf_join_inline(calls[0].fn, calls[0].ctx, calls[1].fn, calls[1].ctx);
  } else {
    size_t half = part->n - part->n / 2;
    invoke_part lower = {calls, half}, upper = {calls + half, part->n - half};
    wf_join_inline(invoke_calls, &lower, invoke_calls, &upper);
  }
}

void weft_invoke(const weft_call *calls, size_t n) {
  invoke_part all = {calls, n};
  if (n == 0) return;
  if (calls == NULL) wf_fatal("weft_invoke", "the array of calls is NULL");
  if (n > PTRDIFF_MAX / sizeof *calls)
    wf_fatal("weft_invoke", "the array is larger than memory can be");
  for (size_t i = 0; i < n; i++)
    if (WF_UNLIKELY(calls[i].fn == NULL)) {
      char problem[64];
      (void)snprintf(problem, sizeof problem, "function %zu is NULL", i);
      wf_fatal("weft_invoke", problem);
    }
  if (wf_self != NULL)
    invoke_calls(&all);
  else
    weft_pool_run(NULL, invoke_calls, &all);
}
