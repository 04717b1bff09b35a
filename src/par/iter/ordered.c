/* par/iter/ordered.c - results in the order of the sequence where their number is not
 * known in advance: collecting and taking apart behind a filter, and folds behind a pull.
 *
 * Called by the sinks. Threads take blocks of positions from the front (base/crew.h), or
 * pull batches (drive.c); what a block gives goes to base/ordered.h, which brings it to
 * its place, keeps it until its length is known, or has it merged.
 *
 * Where a thread gets no memory, it ends, and the block that it had begun is forgotten.
 * The calling thread closes such gaps in the end: it runs those positions again, straight
 * into the destination. A batch that was pulled cannot be had again; for that, memory
 * comes from the system. With a single thread, the whole sequence is one gap.
 *
 * SPDX-License-Identifier: MIT */
#include "../base/ordered.h"
#include "../base/crew.h"
#include "iter.h"

#include <stdlib.h>

/* Results of a block, at most, unless one element is larger: some microseconds of work,
 * and a first-level cache holds it while stages work on the next. A choice; compactions,
 * which do less for each element, have more (array/compact.c). */
enum { PAGE_BYTES = 32 << 10 };

/* Positions of a text are bytes, and a line has some: blocks of texts are longer by this.
 * A choice. Shorter lines take a second page. */
enum { BYTES_PER_LINE = 8 };

typedef struct ordered_run {
  wf_iter_order order; /* first, so that wf_iter_put finds the rest */
  wf_ordered blocks;
  size_t block; /* most positions of a block */
} ordered_run;

/* The state of a run that fills a block. */
typedef struct filling {
  ordered_run *o;
  wf_ordered_block *block; /* NULL: the calling thread is alone, elements go straight to
                              where they belong */
} filling;

/* ---- the buffer ---- */

bool wf_iter_reserve(weft_buffer *b, size_t more, size_t size, bool exactly) {
  if (more <= b->capacity - b->count) return true;
  if (more > SIZE_MAX / size - b->count) return false;
  size_t capacity = b->count + more;
  if (!exactly && b->capacity > capacity / 2 && b->capacity < SIZE_MAX / 2 / size)
    capacity = 2 * b->capacity;
  if (!exactly && capacity < 16) capacity = 16;
  if (capacity > SIZE_MAX / size) return false;
  void *data = realloc(b->data, capacity * size);
  if (data == NULL) return false;
  b->data = data;
  b->capacity = capacity;
  return true;
}

/* Room for `more` elements behind those of the buffer. */
static bool reserve(ordered_run *o, size_t more, bool exactly) {
  if (!wf_iter_reserve(o->order.buffer, more, o->order.output[0].size, exactly))
    o->order.no_memory = true;
  return !o->order.no_memory;
}

static void copy_kept(const ordered_run *o, const wf_ordered_block *b) {
  const weft_buffer *buffer = o->order.buffer;
  size_t size = o->order.output[0].size;
  char *to = (char *)buffer->data + (buffer->count + b->at[0]) * size;
  WF_ASSERT(b->at[0] + b->count[0] <= buffer->capacity - buffer->count);
  for (wf_ordered_page *page = b->first[0]; page != NULL; page = page->next) {
    memcpy(to, wf_ordered_data(page), page->used);
    to += page->used;
  }
}

typedef struct copy_call {
  const ordered_run *o;
  wf_ordered_block **blocks;
} copy_call;

static void copy_some_kept(size_t begin, size_t end, void *ctx) {
  const copy_call *call = (const copy_call *)ctx;
  for (size_t i = begin; i < end; i++) copy_kept(call->o, call->blocks[i]);
}

/* With all threads if there is memory for a list of the blocks. */
static void copy_all_kept(const ordered_run *o) {
  size_t count = 0;
  for (const wf_ordered_block *b = o->blocks.kept; b != NULL; b = b->next) count++;
  wf_ordered_block **blocks = (wf_ordered_block **)malloc(count * sizeof *blocks);
  if (blocks == NULL) {
    for (const wf_ordered_block *b = o->blocks.kept; b != NULL; b = b->next)
      copy_kept(o, b);
    return;
  }
  weft_opts opts = o->order.plan->opts;
  copy_call call = {o, blocks};
  wf_loop loop = {copy_some_kept, &call, NULL};
  opts.cancel = NULL;
  opts.min_len = opts.max_len = opts.target_chunks = 0;
  opts.split = WEFT_SPLIT_ADAPTIVE;
  count = 0;
  for (wf_ordered_block *b = o->blocks.kept; b != NULL; b = b->next) blocks[count++] = b;
  wf_loop_run(&opts, count, &loop);
  free(blocks);
}

/* Moves what was kept into the buffer. */
static void gather_kept(ordered_run *o) {
  size_t all = o->blocks.count[0];
  if (o->blocks.kept == NULL) return;
  if (all > 0 && reserve(o, all, true)) copy_all_kept(o); /* else there may be no array */
  wf_ordered_free_kept(&o->blocks);
}

/* ---- elements of a block ---- */

