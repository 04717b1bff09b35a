/* par/array/search.c - searches that stop at the first answer, and the comparisons that
 * are made of them; the smallest and the largest element.
 *
 * A search is a loop with a word for the lowest index found so far. For the first match
 * all threads take blocks from the front of the range (wf_loop_run_from_front), because
 * what lies behind the match is wasted work; for any match the range is divided as usual.
 * A block ends at its first match. For the last match the loop counts from the back.
 *
 * Called by programs. The struct of a search lives in the frame of the call; the threads
 * of the loop share its x_ word and only read the rest.
 *
 * SPDX-License-Identifier: MIT */
#include "../base/bytes.h"
#include "array.h"

#include <weft/detail/typed_function.h>
#include <weft/search.h>

/* ---- the search ---- */

typedef struct hunt hunt;

/* Returns the lowest match in [begin, end), or end. */
typedef size_t hunt_leaf(const hunt *h, size_t begin, size_t end);

struct hunt {
  hunt_leaf *leaf;
  const char *a, *b; /* arrays; b is that of comparisons */
  size_t n, size;
  weft_pred_fn *pred;
  weft_cmp_fn *cmp;
  wf_array_leaf *typed; /* of typed functions */
  void *ctx;
  wf_word x_found; /* the lowest index found so far, or SIZE_MAX */
};

static void hunt_block(size_t begin, size_t end, void *ctx) {
  hunt *h = (hunt *)ctx;
  size_t found = h->leaf(h, begin, end);
  WF_ASSERT(begin <= found && found <= end && end <= h->n);
  if (found == end) return;
  /* Relaxed: a number that only goes down; the end of the loop publishes it. */
  uintptr_t lowest = wf_word_load_relaxed(&h->x_found);
  while (found < lowest && !wf_word_cas_relaxed(&h->x_found, &lowest, found)) {
  }
}

/* Relaxed, here and below: if it is seen late, a block runs for nothing. */
static bool is_behind_match(size_t begin, const void *ctx) {
  return begin > wf_word_load_relaxed(&((const hunt *)ctx)->x_found);
}

static bool is_any_match(size_t begin, const void *ctx) {
  (void)begin;
  return wf_word_load_relaxed(&((const hunt *)ctx)->x_found) != SIZE_MAX;
}

/* The lowest match, or one of them if `any`; SIZE_MAX: there is none. */
static size_t run_hunt(const weft_opts *opts, hunt *h, bool any) {
  wf_loop loop = {hunt_block, h, any ? is_any_match : is_behind_match};
  wf_word_store_relaxed(&h->x_found, SIZE_MAX); /* nobody else sees it yet */
  (any ? wf_loop_run : wf_loop_run_from_front)(opts, h->n, &loop);
  return wf_word_load_relaxed(&h->x_found);
}

/* ---- by predicate ---- */

/* The first element for which the predicate is `wanted`, from the front or the back. */
WF_INLINE size_t match_from(const hunt *h, size_t begin, size_t end, bool wanted,
                            bool from_back) {
  weft_pred_fn *pred = h->pred;
  void *ctx = h->ctx;
  ptrdiff_t step = from_back ? -(ptrdiff_t)h->size : (ptrdiff_t)h->size;
  const char *elem = h->a + (from_back ? h->n - 1 - begin : begin) * h->size;
  for (size_t i = begin; i < end; i++, elem += step)
    if (pred(elem, ctx) == wanted) return i;
  return end;
}

WF_ALIGN_LOOPS static size_t first_match(const hunt *h, size_t begin, size_t end) {
  return match_from(h, begin, end, true, false);
}

WF_ALIGN_LOOPS static size_t last_match(const hunt *h, size_t begin, size_t end) {
  return match_from(h, begin, end, true, true);
}

/* weft_all looks for an element that does not match. */
WF_ALIGN_LOOPS static size_t first_mismatch(const hunt *h, size_t begin, size_t end) {
  return match_from(h, begin, end, false, false);
}

