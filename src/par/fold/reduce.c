/* par/fold/reduce.c - weft_reduce, and the tree that all reductions are made of.
 *
 * The range is cut into leaves whose length follows from n and the options alone, not
 * from the number of threads, and the leaves into
 * halves. The left half of a node uses the node's accumulator, the right half a temporary
 * in the node's frame; so nothing is allocated unless accumulators are large. Which
 * thread runs which half makes no difference to what is merged with what.
 *
 * Called by programs, by the calls on numbers, and by iterators. A node lives in the
 * frame of the thread that made it and belongs to the thread that runs it; an accumulator
 * is written by one thread at a time, handed over by the join.
 *
 * SPDX-License-Identifier: MIT */
#include "reduce.h"

#include <limits.h>
#include <weft/join.h>
#include <weft/typed_fold.h>

/* ---- the tree ---- */

/* Accumulators up to this size are in the frames of the nodes. A choice: with the at most
 * 64 levels of a tree that is 16 KiB of stack. */
enum { SMALL_ACC = 256 };

/* Invariant: count >= 1, first + count <= the number of leaves, budget >= 1. */
typedef struct fold_node {
  const wf_fold *fold;
  const weft_opts *opts;
  void *acc;
  size_t first, count; /* leaves */
  size_t group;        /* leaves of a group, a power of two; 1: there are none */
  unsigned budget;     /* how many threads may work on it; 1: only this one */
} fold_node;

static size_t fold_leaves(const wf_fold *fold) {
  return fold->n / fold->leaf + (fold->n % fold->leaf != 0);
}

static void fold_leaf(const fold_node *node) {
  const wf_fold *fold = node->fold;
  size_t begin = node->first * fold->leaf;
  WF_ASSERT(begin <= fold->n);
  size_t left = fold->n - begin;
  size_t count = left < fold->leaf ? left : fold->leaf;
  if (wf_par_cancelled(node->opts)) count = 0;
  fold->fold(node->acc, begin, begin + count, fold->ctx);
}

static void fold_small(void *ctx);
static void fold_large(void *ctx);

/* The leaves of the lower half of a node. */
static inline size_t lower_leaves(const fold_node *node) {
  const size_t count = node->count, group = node->group;
  if (WF_LIKELY(group == 1)) return count / 2;
  if (count > group) return (count / group + (count % group != 0)) / 2 * group;
  size_t lower = 1; /* the largest power of two below count */
  while (lower < count - lower) lower *= 2;
  return lower;
}

/* Folds both halves by fn and merges them; `right` is memory for the upper one. */
static inline void fold_halves(const fold_node *node, void *right, weft_fn *fn) {
  WF_ASSERT(node->count >= 2 && node->budget >= 1);
  WF_ASSERT(node->first + node->count <= fold_leaves(node->fold));
  size_t half = lower_leaves(node);
  fold_node lower = *node, upper = *node;
  WF_ASSERT(half > 0 && half < node->count);
  lower.count = half;
  upper.acc = right;
  upper.first += half;
  upper.count -= half;
  if (node->budget == 1) {
    fn(&lower);
    fn(&upper);
  } else {
    lower.budget -= node->budget / 2;
    upper.budget /= 2;
    weft_join(fn, &lower, fn, &upper);
  }
  node->fold->merge(node->acc, right, node->fold->ctx);
}

static void fold_small(void *ctx) {
  const fold_node *node = (const fold_node *)ctx;
  if (node->count == 1) {
    fold_leaf(node);
    return;
  }
  _Alignas(16) unsigned char right[SMALL_ACC];
  fold_halves(node, right, fold_small);
}

/* A function of its own, so that the frames of other nodes are small. */
static __attribute__((noinline)) void fold_on_stack(const fold_node *node) {
  _Alignas(16) unsigned char right[WF_SCRATCH_STACK];
  fold_halves(node, right, fold_large);
}

static void fold_large(void *ctx) {
  const fold_node *node = (const fold_node *)ctx;
  size_t size = node->fold->size;
  if (node->count == 1) {
    fold_leaf(node);
    return;
  }
  wf_scratch scratch = wf_scratch_get(size);
  if (scratch.memory == NULL && size <= WF_SCRATCH_STACK && wf_stack_is_half_free()) {
    fold_on_stack(node);
    return;
  }
  if (scratch.memory == NULL) scratch = wf_scratch_need(size, node->opts->name);
  fold_halves(node, scratch.memory, fold_large);
  wf_scratch_put(scratch);
}

static void fold_inside(void *ctx) {
  fold_node *root = (fold_node *)ctx;
  unsigned crew = wf_par_crew(root->opts);
  root->budget = crew == 1 || root->opts->max_workers != 0 ? crew : UINT_MAX;
  if (root->fold->size <= SMALL_ACC)
    fold_small(root);
  else
    fold_large(root);
}