/* Straight to where they belong. False: no memory. */
static bool put_direct(ordered_run *o, unsigned output, const char *elems, size_t n) {
  const wf_iter_output *l = &o->order.output[output];
  size_t *count = &o->blocks.count[output];
  weft_buffer *b = o->order.buffer;
  if (b != NULL) {
    if (!reserve(o, *count + n, false)) return false;
    memcpy((char *)b->data + (b->count + *count) * l->size, elems, n * l->size);
  } else if (*count < l->room) {
    size_t fit = l->room - *count < n ? l->room - *count : n;
    memcpy(l->dst + *count * l->size, elems, fit * l->size);
  }
  *count += n;
  return true;
}

bool wf_iter_put(wf_iter_order *order, wf_iter_run *run, unsigned output,
                 const char *elems, size_t n) {
  ordered_run *o = (ordered_run *)order;
  const filling *f = (const filling *)run->state;
  if (f->block == NULL) return put_direct(o, output, elems, n);
  bool done = wf_ordered_put(&o->blocks, f->block, output, elems, n);
  if (!done && o->blocks.is_needed)
    wf_fatal(order->plan->call, "no memory for partial results");
  return done;
}

static bool take_ordered(wf_iter_run *run, const char *elems, size_t n) {
  wf_iter_order *order = &((const filling *)run->state)->o->order;
  return order->route(order, run, elems, n);
}

/* ---- delivery ---- */

static void place(const wf_iter_output *output, const wf_ordered_block *b, unsigned l) {
  size_t at = b->at[l];
  for (wf_ordered_page *page = b->first[l]; page != NULL; page = page->next) {
    size_t n = page->used / output->size;
    if (at < output->room) {
      size_t fit = output->room - at < n ? output->room - at : n;
      if (fit > 0)
        memcpy(output->dst + at * output->size, wf_ordered_data(page),
               fit * output->size);
    }
    at += n;
  }
  WF_ASSERT(at == b->at[l] + b->count[l]);
}

static void place_block(wf_ordered_block *b, void *ctx) {
  const ordered_run *o = (const ordered_run *)ctx;
  for (unsigned l = 0; l < o->order.outputs; l++) place(&o->order.output[l], b, l);
}

static void merge_block(wf_ordered_block *b, void *ctx) {
  const ordered_run *o = (const ordered_run *)ctx;
  const wf_iter_folding *f = o->order.folding;
  f->merge(o->order.result, wf_ordered_data(b->first[0]), f->ctx);
}

/* ---- blocks of positions, and of batches ---- */

static void *run_ordered_block(void *own, size_t begin, size_t end, void *ctx) {
  ordered_run *o = (ordered_run *)((const wf_ordered *)ctx)->ctx;
  filling f = {o, (wf_ordered_block *)own};
  wf_iter_run run = {.plan = o->order.plan, .take = take_ordered, .state = &f};
  wf_ordered_start(&o->blocks, f.block, begin, end);
  wf_iter_eval(&run, begin, end);
  if (!f.block->lost && !wf_par_cancelled(&o->order.plan->opts))
    return wf_ordered_hand_over(&o->blocks, f.block);
  wf_ordered_leave(f.block, &o->blocks);
  return NULL;
}

/* Folds a batch by itself, into an accumulator. */
static void fold_batch(const wf_iter_folding *f, void *acc, wf_iter_run *run,
                       const char *elems, size_t n) {
  wf_iter_leaf leaf;
  wf_iter_leaf_begin(&leaf, f, acc, run);
  wf_iter_push(run, 0, elems, n);
  wf_iter_leaf_end(&leaf, f, run->begin);
}

static void *run_ordered_batch(void *own, wf_iter_run *run, const char *elems, size_t n,
                               void *ctx) {
  ordered_run *o = (ordered_run *)((const wf_ordered *)ctx)->ctx;
  filling f = {o, (wf_ordered_block *)own};
  const wf_iter_folding *folding = o->order.folding;
  wf_ordered_start(&o->blocks, f.block, run->key, run->key + 1);
  if (folding != NULL) {
    fold_batch(folding, wf_ordered_data(f.block->first[0]), run, elems, n);
    wf_ordered_wrote(&o->blocks, f.block, 0, 1);
  } else {
    run->take = take_ordered;
    run->state = &f;
    wf_iter_push(run, 0, elems, n);
  }
  return wf_ordered_hand_over(&o->blocks, f.block);
}

/* ---- gaps ---- */

static void close_position_gaps(ordered_run *o) {
  const wf_iter_plan *plan = o->order.plan;
  size_t n = wf_plan_positions(plan);
  for (;;) {
    size_t end = wf_ordered_gap(&o->blocks, n), begin = o->blocks.delivered;
    if (begin == n || wf_par_cancelled(&plan->opts)) return;
    if (o->blocks.keeps) gather_kept(o); /* the gap's elements go behind it */
    if (o->order.no_memory) return;
    filling f = {o, NULL};
    wf_iter_run run = {.plan = plan, .take = take_ordered, .state = &f};
    wf_iter_eval(&run, begin, end);
    wf_ordered_fill_gap(&o->blocks, end);
  }
}

