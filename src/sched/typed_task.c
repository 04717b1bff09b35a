/* sched/typed_task.c - the slow halves of typed tasks.
 *
 * The fast halves are inlined in include/weft/detail/typed_task.h and use the deque as
 * weft_join does. What differs is that a fork and its join are two calls, so that a
 * thread that is in no pool stays outside between them; its tasks lie in a guest's place
 * (guest.c). Everything runs on the thread that has forked the task.
 *
 * SPDX-License-Identifier: MIT */
#include "pool.h"

#include <stdlib.h>
#include <string.h>
#include <weft/typed_task.h>

/* ---- forks outside of pools ---- */

/* A typed task that was forked outside of pools. Other threads run it in a copy, which
 * belongs to the library: if the program forgets the join, nobody touches the frame that
 * the task was in. The record is made by the fork and freed by the join; only the thread
 * that has forked uses it, and others the copy. */
typedef struct wf_outside_fork {
  struct wf_outside_fork *before; /* the fork of this thread before this one, or NULL */
  wf_call *forked;                /* in the program's memory, perhaps gone */
  wf_call *runs;                  /* what others see: the copy, or `forked` itself */
  size_t size;                    /* of the copy; 0: there is none */
} wf_outside_fork;

enum { COPY_AT = (sizeof(wf_outside_fork) + 15) / 16 * 16 };

static wf_ptr *slot_of_record(const wf_outside_fork *record) {
  return (wf_ptr *)((uintptr_t)record + 1);
}

static bool has_record(const wf_call *forked) {
  return ((uintptr_t)forked->slot & 1) != 0;
}

/* NULL without memory. */
static wf_outside_fork *make_record(wf_call *forked, size_t size) {
  if (size > SIZE_MAX - COPY_AT) return NULL;
  wf_outside_fork *record = (wf_outside_fork *)malloc(COPY_AT + size);
  if (record == NULL) return NULL;
  *record = (wf_outside_fork){NULL, forked, forked, size};
  if (size > 0) {
    record->runs = (wf_call *)(void *)((char *)record + COPY_AT);
    memcpy(record->runs, forked, size);
    record->runs->task.context = record->runs;
  }
  return record;
}

/* The least that a task takes of the program's memory. */
static size_t size_of_task(const wf_outside_fork *record) {
  return record->size > 0 ? record->size : sizeof(wf_call);
}

/* A function that returns and has not joined its fork makes no call that would notice;
 * the next fork does. The memory of the last fork is not looked at, since it may be
 * something else by now. */
static void check_last_fork(const wf_outside_fork *last, const wf_outside_fork *next,
                            const void *frame) {
  if (last == NULL) return;
  if (last->forked == next->forked)
    wf_fatal("WEFT_TASK", "a task is forked again that was not joined");
  if (wf_stack_was_left(last->forked, frame) ||
      wf_bytes_overlap(last->forked, size_of_task(last), next->forked,
                       size_of_task(next)))
    wf_fatal("WEFT_TASK", "a function has returned and has not joined a task that it "
                          "had forked");
}

/* Offers the task in a guest's place; if there is none, or no memory, the join will run
 * it. `frame`: of a function that the program has called. */
static void fork_outside(wf_call *forked, size_t size, const void *frame) {
  const wf_region *region = wf_guest_region();
  wf_outside_fork *record = make_record(forked, size);
  wf_worker *worker = record != NULL ? wf_guest_fork_place() : NULL;
  if (worker == NULL) {
    free(record);
    forked->slot = WF_SLOT_OUTSIDE;
    return;
  }
  check_last_fork(worker->outside_forks, record, frame);
  forked->slot = slot_of_record(record);
  record->before = worker->outside_forks;
  worker->outside_forks = record;
  wf_latch_init_forked(&record->runs->task.completion, region);
  wf_fork_push(&worker->deque.owner, &record->runs->task);
}

/* Not inlined, because their frames are compared with the addresses of tasks. */
__attribute__((noinline)) void wf_task_fork_copy(wf_call *forked, size_t size) {
  fork_outside(forked, size, __builtin_frame_address(0));
}

__attribute__((noinline)) void wf_task_fork_outside(wf_call *forked) {
  fork_outside(forked, 0, __builtin_frame_address(0));
}

/* ---- joins ---- */

/* The whole of a join by a worker: nothing has been tried inline. */
static void join_as_worker(wf_owner *self, wf_task *task, const char *call) {
  if (wf_join_pop(self)) {
    wf_ptr *slot = (wf_ptr *)wf_ptr_load_relaxed(&self->x_bottom); /* own deque */
    if (wf_ptr_load_relaxed(slot) != task)                         /* own slot */
      wf_fatal(call, "forks and joins of this thread are not nested");
  } else if (!wf_take_back_slow(self, task, call)) {
    return;
  }
  wf_worker_of(self)->begun = task;
  task->execute(task->context);
}

typedef struct outside_join {
  wf_call *forked;
  const char *call;
} outside_join;

