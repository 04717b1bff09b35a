/* par/pipeline/public.c - weft_pipeline: arguments, memory, the scope of the pipeline,
 * its result; and the serial loop, where only one thread can work. Runs on the calling
 * thread; what it sets up is constant for the members.
 *
 * SPDX-License-Identifier: MIT */
#include "pipeline.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <weft/task.h>

static const char pipeline_call[] = "weft_pipeline";

_Noreturn void wf_pipe_refuse_end(void) {
  wf_fatal(pipeline_call, "WEFT_END came from a stage that is not the first");
}

enum { BLOCKING_BIT = WEFT_STAGE_ORDERED_BLOCKING };
_Static_assert(WEFT_STAGE_SERIAL_BLOCKING == (WEFT_STAGE_SERIAL | BLOCKING_BIT) &&
                   WEFT_STAGE_PARALLEL_BLOCKING == (WEFT_STAGE_PARALLEL | BLOCKING_BIT),
               "a blocking kind is a kind and a bit");

/* Items in flight for each thread and each blocking stage. A choice: one that is worked
 * on, one that waits, and as many again for stages whose times vary. */
enum { ITEMS_PER_THREAD = 4 };

/* A larger bound means this one: the seats of the ordered stages take 4 MiB each then. A
 * choice: far more items than threads can work on, and "no bound" does no harm. */
enum { MOST_ITEMS_IN_FLIGHT = 65536 };

/* How often a member looks before it leaves. A choice: some microseconds, about as long
 * as it takes to leave, to be brought again and to find the task. */
enum { MEMBER_SPINS = 100 };

/* What the program has asked for, and the answer. */
typedef struct pipe_call {
  const weft_opts *opts;
  size_t item_size, in_flight;
  const weft_stage *stages;
  size_t count;
  size_t ordered, blocking; /* stages of these kinds, the first one included */
  int result;
} pipe_call;

/* ---- arguments ---- */

static void check_stages(pipe_call *c) {
  wf_refuse_if(c->stages == NULL || c->count == 0, pipeline_call, "there are no stages");
  wf_refuse_if(c->count > UINT32_MAX, pipeline_call, "there are too many stages");
  for (size_t i = 0; i < c->count; i++) {
    unsigned kind = (unsigned)c->stages[i].kind;
    wf_refuse_if((kind & ~(unsigned)BLOCKING_BIT) > WEFT_STAGE_PARALLEL, pipeline_call,
                 "a stage has an unknown kind");
    wf_refuse_if(c->stages[i].fn == NULL, pipeline_call,
                 "the function of a stage is NULL");
    c->ordered += (kind & ~(unsigned)BLOCKING_BIT) == WEFT_STAGE_ORDERED;
    c->blocking += (kind & BLOCKING_BIT) != 0;
  }
}

/* ---- memory ---- */

static size_t seats_for(size_t tokens) {
  size_t seats = 1;
  while (seats < tokens) seats *= 2;
  return seats;
}

static size_t stride_of(size_t item_size) {
  size_t lines = item_size / WF_CACHE_LINE + (item_size % WF_CACHE_LINE != 0);
  return lines * WF_CACHE_LINE;
}

/* The bytes for this number of items; 0 if there are too many. */
static size_t ring_bytes(const pipe_call *c, size_t tokens) {
  const size_t most = SIZE_MAX / 8; /* so that the sum of the parts does not wrap */
  size_t stride = stride_of(c->item_size), seats = seats_for(tokens);
  if (c->item_size > most || tokens > most / (stride + sizeof(wf_token)) ||
      seats > most / sizeof(wf_seat) / (c->ordered + 1) ||
      c->count > most / sizeof(wf_pipe_stage))
    return 0;
  return c->count * sizeof(wf_pipe_stage) + c->ordered * seats * sizeof(wf_seat) +
         tokens * (sizeof(wf_token) + stride);
}

/* The name of a stage in traces: that of the call, and which one it is. */
static const char *stage_name(const pipe_call *c, size_t stage) {
  char name[160];
  (void)snprintf(name, sizeof name, "%.100s, stages[%zu]", c->opts->name, stage);
  return wf_trace_keep(name);
}