typedef struct rest_of_pull {
  filling f;
  void *acc; /* of one batch */
} rest_of_pull;

/* Each batch is folded by itself and merged, as by several threads: the same bits. */
static void *run_rest(void *own, wf_iter_run *run, const char *elems, size_t n,
                      void *ctx) {
  rest_of_pull *r = (rest_of_pull *)ctx;
  const wf_iter_order *order = &r->f.o->order;
  const wf_iter_folding *f = order->folding;
  if (f != NULL) {
    fold_batch(f, r->acc, run, elems, n);
    f->merge(order->result, r->acc, f->ctx);
  } else {
    run->take = take_ordered;
    run->state = &r->f;
    wf_iter_push(run, 0, elems, n);
  }
  return own;
}

/* What was not pulled before: all of it with a single thread. */
static void pull_rest(ordered_run *o, size_t key) {
  const wf_iter_folding *f = o->order.folding;
  _Alignas(16) char small[256];
  wf_scratch scratch = {small, NULL, 0};
  if (f != NULL && f->size > sizeof small)
    scratch = wf_scratch_need(f->size, o->order.plan->call);
  rest_of_pull r = {{o, NULL}, scratch.memory};
  wf_iter_pulling pulling = {
      .plan = o->order.plan, .batch = run_rest, .ctx = &r, .key = key};
  wf_iter_pull_all(&pulling, true);
  wf_scratch_put(scratch);
}

/* ---- all ---- */

static void run_positions(ordered_run *o) {
  const wf_iter_plan *plan = o->order.plan;
  size_t n = wf_plan_positions(plan);
  wf_crew crew = {.enter = wf_ordered_enter,
                  .block = run_ordered_block,
                  .leave = wf_ordered_leave,
                  .ctx = &o->blocks,
                  .max_len = o->block};
  if (n > 1 && wf_par_crew(&plan->opts) > 1) wf_crew_run(&plan->opts, n, &crew);
  close_position_gaps(o);
  if (o->blocks.keeps) gather_kept(o);
}

static void run_pull(ordered_run *o) {
  wf_iter_pulling pulling = {.plan = o->order.plan,
                             .enter = wf_ordered_enter,
                             .batch = run_ordered_batch,
                             .leave = wf_ordered_leave,
                             .ctx = &o->blocks};
  if (wf_par_crew(&o->order.plan->opts) > 1) wf_iter_pull_all(&pulling, false);
  size_t gap = wf_ordered_gap(&o->blocks, pulling.key);
  WF_ASSERT(gap == pulling.key && o->blocks.first == NULL); /* no batch is forgotten */
  (void)gap;                                                /* for the assertion */
  if (o->blocks.keeps) gather_kept(o);
  if (!o->order.no_memory && !pulling.ended) pull_rest(o, pulling.key);
}

static void run_ordered_inside(void *ctx) {
  ordered_run *o = (ordered_run *)ctx;
  if (wf_plan_pulls(o->order.plan))
    run_pull(o);
  else
    run_positions(o);
  wf_ordered_free(&o->blocks);
}

static void choose_pages(ordered_run *o) {
  const wf_iter_plan *plan = o->order.plan;
  wf_ordered *b = &o->blocks;
  size_t widest = 1;
  if (o->order.folding != NULL) { /* a page is one accumulator */
    b->outputs = 1;
    b->size[0] = b->page_bytes[0] = o->order.folding->size;
    return;
  }
  b->outputs = o->order.outputs;
  for (unsigned l = 0; l < b->outputs; l++) {
    b->size[l] = o->order.output[l].size;
    if (b->size[l] > widest) widest = b->size[l];
  }
  o->block = PAGE_BYTES / widest > 0 ? PAGE_BYTES / widest : 1;
  for (unsigned l = 0; l < b->outputs; l++) b->page_bytes[l] = o->block * b->size[l];
  if (!wf_stage_is(wf_plan_root(plan), WF_ITER_GROWS) && wf_plan_has(plan, WF_LINES))
    o->block *= BYTES_PER_LINE;
}

void wf_iter_run_ordered(wf_iter_order *order) {
  ordered_run o = {.order = *order};
  WF_ASSERT(order->folding == NULL ? order->outputs >= 1 : wf_plan_pulls(order->plan));
  choose_pages(&o);
  o.blocks.keeps = order->buffer != NULL;
  o.blocks.one_at_a_time = order->folding != NULL;
  o.blocks.is_needed = wf_plan_pulls(order->plan);
  o.blocks.deliver = order->folding != NULL ? merge_block : place_block;
  o.blocks.ctx = &o;
  if (order->folding != NULL) order->folding->init(order->result, order->folding->ctx);
  wf_par_run(&order->plan->opts, run_ordered_inside, &o);
  *order = o.order;
  for (unsigned l = 0; l < order->outputs; l++)
    order->output[l].count = o.blocks.count[l];
}
