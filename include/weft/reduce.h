/* weft/reduce.h - reductions and scans with operations of your own.
 *
 *     struct range { double low, high; };
 *     static void init(void *acc, void *ctx) {...}                 // nothing seen yet
 *     static void fold(void *acc, size_t begin, size_t end, void *ctx) {...}
 *     static void merge(void *acc, const void *right, void *ctx) {...}
 *     static const weft_reducer range_of = {sizeof(struct range), init, fold, merge};
 *
 *     struct range r;
 *     weft_reduce(&r, n, &range_of, a);
 *
 * Sums, minima and more of numbers are in weft/numbers.h. WEFT_SUM_LOOP and its relatives
 * (weft/typed_loop.h) make reductions of the body of a loop, and WEFT_FOLD
 * (weft/typed_fold.h) of functions; the compiler inlines both.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WEFT_REDUCE_H
#define WEFT_REDUCE_H

#include <weft/opts.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What all calls share, weft_reduce_local with the exception that its text names.
 *
 * Results: the same bits for every number of threads, also where memory is short, and
 * also for operations on floats, which are not quite associative. Where the range is cut
 * and which partial results are merged follows from n, the size of an accumulator or
 * element, and the lengths in the options alone. After a cancellation the result covers
 * only some of the elements.
 *
 * Options: pool, max_workers and cancel as everywhere; min_len, max_len and target_chunks
 * set the leaves of a reduction (see weft_reduce), and mean nothing for scans.
 *
 * Threads: any. Inside a pool a call belongs to that pool. Outside, the calling thread
 * takes part in the global pool (started on first use) until the call returns. Your
 * functions run on several threads at the same time, but only one at a time uses an
 * accumulator. They may start loops, joins, scopes and other reductions.
 *
 * Errors: none. Misuse (a NULL function or array with n > 0, a size of 0, bad options)
 * ends the program with a message. The functions must not be left by longjmp or a C++
 * exception. Partial results of more than 256 bytes need memory; without it those of up
 * to 4 KiB live on the stack, and larger ones end the program.
 *
 * Accumulators that weft gives to your functions are aligned for every type, as memory
 * from malloc is. */

/* The functions of a reduction, and the size of what they work on. */
typedef struct weft_reducer {
  size_t size;                        /* of an accumulator in bytes */
  void (*init)(void *acc, void *ctx); /* makes an accumulator of no elements */
  void (*fold)(void *acc, size_t begin, size_t end, void *ctx); /* adds these elements */
  void (*merge)(void *acc, const void *right, void *ctx); /* adds what follows acc */
} weft_reducer;

/* A reduction: folds a range into one result, in a fixed order.
 *
 * Replaces
 *
 *     r->init(result, ctx);
 *     r->fold(result, 0, n, ctx);
 *
 * Meaning: the range is cut into leaves. Each leaf is folded into an accumulator that
 * init has made; neighbours are merged, the left one with the right one. merge must be
 * associative and need not commute, and the fold of a range must mean the same as the
 * merge of the folds of its parts. With n == 0 only init is called. After a merge `right`
 * is not used again: if an accumulator owns memory, merge takes it over or frees it.
 *
 * Cost: besides your functions about 10 ns for each leaf. There are at most 512 leaves
 * (128 if an accumulator has more than 4 KiB); where that would make leaves longer than
 * 32768 elements, there are more leaves of that length.
 *
 * Each leaf has an accumulator. Where these are heavy, such as hash tables, fewer leaves
 * are better, and the options set them:
 *
 *     weft_opts o = WEFT_OPTS_INIT;
 *     o.target_chunks = 64;                     // 64 leaves, on any number of threads
 *     weft_reduce_with(&o, &words, n, &count_words, text);
 *
 * A leaf has n / target_chunks elements, rounded up (0: as above), but at least min_len,
 * and not more than max_len (0: no limit), which wins over the others. Results of floats
 * depend on these three, but on nothing else: not on the threads, the machine or the
 * run. Choose some ten leaves for each thread, so that uneven ones even out. Where the
 * result does not depend on the order, weft_reduce_local makes one accumulator for each
 * thread instead. */
WEFT_API void weft_reduce(void *result, size_t n, const weft_reducer *r, void *ctx);
WEFT_API void weft_reduce_with(const weft_opts *o, void *result, size_t n,
                               const weft_reducer *r, void *ctx);

