/* weft/iter_sink.h - sinks, which run an iterator: sums, searches, collections and more.
 * Comes with weft/iter.h.
 *
 *     weft_iter it = weft_iter_lines(text, length);
 *     weft_iter_filter(&it, is_error, NULL);
 *     size_t errors = weft_iter_count(&it);
 *
 * SPDX-License-Identifier: MIT */
#ifndef WEFT_ITER_SINK_H
#define WEFT_ITER_SINK_H

#include <weft/iter.h>
#include <weft/numbers.h>
#include <weft/reduce.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What holds for all sinks.
 *
 * Threads: any. Inside a pool a call runs in that pool; from outside the calling thread
 * takes part in the global pool (started on first use) until the call returns. Use
 * weft_iter_pool for another pool.
 *
 * Results are the same, bit by bit, for every number of threads, sums of floats too, also
 * behind filters: what is added to what follows from the lengths of the sources alone
 * (behind weft_iter_pull from the batches that it returns). Where the length is known,
 * sums of floats have the same bits as weft_sum_f32 and weft_sum_f64 of an array with the
 * same numbers.
 *
 * Short circuit: any, all, find and position stop the stages before them as soon as the
 * answer is known, except for batches that had begun.
 *
 * Cost: that of the stages, and for each batch of some hundred elements a few calls. A
 * sink that takes a function calls it through a pointer for each element (1 to 2 ns).
 *
 * Errors: only weft_iter_append can fail. Sinks that write elements take their size, and
 * end the program with a message if it is not that of the iterator's elements. Where
 * there is no scratch memory they work with less or with one thread, and some functions
 * may be called twice for the same element. Elements that are too large for the stack,
 * and partial results behind a pull, get their memory from the system then; the program
 * ends if that has none either. */

/* A sink: calls a function for each element, or for batches of them.
 *
 * Replaces
 *
 *     for (each x) fn(&x, ctx);
 *
 * weft_iter_each_batch: fn(elems, n, ctx) for batches of neighbours, n > 0. */
typedef void weft_iter_batch_fn(const void *elems, size_t n, void *ctx);
WEFT_API void weft_iter_for_each(const weft_iter *it, weft_iter_look_fn *fn, void *ctx);
WEFT_API void weft_iter_each_batch(const weft_iter *it, weft_iter_batch_fn *fn,
                                   void *ctx);

/* A sink: the number of elements.
 *
 * Replaces
 *
 *     for (each x) count++;
 *
 * Functions of maps are not called where only the number of elements matters. */
WEFT_API size_t weft_iter_count(const weft_iter *it);

/* ---- folding ---- */

/* A sink: combines all elements by an operation.
 *
 * Replaces
 *
 *     *result = *identity;
 *     for (each x) op(result, &x, ctx);
 *
 * op sets *acc to "*acc, then *x". It must be associative and need not commute. The
 * identity must not change what it is combined with, and must not be *result itself. */
WEFT_API void weft_iter_reduce(const weft_iter *it, void *result, size_t size,
                               const void *identity, weft_op_fn *op, void *ctx);

/* A sink: a reduction with an accumulator of your own.
 *
 * Replaces
 *
 *     f->init(result, ctx);
 *     for (each batch) f->fold(result, elems, n, ctx);
 *
 * As in weft_reduce (weft/reduce.h): accumulators of neighbours are merged, left and
 * right in their order, and a fold must mean the same as the merge of the folds of its
 * parts. */
typedef struct weft_folder {
  size_t size;                                                     /* of an accumulator */
  size_t elem;                                                     /* of an element */
  void (*init)(void *acc, void *ctx);                              /* nothing seen yet */
  void (*fold)(void *acc, const void *elems, size_t n, void *ctx); /* add these */
  void (*merge)(void *acc, const void *right, void *ctx);          /* add what follows */
} weft_folder;
WEFT_API void weft_iter_fold(const weft_iter *it, void *result, const weft_folder *f,
                             void *ctx);

/* Sinks: the sum, the least and the largest of numbers.
 *
 * Replaces
 *
 *     wide sum = 0;
 *     for (each x) sum += x;
 *
 * and, from the largest number of the type or +infinity on,
 *
 *     for (each x) if (x < min) min = x;
 *
 * and the same for the largest. Elements are of the type in the name; 32-bit integers
 * give sums of 64 bits, 64-bit ones wrap around, floats give a double. Minima and maxima
 * leave out NaN; if there is nothing else, they are NaN. */
#define WEFT_DECLARE_(name, type, wide)                                                  \
  WEFT_API wide weft_iter_sum_##name(const weft_iter *it);                               \
  WEFT_API type weft_iter_min_##name(const weft_iter *it);                               \
  WEFT_API type weft_iter_max_##name(const weft_iter *it);
WEFT_NUMBERS_(WEFT_DECLARE_)
#undef WEFT_DECLARE_

/* Sinks: the least and the largest element by a comparator.
 *
 * Replaces
 *
 *     for (each x)
 *       if (nothing seen yet || cmp(&x, out, ctx) < 0) *out = x;
 *
 * The first of the smallest elements, or of the largest. False if there are none. out may
 * be NULL. */
