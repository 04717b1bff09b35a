/* par/sort/order/sort.c - the calls that sort by an order: weft_sort, weft_sort_stable,
 * and wf_sort_by_loops for functions that WEFT_SORT makes. Here is chosen how: see
 * sort_inside.
 *
 * SPDX-License-Identifier: MIT */
#include "order.h"

#include <weft/array.h>
#include <weft/sort.h>
#include <weft/typed_sort.h>

/* Arrays up to SORT_STACK_BYTES need no memory but the stack. Up to DIRECT_MOST elements,
 * some 20 us of work, are sorted without entering a pool. Both are choices. */
enum { SORT_STACK_BYTES = 1024, DIRECT_MOST = 1024 };

/* ---- loops for comparators: by size, so that copies have constant lengths ---- */

static bool less_by_cmp(const void *a, const void *b, void *ctx) {
  const wf_by_cmp *by = (const wf_by_cmp *)ctx;
  return by->cmp(a, b, by->ctx) < 0;
}

WF_SORT_LOOPS(cmp_any, 0, ((const wf_by_cmp *)ctx)->size, less_by_cmp)
WF_SORT_LOOPS(cmp_4, 4, 4, less_by_cmp)
WF_SORT_LOOPS(cmp_8, 8, 8, less_by_cmp)
WF_SORT_LOOPS(cmp_16, 16, 16, less_by_cmp)
WF_SORT_LOOPS(cmp_24, 24, 24, less_by_cmp)
WF_SORT_LOOPS(cmp_32, 32, 32, less_by_cmp)

const wf_sort_loops *wf_cmp_loops(size_t size) {
  static const wf_sort_loops *const loops[] = {[4] = &cmp_4_loops_,
                                               [8] = &cmp_8_loops_,
                                               [16] = &cmp_16_loops_,
                                               [24] = &cmp_24_loops_,
                                               [32] = &cmp_32_loops_};
  return size <= 32 && loops[size] != NULL ? loops[size] : &cmp_any_loops_;
}

void wf_sort_check(bool no_array, weft_cmp_fn *cmp, size_t n, size_t size,
                   const char *call) {
  if (n == 0) return;
  if (WF_UNLIKELY(cmp == NULL)) wf_fatal(call, "the comparator is NULL");
  if (WF_UNLIKELY(size == 0)) wf_fatal(call, "the size of an element is 0");
  if (WF_UNLIKELY(no_array)) wf_fatal(call, "an array is NULL");
  if (WF_UNLIKELY(wf_is_too_large(n, size))) wf_fatal(call, WF_TOO_LARGE);
}

/* ---- the call under way ---- */

void wf_sorter_init(wf_sorter *s, const weft_opts *opts, const wf_sort_loops *loops,
                    size_t size, void *ctx) {
  const weft_opts plain = WEFT_OPTS_INIT;
  s->loops = loops;
  s->ctx = ctx;
  s->size = size;
  s->opts = opts;
  s->by_cmp = loops->less == less_by_cmp;
  s->guesses = s->by_cmp ? WF_GUESS_CONFIRM : WF_GUESS_NOTHING;
  s->inner = plain;
  s->inner.pool = opts->pool;
  s->inner.max_workers = opts->max_workers;
  s->budget = wf_par_crew(opts);
  WF_ASSERT(size > 0 && s->budget >= 1);
}

wf_sorter wf_sorter_part(const wf_sorter *s, unsigned budget) {
  wf_sorter part = *s;
  WF_ASSERT(budget >= 1 && budget <= s->budget);
  part.budget = budget;
  if (s->opts->max_workers != 0) part.inner.max_workers = budget;
  return part;
}

bool wf_sort_moving(wf_sorter *s, char *base, size_t n) {
  size_t bytes = n * s->size, aligned = (bytes + 7) / 8 * 8;
  WF_ASSERT(s->size <= WF_SORT_LARGEST);
  if (bytes <= SORT_STACK_BYTES) {
    char spare[SORT_STACK_BYTES] __attribute__((aligned(64)));
    s->loops->sort(base, spare, n, false, s->ctx);
    return true;
  }
  if (n > (SIZE_MAX - aligned) / sizeof(uint16_t)) return false;
  wf_scratch scratch = wf_scratch_get(aligned + n * sizeof(uint16_t));
  char *spare = (char *)scratch.memory;
  if (spare == NULL) return false;
  WF_ASSERT((uintptr_t)spare % 64 == 0); /* as any type of element may ask for */
  wf_sample_sort(s, base, spare, (uint16_t *)(void *)(spare + aligned), n);
  wf_scratch_put(scratch);
  return true;
}

