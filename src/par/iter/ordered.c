/* par/iter/ordered.c - results in the order of the sequence where nobody knows in advance
 * how many there are: collecting, taking apart, and folds behind a pull.
 *
 * Threads take blocks from the front (wf_crew_run) or pull batches. What a block gives
 * goes to pages, one list for each lane. When all blocks in front of it are delivered, it
 * is delivered itself: placed in the destination, kept for later, or merged. If not, it
 * waits in a list, and its thread goes on with other pages; whoever delivers what was
 * missing delivers it. So nobody ever waits.
 *
 * Where a thread gets no memory, it ends, and what it had begun is forgotten. The calling
 * thread closes the gaps in the end: it runs what was not delivered, straight into the
 * destination. A batch that was pulled cannot be had again; for that, memory comes from
 * the system.
 *
 * SPDX-License-Identifier: MIT */
#include "ordered.h"

#include <stdlib.h>

/* ---- pages ---- */

/* `must`: from the system if malloc has none. */
static wf_order_page *new_page(size_t bytes, bool must) {
  wf_order_page *page = (wf_order_page *)malloc(PAGE_ALIGN + bytes);
  bool mapped = page == NULL && must;
  if (mapped) page = (wf_order_page *)wf_sys_map(PAGE_ALIGN + bytes);
  if (page == NULL) return NULL;
  page->next = NULL;
  page->mapped = mapped ? PAGE_ALIGN + bytes : 0;
  page->room = bytes;
  page->used = 0;
  return page;
}

static void free_pages(wf_order_page *page) {
  while (page != NULL) {
    wf_order_page *next = page->next;
    if (page->mapped != 0)
      wf_sys_unmap(page, page->mapped);
    else
      free(page);
    page = next;
  }
}

void wf_block_free(wf_order_block *b) {
  free_pages(b->first[0]);
  free_pages(b->first[1]);
  free(b);
}

/* ---- a block that is being made ---- */

static void *order_enter(void *ctx) {
  wf_ordering *o = (wf_ordering *)ctx;
  wf_lock_lock(&o->lock);
  wf_order_block *b = o->idle;
  if (b != NULL) o->idle = b->next;
  wf_lock_unlock(&o->lock);
  if (b != NULL) return b;
  b = (wf_order_block *)malloc(sizeof *b);
  if (b == NULL) return NULL;
  memset(b, 0, sizeof *b);
  for (unsigned l = 0; l < o->lanes; l++) {
    b->first[l] = b->last[l] = new_page(o->page_bytes[l], false);
    if (b->first[l] != NULL) continue;
    wf_block_free(b);
    return NULL;
  }
  return b;
}

static void order_leave(void *own, void *ctx) {
  wf_ordering *o = (wf_ordering *)ctx;
  wf_order_block *b = (wf_order_block *)own;
  wf_lock_lock(&o->lock);
  b->next = o->idle;
  o->idle = b;
  wf_lock_unlock(&o->lock);
}

static void reset(wf_order_block *b, unsigned lanes) {
  for (unsigned l = 0; l < lanes; l++) {
    free_pages(b->first[l]->next);
    b->first[l]->next = NULL;
    b->first[l]->used = 0;
    b->last[l] = b->first[l];
    b->count[l] = 0;
  }
  b->lost = false;
}

bool wf_iter_put(wf_iter_order *order, wf_iter_run *run, unsigned lane, const char *elems,
                 size_t n) {
  wf_ordering *o = (wf_ordering *)order;
  if (o->direct) return wf_order_put_direct(o, lane, elems, n);
  wf_order_block *b = (wf_order_block *)run->state;
  size_t size = order->lane[lane].size;
  while (n > 0) {
    wf_order_page *page = b->last[lane];
    size_t fit = (page->room - page->used) / size;
    if (fit > n) fit = n;
    memcpy(wf_page_data(page) + page->used, elems, fit * size);
    page->used += fit * size;
    b->count[lane] += fit;
    elems += fit * size;
    n -= fit;
    if (n == 0) return true;
    page->next = new_page(o->page_bytes[lane], o->pulls);
    if (page->next == NULL) {
      if (o->pulls) wf_fatal(order->plan->call, "no memory for partial results");
      b->lost = true;
      return false;
    }
    b->last[lane] = page->next;
  }
  return true;
}

static bool route_batch(wf_iter_run *run, const char *elems, size_t n) {
  const wf_order_block *b = (const wf_order_block *)run->state;
  wf_ordering *o = b->ordering;
  return o->order.route(&o->order, run, elems, n);
}

/* ---- delivery ---- */

