/* par/sort/order/merge.c - merging in parallel: weft_merge, and a stable merge sort that
 * needs no memory, since it exchanges blocks by rotation.
 *
 * sort.c, by_key.c and radix/typed.c call the merge sort when there is no memory,
 * partition.c for a few elements. Each part of the arrays belongs to the task that works
 * on it.
 *
 * SPDX-License-Identifier: MIT */
#include "order.h"

#include <weft/sort.h>

/* Elements that one thread merges at a time, and of which a merge goes on after it was
 * cancelled: a choice, some 10 us. */
enum { MERGE_LEAF = 4096 };

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

/* Cuts two sorted arrays so that a[0, *at_a) and b[0, *at_b) together come before all
 * the rest, about in the middle. If na + nb > 2, neither of the two parts is empty. */
static void merge_cut(const wf_sorter *s, const char *a, size_t na, const char *b,
                      size_t nb, size_t *at_a, size_t *at_b) {
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
  WF_ASSERT(*at_a <= na && *at_b <= nb);
  WF_ASSERT(na + nb <= 2 || (*at_a + *at_b > 0 && *at_a + *at_b < na + nb));
}

/* ---- merging to another array ---- */

typedef struct merge_part {
  const wf_sorter *sorter;
  char *dst;
  const char *a, *b;
  size_t na, nb;
  unsigned budget;
} merge_part;

static void merge_run(void *ctx) {
  const merge_part *p = (const merge_part *)ctx;
  const wf_sorter *s = p->sorter;
  if (wf_par_cancelled(s->opts)) return;
  bool looks = s->opts->cancel != NULL; /* at the cancellation, between parts */
  if ((p->budget <= 1 && !looks) || p->na + p->nb <= MERGE_LEAF) {
    s->loops->merge(p->dst, p->a, p->na, p->b, p->nb, s->ctx);
    return;
  }
  size_t at_a, at_b;
  merge_cut(s, p->a, p->na, p->b, p->nb, &at_a, &at_b);
  merge_part low = *p, high = *p;
  low.na = at_a;
  low.nb = at_b;
  high.dst += (at_a + at_b) * s->size;
  high.a += at_a * s->size;
  high.b += at_b * s->size;
  high.na -= at_a;
  high.nb -= at_b;
  wf_sorter_both(s, p->budget, p->budget > 1, merge_run, &low, &low.budget, &high,
                 &high.budget);
}

/* ---- merge sort by rotations, without memory ---- */

/* n log n comparisons, and log n times as many moves. */
enum {
  ROTATION_LEAF = 8,      /* elements that are sorted by insertion: a choice */
  ROTATION_FORK_MIN = 512 /* shorter parts stay with one thread, as in partition.c */
};

/* Of a merge, [0, half) and [half, n) are sorted. */
typedef struct rotation_part {
  const wf_sorter *sorter;
  char *base;
  char *payload; /* moved alike; may be NULL */
  size_t payload_size;
  size_t half, n;
  unsigned budget;
} rotation_part;

/* Exchanges [from, middle) and [middle, to). */
static void rotate_part(const rotation_part *p, size_t from, size_t middle, size_t to) {
  size_t size = p->sorter->size, extra = p->payload_size;
  WF_ASSERT(from <= middle && middle <= to && to <= p->n);
  wf_rotate(p->base + from * size, to - from, size, middle - from);
  if (p->payload != NULL && extra > 0)
    wf_rotate(p->payload + from * extra, to - from, extra, middle - from);
}

/* The n elements from `from` on. */
static rotation_part rotation_sub(const rotation_part *p, size_t from, size_t n,
                                  size_t half) {
  rotation_part sub = *p;
  WF_ASSERT(from + n <= p->n && half <= n);
  sub.base += from * p->sorter->size;
  if (sub.payload != NULL) sub.payload += from * p->payload_size;
  sub.n = n;
  sub.half = half;
  return sub;
}

