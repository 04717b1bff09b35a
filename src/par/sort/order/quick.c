/* par/sort/order/quick.c - what sorts if there is no memory for a second array, and the
 * order of equal elements does not matter: quicksort, in place, until parts are of some
 * megabytes; these are sorted by distribution, with a little memory that is used again
 * and again.
 *
 * A part whose pivot equals the element in front of it, the pivot of an earlier round,
 * has no lesser elements: then all that are equal are moved to the front and done. After
 * too many bad pivots distribution, or merge sort, sorts the part as it is.
 *
 * SPDX-License-Identifier: MIT */
#include "sort.h"

#include <weft/join.h>

/* Parts of so many bytes are left to distribution, measured; and so many elements are
 * divided by one thread. */
enum { QUICK_LEAF_BYTES = 1 << 22, QUICK_SPLIT_MIN = 1 << 15 };

typedef struct quick_range {
  wf_sorter *sorter;
  char *base;
  size_t n;
  bool has_floor; /* base[-1] is an element that is not greater than any of these */
  unsigned bad;   /* so many bad pivots are left */
  unsigned budget;
} quick_range;

static void quick_leaf(const quick_range *q) {
  wf_sorter alone = *q->sorter;
  alone.budget = q->budget; /* matters for large parts only */
  if (alone.opts->max_workers != 0) alone.inner.max_workers = q->budget;
  if (!wf_sort_moving(&alone, q->base, q->n)) wf_inplace_sort(&alone, q->base, q->n);
}

static void swap_with(char *a, char *b, size_t size) {
  unsigned char copy[WF_SORT_LARGEST];
  if (a == b) return;
  memcpy(copy, a, size);
  memcpy(a, b, size);
  memcpy(b, copy, size);
}

/* ---- partition by several threads ---- */

typedef struct quick_split {
  const wf_sorter *sorter;
  char *base;
  size_t n;
  const char *pivot;
  bool or_equal;
  unsigned budget;
  size_t front; /* the result */
} quick_split;

typedef struct quick_exchange {
  char *a, *b;
  size_t size;
} quick_exchange;

static void exchange_block(size_t begin, size_t end, void *ctx) {
  const quick_exchange e = *(const quick_exchange *)ctx;
  unsigned char copy[512];
  for (size_t at = begin * e.size, part; at < end * e.size; at += part) {
    part = end * e.size - at < sizeof copy ? end * e.size - at : sizeof copy;
    memcpy(copy, e.a + at, part);
    memcpy(e.a + at, e.b + at, part);
    memcpy(e.b + at, copy, part);
  }
}

/* Both halves at the same time; then the rear of the first and the front of the second
 * change places, as far as both reach. */
static void quick_partition(void *ctx) {
  quick_split *q = (quick_split *)ctx;
  const wf_sorter *s = q->sorter;
  if (q->budget <= 1 || q->n <= QUICK_SPLIT_MIN) {
    q->front = s->kernel->partition(q->base, q->n, q->pivot, q->or_equal, s->ctx);
    return;
  }
  size_t half = q->n / 2;
  quick_split a = *q, b = *q;
  a.n = half;
  a.budget = q->budget - q->budget / 2;
  b.base += half * s->size;
  b.n = q->n - half;
  b.budget = q->budget / 2;
  weft_join(quick_partition, &a, quick_partition, &b);
  size_t rear = half - a.front, count = rear < b.front ? rear : b.front;
  quick_exchange e = {q->base + a.front * s->size,
                      q->base + (half + b.front - count) * s->size, s->size};
  wf_loop loop = {exchange_block, &e, NULL};
  if (s->opts->max_workers == 0)
    wf_loop_run(&s->inner, count, &loop);
  else
    exchange_block(0, count, &e);
  q->front = a.front + b.front;
}

size_t wf_quick_divide(const wf_sorter *s, char *base, size_t n, const char *pivot,
                       bool or_equal, unsigned budget) {
  quick_split split = {s, base, n, pivot, or_equal, budget, 0};
  quick_partition(&split);
  return split.front;
}

/* Cuts into [0, *low) and [*high, n); what is between is in its place. */
static void quick_cut(const quick_range *q, size_t *low, size_t *high) {
  const wf_sorter *s = q->sorter;
  size_t size = s->size;
  unsigned char pivot[WF_SORT_LARGEST] __attribute__((aligned(64)));
  swap_with(q->base, q->base + wf_inplace_pivot(s, q->base, q->n) * size, size);
  memcpy(pivot, q->base, size);
  bool or_equal = q->has_floor && !wf_sorter_less(s, q->base - size, q->base);
  size_t front = wf_quick_divide(s, q->base + size, q->n - 1, (const char *)pivot,
                                 or_equal, q->budget);
  if (or_equal) {
    *low = 0;
  } else {
    swap_with(q->base, q->base + front * size, size);
    *low = front;
  }
  *high = front + 1;
}

static void quick_run(void *ctx) {
  quick_range q = *(const quick_range *)ctx;
  wf_sorter *s = q.sorter;
  bool limited = s->opts->max_workers != 0;
  while (q.n > QUICK_LEAF_BYTES / s->size && q.bad > 0) {
    size_t low, high;
    if (wf_par_cancelled(s->opts)) return;
    quick_cut(&q, &low, &high);
    quick_range front = q, rear = q;
    front.n = low;
    rear.base += high * s->size;
    rear.n = q.n - high;
    rear.has_floor = true;
    size_t larger = low > rear.n ? low : rear.n;
    if (larger > q.n - q.n / 8) front.bad = rear.bad = q.bad - 1;
    if (q.budget > 1) {
      front.budget = limited ? q.budget / 2 : q.budget;
      rear.budget = limited ? q.budget - q.budget / 2 : q.budget;
      weft_join(quick_run, &rear, quick_run, &front);
      return;
    }
    bool front_first = front.n < rear.n; /* at most half: the depth is logarithmic */
    quick_run(front_first ? &front : &rear);
    q = front_first ? rear : front;
  }
  if (q.n > 1) quick_leaf(&q);
}

void wf_quick_sort(wf_sorter *s, char *base, size_t n) {
  quick_range whole = {s, base, n, false, wf_bad_pivots(n), s->budget};
  quick_run(&whole);
}
