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

static local_acc *take_first(local_reduction *all) {
  wf_lock_lock(&all->lock);
  bool taken = all->is_taken;
  all->is_taken = true;
  wf_lock_unlock(&all->lock);
  return taken ? NULL : &all->first;
}

static local_acc *make_accumulator(const local_reduction *all) {
  if (all->r->size > SIZE_MAX - WF_CACHE_LINE) return NULL;
  wf_scratch memory = wf_scratch_get(WF_CACHE_LINE + all->r->size);
  if (memory.memory == NULL) return NULL;
  local_acc *own = (local_acc *)memory.memory;
  own->memory = memory;
  own->acc = (char *)memory.memory + WF_CACHE_LINE;
  return own;
}

static void *enter_reduction(void *ctx) {
  local_reduction *all = (local_reduction *)ctx;
  local_acc *own = take_first(all);
  if (own == NULL) own = make_accumulator(all);
  if (own != NULL) all->r->init(own->acc, all->ctx);
  return own;
}

static void *fold_block(void *own, size_t begin, size_t end, void *ctx) {
  const local_reduction *all = (const local_reduction *)ctx;
  all->r->fold(((const local_acc *)own)->acc, begin, end, all->ctx);
  return own;
}

/* Takes what others have left; if there is nothing, leaves `own` for others. */
static local_acc *exchange_ended(local_reduction *all, local_acc *own) {
  wf_lock_lock(&all->lock);
  local_acc *other = all->ended;
  all->ended = other == NULL ? own : NULL;
  wf_lock_unlock(&all->lock);
  return other;
}

static void leave_reduction(void *ctx_own, void *ctx) {
  local_reduction *all = (local_reduction *)ctx;
  local_acc *own = (local_acc *)ctx_own, *other;
  while ((other = exchange_ended(all, own)) != NULL) {
    if (other == &all->first) { /* the result stays where it is */
      other = own;
      own = &all->first;
    }
    all->r->merge(own->acc, other->acc, all->ctx);
    wf_scratch_put(other->memory);
  }
}

static void reduce_inside(void *ctx) {
  local_reduction *all = (local_reduction *)ctx;
  const wf_crew crew = {.enter = enter_reduction,
                        .block = fold_block,
                        .leave = leave_reduction,
                        .ctx = all,
                        .max_len = SIZE_MAX};
  wf_crew_run(all->opts, all->n, &crew);
}

void weft_reduce_local_with(const weft_opts *o, void *result, size_t n,
                            const weft_reducer *r, void *ctx) {
  weft_opts opts;
  wf_check_reducer(r, n, result, "weft_reduce_local");
  wf_par_options(&opts, o, "weft_reduce_local");
  local_reduction all = {
      .opts = &opts, .r = r, .ctx = ctx, .n = n, .first = {.acc = result}};
  if (n > 0) wf_par_run(&opts, reduce_inside, &all);
  if (!all.is_taken) r->init(result, ctx); /* no block was begun */
  WF_ASSERT(all.ended == (all.is_taken ? &all.first : NULL));
}
WF_PLAIN(weft_reduce_local, (void *result, size_t n, const weft_reducer *r, void *ctx),
         result, n, r, ctx)
