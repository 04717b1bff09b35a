/* par/iter/sink_search.c - the sinks that need no order: for-each, counting, searching.
 *
 * Called by programs. The state of a sink is in the frame of its call and shared by all
 * threads that run blocks; each says how it is protected.
 *
 * SPDX-License-Identifier: MIT */
#include "iter.h"

/* ---- for-each ---- */

typedef struct each_sink {
  weft_iter_look_fn *fn;
  weft_iter_batch_fn *batch;
  void *ctx;
} each_sink;

static bool take_each(wf_iter_run *run, const char *elems, size_t n) {
  const each_sink *e = (const each_sink *)run->state;
  weft_iter_look_fn *fn = e->fn;
  void *ctx = e->ctx;
  size_t size = wf_plan_root(run->plan)->size;
  for (size_t j = 0; j < n; j++) fn(elems + j * size, ctx);
  return true;
}

static bool take_batch(wf_iter_run *run, const char *elems, size_t n) {
  const each_sink *e = (const each_sink *)run->state;
  e->batch(elems, n, e->ctx);
  return true;
}

static void run_each(const weft_iter *it, each_sink *e, wf_iter_take *take,
                     const char *call) {
  wf_iter_plan plan;
  wf_iter_sink sink = {.take = take, .state = e};
  wf_refuse_if(e->fn == NULL && e->batch == NULL, call, "the function is NULL");
  wf_iter_plan_all(&plan, it, call);
  wf_iter_run_all(&plan, &sink);
  wf_iter_plan_end(&plan);
}

void weft_iter_for_each(const weft_iter *it, weft_iter_look_fn *fn, void *ctx) {
  each_sink e = {fn, NULL, ctx};
  run_each(it, &e, take_each, "weft_iter_for_each");
}

void weft_iter_each_batch(const weft_iter *it, weft_iter_batch_fn *fn, void *ctx) {
  each_sink e = {NULL, fn, ctx};
  run_each(it, &e, take_batch, "weft_iter_each_batch");
}

/* ---- count ---- */

typedef struct count_sink {
  const wf_stage *last; /* a stage that is not run, only asked how many it would make */
  wf_word x_total;
} count_sink;

static bool take_count(wf_iter_run *run, const char *elems, size_t n) {
  const wf_stage *last = ((const count_sink *)run->state)->last;
  if (last == NULL) {
    run->tally += n;
  } else if (last->kind == WF_KERNEL) {
    run->tally += wf_iter_kernel_count(last, elems, n);
  } else {
    weft_pred_fn *pred = last->as.test.fn;
    void *ctx = last->as.test.ctx;
    size_t count = 0;
    for (size_t j = 0; j < n; j++) count += pred(elems + j * last->size, ctx);
    run->tally += count;
  }
  return true;
}

static void add_count(wf_iter_run *run) {
  /* Relaxed: only the sum matters, and the end of the loop publishes it. */
  wf_word_fetch_add_relaxed(&((count_sink *)run->state)->x_total, run->tally);
}

/* Does it make exactly one element of each, and nothing else? */
static bool is_plain_map(const wf_stage *s) {
  return s->kind == WF_MAP || s->kind == WF_ENUMERATE ||
         wf_stage_is_kernel_of(s, WEFT_ITER_KERNEL_MAP);
}

/* Can it say how many elements it makes without making them? */
static bool can_count(const wf_stage *s) {
  return s->kind == WF_FILTER ||
         (s->kind == WF_KERNEL && wf_stage_kernel(s)->any.count != NULL);
}

size_t weft_iter_count(const weft_iter *it) {
  wf_iter_plan plan;
  count_sink c = {NULL, {0}};
  wf_iter_sink sink = {.take = take_count, .state = &c, .done = add_count};
  wf_iter_check(it, "weft_iter_count");
  unsigned root = it->count - 1;
  while (is_plain_map(&it->stages[root])) root--;
  const wf_stage *s = &it->stages[root];
  if (wf_stage_is(s, WF_ITER_KNOWN) && !wf_stage_is(s, WF_ITER_LOOKS)) return s->len;
  if (can_count(s)) {
    c.last = s;
    root--;
  }
  sink.only_counts = c.last == NULL;
  wf_iter_plan_make(&plan, it, root, false, "weft_iter_count");
  wf_iter_run_all(&plan, &sink);
  wf_iter_plan_end(&plan);
  return wf_word_load_relaxed(&c.x_total); /* nobody adds to it any more */
}

