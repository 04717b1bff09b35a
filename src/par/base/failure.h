/* par/base/failure.h - which of the errors that several threads meet is the one that the
 * serial code would have met: the error of the lowest position.
 *
 * Used by the calls weft_try_*. The struct lives in the frame of the call; all threads of
 * the call share it.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_PAR_FAILURE_H
#define WF_PAR_FAILURE_H

#include "call.h"

/* Invariant: x_position == SIZE_MAX if and only if error == 0. Written under the lock. */
typedef struct wf_failure {
  wf_lock lock;
  wf_word x_position; /* where the lowest failed block begins, or SIZE_MAX */
  int error;          /* of that block */
} wf_failure;

/* Before other threads see it. */
static inline void wf_failure_init(wf_failure *f) {
  *f = (wf_failure){.error = 0};
  wf_word_init(&f->x_position, SIZE_MAX);
}

/* Is the position behind a failure that is known? Then its block need not run; blocks in
 * front of it must. Once true for a position it stays true. Relaxed: if it is seen late,
 * a block runs for nothing. */
static inline bool wf_failure_is_before(const wf_failure *f, size_t position) {
  return position > wf_word_load_relaxed(&f->x_position);
}

/* The block at the position has failed. As a block stops at its first error, the error of
 * the lowest block is that of the lowest index. */
static inline void wf_failure_note(wf_failure *f, size_t position, int error) {
  WF_ASSERT(error != 0);
  wf_lock_lock(&f->lock);
  /* Relaxed: written under the lock; others only compare it. */
  if (position < wf_word_load_relaxed(&f->x_position)) {
    wf_word_store_relaxed(&f->x_position, position);
    f->error = error;
  }
  wf_lock_unlock(&f->lock);
}

/* What the call returns, once no other thread is at it. */
static inline int wf_failure_status(const wf_failure *f, const weft_opts *opts) {
  WF_ASSERT((f->error == 0) == (wf_word_peek(&f->x_position) == SIZE_MAX));
  if (f->error == 0 && wf_par_cancelled(opts)) return WEFT_ECANCELED;
  return f->error;
}

#endif
