/* par/sort/order/order.h - sorting by an order that is given as a function: what the
 * files of this folder share.
 *
 *     sort.c       the calls weft_sort and weft_sort_stable, and the choice of a method
 *     sample.c     the usual method: distribution into buckets, by a second array
 *     guess.c      the same by a number in the elements, with few comparisons
 *     partition.c  in place, not stable: few different elements, and quicksort
 *     merge.c      weft_merge; merge sort by rotations, stable and without memory
 *     by_key.c     sorting indices (large elements, weft_argsort) and sorting by key
 *     select.c     weft_nth_element, weft_partial_sort, weft_is_sorted
 *
 * The inner loops are in weft/detail/sort_leaf.h, compiled for each type and order. What
 * a stable sort makes is the same for any number of threads.
 *
 * A call owns its wf_sorter, which all of its threads read; parts of the array belong to
 * one task each.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_PAR_SORT_ORDER_H
#define WF_PAR_SORT_ORDER_H

#include "../../base/bytes.h"
#include "../../loop/loop.h"

#include <weft/detail/sort_leaf.h>
#include <weft/fn.h>
#include <weft/join.h>

/* Shorter arrays are sorted by one thread: a choice, about 100 us of work for one fork.
 */
enum { WF_SORT_FORK_MIN = 4096 };

/* Whether the key of elements may be guessed, see guess.c: what is confirmed at each step
 * (stable; by_cmp only), or at the end only (not stable; any order). */
typedef enum wf_guesses { WF_GUESS_NOTHING, WF_GUESS_CONFIRM, WF_GUESS_TRUST } wf_guesses;

/* One call that sorts, merges or selects. Nobody writes it after wf_sorter_init. */
typedef struct wf_sorter {
  const wf_sort_loops *loops; /* the inner loops, with type and order filled in */
  void *ctx;                  /* of the order */
  size_t size;                /* of an element */
  const weft_opts *opts;      /* of the caller */
  weft_opts inner; /* for loops inside: not cancelled, so that no element is left out */
  unsigned budget; /* how many threads may work on it, at least 1 */
  bool by_cmp;     /* ctx is a wf_by_cmp, and comparisons are calls */
  wf_guesses guesses;
} wf_sorter;

/* Inside the pool only. */
void wf_sorter_init(wf_sorter *s, const weft_opts *opts, const wf_sort_loops *loops,
                    size_t size, void *ctx);

/* The same sort with fewer threads, for a part that has this much of the budget. */
wf_sorter wf_sorter_part(const wf_sorter *s, unsigned budget);

static inline bool wf_sorter_less(const wf_sorter *s, const char *a, const char *b) {
  return s->loops->less(a, b, s->ctx);
}

/* Runs fn(a) and fn(b), at the same time if `forks`, after it has written how many
 * threads may work on each. All threads of a pool may come and go, so both parts get the
 * whole budget; a number that the caller has limited is divided. */
static inline void wf_sorter_both(const wf_sorter *s, unsigned budget, bool forks,
                                  weft_fn *fn, void *a, unsigned *budget_a, void *b,
                                  unsigned *budget_b) {
  WF_ASSERT(budget >= 1 && (!forks || budget > 1));
  bool limited = s->opts->max_workers != 0;
  *budget_a = !forks ? 1 : limited ? budget - budget / 2 : budget;
  *budget_b = !forks ? 1 : limited ? budget / 2 : budget;
  if (forks) {
    weft_join(fn, a, fn, b);
  } else {
    fn(a);
    fn(b);
  }
}

/* The number of bits of n, without the highest: floor of its logarithm; 0 for 0. */
static inline unsigned wf_log2(size_t n) {
  return n < 2 ? 0 : 63 - (unsigned)__builtin_clzll(n);
}

/* ---- sort.c ---- */

/* The order of a comparator, as the context of its loops. */
typedef struct wf_by_cmp {
  weft_cmp_fn *cmp;
  void *ctx;
  size_t size;
} wf_by_cmp;

/* The loops for elements of that size; their context is a wf_by_cmp. */
const wf_sort_loops *wf_cmp_loops(size_t size);

/* Ends the program if the comparator, the size or an array is missing. */
void wf_sort_check(bool no_array, weft_cmp_fn *cmp, size_t n, size_t size,
                   const char *call);

/* Sorts an array that ascends, or strictly descends, from end to end; else returns
 * false, and nothing has happened. */
bool wf_sort_by_looking(wf_sorter *s, char *base, size_t n);

/* Sorts an array of elements of at most WF_SORT_LARGEST bytes, stable, by a second array.
 * False, and nothing has happened, if there is no memory. */
bool wf_sort_moving(wf_sorter *s, char *base, size_t n);

/* ---- sample.c ---- */

/* Sorts data, stable, with a spare array of the same length and a number for each
 * element; the result is in data. */
