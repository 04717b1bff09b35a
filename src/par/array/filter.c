/* par/array/filter.c - the calls that keep some elements in their order: filter,
 * partition, unique. Each is a leaf, which tests a block of elements, and the ordered
 * compaction of compact.c, which runs the leaves and puts their results together.
 *
 * Called by programs and by the functions that WEFT_FILTER makes. A call's struct lives
 * in its frame; the threads of the call only read it.
 *
 * SPDX-License-Identifier: MIT */
#include "../base/bytes.h"
#include "array.h"

#include <weft/array.h>
#include <weft/detail/typed_function.h>
#include <weft/join.h>

/* Reads the options, runs the compaction in the pool, and returns how many were kept. */
static size_t compact(const weft_opts *o, const char *name, wf_compaction *p) {
  weft_opts opts;
  p->opts = &opts;
  wf_par_options(&opts, o, name);
  if (p->n > 0) wf_par_run_over(&opts, p->n, wf_compact, p);
  WF_ASSERT(p->kept <= p->done && p->done <= p->n);
  return p->kept;
}

/* ---- leaves ---- */

/* The context of the leaves. */
typedef struct keep_test {
  size_t size;
  weft_pred_fn *pred; /* of filter and partition */
  weft_cmp_fn *cmp;   /* of unique */
  const char *base;   /* of unique: the array */
  void *ctx;
} keep_test;

typedef enum keep_kind { KEEP_FILTER, KEEP_PARTITION, KEEP_UNIQUE } keep_kind;

/* The element in front of a block is still as it was: what was placed so far ends in
 * front of it, or nothing was left out and it is unchanged. */
static inline bool is_first_of_equals(const keep_test *t, const char *elem) {
  return elem == t->base || t->cmp(elem - t->size, elem, t->ctx) != 0;
}

/* Copies each element before it is known where it belongs; the copy stays if the next one
 * goes behind it. So there is no branch that could be mispredicted. The size and the kind
 * are constants, which makes each copy a plain move. */
WF_INLINE size_t keep_small(char *kept, char *rest, const char *src, size_t n,
                            const keep_test *t, keep_kind kind, size_t size) {
  char *yes = kept;
  for (size_t i = 0; i < n; i++, src += size) {
    size_t keep = kind == KEEP_UNIQUE ? is_first_of_equals(t, src) : t->pred(src, t->ctx);
    memcpy(yes, src, size);
    yes += keep * size;
    if (kind != KEEP_PARTITION) continue;
    memcpy(rest, src, size);
    rest += (1 - keep) * size;
  }
  return (size_t)(yes - kept) / size;
}

static inline void move_element(char *to, const char *from, size_t size) {
  if (to != from) memcpy(to, from, size);
}

WF_INLINE size_t keep_any(char *kept, char *rest, const char *src, size_t n,
                          const keep_test *t, keep_kind kind) {
  char *yes = kept;
  for (size_t i = 0; i < n; i++, src += t->size) {
    if (kind == KEEP_UNIQUE ? is_first_of_equals(t, src) : t->pred(src, t->ctx)) {
      move_element(yes, src, t->size);
      yes += t->size;
    } else if (kind == KEEP_PARTITION) {
      memcpy(rest, src, t->size);
      rest += t->size;
    }
  }
  return (size_t)(yes - kept) / t->size;
}

/* Makes filter_leaf, partition_leaf and unique_leaf. */
#define KEEP_LEAF(name, kind)                                                            \
  WF_ALIGN_LOOPS static size_t name(void *kept, void *rest, const void *src, size_t n,   \
                                    void *ctx) {                                         \
    const keep_test *t = (const keep_test *)ctx;                                         \
    char *yes = (char *)kept, *no = (char *)rest;                                        \
    const char *from = (const char *)src;                                                \
    if (t->size == 1) return keep_small(yes, no, from, n, t, kind, 1);                   \
    if (t->size == 2) return keep_small(yes, no, from, n, t, kind, 2);                   \
    if (t->size == 4) return keep_small(yes, no, from, n, t, kind, 4);                   \
    if (t->size == 8) return keep_small(yes, no, from, n, t, kind, 8);                   \
    if (t->size == 16) return keep_small(yes, no, from, n, t, kind, 16);                 \
    return keep_any(yes, no, from, n, t, kind);                                          \
  }
KEEP_LEAF(filter_leaf, KEEP_FILTER)
KEEP_LEAF(partition_leaf, KEEP_PARTITION)
KEEP_LEAF(unique_leaf, KEEP_UNIQUE)
#undef KEEP_LEAF

/* ---- filter ---- */

size_t weft_filter_with(const weft_opts *o, void *dst, const void *src, size_t n,
                        size_t size, weft_pred_fn *pred, void *ctx) {
  keep_test test = {.size = size, .pred = pred, .ctx = ctx};
  wf_compaction p = {NULL, src, dst, NULL, n, size, filter_leaf, &test, 0, 0};
  wf_check_elements(dst == NULL || src == NULL, pred == NULL, n, size, "weft_filter");
  return compact(o, "weft_filter", &p);
}
WF_PLAIN_OF(size_t, weft_filter,
            (void *dst, const void *src, size_t n, size_t size, weft_pred_fn *pred,
             void *ctx),
            dst, src, n, size, pred, ctx)

