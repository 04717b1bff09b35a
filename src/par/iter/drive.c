/* par/iter/drive.c - runs a plan with all threads: sinks that do not mind the order, and
 * folds.
 *
 * SPDX-License-Identifier: MIT */
#include "../fold/reduce.h"
#include "iter.h"

/* ---- sinks that do not mind the order ---- */

typedef struct all_call {
  const wf_iter_plan *plan;
  const wf_iter_sink *sink;
} all_call;

static void run_block_of_all(size_t begin, size_t end, void *ctx) {
  const all_call *call = (const all_call *)ctx;
  const wf_iter_sink *sink = call->sink;
  size_t n = wf_plan_positions(call->plan);
  wf_iter_run run = {.plan = call->plan,
                     .take = sink->take,
                     .state = sink->state,
                     .key = begin,
                     .only_counts = sink->only_counts};
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
  weft_opts opts = plan->opts;
  wf_loop loop = {run_block_of_all, call, call->sink->is_over ? is_all_over : NULL};
  if (call->sink->from_front || call->sink->from_back) {
    opts.max_workers = wf_par_crew(&opts); /* blocks come from the front then */
    if (opts.max_workers > n) opts.max_workers = (unsigned)n;
  }
  wf_loop_run(&opts, n, &loop);
}

/* ---- the same behind a pull ---- */

static void *enter_all(void *ctx) {
  return ctx;
}

static void leave_all(void *own, void *ctx) {
  (void)own, (void)ctx;
}

static void *run_batch_of_all(void *own, wf_iter_run *run, const char *elems, size_t n,
                              void *ctx) {
  const wf_iter_sink *sink = ((const all_call *)ctx)->sink;
  run->take = sink->take;
  run->state = sink->state;
  run->only_counts = sink->only_counts;
  run->tally = 0;
  /* What is at the back has the lowest key. */
  if (sink->from_back) run->key = SIZE_MAX - 1 - run->key;
  wf_iter_push(run, 0, elems, n);
  if (sink->done != NULL) sink->done(run);
  /* A batch that lies behind a match ends; those to come are nearer to the back. */
  if (sink->from_back) run->stopped = false;
  return own;
}

static void pull_all_inside(void *ctx) {
  all_call *call = (all_call *)ctx;
  wf_iter_pulling pulling = {.plan = call->plan,
                             .enter = enter_all,
                             .batch = run_batch_of_all,
                             .leave = leave_all,
                             .ctx = call};
  if (call->sink->is_over != NULL && !call->sink->from_back)
    pulling.is_over = is_all_over;
  wf_iter_pull_all(&pulling);
}

void wf_iter_run_all(const wf_iter_plan *plan, const wf_iter_sink *sink) {
  all_call call = {plan, sink};
  if (wf_stage_is(wf_plan_root(plan), WF_ITER_PULLS))
    wf_par_run(&plan->opts, pull_all_inside, &call);
  else if (wf_plan_positions(plan) > 0)
    wf_par_run(&plan->opts, run_all_inside, &call);
}

/* ---- folds ---- */

/* So many leaves while they are short, more when they have a batch at least; longer ones
 * than the last would not be quicker. All of it follows from the lengths alone. */
enum { FEW_LEAVES = 128, MANY_LEAVES = 512, LEAF_BATCH = 1024, LEAF_MOST = 32768 };

static size_t leaf_length(const wf_iter_plan *plan) {
  size_t n = wf_plan_positions(plan);
  size_t leaf = n / FEW_LEAVES + (n % FEW_LEAVES != 0);
  if (leaf > LEAF_BATCH) {
    leaf = n / MANY_LEAVES + 1;
    if (leaf < LEAF_BATCH) leaf = LEAF_BATCH;
  }
  if (leaf > LEAF_MOST) leaf = LEAF_MOST;
  if (plan->opts.min_len > leaf) leaf = plan->opts.min_len;
  if (plan->opts.max_len != 0 && plan->opts.max_len < leaf) leaf = plan->opts.max_len;
  return leaf > 0 ? leaf : 1;
}

typedef struct fold_call {
  const wf_iter_plan *plan;
  const wf_iter_folding *folding;
} fold_call;

static void fold_leaf_of_all(void *acc, size_t begin, size_t end, void *ctx) {
  const fold_call *call = (const fold_call *)ctx;
  const wf_iter_folding *f = call->folding;
  wf_iter_leaf leaf = {acc, f->ctx};
  wf_iter_run run = {.plan = call->plan, .take = f->take, .state = &leaf};
  f->init(acc, f->ctx);
  if (begin < end) wf_iter_eval(&run, begin, end);
}

static void merge_of_all(void *acc, const void *right, void *ctx) {
  const wf_iter_folding *f = ((const fold_call *)ctx)->folding;
  f->merge(acc, right, f->ctx);
}

typedef struct fold_inside {
  const wf_iter_plan *plan;
  void *result;
  const wf_fold *fold;
} fold_inside_call;

static void fold_all_inside(void *ctx) {
  const fold_inside_call *call = (const fold_inside_call *)ctx;
  wf_fold_run(&call->plan->opts, call->result, call->fold);
}

void wf_iter_fold_all(const wf_iter_plan *plan, void *result, const wf_iter_folding *f) {
  fold_call call = {plan, f};
  wf_fold fold = {wf_plan_positions(plan), leaf_length(plan), f->size,
                  fold_leaf_of_all,        merge_of_all,      &call};
  fold_inside_call inside = {plan, result, &fold};
  if (wf_stage_is(wf_plan_root(plan), WF_ITER_PULLS)) {
    wf_iter_order order = {.plan = plan, .folding = f, .result = result};
    wf_iter_run_ordered(&order);
  } else if (fold.n == 0) {
    f->init(result, f->ctx);
  } else {
    wf_par_run(&plan->opts, fold_all_inside, &inside);
  }
}
