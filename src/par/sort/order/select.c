/* par/sort/order/select.c - weft_nth_element and weft_partial_sort, which divide the
 * array in place (partition.c) instead of sorting it; and weft_is_sorted.
 *
 * Called by programs; sort.c and partition.c ask wf_sorter_is_run before they sort. The
 * sorter is in the frame of the call. Threads that look for order only read the array;
 * the one word that they write is x_broken.
 *
 * SPDX-License-Identifier: MIT */
#include "order.h"

#include <weft/sort.h>

/* ---- is it sorted? ---- */

typedef struct run_look {
  const wf_sorter *sorter;
  const char *base;
  bool falls;
  wf_word x_broken; /* a block was found that is not in order */
} run_look;

/* The block with the element in front of it. */
static void look_at_block(size_t begin, size_t end, void *ctx) {
  run_look *l = (run_look *)ctx;
  const wf_sorter *s = l->sorter;
  bool falls;
  size_t n = end - begin + 1; /* pair i is elements i and i + 1 */
  size_t run = s->loops->run(l->base + begin * s->size, n, &falls, s->ctx);
  /* Relaxed: nothing else is published; the end of the loop orders it. */
  if (run < n || falls != l->falls) wf_word_store_relaxed(&l->x_broken, 1);
}

static bool is_broken(size_t begin, const void *ctx) {
  const run_look *l = (const run_look *)ctx;
  (void)begin;
  return wf_word_load_relaxed(&l->x_broken) != 0; /* seen late: a block too many */
}

bool wf_sorter_is_run(wf_sorter *s, const char *base, size_t n, bool falls) {
  run_look l = {.sorter = s, .base = base, .falls = falls};
  wf_loop loop = {look_at_block, &l, is_broken};
  if (n < 2) return true;
  wf_loop_run(&s->inner, n - 1, &loop);
  return wf_word_load_relaxed(&l.x_broken) == 0; /* the loop is over */
}

/* ---- calls ---- */

typedef struct select_call {
  const weft_opts *opts;
  wf_by_cmp by;
  char *base;
  size_t n, nth;
  bool is_sorted; /* the result of weft_is_sorted */
} select_call;

static void is_sorted_inside(void *ctx) {
  select_call *c = (select_call *)ctx;
  wf_sorter s;
  wf_sorter_init(&s, c->opts, wf_cmp_loops(c->by.size), c->by.size, &c->by);
  s.inner.cancel = c->opts->cancel;
  c->is_sorted = wf_sorter_is_run(&s, c->base, c->n, false);
}

bool weft_is_sorted_with(const weft_opts *o, const void *base, size_t n, size_t size,
                         weft_cmp_fn *cmp, void *ctx) {
  weft_opts opts;
  select_call c = {&opts, {cmp, ctx, size}, (char *)(uintptr_t)base, n, 0, true};
  wf_sort_check(base == NULL, cmp, n, size, "weft_is_sorted");
  wf_par_options(&opts, o, "weft_is_sorted");
  if (n > 1) wf_par_run_over(&opts, n, is_sorted_inside, &c);
  return c.is_sorted;
}
WF_PLAIN_OF(bool, weft_is_sorted,
            (const void *base, size_t n, size_t size, weft_cmp_fn *cmp, void *ctx), base,
            n, size, cmp, ctx)

/* ---- the nth element ---- */

static void nth_inside(void *ctx) {
  select_call *c = (select_call *)ctx;
  wf_sorter s;
  wf_sorter_init(&s, c->opts, wf_cmp_loops(c->by.size), c->by.size, &c->by);
  wf_quick_select(&s, c->base, c->n, c->nth);
}

static void nth_call(const weft_opts *o, void *base, size_t n, size_t nth, size_t size,
                     weft_cmp_fn *cmp, void *ctx, const char *call) {
  weft_opts opts;
  select_call c = {&opts, {cmp, ctx, size}, (char *)base, n, nth, false};
  wf_sort_check(base == NULL, cmp, n, size, call);
  wf_par_options(&opts, o, call);
  if (nth < n && n > 1) wf_par_run_over(&opts, n, nth_inside, &c);
}

void weft_nth_element_with(const weft_opts *o, void *base, size_t n, size_t size,
                           size_t nth, weft_cmp_fn *cmp, void *ctx) {
  nth_call(o, base, n, nth, size, cmp, ctx, "weft_nth_element");
}
WF_PLAIN(weft_nth_element,
         (void *base, size_t n, size_t size, size_t nth, weft_cmp_fn *cmp, void *ctx),
         base, n, size, nth, cmp, ctx)

/* ---- partial sort ---- */

void weft_partial_sort_with(const weft_opts *o, void *base, size_t n, size_t size,
                            size_t k, weft_cmp_fn *cmp, void *ctx) {
  if (k > n) k = n;
  nth_call(o, base, n, k, size, cmp, ctx, "weft_partial_sort"); /* nothing if k == n */
  weft_sort_with(o, base, k, size, cmp, ctx);
}
WF_PLAIN(weft_partial_sort,
         (void *base, size_t n, size_t size, size_t k, weft_cmp_fn *cmp, void *ctx), base,
         n, size, k, cmp, ctx)
