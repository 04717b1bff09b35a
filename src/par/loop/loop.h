/* par/loop/loop.h - the loop over [0, n) that most parallel calls are made of.
 *
 * README.md in this folder shows how ranges are cut and proves that each index runs once.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_PAR_LOOP_H
#define WF_PAR_LOOP_H

#include "../base/call.h"

#include <weft/loop.h>

typedef struct wf_loop {
  /* Called for blocks [begin, end) that are disjoint, not empty and cover [0, n), on any
   * thread of the pool. Within a part of the range that one thread has, blocks ascend. */
  weft_range_fn *body;
  void *ctx; /* of both functions */
  /* May be NULL. Called before each block; true: nothing from `begin` on is wanted any
   * more. Once true for an index it must stay true for that index and all behind it. */
  bool (*is_over)(size_t begin, const void *ctx);
} wf_loop;

/* Runs the loop in the pool of the options (read by wf_par_options) and returns when all
 * blocks have returned. Blocks are left out only if the loop is over or cancelled.
 * Allocates nothing and cannot fail. */
void wf_loop_run(const weft_opts *opts, size_t n, const wf_loop *loop);

/* The same for a call that has nothing else to do: reads its options itself. */
static inline void wf_loop_call(const weft_opts *given, size_t n, const wf_loop *loop,
                                const char *call) {
  weft_opts opts;
  wf_par_options(&opts, given, call);
  wf_loop_run(&opts, n, loop);
}

/* The same for a body that can fail: the error of the lowest failing block,
 * WEFT_ECANCELED if there was none but a cancellation, or 0. Reads its options itself. */
int wf_loop_try(const weft_opts *given, size_t n, weft_try_fn *body, void *ctx,
                const char *call);

/* As wf_loop_run, but all threads take their blocks from the front of the range: the
 * blocks that were begun are [0, x) at any time. For searches, where what lies behind the
 * first match is wasted work. */
void wf_loop_run_from_front(const weft_opts *opts, size_t n, const wf_loop *loop);

#endif