/* Lays out the parts. All begin at cache lines: their sizes are multiples of one. */
static void lay_out_ring(wf_pipe *p, const pipe_call *c, char *memory) {
  p->stages = (wf_pipe_stage *)(void *)memory;
  for (size_t i = 0; i < c->count; i++) {
    unsigned kind = (unsigned)c->stages[i].kind;
    p->stages[i].fn = c->stages[i].fn;
    p->stages[i].ctx = c->stages[i].ctx;
    p->stages[i].kind = (weft_stage_kind)(kind & ~(unsigned)BLOCKING_BIT);
    p->stages[i].blocks = (kind & BLOCKING_BIT) != 0;
    p->stages[i].name = p->is_traced ? stage_name(c, i) : NULL;
  }
  memory += c->count * sizeof(wf_pipe_stage);
  wf_seat *seats = (wf_seat *)(void *)memory;
  p->seats_mask = seats_for(p->tokens_count) - 1;
  memory += c->ordered * (p->seats_mask + 1) * sizeof(wf_seat);
  p->tokens = (wf_token *)(void *)memory;
  p->items = memory + p->tokens_count * sizeof(wf_token);
  wf_pipe_init(p, seats);
}

_Static_assert(sizeof(wf_pipe_stage) % WF_CACHE_LINE == 0 &&
                   sizeof(wf_seat) % WF_CACHE_LINE == 0 &&
                   sizeof(wf_token) % WF_CACHE_LINE == 0,
               "the parts of the memory begin at cache lines");

/* Gets memory for as many items as there is, but at most *tokens and at least two. */
static wf_scratch get_ring_memory(const pipe_call *c, size_t *tokens) {
  wf_scratch scratch = {NULL, NULL, 0};
  for (; *tokens > 1; *tokens /= 2) {
    size_t bytes = ring_bytes(c, *tokens);
    if (bytes != 0) scratch = wf_scratch_get(bytes);
    if (scratch.memory != NULL) break;
  }
  return scratch;
}

/* ---- the result ---- */

static void set_pipe_result(pipe_call *c, int error, int scope_status) {
  if (error != 0)
    c->result = error;
  else if (scope_status == 0 && wf_par_cancelled(c->opts))
    c->result = WEFT_ECANCELED;
  else
    c->result = scope_status;
}

/* ---- one thread ---- */

static int call_untraced_alone(const weft_stage *s, void *item, size_t number) {
  if (((unsigned)s->kind & BLOCKING_BIT) == 0) return s->fn(item, number, s->ctx);
  weft_blocking_begin();
  int error = s->fn(item, number, s->ctx);
  weft_blocking_end();
  return error;
}

static int call_stage_alone(const pipe_call *c, size_t stage, void *item, size_t number) {
  const weft_stage *s = &c->stages[stage];
  if (WF_LIKELY(!wf_trace_is_on())) return call_untraced_alone(s, item, number);
  wf_sched_part_begins(WF_TASK_STAGE, stage_name(c, stage), (uintptr_t)s->fn);
  int error = call_untraced_alone(s, item, number);
  wf_sched_part_ends();
  return error;
}

/* The serial loop of the header. */
static int run_all_items(const pipe_call *c, const weft_scope *scope, void *item) {
  for (size_t number = 0;; number++)
    for (size_t i = 0; i < c->count; i++) {
      if (wf_scope_is_cancelled(scope) || wf_par_cancelled(c->opts)) return 0;
      int error = call_stage_alone(c, i, item, number);
      if (WF_LIKELY(error == 0)) continue;
      if (error != WEFT_END) return error;
      if (i == 0) return 0;
      wf_pipe_refuse_end();
    }
}

static void run_pipeline_alone(pipe_call *c, void *item) {
  weft_scope scope;
  if (c->item_size > 0) memset(item, 0, c->item_size);
  weft_scope_begin(&scope);
  int error = run_all_items(c, &scope, item);
  int status = weft_scope_end(&scope);
  set_pipe_result(c, error, status);
}

