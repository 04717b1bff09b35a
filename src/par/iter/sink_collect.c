/* par/iter/sink_collect.c - the sinks that store elements: collect, append, partition,
 * unzip, and scan and sort of what was stored.
 *
 * Called by programs. Where the number of elements is known, each position has its place,
 * and the thread that computes the element writes it there. Else ordered.c does it.
 *
 * SPDX-License-Identifier: MIT */
#include "iter.h"

#include <weft/sort.h>

/* ---- where elements may go ---- */

/* How many bytes a source reads, and from where on. */
static size_t bytes_read(const wf_stage *s, uintptr_t *from) {
  switch ((wf_iter_kind)s->kind) {
  case WF_SLICE:
    *from = (uintptr_t)s->as.slice.array;
    return s->len * s->size;
  case WF_REFS:
    *from = (uintptr_t)s->as.refs.array;
    return s->len * s->as.refs.size;
  case WF_CHUNKS:
  case WF_WINDOWS:
    *from = (uintptr_t)s->as.parts.array;
    return s->as.parts.n * s->as.parts.size;
  case WF_LINES:
    *from = (uintptr_t)s->as.lines.text;
    return s->as.lines.length;
  case WF_REPEAT:
    *from = (uintptr_t)s->as.repeat.value;
    return s->len > 0 ? s->size : 0;
  default:
    *from = 0;
    return 0;
  }
}

/* Ends the program if some of these bytes are what a source reads: elements would be
 * written that others are still to be made of. */
static void refuse_overlap(const weft_iter *it, const void *dst, size_t bytes,
                           const char *call) {
  uintptr_t to = (uintptr_t)dst;
  for (unsigned k = 0; k < it->count; k++) {
    uintptr_t from;
    size_t read = bytes_read(&it->stages[k], &from);
    if (read > 0 && bytes > 0 && (to < from ? from - to < bytes : to - from < read))
      wf_fatal(call, "the array is one that the iterator reads");
  }
}

/* The same for an array of elements of the iterator, or of parts of them. */
static void check_destination(const wf_iter_plan *plan, const void *dst, size_t room,
                              size_t size) {
  const wf_stage *root = wf_plan_root(plan);
  bool bounded = !wf_stage_is(root, WF_ITER_GROWS | WF_ITER_PULLS);
  size_t most = bounded ? wf_plan_positions(plan) : SIZE_MAX;
  if (most > room) most = room;
  if (dst == NULL && room > 0) wf_fatal(plan->call, "the array is NULL");
  refuse_overlap(plan->it, dst, most > SIZE_MAX / size ? SIZE_MAX : most * size,
                 plan->call);
}

/* ---- with known positions ---- */

typedef struct store {
  const wf_iter_plan *plan;
  char *dst, *right;
  size_t right_at, left_size, right_size; /* unzip */
} store;

/* A batch that the root has put there itself needs no copy. */
static bool take_store(wf_iter_run *run, const char *elems, size_t n) {
  const store *s = (const store *)run->state;
  size_t size = wf_plan_root(run->plan)->size;
  char *to = s->dst + run->base * size;
  WF_ASSERT(run->next == run->base + n && run->next <= run->end);
  if (elems != to) memcpy(to, elems, n * size);
  run->target = to + n * size;
  return true;
}

static bool take_store_halves(wf_iter_run *run, const char *elems, size_t n) {
  const store *s = (const store *)run->state;
  size_t size = wf_plan_root(run->plan)->size;
  char *left = s->dst + run->base * s->left_size;
  char *right = s->right + run->base * s->right_size;
  for (size_t j = 0; j < n; j++, elems += size) {
    wf_copy_element(left + j * s->left_size, elems, s->left_size);
    wf_copy_element(right + j * s->right_size, elems + s->right_at, s->right_size);
  }
  return true;
}

