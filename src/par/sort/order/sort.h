/* par/sort/order/sort.h - sorting by an order that is given as a function: what its files
 * share.
 *
 *     sort.c          the calls that sort; kernels for comparators
 *     sort_sample.c   how: distribution into buckets, to and fro between two arrays
 *     sort_few.c      few different elements, if the order of equal ones does not matter
 *     sort_copy.c     copying past the caches
 *     sort_quick.c    with little memory, if the order of equal elements does not matter
 *     sort_merge.c    merging in parallel; merge sort for what distribution is bad at
 *     sort_inplace.c  without memory
 *     sort_index.c    sorting indices: large elements, argsort, sort by key
 *     sort_select.c   nth element, partial sort, is sorted
 *
 * A stable sort's result is the same for any number of threads.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_PAR_SORT_H
#define WF_PAR_SORT_H

#include "../../base/checks.h"
#include "../../loop/loop.h"

#include <weft/detail/sort_leaf.h>
#include <weft/fn.h>

/* Below so many elements nothing is forked. */
enum { WF_SORT_FORK_MIN = 4096 };

/* One call that sorts, or merges, or selects. */
typedef struct wf_sorter {
  const wf_sort_kernel *kernel;
  void *ctx; /* of the kernel */
  size_t size;
  const weft_opts *opts; /* as asked for */
  weft_opts inner;       /* for loops inside: nothing is left out when cancelled */
  unsigned budget;       /* so many threads may work on it */
} wf_sorter;

/* Inside the pool only. */
void wf_sorter_init(wf_sorter *s, const weft_opts *opts, const wf_sort_kernel *kernel,
                    size_t size, void *ctx);

static inline bool wf_sorter_less(const wf_sorter *s, const char *a, const char *b) {
  return s->kernel->less(a, b, s->ctx);
}

/* The order of a comparator, as the context of a kernel. */
typedef struct wf_by_cmp {
  weft_cmp_fn *cmp;
  void *ctx;
  size_t size;
} wf_by_cmp;

/* The kernel for elements of that size; its context is a wf_by_cmp. */
const wf_sort_kernel *wf_cmp_kernel(size_t size);
bool wf_less_by_cmp(const void *a, const void *b, void *ctx);

/* Ends the program if the comparator or the size make no sense. */
void wf_sort_check(bool no_array, weft_cmp_fn *cmp, size_t n, size_t size,
                   const char *call);

/* Memory for n elements that is aligned like every array of them; free gets *memory.
 * NULL if there is none. */
char *wf_sort_scratch(size_t bytes, void **memory);

/* Sorts an array of elements of at most WF_SORT_LARGEST bytes, stable. False, and
 * nothing has happened, if there is no memory. */
bool wf_sort_moving(wf_sorter *s, char *base, size_t n);

/* ---- sort_sample.c ---- */

/* Sorts data, stable, with a spare array of the same length and a number for each
 * element; the result is in data. */
void wf_sample_sort(wf_sorter *s, char *data, char *spare, uint16_t *ids, size_t n);

/* Moves the n elements of data that are in other order, so that all of [*begin, *end)
 * are in their place as a group that holds the element with index nth, and none of the
 * others belongs there. Returns false if there is no memory for that. If the group is all
 * of one kind, *is_equal. */
bool wf_sample_divide(wf_sorter *s, char *data, char *spare, uint16_t *ids, size_t n,
                      size_t nth, size_t *begin, size_t *end, bool *is_equal);

/* Copies, with several threads if there is much. */
void wf_sorter_copy(wf_sorter *s, char *to, const char *from, size_t n);

/* Copies `count` elements of n, taken at random from all over the array, to the sample;
 * count <= n. */
void wf_sample_take(const wf_sorter *s, char *sample, size_t count, const char *data,
                    size_t n);

/* ---- sort_few.c ---- */

/* Sorts in place, not stable, if a sample shows few different elements; else returns
 * false, and nothing has happened. Elements of at most WF_SORT_LARGEST bytes. */
bool wf_few_sort(wf_sorter *s, char *base, size_t n);

/* ---- sort_copy.c ---- */

/* Is so much copied past the caches? */
bool wf_copy_streams(size_t bytes);
void wf_stream_copy(char *to, const char *from, size_t bytes);

/* ---- sort_quick.c ---- */

/* Sorts in place, not stable; asks for little memory, and can do without. Elements of at
 * most WF_SORT_LARGEST bytes. */
void wf_quick_sort(wf_sorter *s, char *base, size_t n);
/* As the kernel's partition, with as many threads as the budget allows. */
size_t wf_quick_divide(const wf_sorter *s, char *base, size_t n, const char *pivot,
                       bool or_equal, unsigned budget);

/* ---- sort_merge.c ---- */

/* Cuts two sorted arrays so that a[0, *at_a) and b[0, *at_b) together come before all
 * the rest, about in the middle. If na + nb > 2, neither of the two parts is empty. */
void wf_merge_cut(const wf_sorter *s, const char *a, size_t na, const char *b, size_t nb,
                  size_t *at_a, size_t *at_b);
void wf_merge_run(wf_sorter *s, char *dst, const char *a, size_t na, const char *b,
                  size_t nb, unsigned budget);

/* As the kernel's sort, for any length. */
void wf_merge_sort(wf_sorter *s, char *data, char *spare, size_t n, bool to_spare,
                   unsigned budget);

/* ---- sort_inplace.c ---- */

/* Sorts, stable, without memory. The elements of the payload, if it is not NULL, are
 * moved alike. */
void wf_inplace_stable(wf_sorter *s, char *base, char *payload, size_t payload_size,
                       size_t n);
/* The index of an element to divide by; n >= 9. */
size_t wf_inplace_pivot(const wf_sorter *s, const char *base, size_t n);
/* So many pivots may leave less than an eighth on one side. */
unsigned wf_bad_pivots(size_t n);
void wf_inplace_sort(wf_sorter *s, char *base, size_t n);
void wf_inplace_select(wf_sorter *s, char *base, size_t n, size_t nth);

/* ---- sort_index.c ---- */

/* Sorts elements of any size by way of their indices. False if there is no memory. */
bool wf_sort_by_index(wf_sorter *s, char *base, size_t n);

/* ---- sort_select.c ---- */

/* Does all of it ascend or, if falls, strictly descend? */
bool wf_sorter_is_run(wf_sorter *s, const char *base, size_t n, bool falls);

#endif