void wf_sample_sort(wf_sorter *s, char *data, char *spare, uint16_t *ids, size_t n);

/* Copies `count` elements of n, one at random from each of `count` equal parts of the
 * array, to the sample; count <= n. */
void wf_sample_take(const wf_sorter *s, char *sample, size_t count, const char *data,
                    size_t n);

/* ---- guess.c ---- */

/* Elements of the sample of one round, at most. */
enum { WF_SAMPLE_MOST = 1024 };

/* What an order seems to compare: the number of `width` bytes at an offset within the
 * elements. No guess if the width is 0. Made once, by the first round; then copied. */
typedef struct wf_guess {
  bool is_made;
  bool is_trusted; /* the order looks at the result only; splitters are keys */
  bool is_text;    /* the first byte counts most */
  bool repeats;    /* many elements are equal */
  unsigned char width, offset;
  uint64_t by_sign, flip; /* see guess_kind */
} wf_guess;

/* Not where a tool would report that bytes are read which nobody has written. */
bool wf_guess_allowed(void);

/* The guess that fits the sorted sample of a round: the one of the round before, or none;
 * a new one in the first round. */
wf_guess wf_guess_next(const wf_sorter *s, const wf_guess *before, const char *sample,
                       size_t n);

/* The keys of a sample. */
void wf_guess_sample(const wf_sorter *s, const wf_guess *g, const char *sample,
                     uint64_t *keys, size_t n);

/* Sorts n keys; there is room for as many behind them. */
void wf_guess_sort_keys(uint64_t *keys, size_t n);

/* Buckets of a trusted guess for keys that are spread evenly: the range of keys is cut
 * into `count` equal slices, and slices that follow each other are a bucket. */
typedef struct wf_slices {
  uint64_t low;
  unsigned shift;
  size_t count;
  uint16_t *bucket; /* of each slice */
} wf_slices;

/* Slices for each bucket; elements of a sample that are too many for one slice. */
enum { WF_SLICES_EACH = 4, WF_SLICE_FULL = 10 };

/* Makes them from the keys of a sample; false if these are not even. */
bool wf_guess_slices(wf_slices *by, const uint64_t *keys, size_t n, size_t buckets);

/* As `classify` of the loops, with a guess; by slices if they are not NULL. */
void wf_guess_classify(const wf_sorter *s, const wf_guess *g, const char *data, size_t n,
                       const wf_splitters *by, const wf_slices *slices, uint16_t *ids,
                       size_t *counts);

/* As `sort` of the loops, of at most 256 elements, with a guess. Returns whether it was
 * right. */
bool wf_guess_leaf(const wf_sorter *s, const wf_guess *g, char *data, char *spare,
                   size_t n, bool to_spare);

/* ---- partition.c ---- */

/* Sorts in place, not stable, if a sample shows few different elements; else returns
 * false, and nothing has happened. Elements of at most WF_SORT_LARGEST bytes. */
bool wf_sort_few_kinds(wf_sorter *s, char *base, size_t n);

/* Sorts in place, not stable. Asks for some megabytes of memory, and can do without. */
void wf_quick_sort(wf_sorter *s, char *base, size_t n);

/* Moves elements in place until the one that belongs at index nth is there, the lesser
 * ones in front of it. */
void wf_quick_select(wf_sorter *s, char *base, size_t n, size_t nth);

/* The same, but leaves the end to the caller unless it returns true: of the *n elements
 * at *base the one that belongs at *nth is still to be found. They are not more than
 * `least`, which is 16 or more, or there were too many bad pivots. */
bool wf_quick_narrow(wf_sorter *s, char **base, size_t *n, size_t *nth, size_t least);

/* ---- merge.c ---- */

/* Sorts, stable, without memory. The elements of the payload, if it is not NULL, are
 * moved alike. Of the loops it only needs `less`. */
void wf_sort_by_rotations(wf_sorter *s, char *base, char *payload, size_t payload_size,
                          size_t n);

/* ---- by_key.c ---- */

/* Sorts elements of any size by way of their indices, stable. The elements of the
 * payload, if it is not NULL, are moved alike. False, and nothing has happened, if there
 * is no memory. */
bool wf_sort_by_index(wf_sorter *s, char *keys, char *payload, size_t payload_size,
                      size_t n);

/* The body of a loop: element i of the size_t array `ctx` becomes i. */
void wf_count_up(size_t begin, size_t end, void *ctx);

/* Element i becomes what element order[i] was, with a copy of the array if there is
 * memory. `opts` NULL: by this thread alone. */
void wf_move_by_order(const weft_opts *opts, char *base, size_t n, size_t size,
                      size_t *order);

/* ---- select.c ---- */

/* Does all of it ascend or, if falls, strictly descend? */
bool wf_sorter_is_run(wf_sorter *s, const char *base, size_t n, bool falls);

#endif
