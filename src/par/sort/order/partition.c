/* par/sort/order/partition.c - what sorts and selects in place, where the order of equal
 * elements does not matter: by moving what comes before one element to the front.
 *
 *     wf_sort_few_kinds  arrays of few different elements, with any memory
 *     wf_quick_sort      if there is no memory for a second array
 *     wf_quick_select    the nth element
 *
 * Called by sort.c and select.c, inside the pool. A part of the array belongs to the task
 * that works on it.
 *
 * SPDX-License-Identifier: MIT */
#include "order.h"

enum {
  /* Fewer elements are divided by one thread: a choice, some 50 us of work. */
  SPLIT_MIN = 1 << 15,
  /* Parts of quicksort up to this size are left to distribution: they fit into caches of
   * two levels, and so much memory can be had nearly always. Measured when quicksort was
   * the usual method, see docs/investigations/sorting-records.md. */
  QUICK_LEAF_BYTES = 1 << 22,
  /* Parts of this length are not divided further: a choice, as in most libraries. */
  QUICK_LEAF = 16,
  /* A pivot is bad if it leaves less than this part of the elements on one side: as in
   * pattern-defeating quicksort. */
  BAD_PART = 8,
  /* Shorter parts are sorted by one thread. A choice: about 4600 comparisons, which take
   * microseconds, beside a fork, which takes nanoseconds. */
  QUICK_FORK_MIN = 512
};

/* ---- partition by several threads ---- */

typedef struct split_part {
  const wf_sorter *sorter;
  char *base;
  size_t n;
  const char *pivot;
  bool or_equal;
  unsigned budget;
  size_t front; /* the result: how many elements came to the front */
} split_part;

typedef struct exchange {
  char *a, *b;
  size_t size;
} exchange;

static void exchange_block(size_t begin, size_t end, void *ctx) {
  const exchange *e = (const exchange *)ctx;
  wf_swap_bytes(e->a + begin * e->size, e->b + begin * e->size, (end - begin) * e->size);
}

/* Both halves at the same time; then the rear of the first and the front of the second
 * change places, as far as both reach. */
static void split_run(void *ctx) {
  split_part *p = (split_part *)ctx;
  const wf_sorter *s = p->sorter;
  if (p->budget <= 1 || p->n <= SPLIT_MIN) {
    p->front = s->loops->partition(p->base, p->n, p->pivot, p->or_equal, s->ctx);
    WF_ASSERT(p->front <= p->n);
    return;
  }
  size_t half = p->n / 2;
  split_part a = *p, b = *p;
  a.n = half;
  a.budget = p->budget - p->budget / 2;
  b.base += half * s->size;
  b.n = p->n - half;
  b.budget = p->budget / 2;
  weft_join(split_run, &a, split_run, &b);
  size_t rear = half - a.front, count = rear < b.front ? rear : b.front;
  exchange e = {p->base + a.front * s->size, p->base + (half + b.front - count) * s->size,
                s->size};
  wf_loop loop = {exchange_block, &e, NULL};
  if (s->opts->max_workers == 0)
    wf_loop_run(&s->inner, count, &loop);
  else
    exchange_block(0, count, &e);
  p->front = a.front + b.front;
}

/* As `partition` of the loops, with as many threads as the budget allows. */
static size_t split(const wf_sorter *s, char *base, size_t n, const char *pivot,
                    bool or_equal, unsigned budget) {
  split_part whole = {s, base, n, pivot, or_equal, budget, 0};
  split_run(&whole);
  WF_ASSERT(whole.front <= n);
  return whole.front;
}

/* ---- quicksort ---- */

/* A part of the array. If has_floor, base[-1] is an element that is not greater than any
 * of these: the pivot of an earlier round. Once `bad` more pivots were bad, the part is
 * sorted in another way, so the number of comparisons stays O(n log n). */
typedef struct quick_part {
  wf_sorter *sorter;
  char *base;
  size_t n;
  bool has_floor;
  unsigned bad;
  unsigned budget;
} quick_part;