/* What WEFT_FILTER makes has a leaf of its own, without a rest. */
typedef struct typed_filter {
  wf_filter_leaf *leaf;
  void *ctx;
} typed_filter;

static size_t typed_filter_leaf(void *kept, void *rest, const void *src, size_t n,
                                void *ctx) {
  const typed_filter *f = (const typed_filter *)ctx;
  (void)rest;
  return f->leaf(kept, src, n, f->ctx);
}

size_t wf_typed_filter(const wf_typed *k, void *dst, const void *src, size_t size,
                       wf_filter_leaf *leaf) {
  typed_filter filter = {leaf, k->ctx};
  wf_compaction p = {NULL, src, dst, NULL, k->n, size, typed_filter_leaf, &filter, 0, 0};
  wf_check_elements(dst == NULL || src == NULL, false, k->n, size, k->name);
  return compact(k->opts, k->name, &p);
}

/* ---- unique ---- */

size_t weft_unique_with(const weft_opts *o, void *base, size_t n, size_t size,
                        weft_cmp_fn *cmp, void *ctx) {
  keep_test test = {.size = size, .base = (const char *)base, .cmp = cmp, .ctx = ctx};
  wf_compaction p = {NULL, base, base, NULL, n, size, unique_leaf, &test, 0, 0};
  wf_check_elements(base == NULL, cmp == NULL, n, size, "weft_unique");
  return compact(o, "weft_unique", &p);
}
WF_PLAIN_OF(size_t, weft_unique,
            (void *base, size_t n, size_t size, weft_cmp_fn *cmp, void *ctx), base, n,
            size, cmp, ctx)

/* ---- partition without memory ---- */

/* The others of a short array wait in this many bytes of stack. A choice. */
enum { PARTITION_BYTES = 512 };

typedef struct partition_part {
  const weft_opts *opts;
  keep_test *test;
  char *base;
  size_t n;
  unsigned crew; /* how many threads may work on it, at least 1 */
  size_t split;  /* result: how many elements stay, at the front; at most n */
} partition_part;

/* At most PARTITION_BYTES of elements. */
__attribute__((noinline)) static size_t partition_few(const keep_test *t, char *base,
                                                      size_t n) {
  char others[PARTITION_BYTES];
  WF_ASSERT(n * t->size <= sizeof others);
  size_t kept = keep_any(base, others, base, n, t, KEEP_PARTITION);
  memcpy(base + kept * t->size, others, (n - kept) * t->size);
  return kept;
}

/* Partitions both halves; then the others of the lower half change places with the kept
 * ones of the upper half. */
static void partition_in_place(void *ctx) {
  partition_part *p = (partition_part *)ctx;
  keep_test *t = p->test;
  WF_ASSERT(p->n >= 1 && p->crew >= 1);
  if (p->n * t->size <= PARTITION_BYTES) {
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
  partition_part lower = {p->opts, t, p->base, half, p->crew - crew, 0};
  partition_part upper = {p->opts, t, middle, p->n - half, crew > 0 ? crew : 1, 0};
  if (crew > 0) {
    weft_join(partition_in_place, &lower, partition_in_place, &upper);
  } else {
    partition_in_place(&lower);
    partition_in_place(&upper);
  }
  WF_ASSERT(lower.split <= lower.n && upper.split <= upper.n);
  size_t others = half - lower.split;
  wf_rotate(p->base + lower.split * t->size, others + upper.split, t->size, others);
  p->split = lower.split + upper.split;
}

/* ---- partition ---- */

static void partition_inside(void *ctx) {
  partition_part *all = (partition_part *)ctx;
  size_t size = all->test->size;
  wf_scratch rest = wf_scratch_get(all->n * size);
  if (rest.memory == NULL) {
    all->crew = wf_par_crew(all->opts);
    /* Without a limit, 64 parts for each thread: a choice, so that uneven parts balance.
     */
    if (all->opts->max_workers == 0) all->crew *= 64;
    partition_in_place(all);
    return;
  }
  wf_compaction p = {all->opts, all->base,      all->base, rest.memory, all->n,
                     size,      partition_leaf, all->test, 0,           0};
  wf_compact(&p);
  WF_ASSERT(p.kept <= p.done && p.done <= all->n);
  /* Also when the call was cancelled: what is in `rest` was in front of p.done. */
  weft_opts move = *all->opts;
  move.cancel = NULL;
  weft_copy_with(&move, all->base + p.kept * size, rest.memory, p.done - p.kept, size);
  wf_scratch_put(rest);
  all->split = p.kept;
}

size_t weft_partition_with(const weft_opts *o, void *base, size_t n, size_t size,
                           weft_pred_fn *pred, void *ctx) {
  weft_opts opts;
  keep_test test = {.size = size, .pred = pred, .ctx = ctx};
  partition_part all = {&opts, &test, (char *)base, n, 1, 0};
  wf_check_elements(base == NULL, pred == NULL, n, size, "weft_partition");
  wf_par_options(&opts, o, "weft_partition");
  if (n > 0) wf_par_run_over(&opts, n, partition_inside, &all);
  return all.split;
}
WF_PLAIN_OF(size_t, weft_partition,
            (void *base, size_t n, size_t size, weft_pred_fn *pred, void *ctx), base, n,
            size, pred, ctx)