/* ---- searching ---- */

typedef struct find_sink {
  weft_pred_fn *pred; /* NULL: everything matches */
  void *ctx;
  const wf_stage *filter; /* a kernel stage that says what matches, or NULL */
  bool negate, last, any;
  bool indexed;  /* only the index is wanted */
  wf_word x_key; /* the lowest key of a block with a match, or SIZE_MAX */
  wf_lock lock;
  char *out; /* under the lock: the match of that block; may be NULL */
  size_t index;
} find_sink;

/* Relaxed, here and below: the number only goes down, under the lock; a thread that sees
 * it late runs a block more. */
static bool is_behind_found(size_t key, const void *state) {
  return key > wf_word_load_relaxed(&((const find_sink *)state)->x_key);
}

static bool is_found(size_t key, const void *state) {
  (void)key;
  return wf_word_load_relaxed(&((const find_sink *)state)->x_key) != SIZE_MAX;
}

static void note_found(find_sink *f, const wf_iter_run *run, const char *elem,
                       size_t index) {
  size_t size = wf_plan_root(run->plan)->size;
  wf_lock_lock(&f->lock);
  uintptr_t key = wf_word_load_relaxed(&f->x_key);
  /* The last match of a block replaces those in front of it. */
  if (run->key < key || (run->key == key && f->last)) {
    WF_ASSERT(run->key != SIZE_MAX); /* that means: no match */
    if (f->out != NULL) memcpy(f->out, elem, size);
    f->index = index;
    wf_word_store_relaxed(&f->x_key, run->key);
  }
  wf_lock_unlock(&f->lock);
}

/* Four calls for each turn of the loop, as in fetch.c. With the long batches (takes_long)
 * this takes a call from 1.50 to 1.40 ns in bench/iter, and to 1.30 where the loop is
 * placed well (docs/investigations/iterators.md). */
#define MATCH(size_)                                                                     \
  for (; j + 4 <= n; j += 4, elems += 4 * (size_)) {                                     \
    if (pred(elems, ctx) != negate) return j;                                            \
    if (pred(elems + (size_), ctx) != negate) return j + 1;                              \
    if (pred(elems + 2 * (size_), ctx) != negate) return j + 2;                          \
    if (pred(elems + 3 * (size_), ctx) != negate) return j + 3;                          \
  }

/* The index of the first of n elements that matches; n: none. */
static size_t match_first(const find_sink *f, const char *elems, size_t size, size_t n) {
  weft_pred_fn *pred = f->pred;
  void *ctx = f->ctx;
  const bool negate = f->negate;
  size_t j = 0;
  if (size == 8) {
    MATCH(8)
  } else {
    MATCH(size)
  }
  for (; j < n && pred(elems, ctx) == negate; j++) elems += size;
  return j;
}

#undef MATCH

/* The index of the first match in a batch, or of the last one; n: none. */
static size_t match(const find_sink *f, const char *elems, size_t size, size_t n) {
  if (f->pred == NULL) return f->last ? n - 1 : 0;
  if (!f->last) return match_first(f, elems, size, n);
  for (size_t j = n; j-- > 0;)
    if (f->pred(elems + j * size, f->ctx) != f->negate) return j;
  return n;
}

static bool take_find(wf_iter_run *run, const char *elems, size_t n) {
  find_sink *f = (find_sink *)run->state;
  size_t size = wf_plan_root(run->plan)->size, base = run->base;
  if (f->filter != NULL) { /* elements of the stage in front of the filter */
    if (wf_iter_kernel_count(f->filter, elems, n) == 0) return true;
    char *kept = wf_iter_sink_slot(run);
    n = wf_iter_kernel_run(f->filter, kept, elems, NULL, n);
    elems = kept;
  }
  size_t j = match(f, elems, size, n);
  WF_ASSERT(j <= n && n <= run->capacity);
  if (j == n) return !(f->any ? is_found : is_behind_found)(run->key, f);
  note_found(f, run, elems + j * size, base + j);
  return f->last;
}