/* Blocks come nearly in order, so the place is found from the end. */
static void insert(wf_ordering *o, wf_order_block *b) {
  wf_order_block *before = o->last;
  while (before != NULL && before->begin > b->begin) before = before->previous;
  b->previous = before;
  b->next = before != NULL ? before->next : o->first;
  *(b->next != NULL ? &b->next->previous : &o->last) = b;
  *(before != NULL ? &before->next : &o->first) = b;
}

/* Takes the first block of the list if it is its turn, and gives it its place. */
static wf_order_block *take_next(wf_ordering *o) {
  wf_order_block *b = o->first;
  if (b == NULL || b->begin != o->delivered || o->merging) return NULL;
  o->first = b->next;
  *(b->next != NULL ? &b->next->previous : &o->last) = NULL;
  for (unsigned l = 0; l < o->lanes; l++) {
    b->at[l] = o->order.lane[l].count;
    o->order.lane[l].count += b->count[l];
  }
  o->merging = o->order.folding != NULL;
  o->delivered = b->end;
  return b;
}

static void place(const wf_iter_lane *lane, const wf_order_block *b, unsigned l) {
  size_t at = b->at[l];
  for (const wf_order_page *page = b->first[l]; page != NULL; page = page->next) {
    size_t n = page->used / lane->size;
    if (at < lane->room) {
      size_t fit = lane->room - at < n ? lane->room - at : n;
      if (fit > 0)
        memcpy(lane->dst + at * lane->size, wf_page_const(page), fit * lane->size);
    }
    at += n;
  }
}

/* What waits, or is kept, and fills little of its page moves to memory of its size: there
 * may be any number of such blocks. */
static wf_order_block *shrink(const wf_ordering *o, const wf_order_block *b) {
  for (unsigned l = 0; l < o->lanes; l++)
    if (b->first[l]->next != NULL || b->first[l]->used > b->first[l]->room / PAGE_WASTE)
      return NULL;
  wf_order_block *small = (wf_order_block *)malloc(sizeof *small);
  if (small == NULL) return NULL;
  *small = *b;
  small->first[0] = small->first[1] = NULL;
  for (unsigned l = 0; l < o->lanes; l++) {
    small->first[l] = small->last[l] = new_page(b->first[l]->used, false);
    if (small->first[l] == NULL) {
      wf_block_free(small);
      return NULL;
    }
    memcpy(wf_page_data(small->first[l]), wf_page_data(b->first[l]), b->first[l]->used);
    small->first[l]->used = b->first[l]->used;
  }
  small->is_small = true;
  return small;
}

/* The block has its place, nobody else has it. Returns it if it can be used again. */
static wf_order_block *deliver(wf_ordering *o, wf_order_block *b) {
  if (o->order.folding != NULL) {
    const wf_iter_folding *f = o->order.folding;
    f->merge(o->order.result, wf_page_data(b->first[0]), f->ctx);
  } else {
    for (unsigned l = 0; l < o->lanes; l++) place(&o->order.lane[l], b, l);
  }
  if (!b->is_small) return b;
  wf_block_free(b);
  return NULL;
}

static void keep(wf_ordering *o, wf_order_block *b) {
  b->next = NULL;
  *(o->kept_last != NULL ? &o->kept_last->next : &o->kept) = b;
  o->kept_last = b;
}

/* Under the lock: delivers whatever has its turn. A block that is free afterwards is for
 * *mine, or for anybody. */
static void settle(wf_ordering *o, wf_order_block **mine) {
  wf_order_block *b;
  while ((b = take_next(o)) != NULL) {
    if (wf_order_keeps(o)) { /* taken in order, so appended in order */
      keep(o, b);
      continue;
    }
    wf_lock_unlock(&o->lock);
    b = deliver(o, b);
    wf_lock_lock(&o->lock);
    o->merging = false;
    if (b == NULL) continue;
    if (*mine == NULL) {
      *mine = b;
    } else {
      b->next = o->idle;
      o->idle = b;
    }
  }
}

void wf_order_settle(wf_ordering *o) {
  wf_order_block *mine = NULL;
  wf_lock_lock(&o->lock);
  settle(o, &mine);
  wf_lock_unlock(&o->lock);
  if (mine != NULL) order_leave(mine, o);
}

/* Hands a block over. Returns what the thread goes on with, or NULL. */
static void *hand_over(wf_ordering *o, wf_order_block *b) {
  wf_order_block *mine = NULL;
  wf_lock_lock(&o->lock);
  if (b->begin != o->delivered || wf_order_keeps(o)) {
    wf_lock_unlock(&o->lock);
    wf_order_block *small = o->order.folding != NULL ? NULL : shrink(o, b);
    if (small != NULL) {
      mine = b;
      b = small;
    }
    wf_lock_lock(&o->lock);
  }
  insert(o, b);
  settle(o, &mine);
  wf_lock_unlock(&o->lock);
  return mine != NULL ? mine : order_enter(o);
}

