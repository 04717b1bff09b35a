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
 * Sums, minima and more of numbers are in weft/numbers.h. WEFT_FOLD of weft/typed_fold.h
 * makes reductions whose loops the compiler inlines.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WEFT_REDUCE_H
#define WEFT_REDUCE_H

#include <weft/opts.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What both calls share.
 *
 * Results: the same bits for every number of threads and all options, also where memory
 * is short, and also for operations on floats, which are not quite associative: where the
 * range is cut and which partial results are merged follows from n and the size of an
 * accumulator or element alone. So of the options only pool, max_workers and cancel
 * matter here. After a cancellation the result covers only some of the elements.
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

typedef struct weft_reducer {
  size_t size;                        /* of an accumulator in bytes */
  void (*init)(void *acc, void *ctx); /* makes an accumulator of no elements */
  void (*fold)(void *acc, size_t begin, size_t end, void *ctx); /* adds these elements */
  void (*merge)(void *acc, const void *right, void *ctx); /* adds what follows acc */
} weft_reducer;

/* Replaces
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
 * 32768 elements, there are more leaves of that length. */
WEFT_API void weft_reduce(void *result, size_t n, const weft_reducer *r, void *ctx);
WEFT_API void weft_reduce_with(const weft_opts *o, void *result, size_t n,
                               const weft_reducer *r, void *ctx);

/* Replaces
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