/* Runs the search. A filter at the end, if all that passes it matches, is the predicate
 * itself: batches are then looked at without copying them. */
static bool find(const weft_iter *it, find_sink *f, const char *call) {
  wf_iter_plan plan;
  wf_iter_sink sink = {.take = take_find, .state = f};
  unsigned root = it->count - 1;
  const wf_stage *s = &it->stages[root];
  if (f->pred == NULL && !f->indexed) {
    if (s->kind == WF_FILTER) {
      f->pred = s->as.test.fn;
      f->ctx = s->as.test.ctx;
      root--;
    } else if (wf_stage_is_kernel_of(s, WEFT_ITER_KERNEL_FILTER)) {
      f->filter = s;
      root--;
    }
  }
  sink.is_over = f->any ? is_found : is_behind_found;
  sink.from_front = !f->any && !f->last;
  sink.from_back = f->last;
  sink.takes_long = f->filter == NULL; /* a filter moves what it keeps to a slot */
  wf_iter_plan_make(&plan, it, root, f->filter != NULL, call);
  wf_word_store_relaxed(&f->x_key, SIZE_MAX); /* nobody else sees it yet */
  wf_iter_run_all(&plan, &sink);
  wf_iter_plan_end(&plan);
  return wf_word_load_relaxed(&f->x_key) != SIZE_MAX;
}

static bool find_element(const weft_iter *it, void *out, size_t size, find_sink *f,
                         const char *call) {
  f->out = (char *)out;
  wf_iter_need_size(it, size, call);
  return find(it, f, call);
}

bool weft_iter_find_any(const weft_iter *it, void *out, size_t size, weft_pred_fn *pred,
                        void *ctx) {
  find_sink f = {.pred = pred, .ctx = ctx, .any = true};
  return find_element(it, out, size, &f, "weft_iter_find_any");
}

bool weft_iter_find_first(const weft_iter *it, void *out, size_t size, weft_pred_fn *pred,
                          void *ctx) {
  find_sink f = {.pred = pred, .ctx = ctx};
  return find_element(it, out, size, &f, "weft_iter_find_first");
}

bool weft_iter_find_last(const weft_iter *it, void *out, size_t size, weft_pred_fn *pred,
                         void *ctx) {
  find_sink f = {.pred = pred, .ctx = ctx, .last = true};
  return find_element(it, out, size, &f, "weft_iter_find_last");
}

size_t weft_iter_position(const weft_iter *it, weft_pred_fn *pred, void *ctx) {
  const char *call = "weft_iter_position";
  find_sink f = {.pred = pred, .ctx = ctx, .indexed = true};
  wf_iter_check(it, call);
  wf_refuse_if(pred == NULL, call, "the function is NULL");
  wf_iter_need_length(&it->stages[it->count - 1], call);
  return find(it, &f, call) ? f.index : SIZE_MAX;
}

static bool exists(const weft_iter *it, weft_pred_fn *pred, void *ctx, bool negate,
                   const char *call) {
  find_sink f = {
      .pred = pred, .ctx = ctx, .negate = negate, .any = true, .indexed = true};
  wf_iter_check(it, call);
  wf_refuse_if(pred == NULL, call, "the function is NULL");
  return find(it, &f, call);
}

bool weft_iter_any(const weft_iter *it, weft_pred_fn *pred, void *ctx) {
  return exists(it, pred, ctx, false, "weft_iter_any");
}

bool weft_iter_all(const weft_iter *it, weft_pred_fn *pred, void *ctx) {
  return !exists(it, pred, ctx, true, "weft_iter_all");
}

bool weft_iter_none(const weft_iter *it, weft_pred_fn *pred, void *ctx) {
  return !exists(it, pred, ctx, false, "weft_iter_none");
}
