/* par/iter/pull.c - serial sources: threads take turns to pull a batch, and work on what
 * they have at the same time.
 *
 * SPDX-License-Identifier: MIT */
#include "../../sched/sched.h"
#include "iter.h"

#include <weft/task.h>

typedef struct pull_job {
  wf_iter_pulling *pulling;
  wf_lock lock; /* around the function and what changes in `pulling` */
} pull_job;

typedef struct pull_call {
  const wf_stage *stage;
  void *out;
  size_t room, got;
} pull_call;

static void call_function(void *ctx) {
  pull_call *call = (pull_call *)ctx;
  weft_pull_fn *fn = (weft_pull_fn *)call->stage->fn;
  call->got = fn(call->out, call->room, call->stage->ctx);
  if (call->got > call->room)
    wf_fatal("weft_iter_pull", "the function has returned more than there was room for");
}

/* Under the lock. Isolated: while the function waits for tasks of its own, the thread
 * must not take up another thread's part of this job, which would wait for the lock. */
static size_t pull_batch(wf_iter_pulling *p, wf_iter_run *run) {
  pull_call call = {wf_plan_stage(p->plan, 0), wf_iter_slot(run, 0), run->batch, 0};
  if (p->ended || wf_par_cancelled(&p->plan->opts)) return 0;
  if (p->is_over != NULL && p->is_over(p->key, p->ctx)) return 0;
  weft_isolate(call_function, &call);
  return call.got;
}

static void pull_member(wf_iter_run *run) {
  pull_job *j = (pull_job *)run->state;
  wf_iter_pulling *p = j->pulling;
  void *own = p->enter(p->ctx); /* before it pulls: what was pulled must be worked on */
  while (own != NULL) {
    wf_lock_lock(&j->lock);
    size_t n = pull_batch(p, run);
    run->key = run->begin = p->key++;
    if (n == 0) p->ended = true;
    wf_lock_unlock(&j->lock);
    if (n == 0) break;
    run->end = run->begin + 1;
    own = p->batch(own, run, wf_iter_slot(run, 0), n, p->ctx);
    if (run->stopped || run->ended != WF_ITER_NONE) {
      wf_lock_lock(&j->lock);
      p->ended = true;
      wf_lock_unlock(&j->lock);
    }
  }
  if (own != NULL) p->leave(own, p->ctx);
}

static void run_pull_member(pull_job *j) {
  wf_iter_run run = {.plan = j->pulling->plan, .state = j, .cuts = ~0u};
  wf_iter_with_memory(&run, pull_member);
}

typedef struct pull_part {
  pull_job *job;
  unsigned members;
} pull_part;

static void run_pull_members(void *ctx) {
  const pull_part *part = (const pull_part *)ctx;
  if (part->members == 1) {
    run_pull_member(part->job);
    return;
  }
  unsigned half = part->members / 2;
  pull_part mine = {part->job, part->members - half}, other = {part->job, half};
  wf_task task;
  wf_offer(wf_self, &task, run_pull_members, &other);
  run_pull_members(&mine);
  if (wf_take_back(wf_self, &task)) run_pull_members(&other);
}

/* A take_while ends all that comes behind it in the sequence: one after the other. */
static bool has_take_while(const wf_iter_plan *plan) {
  for (unsigned k = 0; k <= plan->root; k++)
    if (wf_plan_stage(plan, k)->kind == WF_TAKE_WHILE) return true;
  return false;
}

void wf_iter_pull_all(wf_iter_pulling *pulling) {
  pull_job j = {.pulling = pulling};
  pull_part all = {&j, wf_par_crew(&pulling->plan->opts)};
  if (has_take_while(pulling->plan)) all.members = 1;
  run_pull_members(&all);
}

void wf_iter_pull_serially(wf_iter_pulling *pulling) {
  pull_job j = {.pulling = pulling};
  run_pull_member(&j);
}
