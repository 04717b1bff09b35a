/* par/fold/reduce.h - reductions as a tree of leaves of one length. The tree follows from
 * the number of elements and the lengths in the options alone, so results have the same
 * bits for any number of threads.
 *
 * Used by weft_reduce, weft_try_reduce, by the calls on numbers and by the folds of
 * iterators.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_PAR_REDUCE_H
#define WF_PAR_REDUCE_H

#include "../base/call.h"

#include <weft/reduce.h>

typedef struct wf_fold {
  size_t n;    /* elements */
  size_t leaf; /* elements of each leaf but the last, at least 1 */
  size_t size; /* bytes of an accumulator, at least 1 */
  /* Sets the accumulator to what the elements [begin, end) give. An empty range, when
   * the call was cancelled or n is 0, gives the identity. */
  void (*fold)(void *acc, size_t begin, size_t end, void *ctx);
  /* Appends `right`, which comes right behind `acc` in the array, to it. */
  void (*merge)(void *acc, const void *right, void *ctx);
  void *ctx;
} wf_fold;

/* Folds the leaves and merges neighbours, in a tree that halves the number of leaves, and
 * sets *result. Enters the pool of the options if there is more than one leaf; a single
 * leaf, also an empty one, is folded by the calling thread, wherever it is. */
void wf_fold_run(const weft_opts *opts, void *result, const wf_fold *fold);

/* The same with leaves in groups of `group`, a power of two, the last one perhaps of
 * fewer: the tree is halved by groups, and the lower half of a group is a power of two of
 * leaves. So what is merged with what inside a group does not depend on the length of
 * leaves, as long as a group has the same elements. */
void wf_fold_run_in_groups(const weft_opts *opts, void *result, const wf_fold *fold,
                           size_t group);

/* The length of leaves that the options ask for: n / target_chunks rounded up, or `leaf`
 * where target_chunks is 0; but at least min_len and at most max_len, of which the latter
 * wins. At least 1. */
size_t wf_fold_leaf_length(size_t n, size_t leaf, const weft_opts *opts);

/* The same for a program's own functions and accumulators of `size` bytes. */
size_t wf_fold_user_leaf(size_t n, size_t size, const weft_opts *opts);

/* End the program with a message if the reducer or the result cannot work. */
static inline void wf_check_reducer_parts(const char *call, bool no_init, bool no_fold,
                                          bool no_merge) {
  wf_refuse_if(no_init, call, "init is NULL");
  wf_refuse_if(no_fold, call, "fold is NULL");
  wf_refuse_if(no_merge, call, "merge is NULL");
}
/* An accumulator as large as that cannot be, and what is computed from its size, with
 * room for a head and for alignment, cannot overflow. */
static inline void wf_check_acc_size(size_t size, const char *call) {
  wf_refuse_if(size == 0, call, "the size of the accumulator is 0");
  wf_refuse_if(size > PTRDIFF_MAX / 2, call, "the size of the accumulator is too large");
}
void wf_check_reducer(const weft_reducer *r, size_t n, const void *result,
                      const char *call);

#endif