static quick_part quick_whole(wf_sorter *s, char *base, size_t n) {
  return (quick_part){s, base, n, false, wf_log2(n) / 2 + 1, s->budget};
}

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

/* The median of three medians of three, from all over the array; n >= 9. */
static size_t choose_pivot(const wf_sorter *s, const char *base, size_t n) {
  size_t step = n / 9;
  size_t a = median_of(s, base, 0, step, 2 * step);
  size_t b = median_of(s, base, 3 * step, 4 * step, 5 * step);
  size_t c = median_of(s, base, 6 * step, 7 * step, 8 * step);
  size_t pivot = median_of(s, base, a, b, c);
  WF_ASSERT(n >= 9 && pivot < n);
  return pivot;
}

/* Cuts into [0, *low) and [*high, n); what is between is in its place. If the pivot
 * equals the floor, nothing is less than it: then all that are equal come to the front
 * and are done. */
static void quick_cut(const quick_part *p, size_t pivot_at, size_t *low, size_t *high) {
  const wf_sorter *s = p->sorter;
  size_t size = s->size;
  char *pivot = p->base; /* stays there while the others are divided */
  WF_ASSERT(pivot_at < p->n);
  wf_swap_bytes(pivot, p->base + pivot_at * size, size);
  bool or_equal = p->has_floor && !wf_sorter_less(s, pivot - size, pivot);
  size_t front = split(s, p->base + size, p->n - 1, pivot, or_equal, p->budget);
  if (!or_equal) wf_swap_bytes(pivot, p->base + front * size, size);
  *low = or_equal ? 0 : front;
  *high = front + 1;
  WF_ASSERT(*low < *high && *high <= p->n);
}

/* By distribution, or a merge sort in a frame of the stack. False if there is no memory,
 * unless it may be done without, by rotations. */
static bool quick_leaf(const quick_part *p, bool or_without_memory) {
  wf_sorter part = wf_sorter_part(p->sorter, p->budget);
  if (part.size <= WF_SORT_LARGEST && wf_sort_moving(&part, p->base, p->n)) return true;
  if (or_without_memory) wf_sort_by_rotations(&part, p->base, NULL, 0, p->n);
  return or_without_memory;
}

static void quick_run(void *ctx) {
  quick_part p = *(const quick_part *)ctx;
  wf_sorter *s = p.sorter;
  while (p.n > QUICK_LEAF && p.bad > 0) {
    size_t low, high;
    if (wf_par_cancelled(s->opts)) return;
    if (p.n <= QUICK_LEAF_BYTES / s->size && quick_leaf(&p, false)) return;
    quick_cut(&p, choose_pivot(s, p.base, p.n), &low, &high);
    quick_part front = p, rear = p;
    front.n = low;
    rear.base += high * s->size;
    rear.n = p.n - high;
    rear.has_floor = true;
    size_t larger = low > rear.n ? low : rear.n;
    if (larger > p.n - p.n / BAD_PART) front.bad = rear.bad = p.bad - 1;
    if (p.budget > 1 && p.n >= QUICK_FORK_MIN) {
      wf_sorter_both(s, p.budget, true, quick_run, &rear, &rear.budget, &front,
                     &front.budget);
      return;
    }
    bool front_first = front.n < rear.n; /* at most half: the depth is logarithmic */
    quick_run(front_first ? &front : &rear);
    p = front_first ? rear : front;
  }
  quick_leaf(&p, true);
}

void wf_quick_sort(wf_sorter *s, char *base, size_t n) {
  quick_part whole = quick_whole(s, base, n);
  quick_run(&whole);
}

/* An element that is a little beyond the nth, seen from the nearer end: then the nth is
 * in the smaller part most of the time, and near its end, so the next cut leaves little.
 * The rank in a sample of 64 has a standard deviation of at most 4, and `margin` is about
 * one of them. After Floyd and Rivest. Eight lengths from 0.7 to 2 M u64: 1.6 to 2.7 ns
 * per element, with the median of nine 2.2 to 3.1
 * (docs/investigations/sorting-scalars.md). */
