/* par/sort/order/in_place.c - sorting and selecting without memory: merge sort by
 * rotations (stable), quicksort with heap sort behind it (not stable). Slower than what
 * moves elements through a second array, with calls for each comparison and each swap.
 *
 * SPDX-License-Identifier: MIT */
#include "sort.h"

#include <weft/join.h>

enum { INPLACE_BLOCK = 8, INPLACE_FORK_MIN = 512 };

/* ---- moving bytes ---- */

static void swap_bytes(char *a, char *b, size_t bytes) {
  unsigned char copy[128];
  for (size_t done = 0, part; done < bytes; done += part) {
    part = bytes - done < sizeof copy ? bytes - done : sizeof copy;
    memcpy(copy, a + done, part);
    memcpy(a + done, b + done, part);
    memcpy(b + done, copy, part);
  }
}

/* Exchanges the first `left` bytes with the `right` bytes behind them: what fits is
 * swapped into its place, the rest is the same task once more. */
static void rotate_bytes(char *base, size_t left, size_t right) {
  while (left > 0 && right > 0) {
    if (left <= right) {
      swap_bytes(base, base + left, left);
      base += left;
      right -= left;
    } else {
      swap_bytes(base + left - right, base + left, right);
      left -= right;
    }
  }
}

/* ---- stable: merge sort by rotations ---- */

typedef struct inplace_part {
  wf_sorter *sorter;
  char *base;
  char *payload; /* moved alike; may be NULL */
  size_t payload_size;
  size_t half, n; /* of a merge: both parts' lengths are half, n - half */
  unsigned budget;
} inplace_part;

static void inplace_rotate(const inplace_part *p, size_t from, size_t left,
                           size_t right) {
  size_t size = p->sorter->size, extra = p->payload_size;
  rotate_bytes(p->base + from * size, left * size, right * size);
  if (p->payload != NULL)
    rotate_bytes(p->payload + from * extra, left * extra, right * extra);
}

/* A part of a part: n elements from `from` on. */
static inplace_part inplace_sub(const inplace_part *p, size_t from, size_t n,
                                size_t half) {
  inplace_part sub = *p;
  sub.base += from * p->sorter->size;
  if (sub.payload != NULL) sub.payload += from * p->payload_size;
  sub.n = n;
  sub.half = half;
  return sub;
}

static void inplace_both(inplace_part *a, inplace_part *b, unsigned budget, weft_fn *fn) {
  size_t n = a->n + b->n;
  bool limited = a->sorter->opts->max_workers != 0;
  if (budget > 1 && n >= INPLACE_FORK_MIN) {
    a->budget = limited ? budget - budget / 2 : budget;
    b->budget = limited ? budget / 2 : budget;
    weft_join(fn, a, fn, b);
  } else {
    a->budget = b->budget = 1;
    fn(a);
    fn(b);
  }
}

static void inplace_merge(void *ctx) {
  const inplace_part *p = (const inplace_part *)ctx;
  const wf_sorter *s = p->sorter;
  size_t left = p->half, right = p->n - p->half, at_left, at_right;
  const char *middle = p->base + left * s->size;
  if (left == 0 || right == 0) return;
  if (!wf_sorter_less(s, middle, middle - s->size)) return;
  if (p->n == 2) {
    inplace_rotate(p, 0, 1, 1);
    return;
  }
  if (wf_par_cancelled(s->opts)) return;
  wf_merge_cut(s, p->base, left, middle, right, &at_left, &at_right);
  inplace_rotate(p, at_left, left - at_left, at_right);
  size_t cut = at_left + at_right;
  inplace_part low = inplace_sub(p, 0, cut, at_left);
  inplace_part high = inplace_sub(p, cut, p->n - cut, left - at_left);
  inplace_both(&low, &high, p->budget, inplace_merge);
}

static void inplace_insertion(const inplace_part *p) {
  const wf_sorter *s = p->sorter;
  for (size_t i = 1; i < p->n; i++) {
    const char *next = p->base + i * s->size;
    size_t to = i;
    while (to > 0 && wf_sorter_less(s, next, p->base + (to - 1) * s->size)) to--;
    if (to < i) inplace_rotate(p, to, i - to, 1);
  }
}

static void inplace_merge_sort(void *ctx) {
  const inplace_part *p = (const inplace_part *)ctx;
  if (p->n <= INPLACE_BLOCK) {
    inplace_insertion(p);
    return;
  }
  if (wf_par_cancelled(p->sorter->opts)) return;
  size_t half = p->n / 2;
  inplace_part low = inplace_sub(p, 0, half, 0);
  inplace_part high = inplace_sub(p, half, p->n - half, 0);
  inplace_part both = inplace_sub(p, 0, p->n, half);
  inplace_both(&low, &high, p->budget, inplace_merge_sort);
  inplace_merge(&both);
}

void wf_inplace_stable(wf_sorter *s, char *base, char *payload, size_t payload_size,
                       size_t n) {
  inplace_part whole = {s, base, payload, payload_size, 0, n, s->budget};
  inplace_merge_sort(&whole);
}

/* ---- heap sort ---- */