bool wf_sort_by_looking(wf_sorter *s, char *base, size_t n) {
  enum { LOOK = 64 }; /* elements at the front that decide whether to go on: a choice */
  bool falls;
  if (n < DIRECT_MOST) return false;
  if (s->loops->run(base, LOOK, &falls, s->ctx) < LOOK) return false;
  if (!wf_sorter_is_run(s, base, n, falls)) return false;
  if (falls) weft_reverse_with(&s->inner, base, n, s->size);
  return true;
}

/* ---- the calls ---- */

typedef struct sort_call {
  weft_opts opts;
  const wf_sort_loops *loops;
  void *ctx;
  char *base;
  size_t n, size;
  bool stable;
} sort_call;

/* In this order: nothing to do but to reverse; few different elements, in place;
 * distribution, which is the quickest for many different ones, stable or not; with little
 * memory quicksort, or merge sort without any. Large elements are not moved often: their
 * indices are sorted by distribution. */
static void sort_inside(void *ctx) {
  const sort_call *c = (const sort_call *)ctx;
  wf_sorter s;
  wf_sorter_init(&s, &c->opts, c->loops, c->size, c->ctx);
  if (!c->stable) s.guesses = WF_GUESS_TRUST;
  if (wf_par_cancelled(&c->opts) || wf_sort_by_looking(&s, c->base, c->n)) return;
  if (c->size > WF_SORT_LARGEST) {
    if (wf_sort_by_index(&s, c->base, NULL, 0, c->n)) return;
  } else {
    if (!c->stable && wf_sort_few_kinds(&s, c->base, c->n)) return;
    if (wf_sort_moving(&s, c->base, c->n)) return;
  }
  if (c->stable)
    wf_sort_by_rotations(&s, c->base, NULL, 0, c->n);
  else
    wf_quick_sort(&s, c->base, c->n);
}

static void sort_start(const weft_opts *o, sort_call *c, const char *call) {
  wf_par_options(&c->opts, o, call);
  if (c->n < 2) return;
  if (c->n <= DIRECT_MOST && c->opts.pool == NULL)
    sort_inside(c);
  else
    wf_par_run_over(&c->opts, c->n, sort_inside, c);
}

static void sort_by_cmp(const weft_opts *o, void *base, size_t n, size_t size,
                        weft_cmp_fn *cmp, void *ctx, bool stable, const char *call) {
  wf_by_cmp by = {cmp, ctx, size};
  sort_call c = {{0}, wf_cmp_loops(size), &by, (char *)base, n, size, stable};
  wf_sort_check(base == NULL, cmp, n, size, call);
  sort_start(o, &c, call);
}

void wf_sort_by_loops(const weft_opts *o, void *base, size_t n,
                      const wf_sort_loops *loops, void *ctx, bool stable,
                      const char *call) {
  sort_call c = {{0}, loops, ctx, (char *)base, n, loops->size, stable};
  if (WF_UNLIKELY(base == NULL && n > 0)) wf_fatal(call, "an array is NULL");
  if (WF_UNLIKELY(wf_is_too_large(n, loops->size))) wf_fatal(call, WF_TOO_LARGE);
  sort_start(o, &c, call);
}

void weft_sort_with(const weft_opts *o, void *base, size_t n, size_t size,
                    weft_cmp_fn *cmp, void *ctx) {
  sort_by_cmp(o, base, n, size, cmp, ctx, false, "weft_sort");
}
WF_PLAIN(weft_sort, (void *base, size_t n, size_t size, weft_cmp_fn *cmp, void *ctx),
         base, n, size, cmp, ctx)

void weft_sort_stable_with(const weft_opts *o, void *base, size_t n, size_t size,
                           weft_cmp_fn *cmp, void *ctx) {
  sort_by_cmp(o, base, n, size, cmp, ctx, true, "weft_sort_stable");
}
WF_PLAIN(weft_sort_stable,
         (void *base, size_t n, size_t size, weft_cmp_fn *cmp, void *ctx), base, n, size,
         cmp, ctx)
