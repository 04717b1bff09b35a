/* par/fold/reduce.h - reductions over leaves of one length, whose tree follows from the
 * number of elements alone.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_PAR_REDUCE_H
#define WF_PAR_REDUCE_H

#include "../base/options.h"

typedef struct wf_fold {
  size_t n, leaf; /* elements, elements of a leaf */
  size_t size;    /* of an accumulator */
  /* Sets the accumulator to what the elements [begin, end) give. None: cancelled. */
  void (*fold)(void *acc, size_t begin, size_t end, void *ctx);
  void (*merge)(void *acc, const void *right, void *ctx);
  void *ctx;
} wf_fold;

/* Folds the leaves and merges neighbours, in a tree that is halved by leaves. Inside the
 * pool of the options or outside; n may be 0. A single leaf is folded by the calling
 * thread, wherever it is. */
void wf_fold_run(const weft_opts *opts, void *result, const wf_fold *fold);

/* The same with leaves in groups of `group`, a power of two, the last one perhaps of
 * fewer: the tree is halved by groups, and the lower half of a group is a power of two of
 * leaves. So what is merged with what inside a group does not depend on the length of
 * leaves, as long as a group has the same elements. */
void wf_fold_run_in_groups(const weft_opts *opts, void *result, const wf_fold *fold,
                           size_t group);

#endif