void wf_fold_run_in_groups(const weft_opts *opts, void *result, const wf_fold *fold,
                           size_t group) {
  WF_ASSERT(fold->leaf >= 1 && fold->size >= 1);
  WF_ASSERT(group > 0 && (group & (group - 1)) == 0);
  fold_node root = {fold, opts, result, 0, fold_leaves(fold), group, 1};
  if (root.count > 1)
    wf_par_run_over(opts, fold->n, fold_inside, &root);
  else
    fold_leaf(&root);
}

void wf_fold_run(const weft_opts *opts, void *result, const wf_fold *fold) {
  wf_fold_run_in_groups(opts, result, fold, 1);
}

/* ---- weft_reduce ---- */

/* At least LEAVES leaves, if there are as many elements: enough to balance uneven work,
 * few enough to merge. Accumulators of more than LARGE_ACC bytes, which cost more to
 * merge, have fewer. LEAF_MAX bounds the time until a cancellation is noticed. All are
 * choices, and fixed: results of floats depend on them. */
enum { LEAVES = 512, LEAVES_LARGE = 128, LARGE_ACC = 4096, LEAF_MAX = 32768 };

/* The step of a typed function is likely to be cheap, so that for short leaves the calls
 * of init, fold and merge would take most of the time. Its leaves have at least
 * TYPED_LEAF_MIN elements if that makes TYPED_LEAVES leaves. Choices, fixed as above. */
enum { TYPED_LEAF_MIN = 256, TYPED_LEAVES = 64 };

typedef struct user_fold {
  const weft_reducer *r;
  void *ctx;
} user_fold;

static void user_leaf(void *acc, size_t begin, size_t end, void *ctx) {
  const user_fold *user = (const user_fold *)ctx;
  user->r->init(acc, user->ctx);
  if (begin < end) user->r->fold(acc, begin, end, user->ctx);
}

static void user_merge(void *acc, const void *right, void *ctx) {
  const user_fold *user = (const user_fold *)ctx;
  user->r->merge(acc, right, user->ctx);
}

void wf_check_reducer(const weft_reducer *r, size_t n, const void *result,
                      const char *call) {
  wf_refuse_if(r == NULL, call, "the reducer is NULL");
  wf_check_reducer_parts(call, r->init == NULL, n > 0 && r->fold == NULL,
                         n > 1 && r->merge == NULL);
  wf_check_acc_size(r->size, call);
  wf_refuse_if(result == NULL, call, "the result is NULL");
}

size_t wf_fold_leaf_length(size_t n, size_t leaf, const weft_opts *opts) {
  if (opts->target_chunks != 0)
    leaf = n / opts->target_chunks + (n % opts->target_chunks != 0);
  if (leaf < opts->min_len) leaf = opts->min_len;
  if (opts->max_len != 0 && leaf > opts->max_len) leaf = opts->max_len;
  return leaf > 0 ? leaf : 1;
}

/* The length of leaves where the options say nothing. */
static size_t default_leaf(size_t n, size_t size) {
  size_t leaves = size > LARGE_ACC ? LEAVES_LARGE : LEAVES;
  size_t leaf = n / leaves + (n % leaves != 0);
  return leaf > LEAF_MAX ? LEAF_MAX : leaf;
}

size_t wf_fold_user_leaf(size_t n, size_t size, const weft_opts *opts) {
  return wf_fold_leaf_length(n, default_leaf(n, size), opts);
}

static size_t fold_typed_leaf(size_t n, size_t size, const weft_opts *opts) {
  size_t leaf = default_leaf(n, size), longer = n / TYPED_LEAVES;
  if (longer > TYPED_LEAF_MIN) longer = TYPED_LEAF_MIN;
  return wf_fold_leaf_length(n, leaf > longer ? leaf : longer, opts);
}

static void run_reducer(const weft_opts *opts, void *result, size_t n, size_t leaf,
                        const weft_reducer *r, void *ctx) {
  user_fold user = {r, ctx};
  wf_fold fold = {n, leaf, r->size, user_leaf, user_merge, &user};
  fold_node root = {&fold, opts, result, 0, fold_leaves(&fold), 1, 1};
  if (n == 0)
    r->init(result, ctx);
  else
    wf_par_run_over(opts, n, fold_inside, &root); /* also if there is only one leaf */
}

void weft_reduce_with(const weft_opts *o, void *result, size_t n, const weft_reducer *r,
                      void *ctx) {
  weft_opts opts;
  wf_check_reducer(r, n, result, "weft_reduce");
  wf_par_options(&opts, o, "weft_reduce");
  run_reducer(&opts, result, n, wf_fold_user_leaf(n, r->size, &opts), r, ctx);
}
WF_PLAIN(weft_reduce, (void *result, size_t n, const weft_reducer *r, void *ctx), result,
         n, r, ctx)

void wf_typed_fold(const wf_typed *k, void *result, const void *a, const weft_reducer *r,
                   void *in) {
  weft_opts opts;
  wf_par_start(&opts, k->opts, a == NULL, k->n, 1, k->name);
  run_reducer(&opts, result, k->n, fold_typed_leaf(k->n, r->size, &opts), r, in);
}
