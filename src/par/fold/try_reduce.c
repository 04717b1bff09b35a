/* par/fold/try_reduce.c - weft_try_reduce: a reduction whose functions can fail.
 *
 * Called by programs. It is the tree of reduce.c, whose leaves and merges note their
 * failures (base/failure.h). Each accumulator that is not the result has a tail behind
 * it that says which elements it stands for, because the failure of a merge has a
 * position, too. The tail belongs to the thread that has the accumulator.
 *
 * Which failure is reported does not depend on timing. A leaf is left out only if one in
 * front of it has failed. Call p the lowest position that fails when nothing is left out.
 * All leaves in front of p run, whatever else has failed, and so does what is at p: if it
 * is a leaf, because no leaf in front of it has failed; if it is the merge of a node,
 * because its leaves from p on did not fail (the merge would not count, see below), and
 * they are left out only if something in front has failed. A merge does not count if a
 * failure inside of its node is known: some leaves of the node may be missing then, and
 * which ones differs from run to run.
 *
 * SPDX-License-Identifier: MIT */
#include "../base/failure.h"
#include "reduce.h"

/* The elements [begin, end) that an accumulator stands for. */
typedef struct try_tail {
  size_t begin, end;
} try_tail;

typedef struct try_reduction {
  const weft_opts *opts;
  const weft_try_reducer *r;
  void *ctx;
  void *result;
  size_t tail_at; /* bytes from the start of an accumulator to its tail */
  const wf_fold *fold;
  wf_failure failure;
} try_reduction;

static try_tail *tail_of(const try_reduction *t, const void *acc) {
  WF_ASSERT(acc != t->result); /* it has none */
  return (try_tail *)(void *)((char *)(uintptr_t)acc + t->tail_at);
}

static void try_leaf(void *acc, size_t begin, size_t end, void *ctx) {
  try_reduction *t = (try_reduction *)ctx;
  t->r->init(acc, t->ctx);
  if (acc != t->result) *tail_of(t, acc) = (try_tail){begin, end};
  if (begin == end || wf_failure_is_before(&t->failure, begin)) return;
  int error = t->r->fold(acc, begin, end, t->ctx);
  if (WF_UNLIKELY(error != 0)) wf_failure_note(&t->failure, begin, error);
}

/* Merges in any case: the accumulator on the right may own memory. */
static void try_merge(void *acc, const void *right, void *ctx) {
  try_reduction *t = (try_reduction *)ctx;
  const try_tail tail = *tail_of(t, right);
  int error = t->r->merge(acc, right, t->ctx);
  if (acc != t->result) tail_of(t, acc)->end = tail.end;
  /* A failure inside of this node would be known: the join of its halves orders it. */
  if (WF_UNLIKELY(error != 0) && !wf_failure_is_before(&t->failure, tail.end))
    wf_failure_note(&t->failure, tail.begin, error);
}

static void try_inside(void *ctx) {
  try_reduction *t = (try_reduction *)ctx;
  wf_fold_run(t->opts, t->result, t->fold);
}

int weft_try_reduce_with(const weft_opts *o, void *result, size_t n,
                         const weft_try_reducer *r, void *ctx) {
  const char *call = "weft_try_reduce";
  weft_opts opts;
  wf_refuse_if(r == NULL, call, "the reducer is NULL");
  wf_check_reducer_parts(call, r->init == NULL, n > 0 && r->fold == NULL,
                         n > 1 && r->merge == NULL);
  wf_check_acc_size(r->size, call);
  wf_refuse_if(result == NULL, call, "the result is NULL");
  wf_par_options(&opts, o, call);
  try_reduction t = {.opts = &opts, .r = r, .ctx = ctx, .result = result};
  t.tail_at = (r->size + sizeof(size_t) - 1) / sizeof(size_t) * sizeof(size_t);
  wf_fold fold = {n,
                  wf_fold_user_leaf(n, r->size, &opts),
                  t.tail_at + sizeof(try_tail),
                  try_leaf,
                  try_merge,
                  &t};
  t.fold = &fold;
  wf_failure_init(&t.failure);
  if (n == 0)
    r->init(result, ctx);
  else
    wf_par_run(&opts, try_inside, &t);
  return wf_failure_status(&t.failure, &opts);
}
WF_PLAIN_OF(int, weft_try_reduce,
            (void *result, size_t n, const weft_try_reducer *r, void *ctx), result, n, r,
            ctx)