/* A reduction with one accumulator for each thread.
 *
 * Replaces
 *
 *     r->init(result, ctx);
 *     r->fold(result, 0, n, ctx);
 *
 * Meaning: weft_reduce with one accumulator for each thread that takes part, for heavy
 * accumulators and results that do not depend on order and grouping: counts, hash tables,
 * sets, minima. fold is called for blocks as in weft_for, in any order, and adds to an
 * accumulator in which other blocks may be already; merge adds any accumulator to any
 * other. So the operation must commute, and sums of floats may differ in their last bits
 * from run to run. Init is called at most once for each thread that takes part, on one
 * thread once. Only one call of fold at a time uses an accumulator, also where fold calls
 * weft. After a merge `right` is not used again: merge frees or takes over what it owns.
 *
 * Options: pool, min_len, max_len, max_workers and cancel, with the meaning for loops.
 * Errors: none. Without memory for an accumulator its thread takes no part. Cost: as a
 * loop. The merges run in parallel where threads end at different times.
 *
 *     weft_reduce_local(&words, n, &count_words, text); */
WEFT_API void weft_reduce_local(void *result, size_t n, const weft_reducer *r, void *ctx);
WEFT_API void weft_reduce_local_with(const weft_opts *o, void *result, size_t n,
                                     const weft_reducer *r, void *ctx);

/* The functions of a reduction that can fail. Both fold and merge return 0 or an error, a
 * number that is not 0. fold goes through its elements in ascending order and returns at
 * its first error. */
typedef struct weft_try_reducer {
  size_t size;                        /* of an accumulator in bytes */
  void (*init)(void *acc, void *ctx); /* makes an accumulator of no elements */
  int (*fold)(void *acc, size_t begin, size_t end, void *ctx); /* adds these elements */
  int (*merge)(void *acc, const void *right, void *ctx);       /* adds what follows acc */
} weft_try_reducer;

/* A reduction whose functions can fail.
 *
 * Replaces
 *
 *     r->init(result, ctx);
 *     return r->fold(result, 0, n, ctx);
 *
 * Meaning: weft_reduce, with the same leaves and options, for functions that can fail.
 * The result is the error of the lowest failing index, as in the serial code, whichever
 * came first in time; or 0. Leaves behind a known error are not folded any more, leaves
 * in front of it are. The error of a merge counts for the first index of its right side,
 * unless something in one of the two sides has failed: an accumulator is not merged
 * completely where memory is short, for instance. If the options name a scope that was
 * cancelled and there was no error, the result is WEFT_ECANCELED.
 *
 * Also after an error each accumulator that init has made is merged once, or is *result;
 * so nothing that accumulators own is lost. merge must cope with accumulators whose fold
 * or merge has failed, and *result holds some of the elements: free what it owns.
 *
 * Cost: as weft_reduce. */
WEFT_API int weft_try_reduce(void *result, size_t n, const weft_try_reducer *r,
                             void *ctx);
WEFT_API int weft_try_reduce_with(const weft_opts *o, void *result, size_t n,
                                  const weft_try_reducer *r, void *ctx);

/* Running results of an operation over an array.
 *
 * Replaces
 *
 *     acc = *identity;
 *     for (size_t i = 0; i < n; i++) {
 *       if (inclusive) {
 *         op(&acc, &src[i], ctx);
 *         dst[i] = acc;
 *       } else {
 *         next = acc;
 *         op(&next, &src[i], ctx);
 *         dst[i] = acc;
 *         acc = next;
 *       }
 *     }
 *
 * Meaning: dst[i] combines all elements up to src[i], or those in front of it. op changes
 * *acc to "*acc, then *x". It must be associative and need not commute; identity must not
 * change what it is combined with. dst may be src, but must not overlap it otherwise.
 *
 * Cost: op is called twice for each element (once if n <= 64), shared by all threads.
 * Elements are copied as bytes. Scratch memory: 1024 elements. */
typedef void weft_op_fn(void *acc, const void *x, void *ctx);
WEFT_API void weft_scan(void *dst, const void *src, size_t n, size_t size,
                        const void *identity, bool inclusive, weft_op_fn *op, void *ctx);
WEFT_API void weft_scan_with(const weft_opts *o, void *dst, const void *src, size_t n,
                             size_t size, const void *identity, bool inclusive,
                             weft_op_fn *op, void *ctx);

#ifdef __cplusplus
}
#endif

#endif
