/* par/base/options.h - the start of every parallel call: its options, the pool it runs
 * in, and how many threads may work on it.
 *
 * A public call NAME is NAME_with(NULL, ...). NAME_with checks its arguments
 * (base/checks.h), reads its options once with wf_par_options, and enters the pool with
 * wf_par_run. Inside the pool, work is divided by wf_loop_run (loop/loop.h), wf_crew_run
 * (base/crew.h) or weft_join. The options that wf_par_options has read live in the frame
 * of the call; all threads of the call read them, and nobody writes them.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_PAR_OPTIONS_H
#define WF_PAR_OPTIONS_H

#include "../../sched/sched.h"

#include <weft/opts.h>

/* Copies the options, with the defaults where `given` is NULL or shorter. Ends the
 * program with a message if they are not valid. */
void wf_par_options(weft_opts *out, const weft_opts *given, const char *call);

/* Calls fn(ctx) on a thread of the options' pool and returns when it has returned. A
 * thread that is in that pool already calls it itself, at once. */
static inline void wf_par_run(const weft_opts *opts, weft_fn *fn, void *ctx) {
  if (wf_sched_is_inside(opts->pool))
    fn(ctx);
  else
    weft_pool_run(opts->pool, fn, ctx);
}

/* Has the scope that the options name been cancelled? Once true it stays true. */
static inline bool wf_par_cancelled(const weft_opts *opts) {
  return opts->cancel != NULL && wf_scope_is_cancelled(opts->cancel);
}

/* How many threads may work on the call, this one included: at least 1, and not more than
 * max_workers. 1 outside of a pool, and where nobody could help. */
static inline unsigned wf_par_crew(const weft_opts *opts) {
  unsigned crew = wf_sched_threads();
  if (opts->max_workers != 0 && opts->max_workers < crew) crew = opts->max_workers;
  WF_ASSERT(crew >= 1);
  return crew;
}

#endif