static void rotation_both(const rotation_part *p, rotation_part *a, rotation_part *b,
                          weft_fn *fn) {
  wf_sorter_both(p->sorter, p->budget, p->budget > 1 && p->n >= ROTATION_FORK_MIN, fn, a,
                 &a->budget, b, &b->budget);
}

static void rotation_merge(void *ctx) {
  const rotation_part *p = (const rotation_part *)ctx;
  const wf_sorter *s = p->sorter;
  size_t left = p->half, right = p->n - p->half, at_left, at_right;
  const char *middle = p->base + left * s->size;
  if (left == 0 || right == 0) return;
  if (!wf_sorter_less(s, middle, middle - s->size)) return;
  if (p->n == 2) {
    rotate_part(p, 0, 1, 2);
    return;
  }
  if (wf_par_cancelled(s->opts)) return;
  merge_cut(s, p->base, left, middle, right, &at_left, &at_right);
  rotate_part(p, at_left, left, left + at_right);
  size_t cut = at_left + at_right;
  rotation_part low = rotation_sub(p, 0, cut, at_left);
  rotation_part high = rotation_sub(p, cut, p->n - cut, left - at_left);
  rotation_both(p, &low, &high, rotation_merge);
}

static void rotation_sort(void *ctx) {
  const rotation_part *p = (const rotation_part *)ctx;
  const wf_sorter *s = p->sorter;
  if (p->n <= ROTATION_LEAF) {
    for (size_t i = 1; i < p->n; i++) {
      const char *next = p->base + i * s->size;
      size_t to = i;
      while (to > 0 && wf_sorter_less(s, next, p->base + (to - 1) * s->size)) to--;
      if (to < i) rotate_part(p, to, i, i + 1);
    }
    return;
  }
  if (wf_par_cancelled(s->opts)) return;
  size_t half = p->n / 2;
  rotation_part low = rotation_sub(p, 0, half, 0);
  rotation_part high = rotation_sub(p, half, p->n - half, 0);
  rotation_part both = rotation_sub(p, 0, p->n, half);
  rotation_both(p, &low, &high, rotation_sort);
  rotation_merge(&both);
}

void wf_sort_by_rotations(wf_sorter *s, char *base, char *payload, size_t payload_size,
                          size_t n) {
  rotation_part whole = {s, base, payload, payload_size, 0, n, s->budget};
  rotation_sort(&whole);
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
  wf_sorter_init(&s, m->opts, wf_cmp_loops(m->by.size), m->by.size, &m->by);
  merge_part whole = {&s, m->dst, m->a, m->b, m->na, m->nb, s.budget};
  merge_run(&whole);
}

void weft_merge_with(const weft_opts *o, void *dst, const void *a, size_t na,
                     const void *b, size_t nb, size_t size, weft_cmp_fn *cmp, void *ctx) {
  weft_opts opts;
  merge_call m = {
      &opts, {cmp, ctx, size}, (char *)dst, (const char *)a, (const char *)b, na, nb};
  wf_sort_check(dst == NULL || a == NULL, cmp, na, size, "weft_merge");
  wf_sort_check(dst == NULL || b == NULL, cmp, nb, size, "weft_merge");
  wf_refuse_if(wf_is_too_large(na + nb, size), "weft_merge", WF_TOO_LARGE);
  wf_par_options(&opts, o, "weft_merge");
  /* An empty side may be NULL, to which nothing may be added, not even 0. */
  if (na == 0) m.a = m.b;
  if (nb == 0) m.b = m.a;
  if (na + nb > 0) wf_par_run_over(&opts, na + nb, merge_inside, &m);
}
WF_PLAIN(weft_merge,
         (void *dst, const void *a, size_t na, const void *b, size_t nb, size_t size,
          weft_cmp_fn *cmp, void *ctx),
         dst, a, na, b, nb, size, cmp, ctx)
