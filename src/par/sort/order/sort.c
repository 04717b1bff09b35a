/* par/sort/order/sort.c - the calls that sort by an order; kernels for comparators.
 *
 * SPDX-License-Identifier: MIT */
#include "sort.h"

#include "../../base/scratch.h"

#include <stdlib.h>
#include <weft/sort.h>
#include <weft/typed_sort.h>

enum {
  SORT_STACK_BYTES = 1024, /* so much is sorted with memory of the stack */
  SORT_DIRECT_MAX = 1024,  /* so many elements without entering a pool */
  SORT_ALIGNMENT = 64
};

/* ---- kernels for comparators: by size, so that copies have constant lengths ---- */

bool wf_less_by_cmp(const void *a, const void *b, void *ctx) {
  const wf_by_cmp *by = (const wf_by_cmp *)ctx;
  return by->cmp(a, b, by->ctx) < 0;
}

WF_SORT_KERNEL(cmp_any, 0, ((const wf_by_cmp *)ctx)->size, wf_less_by_cmp)
WF_SORT_KERNEL(cmp_4, 4, 4, wf_less_by_cmp)
WF_SORT_KERNEL(cmp_8, 8, 8, wf_less_by_cmp)
WF_SORT_KERNEL(cmp_16, 16, 16, wf_less_by_cmp)
WF_SORT_KERNEL(cmp_24, 24, 24, wf_less_by_cmp)
WF_SORT_KERNEL(cmp_32, 32, 32, wf_less_by_cmp)

const wf_sort_kernel *wf_cmp_kernel(size_t size) {
  switch (size) {
  case 4:
    return &cmp_4_kernel_;
  case 8:
    return &cmp_8_kernel_;
  case 16:
    return &cmp_16_kernel_;
  case 24:
    return &cmp_24_kernel_;
  case 32:
    return &cmp_32_kernel_;
  default:
    return &cmp_any_kernel_;
  }
}

void wf_sort_check(bool no_array, weft_cmp_fn *cmp, size_t n, size_t size,
                   const char *call) {
  if (n == 0) return;
  if (WF_UNLIKELY(cmp == NULL)) wf_fatal(call, "the comparator is NULL");
  if (WF_UNLIKELY(size == 0)) wf_fatal(call, "the size of an element is 0");
  if (WF_UNLIKELY(no_array)) wf_fatal(call, "an array is NULL");
}

/* ---- memory ---- */

char *wf_sort_scratch(size_t bytes, void **memory) {
  *memory = bytes <= SIZE_MAX - SORT_ALIGNMENT ? malloc(bytes + SORT_ALIGNMENT) : NULL;
  if (*memory == NULL) return NULL;
  size_t over = (uintptr_t)*memory % SORT_ALIGNMENT;
  return (char *)*memory + (SORT_ALIGNMENT - over) % SORT_ALIGNMENT;
}

bool wf_sort_moving(wf_sorter *s, char *base, size_t n) {
  size_t bytes = n * s->size, aligned = (bytes + 7) / 8 * 8;
  if (bytes <= SORT_STACK_BYTES) {
    char spare[SORT_STACK_BYTES] __attribute__((aligned(SORT_ALIGNMENT)));
    s->kernel->sort(base, spare, n, false, s->ctx);
    return true;
  }
  if (n > (SIZE_MAX - aligned) / sizeof(uint16_t)) return false;
  wf_scratch scratch = wf_scratch_get(aligned + n * sizeof(uint16_t));
  char *spare = (char *)scratch.memory;
  if (spare == NULL) return false;
  wf_sample_sort(s, base, spare, (uint16_t *)(void *)(spare + aligned), n);
  wf_scratch_put(scratch);
  return true;
}

/* ---- arrays that are in order already ---- */

typedef struct reversal {
  char *base;
  size_t n, size;
} reversal;

static inline void swap_elements_of(char *a, char *b, size_t size) {
  unsigned char copy[WF_SORT_LARGEST];
  memcpy(copy, a, size);
  memcpy(a, b, size);
  memcpy(b, copy, size);
}

/* Inlined with a constant size where that is common. */
static inline __attribute__((always_inline)) void
reverse_pairs(const reversal *r, size_t begin, size_t end, size_t size) {
  char *low = r->base + begin * size, *high = r->base + (r->n - 1 - begin) * size;
  for (size_t i = begin; i < end; i++, low += size, high -= size)
    for (size_t done = 0; done < size; done += WF_SORT_LARGEST)
      swap_elements_of(low + done, high + done,
                       size - done < WF_SORT_LARGEST ? size - done : WF_SORT_LARGEST);
}

