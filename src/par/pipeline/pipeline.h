/* par/pipeline/pipeline.h - a pipeline while it runs.
 *
 * The wf_pipe is in the frame of the call, and everything it points to is one block of
 * memory (public.c). Threads that work on it are members (run.c): the calling one, and
 * those that have taken a task which another member has spawned for the purpose.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_PAR_PIPELINE_PIPELINE_H
#define WF_PAR_PIPELINE_PIPELINE_H

#include "../base/call.h"
#include "hand_over.h"

#include <weft/pipeline.h>
#include <weft/scope.h>

/* Constant, but for the door and the seats. */
typedef struct wf_pipe_stage {
  weft_stage_fn *fn;
  void *ctx;
  weft_stage_kind kind; /* ORDERED, SERIAL or PARALLEL */
  bool blocks;
  const char *name; /* in traces; only set if the pipeline is traced */
  wf_seat *seats;   /* of an ordered stage; the first stage has the source instead */
  wf_door door;     /* of a serial stage */
} wf_pipe_stage;

/* Invariants: x_active = members that are not in blocking stages + members that were
 * spawned and have not begun; x_failed == SIZE_MAX if and only if error == 0; numbers
 * below x_failed are never stopped by it. */
typedef struct wf_pipe {
  /* Constant. */
  wf_pipe_stage *stages;
  uint32_t count;
  uint32_t tokens_count; /* the most items in flight */
  wf_token *tokens;
  size_t seats_mask; /* seats of an ordered stage, less one */
  char *items;       /* the item of token i begins at i * item_stride */
  size_t item_size, item_stride;
  bool has_order; /* a stage behind the first one is ordered */
  bool shares;    /* other threads may become members */
  bool is_traced; /* stages say in the trace that they run */
  bool isolates;  /* they come by tasks, which must not run on top of a stage */
  unsigned limit; /* members that may be active */
  bool is_strict; /* the program has set the limit: it holds behind blocking stages too */
  unsigned spins; /* looks of a member before it leaves */
  const weft_opts *opts;
  weft_scope *scope; /* of the pipeline; NULL in tests that have no pool */
  /* Brings one more member, which is counted already: wf_pipe_join is to be called. */
  void (*bring_member)(struct wf_pipe *p);

  wf_source source; /* the first stage, unless it is parallel */
  wf_ready ready;
  _Alignas(WF_CACHE_LINE) wf_u32 x_active;

  /* A parallel first stage, which uses x_fresh of the source too. */
  _Alignas(WF_CACHE_LINE) wf_word x_next_number;
  wf_u32 x_ended; /* 1: there are no more items */

  /* The lowest item that failed; written under the lock. */
  _Alignas(WF_CACHE_LINE) wf_word x_failed; /* SIZE_MAX: none */
  int error;
  wf_lock lock;
} wf_pipe;

/* Ends the program: a later stage has returned WEFT_END. */
_Noreturn void wf_pipe_refuse_end(void);

/* Sets what changes while a pipeline runs, and puts the first turn into each ordered
 * stage. The constant part is set, but for the seats, which follow each other. The
 * calling thread is counted as a member. */
void wf_pipe_init(wf_pipe *p, wf_seat *seats);

/* Works on the pipeline for as long as there is something to do for one more thread. The
 * calling thread is counted as a member, and is not afterwards. `is_caller`: the thread
 * that made the pipeline, which does not make way for others unless it must. */
void wf_pipe_join(wf_pipe *p, bool is_caller);

#endif