static size_t typed_match(const hunt *h, size_t begin, size_t end) {
  return begin + h->typed(h->a + begin * h->size, end - begin, h->ctx);
}

/* Makes NAME and NAME_with: a search by a leaf for the lowest match or any, and what the
 * call returns of the index `at`, or SIZE_MAX, that was found. */
#define DEFINE_FIND(result, name, leaf_, any, returned)                                  \
  result name##_with(const weft_opts *o, const void *base, size_t n, size_t size,        \
                     weft_pred_fn *pred, void *ctx) {                                    \
    weft_opts opts;                                                                      \
    hunt h = {.leaf = leaf_, .a = (const char *)base, .n = n, .size = size};             \
    h.pred = pred;                                                                       \
    h.ctx = ctx;                                                                         \
    wf_check_elements(base == NULL, pred == NULL, n, size, #name);                       \
    wf_par_options(&opts, o, #name);                                                     \
    size_t at = run_hunt(&opts, &h, any);                                                \
    return returned;                                                                     \
  }                                                                                      \
  WF_PLAIN_OF(result, name,                                                              \
              (const void *base, size_t n, size_t size, weft_pred_fn *pred, void *ctx),  \
              base, n, size, pred, ctx)
DEFINE_FIND(size_t, weft_find_first, first_match, false, at)
DEFINE_FIND(size_t, weft_find_last, last_match, false, at == SIZE_MAX ? at : n - 1 - at)
DEFINE_FIND(size_t, weft_find_any, first_match, true, at)
DEFINE_FIND(bool, weft_any, first_match, true, at != SIZE_MAX)
DEFINE_FIND(bool, weft_all, first_mismatch, true, at == SIZE_MAX)
DEFINE_FIND(bool, weft_none, first_match, true, at == SIZE_MAX)
#undef DEFINE_FIND

size_t wf_typed_find(const wf_typed *k, const void *a, size_t size, wf_array_leaf *leaf) {
  weft_opts opts;
  hunt h = {.leaf = typed_match, .a = (const char *)a, .n = k->n, .size = size};
  h.typed = leaf;
  h.ctx = k->ctx;
  wf_check_elements(a == NULL, false, k->n, size, k->name);
  wf_par_options(&opts, k->opts, k->name);
  return run_hunt(&opts, &h, false);
}

/* ---- comparisons ---- */

WF_ALIGN_LOOPS static size_t first_difference(const hunt *h, size_t begin, size_t end) {
  size_t at = begin * h->size;
  for (size_t i = begin; i < end; i++, at += h->size)
    if (h->cmp(h->a + at, h->b + at, h->ctx) != 0) return i;
  return end;
}

static size_t byte_difference(const hunt *h, size_t begin, size_t end) {
  size_t at = begin * h->size;
  return memcmp(h->a + at, h->b + at, (end - begin) * h->size) != 0 ? begin : end;
}

bool weft_equal_with(const weft_opts *o, const void *a, const void *b, size_t n,
                     size_t size) {
  weft_opts opts;
  hunt h = {.leaf = byte_difference, .a = (const char *)a, .b = (const char *)b, .n = n};
  h.size = size;
  wf_check_elements(a == NULL || b == NULL, false, n, size, "weft_equal");
  wf_par_options(&opts, o, "weft_equal");
  if (n == 0) return true;
  wf_array_min_len(&opts, size);
  return run_hunt(&opts, &h, true) == SIZE_MAX;
}
WF_PLAIN_OF(bool, weft_equal, (const void *a, const void *b, size_t n, size_t size), a, b,
            n, size)

bool weft_equal_by_with(const weft_opts *o, const void *a, const void *b, size_t n,
                        size_t size, weft_cmp_fn *cmp, void *ctx) {
  weft_opts opts;
  hunt h = {.leaf = first_difference, .a = (const char *)a, .b = (const char *)b, .n = n};
  h.size = size;
  h.cmp = cmp;
  h.ctx = ctx;
  wf_check_elements(a == NULL || b == NULL, cmp == NULL, n, size, "weft_equal_by");
  wf_par_options(&opts, o, "weft_equal_by");
  return run_hunt(&opts, &h, true) == SIZE_MAX;
}
WF_PLAIN_OF(bool, weft_equal_by,
            (const void *a, const void *b, size_t n, size_t size, weft_cmp_fn *cmp,
             void *ctx),
            a, b, n, size, cmp, ctx)

int weft_compare_with(const weft_opts *o, const void *a, size_t na, const void *b,
                      size_t nb, size_t size, weft_cmp_fn *cmp, void *ctx) {
  weft_opts opts;
  hunt h = {.leaf = first_difference, .a = (const char *)a, .b = (const char *)b};
  h.n = na < nb ? na : nb;
  h.size = size;
  h.cmp = cmp;
  h.ctx = ctx;
  wf_check_elements(false, cmp == NULL, h.n, size, "weft_compare");
  wf_check_elements(a == NULL, false, na, size, "weft_compare");
  wf_check_elements(b == NULL, false, nb, size, "weft_compare");
  wf_par_options(&opts, o, "weft_compare");
  size_t at = run_hunt(&opts, &h, false);
  if (at != SIZE_MAX) return cmp(h.a + at * size, h.b + at * size, ctx);
  return na < nb ? -1 : na > nb;
}
WF_PLAIN_OF(int, weft_compare,
            (const void *a, size_t na, const void *b, size_t nb, size_t size,
             weft_cmp_fn *cmp, void *ctx),
            a, na, b, nb, size, cmp, ctx)

/* ---- the smallest and the largest ---- */

typedef struct extreme_loop {
  const char *base;
  size_t size;
  weft_cmp_fn *cmp;
  void *ctx;
  bool largest;
  wf_word x_best; /* index of the best so far, or SIZE_MAX */
} extreme_loop;

/* Negative if a is better than b. */
static inline int extreme_order(const extreme_loop *e, const char *a, const char *b) {
  return e->largest ? e->cmp(b, a, e->ctx) : e->cmp(a, b, e->ctx);
}

WF_ALIGN_LOOPS static void extreme_block(size_t begin, size_t end, void *ctx) {
  extreme_loop *e = (extreme_loop *)ctx;
  const char *best = e->base + begin * e->size;
  const char *elem = best + e->size, *behind = e->base + end * e->size;
  for (; elem != behind; elem += e->size)
    if (extreme_order(e, elem, best) < 0) best = elem;
  size_t index = (size_t)(best - e->base) / e->size;
  /* Relaxed: the elements do not change; the end of the loop publishes the index. */
  uintptr_t known = wf_word_load_relaxed(&e->x_best);
  for (;;) {
    if (known != SIZE_MAX) {
      int order = extreme_order(e, best, e->base + known * e->size);
      if (order > 0 || (order == 0 && known < index)) return;
    }
    if (wf_word_cas_relaxed(&e->x_best, &known, index)) return;
  }
}

/* Makes weft_min_index and weft_max_index, each also as _with. */
#define DEFINE_EXTREME_INDEX(name, largest)                                              \
  size_t name##_with(const weft_opts *o, const void *base, size_t n, size_t size,        \
                     weft_cmp_fn *cmp, void *ctx) {                                      \
    extreme_loop e = {(const char *)base, size, cmp, ctx, largest, {SIZE_MAX}};          \
    wf_loop loop = {extreme_block, &e, NULL};                                            \
    wf_check_elements(base == NULL, cmp == NULL, n, size, #name);                        \
    wf_loop_call(o, n, &loop, #name);                                                    \
    return wf_word_load_relaxed(&e.x_best);                                              \
  }                                                                                      \
  WF_PLAIN_OF(size_t, name,                                                              \
              (const void *base, size_t n, size_t size, weft_cmp_fn *cmp, void *ctx),    \
              base, n, size, cmp, ctx)
DEFINE_EXTREME_INDEX(weft_min_index, false)
DEFINE_EXTREME_INDEX(weft_max_index, true)
#undef DEFINE_EXTREME_INDEX
