/* par/array/filter.c - the calls that keep some elements in their order: filter,
 * partition, unique.
 *
 * SPDX-License-Identifier: MIT */
#include "../base/bytes.h"
#include "array.h"
#include "compact.h"

#include <stdlib.h>
#include <string.h>
#include <weft/array.h>
#include <weft/detail/typed_function.h>
#include <weft/join.h>

typedef struct compact_call {
  const weft_opts *opts;
  wf_compaction compaction;
} compact_call;

static void compact_inside(void *ctx) {
  compact_call *call = (compact_call *)ctx;
  wf_compact(call->opts, &call->compaction);
}

/* What the leaves of this file are given. */
typedef struct compact_test {
  size_t size;
  const char *base;
  weft_pred_fn *pred;
  weft_cmp_fn *cmp;
  void *ctx;
} compact_test;

/* ---- leaves ---- */

typedef enum compact_kind {
  COMPACT_FILTER,
  COMPACT_PARTITION,
  COMPACT_UNIQUE
} compact_kind;

/* The element in front of a block is still as it was: what was placed so far ends in
 * front of it, or nothing was left out and it is unchanged. */
static inline bool is_first_of_equals(const compact_test *t, const char *elem) {
  return elem == t->base || t->cmp(elem - t->size, elem, t->ctx) != 0;
}

/* Each element is copied before it is known where it belongs, and stays if the next one
 * goes behind it: the compiler makes a plain move of each copy, and there is no branch to
 * be mispredicted. Size and kind are constants. */
__attribute__((always_inline)) static inline size_t
compact_small(char *kept, char *rest, const char *src, size_t n, size_t size,
              const compact_test *t, compact_kind kind) {
  char *yes = kept;
  for (size_t i = 0; i < n; i++, src += size) {
    size_t keep =
        kind == COMPACT_UNIQUE ? is_first_of_equals(t, src) : t->pred(src, t->ctx);
    memcpy(yes, src, size);
    yes += keep * size;
    if (kind != COMPACT_PARTITION) continue;
    memcpy(rest, src, size);
    rest += (1 - keep) * size;
  }
  return (size_t)(yes - kept) / size;
}

static inline void move_element(char *to, const char *from, size_t size) {
  if (to != from) memcpy(to, from, size);
}

__attribute__((always_inline)) static inline size_t compact_any(char *kept, char *rest,
                                                                const char *src, size_t n,
                                                                const compact_test *t,
                                                                compact_kind kind) {
  char *yes = kept;
  for (size_t i = 0; i < n; i++, src += t->size) {
    if (kind == COMPACT_UNIQUE ? is_first_of_equals(t, src) : t->pred(src, t->ctx)) {
      move_element(yes, src, t->size);
      yes += t->size;
    } else if (kind == COMPACT_PARTITION) {
      memcpy(rest, src, t->size);
      rest += t->size;
    }
  }
  return (size_t)(yes - kept) / t->size;
}

#define COMPACT_LEAF(name, kind)                                                         \
  static size_t name(void *kept, void *rest, const void *src, size_t n, void *ctx) {     \
    const compact_test *t = (const compact_test *)ctx;                                   \
    char *yes = (char *)kept, *no = (char *)rest;                                        \
    const char *from = (const char *)src;                                                \
    if (t->size == 1) return compact_small(yes, no, from, n, 1, t, kind);                \
    if (t->size == 2) return compact_small(yes, no, from, n, 2, t, kind);                \
    if (t->size == 4) return compact_small(yes, no, from, n, 4, t, kind);                \
    if (t->size == 8) return compact_small(yes, no, from, n, 8, t, kind);                \
    if (t->size == 16) return compact_small(yes, no, from, n, 16, t, kind);              \
    return compact_any(yes, no, from, n, t, kind);                                       \
  }
COMPACT_LEAF(filter_leaf, COMPACT_FILTER)
COMPACT_LEAF(partition_leaf, COMPACT_PARTITION)
COMPACT_LEAF(unique_leaf, COMPACT_UNIQUE)
#undef COMPACT_LEAF

/* ---- filter ---- */

size_t weft_filter_with(const weft_opts *o, void *dst, const void *src, size_t n,
                        size_t size, weft_pred_fn *pred, void *ctx) {
  weft_opts opts;
  compact_test test = {.size = size, .pred = pred, .ctx = ctx};
  wf_check_elements(dst == NULL || src == NULL, pred == NULL, n, size, "weft_filter");
  wf_par_options(&opts, o, "weft_filter");
  compact_call call = {&opts, {src, dst, NULL, n, size, filter_leaf, &test, 0, 0}};
  if (n > 0) wf_par_run(&opts, compact_inside, &call);
  return call.compaction.kept;
}

size_t weft_filter(void *dst, const void *src, size_t n, size_t size, weft_pred_fn *pred,
                   void *ctx) {
  return weft_filter_with(NULL, dst, src, n, size, pred, ctx);
}

typedef struct typed_filter {
  wf_filter_leaf *leaf;
  void *ctx;
} typed_filter;

static size_t typed_filter_leaf(void *kept, void *rest, const void *src, size_t n,
                                void *ctx) {
  const typed_filter *k = (const typed_filter *)ctx;
  (void)rest;
  return k->leaf(kept, src, n, k->ctx);
}

