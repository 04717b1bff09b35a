/* sched/typed_task.c - the slow halves of typed tasks.
 *
 * The fast halves are inlined in include/weft/detail/typed_task.h and use the deque as
 * weft_join does. What differs is that a fork and its join are two calls, so that a
 * thread that is in no pool stays outside between them; its tasks lie in a guest's place
 * (guest.c). Everything runs on the thread that has forked the task.
 *
 * SPDX-License-Identifier: MIT */
#include "pool.h"

#include <weft/typed_task.h>

/* A fork by a thread that is in no pool. It offers the task in a guest's place; if there
 * is none, the join will run it. */
void wf_task_fork_outside(wf_call *forked) {
  wf_worker *worker = wf_guest_fork_place();
  forked->slot = WF_SLOT_OUTSIDE;
  wf_latch_init_forked(&forked->task.completion, wf_guest_region());
  if (worker == NULL)
    wf_latch_note_given_back(&forked->task.completion);
  else
    wf_fork_push(&worker->deque.owner, &forked->task);
}

/* The whole of a join by a worker: nothing has been tried inline. */
static void join_as_worker(wf_owner *self, wf_task *task, const char *call) {
  if (wf_join_pop(self)) {
    wf_ptr *slot = (wf_ptr *)wf_ptr_load_relaxed(&self->x_bottom); /* own deque */
    if (wf_ptr_load_relaxed(slot) != task)                         /* own slot */
      wf_fatal(call, "forks and joins of this thread are not nested");
  } else if (!wf_take_back_slow(self, task, call)) {
    return;
  }
  task->execute(task->context);
}

typedef struct outside_join {
  wf_task *task;
  const char *call;
} outside_join;

static void join_in_place(void *ctx) {
  const outside_join *join = (const outside_join *)ctx;
  join_as_worker(wf_self_now(), join->task, join->call);
}

/* If the thread has a place, its newest fork is in that place; a fork that found no place
 * was given back. */
static void join_outside(wf_task *task, const char *call) {
  outside_join join = {task, call};
  if (wf_guest_join_place(join_in_place, &join, call)) return;
  if (!wf_latch_is_given_back(&task->completion))
    wf_fatal(call, "the task was not forked here, or has been joined already");
  weft_pool_run(NULL, task->execute, task->context);
}

/* Can a task that this worker has forked be in the slot? */
static bool holds_slot(const wf_worker *worker, const wf_ptr *slot) {
  return worker->serial || wf_deque_holds(&worker->deque, slot);
}

/* Ends the program unless the task waits for its join by this worker (NULL: by a thread
 * outside of pools): it may have been joined already, or forked elsewhere. */
static void check_is_open(wf_owner *self, const wf_call *forked, const char *call) {
  if (forked->slot == WF_SLOT_OUTSIDE) return;
  if (forked->slot == WF_SLOT_JOINED(self) || forked->slot == WF_SLOT_JOINED(NULL))
    wf_fatal(call, "the task has been joined already");
  if (self == NULL || !holds_slot(wf_worker_of(self), forked->slot))
    wf_fatal(call, "the task was not forked here, or has been joined already");
}

/* The mark that it leaves is in the caller's frame: the thief, if there was one, has set
 * the latch and touches the task no more. */
void wf_task_join_slow(wf_owner *self, wf_call *forked, const char *call) {
  check_is_open(self, forked, call);
  if (forked->slot == WF_SLOT_OUTSIDE)
    join_outside(&forked->task, call);
  else
    join_as_worker(self, &forked->task, call);
  forked->slot = WF_SLOT_JOINED(NULL);
}