static void store_block(size_t begin, size_t end, void *ctx) {
  store *s = (store *)ctx;
  wf_iter_run run = {.plan = s->plan, .state = s};
  run.take = s->right != NULL ? take_store_halves : take_store;
  if (s->right == NULL) run.target = s->dst + begin * wf_plan_root(s->plan)->size;
  wf_iter_eval(&run, begin, end);
}

/* Stores the first `room` elements, and returns how many there are. */
static size_t store_known(store *s, size_t room) {
  size_t n = wf_plan_positions(s->plan);
  wf_loop loop = {store_block, s, NULL};
  wf_loop_run(&s->plan->opts, n < room ? n : room, &loop);
  return n;
}

/* ---- collect ---- */

static bool route_all(wf_iter_order *order, wf_iter_run *run, const char *elems,
                      size_t n) {
  return wf_iter_put(order, run, 0, elems, n);
}

/* Ends the plan. If the length is known, it holds nothing: no source was split. */
static size_t collect(wf_iter_plan *plan, void *dst, size_t room, size_t size) {
  if (wf_plan_is_known(plan)) {
    store s = {.plan = plan, .dst = (char *)dst};
    return store_known(&s, room);
  }
  wf_iter_order order = {.plan = plan, .outputs = 1, .route = route_all};
  order.output[0] = (wf_iter_output){size, (char *)dst, room, 0};
  wf_iter_run_ordered(&order);
  wf_iter_plan_end(plan);
  return order.output[0].count;
}

static void plan_collect(wf_iter_plan *plan, const weft_iter *it, const void *dst,
                         size_t room, size_t size, const char *call) {
  wf_iter_need_size(it, size, call);
  wf_iter_plan_all(plan, it, call);
  check_destination(plan, dst, room, size);
}

size_t weft_iter_collect(const weft_iter *it, void *dst, size_t room, size_t size) {
  wf_iter_plan plan;
  plan_collect(&plan, it, dst, room, size, "weft_iter_collect");
  return collect(&plan, dst, room, size);
}

size_t weft_iter_scan(const weft_iter *it, void *dst, size_t room, size_t size,
                      const void *identity, bool inclusive, weft_op_fn *op, void *ctx) {
  const char *call = "weft_iter_scan";
  wf_iter_plan plan;
  if (op == NULL) wf_fatal(call, "the operation is NULL");
  if (identity == NULL) wf_fatal(call, "the identity is NULL");
  plan_collect(&plan, it, dst, room, size, call);
  size_t n = collect(&plan, dst, room, size);
  size_t stored = n < room ? n : room;
  weft_scan_with(&plan.opts, dst, dst, stored, size, identity, inclusive, op, ctx);
  return n;
}

size_t weft_iter_sort(const weft_iter *it, void *dst, size_t room, size_t size,
                      weft_cmp_fn *cmp, void *ctx) {
  wf_iter_plan plan;
  if (cmp == NULL) wf_fatal("weft_iter_sort", "the comparator is NULL");
  plan_collect(&plan, it, dst, room, size, "weft_iter_sort");
  size_t n = collect(&plan, dst, room, size);
  weft_sort_with(&plan.opts, dst, n < room ? n : room, size, cmp, ctx);
  return n;
}

/* ---- append ---- */

int weft_iter_append(const weft_iter *it, weft_buffer *buffer, size_t size) {
  const char *call = "weft_iter_append";
  wf_iter_plan plan;
  wf_iter_need_size(it, size, call);
  if (buffer == NULL) wf_fatal(call, "the buffer is NULL");
  if (buffer->count > buffer->capacity)
    wf_fatal(call, "the buffer has more elements than its capacity");
  refuse_overlap(it, buffer->data, buffer->capacity * size, call);
  wf_iter_plan_all(&plan, it, call);
  if (wf_plan_is_known(&plan)) {
    size_t n = wf_plan_positions(&plan);
    if (!wf_iter_reserve(buffer, n, size, true)) return WEFT_ENOMEM;
    if (n > 0) collect(&plan, (char *)buffer->data + buffer->count * size, n, size);
    buffer->count += n;
    return 0;
  }
  wf_iter_order order = {
      .plan = &plan, .outputs = 1, .route = route_all, .buffer = buffer};
  order.output[0].size = size;
  wf_iter_run_ordered(&order);
  wf_iter_plan_end(&plan);
  if (order.no_memory) return WEFT_ENOMEM;
  buffer->count += order.output[0].count;
  return 0;
}