WEFT_API bool weft_iter_min_by(const weft_iter *it, void *out, size_t size,
                               weft_cmp_fn *cmp, void *ctx);
WEFT_API bool weft_iter_max_by(const weft_iter *it, void *out, size_t size,
                               weft_cmp_fn *cmp, void *ctx);

/* ---- searching ---- */

/* Sinks: an element for which a predicate holds.
 *
 * Replaces
 *
 *     for (each x)
 *       if (pred(&x, ctx)) { *out = x; return true; }
 *     return false;
 *
 * pred may be NULL: then every element matches, for instance those that pass a filter.
 * out may be NULL. find_any: the match that is found first. find_first and find_last: the
 * first and the last in the order of the sequence; all threads work from the front, or
 * from the back. */
WEFT_API bool weft_iter_find_any(const weft_iter *it, void *out, size_t size,
                                 weft_pred_fn *pred, void *ctx);
WEFT_API bool weft_iter_find_first(const weft_iter *it, void *out, size_t size,
                                   weft_pred_fn *pred, void *ctx);
WEFT_API bool weft_iter_find_last(const weft_iter *it, void *out, size_t size,
                                  weft_pred_fn *pred, void *ctx);

/* A sink: the index of the first element for which a predicate holds.
 *
 * Replaces
 *
 *     for (each x, i++) if (pred(&x, ctx)) return i;
 *     return SIZE_MAX; */
WEFT_API size_t weft_iter_position(const weft_iter *it, weft_pred_fn *pred, void *ctx);

/* Sinks: whether a predicate holds for some element, for all, for none.
 *
 * Serial: for (each x) if (pred(&x, ctx)) return true; return false; */
WEFT_API bool weft_iter_any(const weft_iter *it, weft_pred_fn *pred, void *ctx);
WEFT_API bool weft_iter_all(const weft_iter *it, weft_pred_fn *pred, void *ctx);
WEFT_API bool weft_iter_none(const weft_iter *it, weft_pred_fn *pred, void *ctx);

/* ---- collecting ---- */

/* The destination must not be memory that a source of the iterator reads (the array of a
 * slice, refs, chunks or windows, a text, the value of repeat): the program ends with a
 * message. To change an array in place, write through weft_iter_refs. Memory that
 * functions read by themselves is not checked. */

/* A sink: writes the elements to an array.
 *
 * Replaces
 *
 *     for (each x) { if (n < room) dst[n] = x; n++; }
 *     return n;
 *
 * Returns how many elements there are. dst has as many of them as there is room for, in
 * order. Where the length is known, those without room are not computed. */
WEFT_API size_t weft_iter_collect(const weft_iter *it, void *dst, size_t room,
                                  size_t size);

/* An array that grows. Starts as {NULL, 0, 0}, or with memory from malloc; the user frees
 * data. */
typedef struct weft_buffer {
  void *data;
  size_t count, capacity; /* in elements */
} weft_buffer;

/* A sink: appends the elements to an array that grows.
 *
 * Replaces
 *
 *     for (each x) { grow if needed; data[count++] = x; }
 *
 * Appends the elements in order. Returns 0, or WEFT_ENOMEM: then the buffer's elements
 * are as before. Cost: where the length is not known, each element is copied twice. */
WEFT_API int weft_iter_append(const weft_iter *it, weft_buffer *buffer, size_t size);

/* How many elements went where. */
typedef struct weft_counts {
  size_t yes, no;
} weft_counts;

/* A sink: writes the elements to one of two arrays, as a predicate says.
 *
 * Replaces
 *
 *     for (each x) if (pred(&x, ctx)) yes[y++] = x; else no[n++] = x;
 *
 * Both arrays have room for `room` elements; more are counted, but not stored. */
WEFT_API weft_counts weft_iter_partition(const weft_iter *it, void *yes, void *no,
                                         size_t room, size_t size, weft_pred_fn *pred,
                                         void *ctx);

/* A sink: writes the two parts of each element to two arrays.
 *
 * Replaces
 *
 *     for (each pair) left[n] = pair.left, right[n] = pair.right, n++;
 *     return n;
 *
 * The inverse of weft_iter_zip: the left part of each element has left_size bytes and is
 * at its begin, the right part has right_size bytes and is at right_at. Room as in
 * collect. */
WEFT_API size_t weft_iter_unzip(const weft_iter *it, void *left, void *right, size_t room,
                                size_t left_size, size_t right_size, size_t right_at);

/* Sinks: the elements in an array, scanned or sorted.
 *
 * weft_iter_collect, and then weft_scan or weft_sort of what is stored.
 *
 * Serial: weft_iter_collect(it, dst, room, size); weft_scan(...) or weft_sort(...) */
WEFT_API size_t weft_iter_scan(const weft_iter *it, void *dst, size_t room, size_t size,
                               const void *identity, bool inclusive, weft_op_fn *op,
                               void *ctx);
WEFT_API size_t weft_iter_sort(const weft_iter *it, void *dst, size_t room, size_t size,
                               weft_cmp_fn *cmp, void *ctx);

#ifdef __cplusplus
}
#endif

#endif
