/* par/fold/reduce_local.c - weft_reduce_local: a reduction with one accumulator for each
 * thread, for results that do not depend on order and grouping.
 *
 * Called by programs. The work is a crew (base/crew.h): a member is one task on one
 * thread, and folds all blocks that it takes into its own accumulator. So a function that
 * calls weft in the middle of a fold does not find its accumulator changed, even if its
 * thread runs another member meanwhile. The first member has the result itself as its
 * accumulator; without memory for others it does all the work.
 *
 * A member that ends merges its accumulator with that of one that has ended before it, if
 * there is one, or leaves it for the next. So merges run in parallel with folds and with
 * each other.
 *
 * SPDX-License-Identifier: MIT */
#include "../base/crew.h"
#include "reduce.h"

/* What a member begins with: owned by its thread, from enter to leave. Behind the head
 * of one that is not the first comes its accumulator, at the next cache line. */
typedef struct local_acc {
  void *acc;
  wf_scratch memory; /* none for the first */
} local_acc;

/* Invariants: is_taken if and only if `first` is a member's or was merged;
 * ended is NULL or an accumulator that no running member has. */
typedef struct local_reduction {
  const weft_opts *opts;
  const weft_reducer *r;
  void *ctx;
  size_t n;
  local_acc first; /* with the result */
  /* Under the lock. */
  wf_lock lock;
  bool is_taken;    /* `first` */
  local_acc *ended; /* of members that have ended, all merged into this one; or NULL */
} local_reduction;

static local_acc *take_first(local_reduction *job) {
  wf_lock_lock(&job->lock);
  bool taken = job->is_taken;
  job->is_taken = true;
  wf_lock_unlock(&job->lock);
  return taken ? NULL : &job->first;
}

static local_acc *make_accumulator(const local_reduction *job) {
  if (job->r->size > SIZE_MAX - WF_CACHE_LINE) return NULL;
  wf_scratch memory = wf_scratch_get(WF_CACHE_LINE + job->r->size);
  if (memory.memory == NULL) return NULL;
  local_acc *own = (local_acc *)memory.memory;
  own->memory = memory;
  own->acc = (char *)memory.memory + WF_CACHE_LINE;
  return own;
}

static void *enter_reduction(void *ctx) {
  local_reduction *job = (local_reduction *)ctx;
  local_acc *own = take_first(job);
  if (own == NULL) own = make_accumulator(job);
  if (own != NULL) job->r->init(own->acc, job->ctx);
  return own;
}

static void *fold_block(void *own, size_t begin, size_t end, void *ctx) {
  const local_reduction *job = (const local_reduction *)ctx;
  job->r->fold(((const local_acc *)own)->acc, begin, end, job->ctx);
  return own;
}

/* Takes what others have left; if there is nothing, leaves `own` for others. */
static local_acc *exchange_ended(local_reduction *job, local_acc *own) {
  wf_lock_lock(&job->lock);
  local_acc *other = job->ended;
  job->ended = other == NULL ? own : NULL;
  wf_lock_unlock(&job->lock);
  return other;
}

static void leave_reduction(void *ctx_own, void *ctx) {
  local_reduction *job = (local_reduction *)ctx;
  local_acc *own = (local_acc *)ctx_own, *other;
  while ((other = exchange_ended(job, own)) != NULL) {
    if (other == &job->first) { /* the result stays where it is */
      other = own;
      own = &job->first;
    }
    job->r->merge(own->acc, other->acc, job->ctx);
    wf_scratch_put(other->memory);
  }
}

static void reduce_inside(void *ctx) {
  local_reduction *job = (local_reduction *)ctx;
  const wf_crew crew = {.enter = enter_reduction,
                        .block = fold_block,
                        .leave = leave_reduction,
                        .ctx = job,
                        .max_len = SIZE_MAX};
  wf_crew_run(job->opts, job->n, &crew);
}

void weft_reduce_local_with(const weft_opts *o, void *result, size_t n,
                            const weft_reducer *r, void *ctx) {
  weft_opts opts;
  wf_check_reducer(r, n, result, "weft_reduce_local");
  wf_par_options(&opts, o, "weft_reduce_local");
  local_reduction job = {
      .opts = &opts, .r = r, .ctx = ctx, .n = n, .first = {.acc = result}};
  if (n > 0) wf_par_run(&opts, reduce_inside, &job);
  if (!job.is_taken) r->init(result, ctx); /* no block was begun */
  WF_ASSERT(job.ended == (job.is_taken ? &job.first : NULL));
}
WF_PLAIN(weft_reduce_local, (void *result, size_t n, const weft_reducer *r, void *ctx),
         result, n, r, ctx)
