/* cilksort/cilksort.h - P16: the merge sort that came with Cilk. Four quarters are sorted
 * in parallel, merged in pairs in parallel, and the two halves merged. A merge cuts the
 * longer of its inputs in the middle, finds the place in the other by bisection, and
 * merges both sides in parallel. Up to 2048 elements all is sequential: kernel.c, which
 * all contestants share.
 *
 * SPDX-License-Identifier: MIT */
#ifndef BENCH_CILKSORT_CILKSORT_H
#define BENCH_CILKSORT_CILKSORT_H

#include "../common/bench.h"

enum { CILKSORT_LEAF = 2048 };

/* Two sorted inputs and where their elements go. */
typedef struct merging {
  const uint32_t *a, *b;
  size_t a_count, b_count;
  uint32_t *to;
} merging;

/* An array and as much memory beside it. */
typedef struct sorting {
  uint32_t *a, *beside;
  size_t n;
} sorting;

#ifdef __cplusplus
extern "C" {
#endif
void cilksort_leaf(uint32_t *a, size_t n);
void cilksort_merge_leaf(const merging *m);
/* Cuts a merge in two; 0 if it is a leaf. */
int cilksort_split(const merging *m, merging *first, merging *second);
#ifdef __cplusplus
}
#endif

/* The parts of a sort: quarters, then the merges that make two halves beside, then one.
 */
typedef struct sort_parts {
  sorting quarter[4];
  merging half[2], whole;
} sort_parts;

BENCH_HELPER sort_parts cilksort_parts(const sorting *s) {
  sort_parts p;
  size_t q = s->n / 4;
  for (int i = 0; i < 4; i++) {
    p.quarter[i].a = s->a + (size_t)i * q;
    p.quarter[i].beside = s->beside + (size_t)i * q;
    p.quarter[i].n = i < 3 ? q : s->n - 3 * q;
  }
  for (int i = 0; i < 2; i++) {
    const sorting *x = &p.quarter[2 * i], *y = x + 1;
    p.half[i].a = x->a;
    p.half[i].a_count = x->n;
    p.half[i].b = y->a;
    p.half[i].b_count = y->n;
    p.half[i].to = x->beside;
  }
  p.whole.a = s->beside;
  p.whole.a_count = 2 * q;
  p.whole.b = s->beside + 2 * q;
  p.whole.b_count = s->n - 2 * q;
  p.whole.to = s->a;
  return p;
}

typedef void cilksort_fn(const sorting *s);

typedef struct cilksort_state {
  const char *who;
  cilksort_fn *sort;
  uint32_t *input;
  sorting s;
  uint64_t expected;
} cilksort_state;

BENCH_HELPER void cilksort_prepare(void *ctx) {
  cilksort_state *s = (cilksort_state *)ctx;
  memcpy(s->s.a, s->input, s->s.n * sizeof(uint32_t));
}

BENCH_HELPER void cilksort_work(void *ctx) {
  cilksort_state *s = (cilksort_state *)ctx;
  s->sort(&s->s);
}

BENCH_HELPER uint64_t cilksort_digest(const uint32_t *a, size_t n) {
  uint64_t sum = 0;
  for (size_t i = 0; i < n; i++) sum += bench_mix(a[i]);
  return sum;
}

BENCH_HELPER void cilksort_check(void *ctx) {
  cilksort_state *s = (cilksort_state *)ctx;
  uint64_t wrong = 0;
  for (size_t i = 1; i < s->s.n; i++) wrong += s->s.a[i - 1] > s->s.a[i];
  bench_check(s->who, wrong, 0);
  bench_check(s->who, cilksort_digest(s->s.a, s->s.n), s->expected);
}

/* Arguments of every contestant: threads, n. */
BENCH_HELPER void cilksort_measure(const char *who, cilksort_fn *sort, int argc,
                                   char **argv) {
  size_t n = (size_t)bench_arg(argc, argv, 2, 10000000);
  uint32_t *memory = (uint32_t *)bench_array(3 * n, sizeof *memory);
  for (size_t i = 0; i < n; i++) memory[i] = (uint32_t)bench_mix(i);
  cilksort_state s = {who, sort, memory, {memory + n, memory + 2 * n, n}, 0};
  s.expected = cilksort_digest(memory, n);
  bench_job job = {cilksort_prepare, cilksort_work, cilksort_check, &s};
  bench_measure_job(who, &job);
  bench_passed(s.expected);
  free(memory);
}

#endif
