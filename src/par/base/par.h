/* par/base/par.h - what all parallel calls share: their options, and the loop that most
 * of them are made of.
 *
 * A call NAME is NAME_with(NULL, ...); NAME_with reads its options once, with
 * wf_par_options, and enters the pool with wf_par_run. Inside, work is divided by
 * wf_loop_run (ranges) or weft_join (trees).
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_PAR_PAR_H
#define WF_PAR_PAR_H

#include "../../sched/pool.h"
#include "../../sched/scoped.h"

#include <weft/opts.h>

/* The options with their defaults; ends the program with a message if they are nonsense.
 */
void wf_par_options(weft_opts *out, const weft_opts *given, const char *call);

/* The same for calls on arrays of numbers, which are not NULL unless n is 0. */
static inline void wf_par_start(weft_opts *out, const weft_opts *given, bool no_array,
                                size_t n, const char *call) {
  if (WF_UNLIKELY(no_array && n > 0)) wf_fatal(call, "an array is NULL");
  wf_par_options(out, given, call);
}

/* Calls fn(ctx) inside the pool of the options: at once if the thread is in it already.
 */
void wf_par_run(const weft_opts *opts, weft_fn *fn, void *ctx);

/* Has the scope that the options name been cancelled? To be asked now and then. */
static inline bool wf_par_cancelled(const weft_opts *opts) {
  return opts->cancel != NULL && wf_scope_is_cancelled(opts->cancel);
}

/* How many threads may work on the call: at least 1. Inside the pool only. */
unsigned wf_par_crew(const weft_opts *opts);

/* ---- loop.c ---- */

/* A loop over [0, n). */
typedef struct wf_loop {
  /* Called for blocks that are disjoint and cover the range, on any thread of the pool;
   * on each thread in ascending order of the part of the range that it has. */
  weft_range_fn *body;
  void *ctx;
  /* May be NULL. Asked before each block: is nothing from `begin` on wanted any more? It
   * must stay so once it was. */
  bool (*is_over)(size_t begin, const void *ctx);
} wf_loop;

/* Runs the loop, to its end or until it is over or cancelled, in the pool of the options
 * (read by wf_par_options). Allocates nothing, cannot fail. */
void wf_loop_run(const weft_opts *opts, size_t n, const wf_loop *loop);

#endif
