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
 * For sums, minima and the like of numbers see weft/typed.h, for kernels that the
 * compiler inlines WEFT_FOLD in weft/kernel_fold.h.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WEFT_REDUCE_H
#define WEFT_REDUCE_H

#include <weft/opts.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What both share.
 *
 * Results: the same bits for every number of threads and all options, also where memory
 * is short, and also for operations on floats, which are not quite associative: where the
 * range is cut and which partial results are merged follows from n and the size of an
 * accumulator or element alone. So of the options only pool, max_workers and cancel
 * matter here. After a cancellation the result holds some of the elements.
 *
 * Threads: any. Inside a pool a call belongs to that pool; from outside the calling
 * thread takes part in the global pool (started on first use) until the call returns. The
 * functions are called on several threads at the same time, each accumulator is used by
 * one at a time. They may start loops, joins, scopes and other reductions.
 *
 * Errors: none. Nonsense (a NULL function or array with n > 0, a size of 0, bad options)
 * ends the program with a message. The functions must not be left by longjmp or a C++
 * exception. Where there is no memory for partial results of more than 256 bytes, those
 * up to 4 KiB live on the stack; larger ones for which the system has no memory at all
 * end the program.
 *
 * Memory that weft gives to the functions is aligned for every type, as malloc's is. */

typedef struct weft_reducer {
  size_t size;                                                  /* of an accumulator */
  void (*init)(void *acc, void *ctx);                           /* nothing seen yet */
  void (*fold)(void *acc, size_t begin, size_t end, void *ctx); /* add these elements */
  void (*merge)(void *acc, const void *right, void *ctx);       /* add what follows */
} weft_reducer;

/* Replaces
 *
 *     r->init(result, ctx);
 *     r->fold(result, 0, n, ctx);
 *
 * Meaning: the range is cut into leaves; each is folded into an accumulator that init has
 * made; neighbours are merged, left and right in their order. merge must be associative
 * and need not commute, and a fold must mean the same as the merge of the folds of its
 * parts. With n == 0 only init is called. merge does not keep `right`: if an accumulator
 * owns memory, merge takes it over or frees it.
 *
 * Cost: beside the functions themselves some 10 ns for each of at most 512 leaves (128 if
 * the accumulator has more than 4 KiB), or of 32768 elements each where that is more. */
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
 * Meaning: dst[i] combines all elements up to src[i], or those in front of it. op makes
 * *acc to "*acc, then *x"; it must be associative and need not commute, identity must not
 * change what it is combined with. dst may be src, but must not overlap it otherwise.
 *
 * Cost: op is called twice for each element (once if n <= 64), by all threads together.
 * Elements are copied by their bytes. Scratch memory: 1024 elements. */
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