/* Without any memory: the item is on the stack. */
static void run_pipeline_on_stack(pipe_call *c) {
  _Alignas(WF_CACHE_LINE) char item[WF_SCRATCH_STACK];
  run_pipeline_alone(c, item);
}

static void run_one_item_at_a_time(pipe_call *c) {
  wf_scratch scratch = wf_scratch_get(c->item_size);
  if (scratch.memory != NULL) {
    run_pipeline_alone(c, scratch.memory);
    wf_scratch_put(scratch);
  } else if (c->item_size <= WF_SCRATCH_STACK && wf_stack_is_half_free()) {
    run_pipeline_on_stack(c);
  } else {
    c->result = WEFT_ENOMEM;
  }
}

/* ---- several threads ---- */

static void pipeline_member(void *ctx) {
  wf_pipe_join((wf_pipe *)ctx, false);
}

static void spawn_member(wf_pipe *p) {
  weft_spawn(p->scope, pipeline_member, p);
}

/* Everything has ended: no item was left behind. When the scope is cancelled, members
 * that have not begun never do, and items stay where they are. */
static void check_ended_pipe(const wf_pipe *p, int status) {
  WF_ASSERT(status != 0 || wf_par_cancelled(p->opts) ||
            (uint32_t)wf_u64_peek(&p->ready.x_top) == 0);
  WF_ASSERT(status != 0 || wf_u32_peek(&p->x_active) == 0);
  WF_ASSERT((p->error == 0) == (wf_word_peek(&p->x_failed) == SIZE_MAX));
  (void)p, (void)status;
}

static void run_pipeline_together(pipe_call *c, unsigned limit, size_t tokens,
                                  char *memory) {
  weft_scope scope;
  wf_pipe p = {.count = (uint32_t)c->count,
               .tokens_count = (uint32_t)tokens,
               .item_size = c->item_size,
               .item_stride = stride_of(c->item_size),
               .shares = true,
               .is_traced = wf_trace_is_on(),
               .isolates = true,
               .limit = limit,
               .is_strict = c->opts->max_workers != 0,
               .spins = MEMBER_SPINS,
               .opts = c->opts,
               .scope = &scope,
               .bring_member = spawn_member};
  lay_out_ring(&p, c, memory);
  weft_scope_begin(&scope);
  wf_pipe_join(&p, true);
  int status = weft_scope_end(&scope);
  check_ended_pipe(&p, status);
  set_pipe_result(c, p.error, status);
}

/* The most items in flight, if there is memory for them; 1 if only one thread can work on
 * the pipeline. */
static size_t tokens_wanted(const pipe_call *c, unsigned crew) {
  if (wf_sched_threads() == 1 || (crew == 1 && c->blocking == 0)) return 1;
  size_t tokens = c->in_flight;
  if (tokens == 0) tokens = ITEMS_PER_THREAD * (crew + c->blocking);
  return tokens < MOST_ITEMS_IN_FLIGHT ? tokens : MOST_ITEMS_IN_FLIGHT;
}

static void run_pipeline(void *ctx) {
  pipe_call *c = (pipe_call *)ctx;
  unsigned crew = wf_par_crew(c->opts);
  size_t tokens = tokens_wanted(c, crew);
  wf_scratch ring = get_ring_memory(c, &tokens);
  if (ring.memory == NULL) {
    run_one_item_at_a_time(c);
    return;
  }
  run_pipeline_together(c, crew, tokens, (char *)ring.memory);
  wf_scratch_put(ring);
}

int weft_pipeline_with(const weft_opts *o, size_t item_size, size_t in_flight,
                       const weft_stage *stages, size_t count) {
  weft_opts opts;
  pipe_call c = {&opts, item_size, in_flight, stages, count, 0, 0, 0};
  check_stages(&c);
  wf_par_options(&opts, o, pipeline_call);
  wf_par_run(&opts, run_pipeline, &c);
  return c.result;
}
WF_PLAIN_OF(int, weft_pipeline,
            (size_t item_size, size_t in_flight, const weft_stage *stages, size_t count),
            item_size, in_flight, stages, count)
