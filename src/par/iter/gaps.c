/* par/iter/gaps.c - the end of an ordered run, on the calling thread: what nobody had
 * memory for is run once more, straight into the destination, and what was kept becomes
 * one array. With a single thread this is all there is.
 *
 * SPDX-License-Identifier: MIT */
#include "../fold/reduce.h"
#include "ordered.h"

#include <stdlib.h>

/* ---- the buffer ---- */

/* Room for so many elements in all. */
static bool reserve(wf_ordering *o, size_t needed, bool exactly) {
  weft_buffer *b = o->order.buffer;
  size_t size = o->order.lane[0].size, capacity = needed;
  if (needed <= b->capacity) return true;
  if (!exactly && b->capacity > needed / 2 && b->capacity < SIZE_MAX / 2)
    capacity = 2 * b->capacity;
  if (capacity < 16) capacity = 16;
  void *data = capacity > SIZE_MAX / size ? NULL : realloc(b->data, capacity * size);
  if (data == NULL) {
    o->order.no_memory = true;
    return false;
  }
  b->data = data;
  b->capacity = capacity;
  return true;
}

static void copy_kept(const wf_ordering *o, const wf_order_block *b) {
  const weft_buffer *buffer = o->order.buffer;
  size_t size = o->order.lane[0].size;
  char *to = (char *)buffer->data + (buffer->count + b->at[0]) * size;
  for (const wf_order_page *page = b->first[0]; page != NULL; page = page->next) {
    memcpy(to, wf_page_const(page), page->used);
    to += page->used;
  }
}

typedef struct copy_call {
  const wf_ordering *o;
  wf_order_block **blocks;
} copy_call;

static void copy_some_kept(size_t begin, size_t end, void *ctx) {
  const copy_call *call = (const copy_call *)ctx;
  for (size_t i = begin; i < end; i++) copy_kept(call->o, call->blocks[i]);
}

/* With all threads if there is memory for a list of the blocks. */
static void copy_all(const wf_ordering *o) {
  size_t count = 0;
  for (const wf_order_block *b = o->kept; b != NULL; b = b->next) count++;
  wf_order_block **blocks = (wf_order_block **)malloc(count * sizeof *blocks);
  if (blocks == NULL) {
    for (const wf_order_block *b = o->kept; b != NULL; b = b->next) copy_kept(o, b);
    return;
  }
  weft_opts opts = o->order.plan->opts;
  copy_call call = {o, blocks};
  wf_loop loop = {copy_some_kept, &call, NULL};
  opts.cancel = NULL;
  opts.min_len = opts.max_len = opts.target_chunks = 0;
  opts.split = WEFT_SPLIT_ADAPTIVE;
  count = 0;
  for (wf_order_block *b = o->kept; b != NULL; b = b->next) blocks[count++] = b;
  wf_loop_run(&opts, count, &loop);
  free(blocks);
}

/* Moves what was kept into the buffer. */
static void gather_kept(wf_ordering *o) {
  if (o->kept == NULL) return;
  size_t count = o->order.buffer->count, all = o->order.lane[0].count;
  if (all > SIZE_MAX - count)
    o->order.no_memory = true;
  else if (all > 0 && reserve(o, count + all, true)) /* else perhaps no array */
    copy_all(o);
  for (wf_order_block *b = o->kept, *next; b != NULL; b = next) {
    next = b->next;
    wf_block_free(b);
  }
  o->kept = o->kept_last = NULL;
}

/* ---- straight into the destination ---- */

bool wf_order_put_direct(wf_ordering *o, unsigned lane, const char *elems, size_t n) {
  wf_iter_lane *l = &o->order.lane[lane];
  weft_buffer *b = o->order.buffer;
  if (b != NULL) {
    if (!reserve(o, b->count + l->count + n, false)) return false;
    memcpy((char *)b->data + (b->count + l->count) * l->size, elems, n * l->size);
  } else if (l->count < l->room) {
    size_t fit = l->room - l->count < n ? l->room - l->count : n;
    memcpy(l->dst + l->count * l->size, elems, fit * l->size);
  }
  l->count += n;
  return true;
}

static bool route_direct(wf_iter_run *run, const char *elems, size_t n) {
  wf_ordering *o = (wf_ordering *)run->state;
  return o->order.route(&o->order, run, elems, n);
}

/* ---- gaps ---- */

static void close_block_gaps(wf_ordering *o) {
  const wf_iter_plan *plan = o->order.plan;
  size_t n = wf_plan_positions(plan);
  for (;;) {
    wf_order_settle(o);
    if (o->delivered >= n || wf_par_cancelled(&plan->opts)) return;
    if (wf_order_keeps(o)) gather_kept(o);
    if (o->order.no_memory) return;
    size_t next = o->first != NULL ? o->first->begin : n;
    wf_iter_run run = {.plan = plan, .take = route_direct, .state = o};
    wf_iter_eval(&run, o->delivered, next);
    o->delivered = next;
  }
}

/* ---- what is left of a pull ---- */

typedef struct rest_of_pull {
  wf_ordering *o;
  void *acc; /* of one batch */
} rest_of_pull;

static void *enter_rest(void *ctx) {
  return ctx;
}

static void leave_rest(void *own, void *ctx) {
  (void)own, (void)ctx;
}

/* Each batch is folded by itself and merged, as by several threads: the same bits. */
static void *run_rest(void *own, wf_iter_run *run, const char *elems, size_t n,
                      void *ctx) {
  rest_of_pull *r = (rest_of_pull *)ctx;
  const wf_iter_folding *f = r->o->order.folding;
  if (f != NULL) {
    wf_iter_leaf leaf = {r->acc, f->ctx};
    f->init(r->acc, f->ctx);
    run->take = f->take;
    run->state = &leaf;
    wf_iter_push(run, 0, elems, n);
    f->merge(r->o->order.result, r->acc, f->ctx);
  } else {
    run->take = route_direct;
    run->state = r->o;
    wf_iter_push(run, 0, elems, n);
  }
  return own;
}

static void pull_rest(wf_ordering *o) {
  const wf_iter_folding *f = o->order.folding;
  _Alignas(16) char small[256];
  wf_scratch scratch = {NULL, NULL, 0};
  rest_of_pull r = {o, small};
  wf_iter_pulling pulling = {.plan = o->order.plan,
                             .enter = enter_rest,
                             .batch = run_rest,
                             .leave = leave_rest,
                             .ctx = &r,
                             .key = o->pull_key};
  if (o->pull_ended) return;
  if (f != NULL && f->size > sizeof small) {
    scratch = wf_scratch_need(f->size, o->order.plan->call);
    r.acc = scratch.memory;
  }
  wf_iter_pull_serially(&pulling);
  wf_scratch_put(scratch);
}

void wf_order_close_gaps(wf_ordering *o) {
  o->direct = true;
  if (o->pulls) {
    wf_order_settle(o);
    if (wf_order_keeps(o)) gather_kept(o);
    if (!o->order.no_memory) pull_rest(o);
  } else {
    close_block_gaps(o);
    if (wf_order_keeps(o)) gather_kept(o);
  }
  while (o->first != NULL) { /* cancelled, or out of memory */
    wf_order_block *b = o->first;
    o->first = b->next;
    wf_block_free(b);
  }
}