/* ---- partition ---- */

typedef struct partition_sink {
  weft_pred_fn *pred;
  void *ctx;
} partition_sink;

/* Runs of elements that go the same way are handed on together. */
static bool route_by_pred(wf_iter_order *order, wf_iter_run *run, const char *elems,
                          size_t n) {
  const partition_sink p = *(const partition_sink *)order->state;
  size_t size = order->output[0].size;
  bool yes = p.pred(elems, p.ctx);
  size_t begin = 0;
  for (size_t end = 1; end < n; end++) {
    bool next = p.pred(elems + end * size, p.ctx);
    if (next == yes) continue;
    if (!wf_iter_put(order, run, yes ? 0 : 1, elems + begin * size, end - begin))
      return false;
    begin = end;
    yes = next;
  }
  return wf_iter_put(order, run, yes ? 0 : 1, elems + begin * size, n - begin);
}

weft_counts weft_iter_partition(const weft_iter *it, void *yes, void *no, size_t room,
                                size_t size, weft_pred_fn *pred, void *ctx) {
  const char *call = "weft_iter_partition";
  wf_iter_plan plan;
  partition_sink p = {pred, ctx};
  if (pred == NULL) wf_fatal(call, "the function is NULL");
  plan_collect(&plan, it, yes, room, size, call);
  check_destination(&plan, no, room, size);
  wf_iter_order order = {
      .plan = &plan, .outputs = 2, .route = route_by_pred, .state = &p};
  order.output[0] = (wf_iter_output){size, (char *)yes, room, 0};
  order.output[1] = (wf_iter_output){size, (char *)no, room, 0};
  wf_iter_run_ordered(&order);
  wf_iter_plan_end(&plan);
  weft_counts counts = {order.output[0].count, order.output[1].count};
  return counts;
}

/* ---- unzip ---- */

static bool route_halves(wf_iter_order *order, wf_iter_run *run, const char *elems,
                         size_t n) {
  const store *s = (const store *)order->state;
  size_t size = wf_plan_root(order->plan)->size;
  for (size_t j = 0; j < n; j++, elems += size)
    if (!wf_iter_put(order, run, 0, elems, 1) ||
        !wf_iter_put(order, run, 1, elems + s->right_at, 1))
      return false;
  return true;
}

size_t weft_iter_unzip(const weft_iter *it, void *left, void *right, size_t room,
                       size_t left_size, size_t right_size, size_t right_at) {
  const char *call = "weft_iter_unzip";
  wf_iter_plan plan;
  wf_iter_check(it, call);
  size_t size = it->stages[it->count - 1].size;
  if (left_size == 0 || right_size == 0) wf_fatal(call, "the element size is 0");
  if (left_size > size || right_size > size || right_at > size - right_size)
    wf_fatal(call, "the parts are not inside of the iterator's elements");
  wf_iter_plan_all(&plan, it, call);
  check_destination(&plan, left, room, left_size);
  check_destination(&plan, right, room, right_size);
  store s = {&plan, (char *)left, (char *)right, right_at, left_size, right_size};
  if (wf_plan_is_known(&plan)) return store_known(&s, room);
  wf_iter_order order = {.plan = &plan, .outputs = 2, .route = route_halves, .state = &s};
  order.output[0] = (wf_iter_output){left_size, s.dst, room, 0};
  order.output[1] = (wf_iter_output){right_size, s.right, room, 0};
  wf_iter_run_ordered(&order);
  wf_iter_plan_end(&plan);
  return order.output[0].count;
}