/* Does the thread in this place have the task open? */
static bool is_open_here(const wf_worker *worker, const wf_call *forked) {
  const wf_outside_fork *record = worker->outside_forks;
  while (record != NULL && slot_of_record(record) != forked->slot)
    record = record->before;
  return record != NULL;
}

static void join_in_place(void *ctx) {
  const outside_join *join = (const outside_join *)ctx;
  wf_worker *worker = wf_worker_now();
  wf_outside_fork *record = worker->outside_forks;
  if (slot_of_record(record) != join->forked->slot)
    wf_fatal(join->call,
             is_open_here(worker, join->forked)
                 ? "forks and joins of this thread are not nested"
                 : "the task was not forked here, or has been joined already");
  join_as_worker(&worker->deque.owner, &record->runs->task, join->call);
  worker->outside_forks = record->before;
  if (record->size > 0) /* the result, and what the function has done to its arguments */
    memcpy(join->forked + 1, record->runs + 1, record->size - sizeof(wf_call));
  free(record);
}

/* A fork that nobody else could take has no record, and its order does not matter. */
static void join_outside(wf_call *forked, const char *call) {
  outside_join join = {forked, call};
  if (!has_record(forked))
    weft_pool_run(NULL, forked->task.execute, forked->task.context);
  else if (!wf_guest_join_place(join_in_place, &join, call))
    wf_fatal(call, "the task was not forked here, or has been joined already");
}

/* Can a task that this worker has forked be in the slot? */
static bool holds_slot(const wf_worker *worker, const wf_ptr *slot) {
  return worker->serial || wf_deque_holds(&worker->deque, slot);
}

/* Ends the program unless the task waits for its join by this worker (NULL: by a thread
 * outside of pools): it may have been joined already, or forked elsewhere. */
static void check_is_open(wf_owner *self, const wf_call *forked, const char *call) {
  if (forked->slot == WF_SLOT_OUTSIDE || has_record(forked)) return;
  if (forked->slot == WF_SLOT_JOINED(self) || forked->slot == WF_SLOT_JOINED(NULL))
    wf_fatal(call, "the task has been joined already");
  if (self == NULL || !holds_slot(wf_worker_of(self), forked->slot))
    wf_fatal(call, "the task was not forked here, or has been joined already");
}

/* The mark that it leaves is in the caller's frame: the thief, if there was one, has set
 * the latch and touches the task no more. */
void wf_task_join_slow(wf_owner *self, wf_call *forked, const char *call) {
  check_is_open(self, forked, call);
  if (forked->slot == WF_SLOT_OUTSIDE || has_record(forked))
    join_outside(forked, call);
  else
    join_as_worker(self, &forked->task, call);
  forked->slot = WF_SLOT_JOINED(NULL);
}

/* ---- tasks that hand their worker on ---- */

/* Is this what stands for a worker outside of pools? */
static bool is_nowhere(const wf_owner *in) {
  return (const void *)in->region == (const void *)in;
}

static wf_ptr *nowhere_bottom(wf_owner *in) {
  wf_ptr *middle = &((wf_nowhere *)(void *)in)->slots[1];
  wf_ptr_store_relaxed(&in->x_bottom, middle); /* no other thread sees it */
  return middle;
}

wf_owner *wf_fast_outside(wf_nowhere *nowhere) {
  wf_owner *in = &nowhere->owner;
  /* Relaxed: no other thread sees it. */
  wf_ptr_store_relaxed(&in->x_limit, NULL);
  wf_ptr_store_relaxed(&in->x_gate, (void *)UINTPTR_MAX);
  in->region = (const wf_region *)(const void *)in;
  nowhere_bottom(in);
  return in;
}

void *wf_fast_begun(void) {
  WF_ASSERT(wf_self != NULL);
  return wf_worker_of(wf_self)->begun;
}

/* A task that was pushed may have been taken over already, and is not written any more.
 * Outside of pools it was pushed to nowhere, and is forked now. */
wf_ptr *wf_fast_fork_slow(wf_owner *in, wf_call *forked, weft_fn *execute, size_t size) {
  if (!is_nowhere(in)) {
    wf_fork_slow(in);
    return wf_owner_bottom(in);
  }
  wf_owner *self = wf_self;
  forked->task.execute = execute;
  forked->task.context = forked;
  if (self != NULL) /* the body has begun a scope */
    wf_call_push(self, forked);
  else
    wf_task_fork_copy(forked, size);
  return nowhere_bottom(in);
}

/* The body may have begun a scope of another pool, in which the thread is now. The task
 * is in the deque of the worker that the body was called by. */
static void join_in(wf_owner *in, wf_task *task, const char *call) {
  wf_owner *self = wf_self;
  wf_self = in;
  join_as_worker(in, task, call);
  wf_self = self;
}

wf_ptr *wf_fast_join_slow(wf_owner *in, wf_call *forked, const char *call, bool checked) {
  if (is_nowhere(in)) {
    wf_task_join_slow(wf_self, forked, call);
    return nowhere_bottom(in);
  }
  if (checked) check_is_open(in, forked, call);
  join_in(in, &forked->task, call);
  if (checked) forked->slot = WF_SLOT_JOINED(NULL);
  return wf_owner_bottom(in);
}