static void sift_down(const wf_sorter *s, char *base, size_t at, size_t n) {
  size_t size = s->size;
  for (size_t child = 2 * at + 1; child < n; child = 2 * at + 1) {
    if (child + 1 < n &&
        wf_sorter_less(s, base + child * size, base + (child + 1) * size))
      child++;
    if (!wf_sorter_less(s, base + at * size, base + child * size)) return;
    swap_bytes(base + at * size, base + child * size, size);
    at = child;
  }
}

static void inplace_heap_sort(const wf_sorter *s, char *base, size_t n) {
  for (size_t i = n / 2; i > 0; i--) sift_down(s, base, i - 1, n);
  for (size_t left = n - 1; left > 0; left--) {
    swap_bytes(base, base + left * s->size, s->size);
    sift_down(s, base, 0, left);
    if (left % 4096 == 0 && wf_par_cancelled(s->opts)) return;
  }
}

/* ---- quicksort ---- */

static size_t median_of(const wf_sorter *s, const char *base, size_t a, size_t b,
                        size_t c) {
  size_t size = s->size;
  if (wf_sorter_less(s, base + b * size, base + a * size)) {
    size_t swap = a;
    a = b;
    b = swap;
  }
  if (!wf_sorter_less(s, base + c * size, base + b * size)) return b;
  return wf_sorter_less(s, base + c * size, base + a * size) ? a : c;
}

/* The median of three medians of three, from all over the array. */
size_t wf_inplace_pivot(const wf_sorter *s, const char *base, size_t n) {
  size_t step = n / 9;
  size_t a = median_of(s, base, 0, step, 2 * step);
  size_t b = median_of(s, base, 3 * step, 4 * step, 5 * step);
  size_t c = median_of(s, base, 6 * step, 7 * step, 8 * step);
  return median_of(s, base, a, b, c);
}

/* Three parts: [0, *less) less than the pivot, [*less, *above) equal, the rest above.
 * The pivot stands in the middle part from the start, and so at *less. */
static void inplace_three_parts(const wf_sorter *s, char *base, size_t n, size_t *less,
                                size_t *above) {
  size_t size = s->size, low = 0, at = 1, high = n;
  swap_bytes(base, base + wf_inplace_pivot(s, base, n) * size, size);
  while (at < high) {
    char *element = base + at * size, *pivot = base + low * size;
    if (wf_sorter_less(s, element, pivot)) {
      swap_bytes(element, pivot, size);
      low++;
      at++;
      /* What was swapped to `at` is the pivot, or its equal. */
    } else if (wf_sorter_less(s, pivot, element)) {
      high--;
      swap_bytes(element, base + high * size, size);
    } else {
      at++;
    }
  }
  *less = low;
  *above = high;
}

typedef struct quick_part {
  wf_sorter *sorter;
  char *base;
  size_t n;
  unsigned bad; /* so many bad pivots are left */
  unsigned budget;
} quick_part;

unsigned wf_bad_pivots(size_t n) {
  unsigned bits = 1;
  while (n > 1) {
    n /= 2;
    bits++;
  }
  return bits / 2;
}

static void inplace_quick_sort(void *ctx) {
  quick_part p = *(const quick_part *)ctx;
  wf_sorter *s = p.sorter;
  while (p.n > 16) {
    size_t less, above;
    if (wf_par_cancelled(s->opts)) return;
    if (p.bad == 0) {
      inplace_heap_sort(s, p.base, p.n);
      return;
    }
    inplace_three_parts(s, p.base, p.n, &less, &above);
    size_t upper = p.n - above;
    if (less + upper >= p.n / 8 && (less < p.n / 8 || upper < p.n / 8)) p.bad--;
    bool limited = s->opts->max_workers != 0;
    quick_part small = p;
    quick_part large = p;
    small.n = less;
    large.base += above * s->size;
    large.n = upper;
    if (small.n > large.n) {
      quick_part swap = small;
      small = large;
      large = swap;
    }
    if (p.budget > 1 && p.n >= INPLACE_FORK_MIN) {
      small.budget = limited ? p.budget / 2 : p.budget;
      large.budget = limited ? p.budget - p.budget / 2 : p.budget;
      weft_join(inplace_quick_sort, &large, inplace_quick_sort, &small);
      return;
    }
    inplace_quick_sort(&small); /* at most half: the depth is logarithmic */
    p = large;
  }
  inplace_part few = {s, p.base, NULL, 0, 0, p.n, 1};
  inplace_insertion(&few);
}

void wf_inplace_sort(wf_sorter *s, char *base, size_t n) {
  quick_part whole = {s, base, n, wf_bad_pivots(n), s->budget};
  inplace_quick_sort(&whole);
}

void wf_inplace_select(wf_sorter *s, char *base, size_t n, size_t nth) {
  unsigned bad = wf_bad_pivots(n);
  while (n > 16) {
    size_t less, above;
    if (wf_par_cancelled(s->opts)) return;
    if (bad == 0) {
      inplace_heap_sort(s, base, n);
      return;
    }
    inplace_three_parts(s, base, n, &less, &above);
    size_t left = nth < less ? less : nth >= above ? n - above : 0;
    if (left > n - n / 8) bad--;
    if (left == 0) return;
    if (nth >= above) {
      base += above * s->size;
      nth -= above;
    }
    n = left;
  }
  inplace_part few = {s, base, NULL, 0, 0, n, 1};
  inplace_insertion(&few);
}
