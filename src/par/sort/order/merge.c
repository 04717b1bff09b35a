/* par/sort/order/merge.c - merging in parallel, and a merge sort made of it.
 *
 * SPDX-License-Identifier: MIT */
#include "sort.h"

#include <weft/join.h>
#include <weft/sort.h>

enum { MERGE_LEAF = 4096, MERGE_SORT_LEAF = 1024 };

/* How many elements at the front of the sorted array come before the element: those that
 * are less, or also those that are equal. */
static size_t count_before(const wf_sorter *s, const char *sorted, size_t n,
                           const char *element, bool or_equal) {
  size_t from = 0, to = n;
  while (from < to) {
    size_t mid = from + (to - from) / 2;
    const char *at = sorted + mid * s->size;
    bool before =
        or_equal ? !wf_sorter_less(s, element, at) : wf_sorter_less(s, at, element);
    if (before)
      from = mid + 1;
    else
      to = mid;
  }
  return from;
}

void wf_merge_cut(const wf_sorter *s, const char *a, size_t na, const char *b, size_t nb,
                  size_t *at_a, size_t *at_b) {
  if (na >= nb) {
    /* The element of a itself goes to the upper part, all of b that equals it too. */
    size_t mid = na / 2;
    *at_a = mid;
    *at_b = count_before(s, b, nb, a + mid * s->size, false);
  } else {
    size_t mid = nb / 2;
    *at_b = mid;
    *at_a = count_before(s, a, na, b + mid * s->size, true);
  }
}

typedef struct merge_part {
  wf_sorter *sorter;
  char *dst;
  const char *a, *b;
  size_t na, nb;
  unsigned budget;
  bool may_stop; /* when cancelled: of a sort it must not, or elements would get lost */
} merge_part;

static void merge_run_part(void *ctx) {
  merge_part *p = (merge_part *)ctx;
  wf_sorter *s = p->sorter;
  if (p->may_stop && wf_par_cancelled(s->opts)) return;
  if ((p->budget <= 1 && !p->may_stop) || p->na + p->nb <= MERGE_LEAF) {
    s->kernel->merge(p->dst, p->a, p->na, p->b, p->nb, s->ctx);
    return;
  }
  size_t at_a, at_b;
  wf_merge_cut(s, p->a, p->na, p->b, p->nb, &at_a, &at_b);
  /* All of a pool's threads may come and go; a limited number of them is divided. */
  unsigned half = s->opts->max_workers != 0 ? p->budget / 2 : p->budget;
  unsigned rest = s->opts->max_workers != 0 ? p->budget - half : p->budget;
  merge_part low = {s, p->dst, p->a, p->b, at_a, at_b, rest, p->may_stop};
  merge_part high = {s,
                     p->dst + (at_a + at_b) * s->size,
                     p->a + at_a * s->size,
                     p->b + at_b * s->size,
                     p->na - at_a,
                     p->nb - at_b,
                     half,
                     p->may_stop};
  if (p->budget > 1) {
    weft_join(merge_run_part, &low, merge_run_part, &high);
  } else { /* only to look at cancellation between the two */
    low.budget = high.budget = 1;
    merge_run_part(&low);
    merge_run_part(&high);
  }
}

void wf_merge_run(wf_sorter *s, char *dst, const char *a, size_t na, const char *b,
                  size_t nb, unsigned budget) {
  merge_part whole = {s, dst, a, b, na, nb, budget, false};
  merge_run_part(&whole);
}

/* ---- merge sort ---- */

typedef struct merge_sort_part {
  wf_sorter *sorter;
  char *data, *spare;
  size_t n;
  bool to_spare;
  unsigned budget;
} merge_sort_part;

static void merge_sort_run(void *ctx) {
  merge_sort_part *p = (merge_sort_part *)ctx;
  wf_sorter *s = p->sorter;
  if (wf_par_cancelled(s->opts)) {
    if (p->to_spare) memcpy(p->spare, p->data, p->n * s->size);
    return;
  }
  if (p->n <= MERGE_SORT_LEAF) {
    s->kernel->sort(p->data, p->spare, p->n, p->to_spare, s->ctx);
    return;
  }
  size_t half = p->n / 2, bytes = half * s->size;
  unsigned budget = s->opts->max_workers != 0 ? p->budget / 2 : p->budget;
  unsigned rest = s->opts->max_workers != 0 ? p->budget - budget : p->budget;
  merge_sort_part low = {s, p->data, p->spare, half, !p->to_spare, rest};
  merge_sort_part high = {s,           p->data + bytes, p->spare + bytes,
                          p->n - half, !p->to_spare,    budget};
  if (p->budget > 1 && p->n >= WF_SORT_FORK_MIN) {
    weft_join(merge_sort_run, &low, merge_sort_run, &high);
  } else {
    low.budget = high.budget = 1;
    merge_sort_run(&low);
    merge_sort_run(&high);
  }
  const char *from = p->to_spare ? p->data : p->spare;
  wf_merge_run(s, p->to_spare ? p->spare : p->data, from, half, from + bytes, p->n - half,
               p->budget);
}

void wf_merge_sort(wf_sorter *s, char *data, char *spare, size_t n, bool to_spare,
                   unsigned budget) {
  merge_sort_part whole = {s, data, spare, n, to_spare, budget};
  merge_sort_run(&whole);
}

/* ---- weft_merge ---- */

typedef struct merge_call {
  const weft_opts *opts;
  wf_by_cmp by;
  char *dst;
  const char *a, *b;
  size_t na, nb;
} merge_call;

static void merge_inside(void *ctx) {
  merge_call *m = (merge_call *)ctx;
  wf_sorter s;
  wf_sorter_init(&s, m->opts, wf_cmp_kernel(m->by.size), m->by.size, &m->by);
  merge_part whole = {&s,    m->dst, m->a,     m->b,
                      m->na, m->nb,  s.budget, m->opts->cancel != NULL};
  merge_run_part(&whole);
}

void weft_merge_with(const weft_opts *o, void *dst, const void *a, size_t na,
                     const void *b, size_t nb, size_t size, weft_cmp_fn *cmp, void *ctx) {
  weft_opts opts;
  merge_call m = {
      &opts, {cmp, ctx, size}, (char *)dst, (const char *)a, (const char *)b, na, nb};
  wf_sort_check(dst == NULL || a == NULL, cmp, na, size, "weft_merge");
  wf_sort_check(dst == NULL || b == NULL, cmp, nb, size, "weft_merge");
  wf_par_options(&opts, o, "weft_merge");
  /* An empty side may be NULL, to which nothing may be added, not even 0. */
  if (na == 0) m.a = m.b;
  if (nb == 0) m.b = m.a;
  if (na + nb > 0) wf_par_run(&opts, merge_inside, &m);
}

void weft_merge(void *dst, const void *a, size_t na, const void *b, size_t nb,
                size_t size, weft_cmp_fn *cmp, void *ctx) {
  weft_merge_with(NULL, dst, a, na, b, nb, size, cmp, ctx);
}
