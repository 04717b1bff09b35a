/* par/iter/drive.c - runs a plan with all threads, for sinks that do not depend on the
 * order: the positions of the root are a loop, and the batches of a pull are numbered as
 * they come.
 *
 * Called by the sinks; enters the pool itself, except for wf_iter_pull_all, which
 * ordered.c calls inside. Blocks and batches belong to the
 * thread that has taken them.
 *
 * SPDX-License-Identifier: MIT */
#include "../base/crew.h"
#include "iter.h"

#include <weft/task.h>

/* ---- positions ---- */

typedef struct all_call {
  const wf_iter_plan *plan;
  const wf_iter_sink *sink;
} all_call;

/* The body of the loop: a block [begin, end) of positions, counted from the back for
 * searches from there. */
static void run_block_of_all(size_t begin, size_t end, void *ctx) {
  const all_call *call = (const all_call *)ctx;
  const wf_iter_sink *sink = call->sink;
  size_t n = wf_plan_positions(call->plan);
  WF_ASSERT(begin < end && end <= n);
  wf_iter_run run = {.plan = call->plan,
                     .take = sink->take,
                     .state = sink->state,
                     .key = begin,
                     .only_counts = sink->only_counts,
                     .takes_long = sink->takes_long};
  if (sink->from_back)
    wf_iter_eval(&run, n - end, n - begin);
  else
    wf_iter_eval(&run, begin, end);
  if (sink->done != NULL) sink->done(&run);
}

static bool is_all_over(size_t begin, const void *ctx) {
  const wf_iter_sink *sink = ((const all_call *)ctx)->sink;
  return sink->is_over(begin, sink->state);
}

static void run_all_inside(void *ctx) {
  all_call *call = (all_call *)ctx;
  const wf_iter_plan *plan = call->plan;
  size_t n = wf_plan_positions(plan);
  const wf_iter_sink *sink = call->sink;
  wf_loop loop = {run_block_of_all, call, sink->is_over != NULL ? is_all_over : NULL};
  (sink->from_front || sink->from_back ? wf_loop_run_from_front
                                       : wf_loop_run)(&plan->opts, n, &loop);
}

/* ---- batches of a pull ---- */

typedef struct pull_call {
  const wf_stage *stage;
  void *out;
  size_t room, got;
} pull_call;

static void call_function(void *ctx) {
  pull_call *call = (pull_call *)ctx;
  const wf_stage *s = call->stage;
  call->got = s->as.pull.fn(call->out, call->room, s->as.pull.ctx);
  if (call->got > call->room)
    wf_fatal("weft_iter_pull", "the function has returned more than there was room for");
}

/* Under the lock. Isolated: while the function waits for tasks of its own, this thread
 * may not run another member of this job, which would wait for the lock. */
static size_t pull_batch(wf_iter_pulling *p, wf_iter_run *run) {
  pull_call call = {wf_plan_stage(p->plan, 0), wf_iter_slot(run, 0), run->batch, 0};
  WF_ASSERT(call.stage->kind == WF_PULL);
  if (p->ended || wf_par_cancelled(&p->plan->opts)) return 0;
  if (p->is_over != NULL && p->is_over(p->key, p->ctx)) return 0;
  weft_isolate(call_function, &call);
  return call.got;
}

/* Threads take turns to pull; each works on what it has when the lock is free again. */
static void pull_member(wf_iter_run *run) {
  wf_iter_pulling *p = (wf_iter_pulling *)run->state;
  /* Before it pulls: what was pulled must be worked on. */
  void *own = p->enter != NULL ? p->enter(p->ctx) : p->ctx;
  while (own != NULL) {
    wf_lock_lock(&p->lock);
    size_t n = pull_batch(p, run);
    run->key = run->begin = p->key++;
    if (n == 0) p->ended = true;
    wf_lock_unlock(&p->lock);
    if (n == 0) break;
    run->end = run->begin + 1;
    own = p->batch(own, run, wf_iter_slot(run, 0), n, p->ctx);
    if (run->stopped || run->ended != WF_ITER_NONE) {
      wf_lock_lock(&p->lock);
      p->ended = true;
      wf_lock_unlock(&p->lock);
    }
  }
  if (own != NULL && p->leave != NULL) p->leave(own, p->ctx);
}

/* All cuts are on: a take_while behind a pull has no end that is known in advance. */
static void run_pull_member(void *ctx) {
  wf_iter_run run = {
      .plan = ((const wf_iter_pulling *)ctx)->plan, .state = ctx, .cuts = ~0u};
  wf_iter_with_memory(&run, pull_member);
}

void wf_iter_pull_all(wf_iter_pulling *pulling, bool alone) {
  /* What comes behind the end of a take_while may not be seen: one thread does it all. */
  if (wf_plan_has(pulling->plan, WF_TAKE_WHILE)) alone = true;
  wf_members_run(alone ? 1 : wf_par_crew(&pulling->plan->opts), run_pull_member, pulling);
}

/* ---- a sink behind a pull ---- */

static void *run_batch_of_all(void *own, wf_iter_run *run, const char *elems, size_t n,
                              void *ctx) {
  const wf_iter_sink *sink = ((const all_call *)ctx)->sink;
  run->take = sink->take;
  run->state = sink->state;
  run->only_counts = sink->only_counts;
  run->tally = 0;
  /* What is at the back has the lowest key, for searches for the last one. */
  if (sink->from_back) run->key = SIZE_MAX - 1 - run->key;
  wf_iter_push(run, 0, elems, n);
  if (sink->done != NULL) sink->done(run);
  /* Only this batch has ended, because a later one has a match: those still to come are
   * nearer to the back. */
  if (sink->from_back) run->stopped = false;
  return own;
}

static void pull_all_inside(void *ctx) {
  all_call *call = (all_call *)ctx;
  wf_iter_pulling pulling = {.plan = call->plan, .batch = run_batch_of_all, .ctx = call};
  if (call->sink->is_over != NULL && !call->sink->from_back)
    pulling.is_over = is_all_over;
  wf_iter_pull_all(&pulling, false);
}

void wf_iter_run_all(const wf_iter_plan *plan, const wf_iter_sink *sink) {
  all_call call = {plan, sink};
  if (wf_plan_pulls(plan))
    wf_par_run(&plan->opts, pull_all_inside, &call);
  else if (wf_plan_positions(plan) > 0)
    wf_par_run_over(&plan->opts, wf_plan_positions(plan), run_all_inside, &call);
}
