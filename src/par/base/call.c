/* par/base/call.c - reads the options of a parallel call, and gets its scratch memory.
 * Every call of src/par goes through here; the calling thread owns what it gets.
 *
 * SPDX-License-Identifier: MIT */
#include "call.h"

#include <stdint.h>
#include <stdlib.h>

/* ---- options ---- */

/* Names the option that is wrong. All fields were copied if the struct's size is valid.
 */
static void refuse_options(const weft_opts *o, const char *call) {
  if ((unsigned)o->split > WEFT_SPLIT_HOME)
    wf_fatal(call, "the options are not valid: unknown split");
  if ((unsigned)o->lane > WEFT_LANE_BACKGROUND)
    wf_fatal(call, "the options are not valid: unknown lane");
  if ((unsigned)o->order > WEFT_ORDER_FIFO)
    wf_fatal(call, "the options are not valid: unknown order");
  wf_fatal(call, "the options are not valid, start from WEFT_OPTS_INIT");
}

void wf_par_options(weft_opts *out, const weft_opts *given, const char *call) {
  if (WF_LIKELY(given == NULL)) { /* most calls: written where they are wanted */
    *out = (weft_opts)WEFT_OPTS_INIT;
    out->name = call;
    return;
  }
  if (WF_UNLIKELY(wf_opts_read(out, given) != 0)) refuse_options(out, call);
  if (out->name == NULL) out->name = call;
}

/* ---- traces ---- */

typedef struct traced_call {
  const char *name;
  size_t n;
  weft_fn *fn;
  void *ctx;
} traced_call;

static void run_traced_call(void *ctx) {
  const traced_call *call = (const traced_call *)ctx;
  if (wf_self != NULL) wf_sched_call_begins(call->name, call->n);
  call->fn(call->ctx);
  if (wf_self != NULL) wf_sched_call_ends(false);
}

void wf_par_run_traced(const weft_opts *opts, size_t n, weft_fn *fn, void *ctx) {
  traced_call call = {opts->name != NULL ? opts->name : "weft", n, fn, ctx};
  if (wf_sched_is_inside(opts->pool))
    run_traced_call(&call);
  else
    weft_pool_run(opts->pool, run_traced_call, &call);
}

/* ---- scratch ---- */

static void align_scratch(wf_scratch *s) {
  s->memory = (char *)s->block + (WF_CACHE_LINE - (uintptr_t)s->block % WF_CACHE_LINE);
  WF_ASSERT((uintptr_t)s->memory % WF_CACHE_LINE == 0);
}

wf_scratch wf_scratch_get(size_t size) {
  wf_scratch scratch = {NULL, NULL, 0};
  if (size > SIZE_MAX - WF_CACHE_LINE) return scratch;
  scratch.block = malloc(size + WF_CACHE_LINE);
  if (scratch.block == NULL) return scratch;
  wf_sys_prefer_large_pages(scratch.block, size + WF_CACHE_LINE);
  align_scratch(&scratch);
  return scratch;
}

wf_scratch wf_scratch_need(size_t size, const char *call) {
  wf_scratch scratch = wf_scratch_get(size);
  if (scratch.memory != NULL) return scratch;
  if (size <= SIZE_MAX - WF_CACHE_LINE) scratch.block = wf_sys_map(size + WF_CACHE_LINE);
  if (scratch.block == NULL) wf_fatal(call, "no memory for partial results");
  scratch.mapped = size + WF_CACHE_LINE;
  align_scratch(&scratch);
  return scratch;
}

void wf_scratch_put(wf_scratch scratch) {
  if (scratch.mapped != 0)
    wf_sys_unmap(scratch.block, scratch.mapped);
  else
    free(scratch.block);
}