static size_t pivot_near(const quick_part *p, size_t nth) {
  enum { SAMPLE = 64, SAMPLE_WORTH = SAMPLE * SAMPLE };
  const wf_sorter *s = p->sorter;
  size_t at[SAMPLE], step = p->n / SAMPLE;
  if (p->n < SAMPLE_WORTH) return choose_pivot(s, p->base, p->n);
  for (size_t i = 0; i < SAMPLE; i++) {
    size_t next = i * step + step / 2, to = i;
    const char *element = p->base + next * s->size;
    for (; to > 0 && wf_sorter_less(s, element, p->base + at[to - 1] * s->size); to--)
      at[to] = at[to - 1];
    at[to] = next;
  }
  size_t rank = nth / step < SAMPLE ? nth / step : SAMPLE - 1;
  size_t margin = rank * (SAMPLE - rank) / (4 * SAMPLE) + 1;
  if (rank < SAMPLE / 2) return at[rank + margin];
  return at[rank > margin ? rank - margin : 0];
}

bool wf_quick_narrow(wf_sorter *s, char **base, size_t *n, size_t *nth_at, size_t least) {
  quick_part p = quick_whole(s, *base, *n);
  size_t nth = *nth_at;
  bool is_found = false;
  WF_ASSERT(least >= QUICK_LEAF);
  while (!is_found && p.n > least && p.bad > 0 && !wf_par_cancelled(s->opts)) {
    size_t low, high, before = p.n;
    WF_ASSERT(nth < p.n);
    quick_cut(&p, pivot_near(&p, nth), &low, &high);
    is_found = nth >= low && nth < high;
    if (nth < low) {
      p.n = low;
    } else {
      p.base += high * s->size;
      p.n -= high;
      p.has_floor = true;
      nth -= high;
    }
    if (p.n > before - before / BAD_PART) p.bad--;
  }
  *base = p.base;
  *n = p.n;
  *nth_at = nth;
  return is_found || wf_par_cancelled(s->opts);
}

void wf_quick_select(wf_sorter *s, char *base, size_t n, size_t nth) {
  if (wf_quick_narrow(s, &base, &n, &nth, QUICK_LEAF)) return;
  quick_part rest = quick_whole(s, base, n);
  quick_leaf(&rest, true);
}

/* ---- few different elements ---- */

/* A sample shows the different elements, called kinds here. The one in their middle, by
 * how often they were met, divides the array, and each part is divided in the same way
 * until all that is in it equals one kind: 16 of them take four passes, which are cheaper
 * than writing everything to a second array and back (2 M records of 32 bytes with 16
 * keys, two threads: 7.3 instead of 13.5 ms, docs/investigations/sorting-records.md).
 * What the sample has not met lands behind the next smaller kind, and is sorted like any
 * other array. */
enum {
  KINDS_LEAST = 1 << 13, /* shorter arrays are not sampled: a choice */
  KINDS_SAMPLE = 256,    /* costs nothing that can be measured, sorting-records.md */
  KINDS_MOST = KINDS_SAMPLE / 4, /* each was met four times on average: a choice */
  KINDS_FORK_MIN = 1 << 13       /* shorter parts are divided by one thread: a choice */
};

/* Part of an array: all elements that are less than kind `last`, and not less than kind
 * `first` unless that is the first of all; first < last. */
typedef struct kinds_part {
  wf_sorter *sorter;
  char *base;
  size_t n;
  const char *kinds; /* in ascending order */
  const size_t *met; /* how many of the sample came before each kind, and the end */
  size_t first, last;
  unsigned budget;
} kinds_part;

/* Keeps one of each kind of the sorted sample, at its front; returns how many there are,
 * or 0 if they are not few. met has a place more than KINDS_MOST. */
static size_t find_kinds(const wf_sorter *s, char *sample, size_t *met) {
  size_t kinds = 0;
  for (size_t i = 0; i < KINDS_SAMPLE; i++) {
    const char *next = sample + i * s->size;
    if (i > 0 && !wf_sorter_less(s, sample + (kinds - 1) * s->size, next)) continue;
    if (kinds == KINDS_MOST) return 0;
    if (kinds < i) memcpy(sample + kinds * s->size, next, s->size);
    met[kinds++] = i;
  }
  met[kinds] = KINDS_SAMPLE;
  return kinds;
}