size_t wf_typed_filter(const wf_typed *k, void *dst, const void *src, size_t size,
                       wf_filter_leaf *leaf) {
  weft_opts opts;
  typed_filter filter = {leaf, k->ctx};
  wf_check_elements(dst == NULL || src == NULL, false, k->n, size, k->name);
  wf_par_options(&opts, k->opts, k->name);
  compact_call call = {&opts,
                       {src, dst, NULL, k->n, size, typed_filter_leaf, &filter, 0, 0}};
  if (k->n > 0) wf_par_run(&opts, compact_inside, &call);
  return call.compaction.kept;
}

/* ---- unique ---- */

size_t weft_unique_with(const weft_opts *o, void *base, size_t n, size_t size,
                        weft_cmp_fn *cmp, void *ctx) {
  weft_opts opts;
  compact_test test = {.size = size, .base = (const char *)base, .cmp = cmp, .ctx = ctx};
  wf_check_elements(base == NULL, cmp == NULL, n, size, "weft_unique");
  wf_par_options(&opts, o, "weft_unique");
  compact_call call = {&opts, {base, base, NULL, n, size, unique_leaf, &test, 0, 0}};
  if (n > 0) wf_par_run(&opts, compact_inside, &call);
  return call.compaction.kept;
}

size_t weft_unique(void *base, size_t n, size_t size, weft_cmp_fn *cmp, void *ctx) {
  return weft_unique_with(NULL, base, n, size, cmp, ctx);
}

/* ---- partition without memory ---- */

typedef struct in_place_part {
  const weft_opts *opts;
  const compact_test *test;
  char *base;
  size_t n;
  unsigned crew; /* so many threads may work on it */
  size_t split;  /* result */
} in_place_part;

/* As many elements as fit into a small buffer, which takes the others for a while. */
__attribute__((noinline)) static size_t partition_few(const compact_test *t, char *base,
                                                      size_t n) {
  char others[512];
  char *yes = base, *no = others;
  for (size_t i = 0; i < n; i++) {
    char *from = base + i * t->size;
    if (t->pred(from, t->ctx)) {
      move_element(yes, from, t->size);
      yes += t->size;
    } else {
      memcpy(no, from, t->size);
      no += t->size;
    }
  }
  memcpy(yes, others, (size_t)(no - others));
  return (size_t)(yes - base) / t->size;
}

/* Both halves, and then the others of the lower change places with those to keep of the
 * upper one. */
static void partition_in_place(void *ctx) {
  in_place_part *p = (in_place_part *)ctx;
  const compact_test *t = p->test;
  if (p->n * t->size <= 512) {
    p->split = partition_few(t, p->base, p->n);
    return;
  }
  if (p->n == 1) {
    p->split = t->pred(p->base, t->ctx);
    return;
  }
  if (wf_par_cancelled(p->opts)) return;
  size_t half = p->n / 2;
  unsigned crew = p->crew / 2;
  char *middle = p->base + half * t->size;
  in_place_part lower = {p->opts, t, p->base, half, p->crew - crew, 0};
  in_place_part upper = {p->opts, t, middle, p->n - half, crew > 0 ? crew : 1, 0};
  if (crew > 0) {
    weft_join(partition_in_place, &lower, partition_in_place, &upper);
  } else {
    partition_in_place(&lower);
    partition_in_place(&upper);
  }
  size_t others = half - lower.split;
  wf_rotate(p->base + lower.split * t->size, others + upper.split, t->size, others);
  p->split = lower.split + upper.split;
}

/* ---- partition ---- */

typedef struct partition_call {
  const weft_opts *opts;
  char *base;
  size_t n;
  compact_test test;
  size_t split;
} partition_call;

static void partition_inside(void *ctx) {
  partition_call *call = (partition_call *)ctx;
  size_t size = call->test.size;
  char *rest = (char *)malloc(call->n * size);
  if (rest == NULL) {
    in_place_part all = {call->opts, &call->test, call->base, call->n, 1, 0};
    if (call->opts->max_workers != 0)
      all.crew = wf_par_crew(call->opts);
    else
      all.crew = 64 * wf_par_crew(call->opts); /* parts enough to go round */
    partition_in_place(&all);
    call->split = all.split;
    return;
  }
  wf_compaction p = {call->base,     call->base,  rest, call->n, size,
                     partition_leaf, &call->test, 0,    0};
  wf_compact(call->opts, &p);
  /* Also when it was cancelled: what is in `rest` was in front of p.done. */
  weft_opts move = *call->opts;
  move.cancel = NULL;
  weft_copy_with(&move, call->base + p.kept * size, rest, p.done - p.kept, size);
  free(rest);
  call->split = p.kept;
}

size_t weft_partition_with(const weft_opts *o, void *base, size_t n, size_t size,
                           weft_pred_fn *pred, void *ctx) {
  weft_opts opts;
  wf_check_elements(base == NULL, pred == NULL, n, size, "weft_partition");
  wf_par_options(&opts, o, "weft_partition");
  partition_call call = {
      &opts, (char *)base, n, {.size = size, .pred = pred, .ctx = ctx}, 0};
  if (n > 0) wf_par_run(&opts, partition_inside, &call);
  return call.split;
}

size_t weft_partition(void *base, size_t n, size_t size, weft_pred_fn *pred, void *ctx) {
  return weft_partition_with(NULL, base, n, size, pred, ctx);
}
