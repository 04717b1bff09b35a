/* sched/typed_task.c - the slow halves of typed tasks. The fast ones are inlined in
 * include/weft/detail/typed_task.h and use the deque as weft_join does; what differs is
 * that a fork and its join are two calls, so that a thread which is in no pool stays
 * outside between them.
 *
 * SPDX-License-Identifier: MIT */
#include "pool.h"

#include <weft/typed_task.h>

/* A fork by a thread that is in no pool. It offers the task in a guest's place; if there
 * is none, the join will run it. */
void wf_task_fork_outside(wf_task *task) {
  wf_worker *worker = wf_guest_fork_place();
  wf_latch_init_region(&task->completion, wf_guest_region());
  if (worker == NULL)
    wf_latch_note_given_back(&task->completion);
  else
    wf_fork_push(&worker->deque.owner, task);
}

/* The whole of a join by a worker, as if nothing had been tried inline. */
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

/* The newest fork of a thread with a place is in that place: a fork finds none only while
 * there is none. */
static void join_outside(wf_task *task, const char *call) {
  outside_join join = {task, call};
  if (wf_guest_join_place(join_in_place, &join, call)) return;
  if (!wf_latch_is_given_back(&task->completion))
    wf_fatal(call, "the task was not forked here, or has been joined already");
  weft_pool_run(NULL, task->execute, task->context);
}

void wf_task_join_slow(wf_owner *self, wf_task *task, const char *call) {
  if (self == NULL)
    join_outside(task, call);
  else
    join_as_worker(self, task, call);
}

void wf_task_misused(const char *call, const char *problem) {
  wf_fatal(call, problem);
}