static void reverse_some(size_t begin, size_t end, void *ctx) {
  const reversal r = *(const reversal *)ctx;
  switch (r.size) {
  case 4:
    reverse_pairs(&r, begin, end, 4);
    break;
  case 8:
    reverse_pairs(&r, begin, end, 8);
    break;
  case 16:
    reverse_pairs(&r, begin, end, 16);
    break;
  case 32:
    reverse_pairs(&r, begin, end, 32);
    break;
  default:
    reverse_pairs(&r, begin, end, r.size);
  }
}

/* An array that ascends or strictly descends at its front perhaps does so to its end:
 * asked and, if so, done in parallel. */
static bool sort_by_looking(wf_sorter *s, char *base, size_t n) {
  enum { LOOK = 64 };
  bool falls;
  if (n < SORT_DIRECT_MAX) return false;
  if (s->kernel->run(base, LOOK, &falls, s->ctx) < LOOK) return false;
  if (!wf_sorter_is_run(s, base, n, falls)) return false;
  if (falls) {
    reversal r = {base, n, s->size};
    wf_loop loop = {reverse_some, &r, NULL};
    wf_loop_run(&s->inner, n / 2, &loop);
  }
  return true;
}

/* ---- all ---- */

typedef struct sort_call {
  weft_opts opts;
  const wf_sort_kernel *kernel;
  void *ctx;
  char *base;
  size_t n, size;
  bool stable;
} sort_call;

static void sort_inside(void *ctx) {
  const sort_call *c = (const sort_call *)ctx;
  wf_sorter s;
  wf_sorter_init(&s, &c->opts, c->kernel, c->size, c->ctx);
  if (wf_par_cancelled(&c->opts) || sort_by_looking(&s, c->base, c->n)) return;
  if (c->size > WF_SORT_LARGEST) {
    if (wf_sort_by_index(&s, c->base, c->n)) return;
  } else if ((!c->stable && wf_few_sort(&s, c->base, c->n)) ||
             wf_sort_moving(&s, c->base, c->n)) {
    return; /* stable or not, moving is the quickest for many different elements */
  } else if (!c->stable) {
    wf_quick_sort(&s, c->base, c->n);
    return;
  }
  if (c->stable)
    wf_inplace_stable(&s, c->base, NULL, 0, c->n);
  else
    wf_inplace_sort(&s, c->base, c->n);
}

static void sort_start(const weft_opts *o, sort_call *c, const char *call) {
  wf_par_options(&c->opts, o, call);
  if (c->n < 2) return;
  if (c->n <= SORT_DIRECT_MAX && c->opts.pool == NULL)
    sort_inside(c);
  else
    wf_par_run(&c->opts, sort_inside, c);
}

static void sort_by_cmp(const weft_opts *o, void *base, size_t n, size_t size,
                        weft_cmp_fn *cmp, void *ctx, bool stable, const char *call) {
  wf_by_cmp by = {cmp, ctx, size};
  sort_call c = {.kernel = wf_cmp_kernel(size),
                 .ctx = &by,
                 .base = (char *)base,
                 .n = n,
                 .size = size,
                 .stable = stable};
  wf_sort_check(base == NULL, cmp, n, size, call);
  sort_start(o, &c, call);
}

void wf_sort_by_kernel(const weft_opts *o, void *base, size_t n,
                       const wf_sort_kernel *kernel, void *ctx, bool stable,
                       const char *call) {
  sort_call c = {.kernel = kernel,
                 .ctx = ctx,
                 .base = (char *)base,
                 .n = n,
                 .size = kernel->size,
                 .stable = stable};
  if (WF_UNLIKELY(base == NULL && n > 0)) wf_fatal(call, "an array is NULL");
  sort_start(o, &c, call);
}

void weft_sort_with(const weft_opts *o, void *base, size_t n, size_t size,
                    weft_cmp_fn *cmp, void *ctx) {
  sort_by_cmp(o, base, n, size, cmp, ctx, false, "weft_sort");
}

void weft_sort(void *base, size_t n, size_t size, weft_cmp_fn *cmp, void *ctx) {
  sort_by_cmp(NULL, base, n, size, cmp, ctx, false, "weft_sort");
}

void weft_sort_stable_with(const weft_opts *o, void *base, size_t n, size_t size,
                           weft_cmp_fn *cmp, void *ctx) {
  sort_by_cmp(o, base, n, size, cmp, ctx, true, "weft_sort_stable");
}

void weft_sort_stable(void *base, size_t n, size_t size, weft_cmp_fn *cmp, void *ctx) {
  sort_by_cmp(NULL, base, n, size, cmp, ctx, true, "weft_sort_stable");
}