/* ---- blocks ---- */

static void start_block(wf_ordering *o, wf_order_block *b, size_t begin, size_t end) {
  reset(b, o->lanes);
  b->ordering = o;
  b->begin = begin;
  b->end = end;
}

static void *order_run_block(void *own, size_t begin, size_t end, void *ctx) {
  wf_ordering *o = (wf_ordering *)ctx;
  wf_order_block *b = (wf_order_block *)own;
  start_block(o, b, begin, end);
  wf_iter_run run = {.plan = o->order.plan, .take = route_batch, .state = b};
  wf_iter_eval(&run, begin, end);
  if (!b->lost && !wf_par_cancelled(&o->order.plan->opts)) return hand_over(o, b);
  order_leave(b, o); /* what it has is forgotten */
  return NULL;
}

static void *run_batch(void *own, wf_iter_run *run, const char *elems, size_t n,
                       void *ctx) {
  wf_ordering *o = (wf_ordering *)ctx;
  wf_order_block *b = (wf_order_block *)own;
  const wf_iter_folding *f = o->order.folding;
  start_block(o, b, run->key, run->key + 1);
  if (f != NULL) {
    wf_iter_leaf leaf = {wf_page_data(b->first[0]), f->ctx};
    f->init(leaf.acc, f->ctx);
    run->take = f->take;
    run->state = &leaf;
    wf_iter_push(run, 0, elems, n);
  } else {
    run->take = route_batch;
    run->state = b;
    wf_iter_push(run, 0, elems, n);
  }
  return hand_over(o, b);
}

/* ---- all ---- */

static void run_blocks(wf_ordering *o) {
  const wf_iter_plan *plan = o->order.plan;
  wf_crew crew = {.enter = order_enter,
                  .block = order_run_block,
                  .leave = order_leave,
                  .ctx = o,
                  .max_len = o->block};
  if (wf_plan_positions(plan) > 1 && wf_par_crew(&plan->opts) > 1)
    wf_crew_run(&plan->opts, wf_plan_positions(plan), &crew);
}

static void pull_blocks(wf_ordering *o) {
  wf_iter_pulling pulling = {.plan = o->order.plan,
                             .enter = order_enter,
                             .batch = run_batch,
                             .leave = order_leave,
                             .ctx = o};
  if (wf_par_crew(&o->order.plan->opts) > 1) wf_iter_pull_all(&pulling);
  o->pull_key = pulling.key;
  o->pull_ended = pulling.ended;
}

static bool has_lines(const wf_iter_plan *plan) {
  for (unsigned k = 0; k <= plan->root; k++)
    if (wf_plan_stage(plan, k)->kind == WF_LINES) return true;
  return false;
}

static void choose_pages(wf_ordering *o) {
  const wf_iter_plan *plan = o->order.plan;
  bool grows = wf_stage_is(wf_plan_root(plan), WF_ITER_GROWS);
  size_t widest = 1;
  o->lanes = o->order.lanes;
  if (o->order.folding != NULL) {
    o->lanes = 1;
    o->page_bytes[0] = o->order.folding->size;
    return;
  }
  for (unsigned l = 0; l < o->lanes; l++)
    if (o->order.lane[l].size > widest) widest = o->order.lane[l].size;
  o->block = PAGE_BYTES / widest > 0 ? PAGE_BYTES / widest : 1;
  for (unsigned l = 0; l < o->lanes; l++)
    o->page_bytes[l] = o->block * o->order.lane[l].size;
  /* A line has some bytes, so blocks of texts are longer. */
  if (!grows && has_lines(plan)) o->block = 8 * o->block;
}

static void run_ordered_inside(void *ctx) {
  wf_ordering *o = (wf_ordering *)ctx;
  if (o->pulls)
    pull_blocks(o);
  else
    run_blocks(o);
  wf_order_close_gaps(o);
  for (wf_order_block *b = o->idle, *next; b != NULL; b = next) {
    next = b->next;
    wf_block_free(b);
  }
}

void wf_iter_run_ordered(wf_iter_order *order) {
  wf_ordering o = {.order = *order};
  o.pulls = wf_stage_is(wf_plan_root(order->plan), WF_ITER_PULLS);
  choose_pages(&o);
  if (order->folding != NULL) order->folding->init(order->result, order->folding->ctx);
  wf_par_run(&order->plan->opts, run_ordered_inside, &o);
  *order = o.order;
}