/* The kind to divide by: about as many of the sample in front of it as behind. */
static size_t middle_kind(const kinds_part *p) {
  size_t half = (p->met[p->first] + p->met[p->last]) / 2, middle = p->first + 1;
  while (middle + 1 < p->last && p->met[middle] < half) middle++;
  bool lower_is_nearer = middle > p->first + 1 && p->met[middle] > half &&
                         half - p->met[middle - 1] < p->met[middle] - half;
  middle -= lower_is_nearer;
  WF_ASSERT(p->first < middle && middle < p->last);
  return middle;
}

static void sort_others(wf_sorter *s, char *base, size_t n) {
  if (n > 1 && !wf_sort_moving(s, base, n)) wf_quick_sort(s, base, n);
}

/* One kind, and what the sample has not met between it and the next; in front of the
 * first kind, too. */
static void kinds_leaf(const kinds_part *p) {
  wf_sorter s = wf_sorter_part(p->sorter, p->budget);
  if (wf_sorter_is_run(&s, p->base, p->n, false)) return;
  const char *kind = p->kinds + p->first * s.size;
  size_t lesser = 0;
  if (p->first == 0) lesser = split(&s, p->base, p->n, kind, false, p->budget);
  sort_others(&s, p->base, lesser);
  char *base = p->base + lesser * s.size;
  size_t n = p->n - lesser;
  size_t equal = split(&s, base, n, kind, true, p->budget);
  sort_others(&s, base + equal * s.size, n - equal);
}

/* Threads in proportion to the work; together not more than the budget. */
static void kinds_share(const kinds_part *p, kinds_part *front, kinds_part *rear) {
  if (p->budget <= 1) return;
  size_t share = (2 * p->budget * front->n + p->n) / (2 * p->n);
  if (share < 1) share = 1;
  if (share > p->budget - 1) share = p->budget - 1;
  front->budget = (unsigned)share;
  rear->budget = p->budget - front->budget;
}

static void kinds_run(void *ctx) {
  const kinds_part *p = (const kinds_part *)ctx;
  wf_sorter *s = p->sorter;
  WF_ASSERT(p->first < p->last && p->last <= KINDS_MOST);
  if (p->n < 2 || wf_par_cancelled(s->opts)) return;
  if (p->last - p->first == 1) {
    kinds_leaf(p);
    return;
  }
  size_t middle = middle_kind(p);
  const char *kind = p->kinds + middle * s->size;
  kinds_part front = *p, rear = *p;
  front.n = split(s, p->base, p->n, kind, false, p->budget);
  front.last = rear.first = middle;
  rear.base += front.n * s->size;
  rear.n -= front.n;
  kinds_share(p, &front, &rear);
  bool may_fork = s->opts->max_workers == 0 ? s->budget > 1 : p->budget > 1;
  if (may_fork && p->n >= KINDS_FORK_MIN) {
    weft_join(kinds_run, &front, kinds_run, &rear);
  } else {
    kinds_run(&front);
    kinds_run(&rear);
  }
}

bool wf_sort_few_kinds(wf_sorter *s, char *base, size_t n) {
  size_t met[KINDS_MOST + 1], bytes = KINDS_SAMPLE * s->size;
  WF_ASSERT(s->size <= WF_SORT_LARGEST);
  if (n < KINDS_LEAST) return false;
  wf_scratch scratch = wf_scratch_get(2 * bytes);
  if (scratch.memory == NULL) return false;
  char *sample = (char *)scratch.memory;
  wf_sample_take(s, sample, KINDS_SAMPLE, base, n);
  s->loops->sort(sample, sample + bytes, KINDS_SAMPLE, false, s->ctx);
  size_t kinds = find_kinds(s, sample, met);
  kinds_part all = {s, base, n, sample, met, 0, kinds, s->budget};
  if (kinds > 0) kinds_run(&all);
  wf_scratch_put(scratch);
  return kinds > 0;
}
