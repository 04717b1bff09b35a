/* par/sort/order/few.c - sorts arrays in which few different elements are repeated all
 * over, if the order of equal ones does not matter: in place, by halving.
 *
 * A sample shows the different elements. The one in their middle, by how often they were
 * met, divides the array, and each part is divided in the same way until all that is in
 * it is equal to one element: 16 of them take four passes, which are cheaper than writing
 * everything to a second array and back. What the sample has not met lands behind the
 * next smaller one that it has, and is sorted like any other array.
 *
 * SPDX-License-Identifier: MIT */
#include "sort.h"

#include <stdlib.h>
#include <weft/join.h>

enum {
  FEW_LEAST = 1 << 13, /* elements; below, looking for it is not worth it */
  FEW_SAMPLE = 256,
  FEW_KINDS = FEW_SAMPLE / 4, /* that many are few: each was met four times, on average */
  FEW_FORK_MIN = 1 << 13
};

/* Part of an array: all elements that are less than kind `last`, and not less than kind
 * `first` unless that is the first of all. */
typedef struct few_part {
  wf_sorter *sorter;
  char *base;
  size_t n;
  const char *kinds; /* in ascending order */
  const size_t *met; /* how many of the sample came before each kind */
  size_t first, last;
  unsigned budget;
} few_part;

/* Keeps one of each kind of the sorted sample, at its front; returns how many there are,
 * or 0 if they are not few. met has a place more than FEW_KINDS. */
static size_t few_kinds(const wf_sorter *s, char *sample, size_t *met) {
  size_t kinds = 0;
  for (size_t i = 0; i < FEW_SAMPLE; i++) {
    const char *next = sample + i * s->size;
    if (i > 0 && !wf_sorter_less(s, sample + (kinds - 1) * s->size, next)) continue;
    if (kinds == FEW_KINDS) return 0;
    if (kinds < i) memcpy(sample + kinds * s->size, next, s->size);
    met[kinds++] = i;
  }
  met[kinds] = FEW_SAMPLE;
  return kinds;
}

/* The kind to divide by: about as many of the sample in front of it as behind. */
static size_t few_middle(const few_part *p) {
  size_t half = (p->met[p->first] + p->met[p->last]) / 2, middle = p->first + 1;
  while (middle + 1 < p->last && p->met[middle] < half) middle++;
  bool lower_is_nearer = middle > p->first + 1 && p->met[middle] > half &&
                         half - p->met[middle - 1] < p->met[middle] - half;
  return middle - lower_is_nearer;
}

static void few_others(wf_sorter *s, char *base, size_t n) {
  if (n > 1 && !wf_sort_moving(s, base, n)) wf_quick_sort(s, base, n);
}

/* One kind, and whatever the sample has not met between it and the next; in front of the
 * first kind, too. */
static void few_leaf(const few_part *p) {
  wf_sorter s = *p->sorter;
  s.budget = p->budget;
  if (s.opts->max_workers != 0) s.inner.max_workers = p->budget;
  if (wf_sorter_is_run(&s, p->base, p->n, false)) return;
  const char *kind = p->kinds + p->first * s.size;
  size_t lesser = 0;
  if (p->first == 0) lesser = wf_quick_divide(&s, p->base, p->n, kind, false, p->budget);
  few_others(&s, p->base, lesser);
  char *base = p->base + lesser * s.size;
  size_t n = p->n - lesser;
  size_t equal = wf_quick_divide(&s, base, n, kind, true, p->budget);
  few_others(&s, base + equal * s.size, n - equal);
}

/* Threads in proportion to the work; together not more than the budget. */
static void few_share(const few_part *p, few_part *front, few_part *rear) {
  if (p->budget <= 1) return;
  size_t share = (2 * p->budget * front->n + p->n) / (2 * p->n);
  if (share < 1) share = 1;
  if (share > p->budget - 1) share = p->budget - 1;
  front->budget = (unsigned)share;
  rear->budget = p->budget - front->budget;
}

static void few_run(void *ctx) {
  const few_part *p = (const few_part *)ctx;
  wf_sorter *s = p->sorter;
  if (p->n < 2 || wf_par_cancelled(s->opts)) return;
  if (p->last - p->first == 1) {
    few_leaf(p);
    return;
  }
  size_t middle = few_middle(p);
  const char *kind = p->kinds + middle * s->size;
  few_part front = *p, rear = *p;
  front.n = wf_quick_divide(s, p->base, p->n, kind, false, p->budget);
  front.last = rear.first = middle;
  rear.base += front.n * s->size;
  rear.n -= front.n;
  few_share(p, &front, &rear);
  bool may_fork = s->opts->max_workers == 0 ? s->budget > 1 : p->budget > 1;
  if (may_fork && p->n >= FEW_FORK_MIN) {
    weft_join(few_run, &front, few_run, &rear);
  } else {
    few_run(&front);
    few_run(&rear);
  }
}

bool wf_few_sort(wf_sorter *s, char *base, size_t n) {
  size_t met[FEW_KINDS + 1], bytes = FEW_SAMPLE * s->size;
  void *memory;
  if (n < FEW_LEAST) return false;
  char *sample = wf_sort_scratch(2 * bytes, &memory);
  if (sample == NULL) return false;
  wf_sample_take(s, sample, FEW_SAMPLE, base, n);
  s->kernel->sort(sample, sample + bytes, FEW_SAMPLE, false, s->ctx);
  size_t kinds = few_kinds(s, sample, met);
  few_part all = {s, base, n, sample, met, 0, kinds, s->budget};
  if (kinds > 0) few_run(&all);
  free(memory);
  return kinds > 0;
}
