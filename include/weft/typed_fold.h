/* weft/typed_fold.h - typed functions (weft/typed_function.h) for reductions and scans,
 * made around ordinary functions that the compiler inlines into the inner loop.
 *
 *     static inline int64_t add_even(int64_t sum, int32_t x, void *ctx) {
 *       (void)ctx;
 *       return x % 2 == 0 ? sum + x : sum;
 *     }
 *     static inline int64_t add(int64_t left, int64_t right, void *ctx) {
 *       (void)ctx;
 *       return left + right;
 *     }
 *     WEFT_FOLD(sum_of_even, int64_t, int32_t, 0, add_even, add)
 *
 *     int64_t sum = sum_of_even(a, n, NULL);
 *
 * SPDX-License-Identifier: MIT */
#ifndef WEFT_TYPED_FOLD_H
#define WEFT_TYPED_FOLD_H

#include <weft/detail/typed_function.h>
#include <weft/reduce.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The reduction behind WEFT_FOLD. Not API. */
WEFT_API void wf_typed_fold(const wf_typed *k, void *result, const void *a,
                            const weft_reducer *r, void *in);

#ifdef __cplusplus
}
#endif

/* gcc at -O2 vectorises only loops whose length it knows; clang needs no mark. */
#if defined(__GNUC__) && !defined(__clang__) && defined(__OPTIMIZE__)
#define WEFT_FOLD_LOOP_ __attribute__((optimize("O3")))
#else
#define WEFT_FOLD_LOOP_
#endif

/* What all functions made here share.
 *
 * Threads: any, as weft_reduce. Your functions run on several threads at the same time,
 * but only one at a time uses an accumulator.
 *
 * Errors: none. Misuse (a NULL array with n > 0, bad options) ends the program with a
 * message.
 *
 * Cost: that of weft_reduce or weft_scan, without a call through a pointer for each
 * element; the loops are vectorised where the functions allow it. */

/* Makes a function that reduces an array of one type.
 *
 * Replaces
 *
 *     A acc = identity;
 *     for (size_t i = 0; i < n; i++) acc = step(acc, a[i], ctx);
 *     return acc;
 *
 * Meaning: weft_reduce as A name(const T *a, size_t n, void *ctx), with the accumulator
 * by value. A step(A acc, T x, void *ctx) adds an element; A merge(A left, A right,
 * void *ctx) combines two neighbours. merge must be associative and need not commute;
 * identity must not change what it is merged with. The result has the same bits for every
 * number of threads. The lengths in options set the leaves, as in weft_reduce. A must not
 * need more than 16 bytes of alignment. */
#define WEFT_FOLD(name, A, T, identity, step, merge)                                     \
  WF_FOR_JOB(name, T const)                                                              \
  static void name##_init_(void *wf_acc, void *wf_job) {                                 \
    (void)wf_job, *WF_CAST(A *, wf_acc) = (identity);                                    \
  }                                                                                      \
  WEFT_FOLD_LOOP_ static void name##_fold_(void *wf_to, size_t wf_i, size_t wf_end,      \
                                           void *wf_job) {                               \
    const name##_job wf_j = *WF_CAST(const name##_job *, wf_job);                        \
    A wf_acc = *WF_CAST(A *, wf_to);                                                     \
    WF_FOLD_QUARTERS(A, T, name##_init_, step, merge)                                    \
    for (; wf_i < wf_end; wf_i++) wf_acc = step(wf_acc, wf_j.a[wf_i], wf_j.ctx);         \
    *WF_CAST(A *, wf_to) = wf_acc;                                                       \
  }                                                                                      \
  static void name##_merge_(void *wf_acc, const void *wf_right, void *wf_job) {          \
    void *wf_ctx = (WF_CAST(name##_job *, wf_job))->ctx;                                 \
    *WF_CAST(A *, wf_acc) =                                                              \
        merge(*WF_CAST(A *, wf_acc), *WF_CAST(A const *, wf_right), wf_ctx);             \
  }                                                                                      \
  WF_FOLD_CALLS(name, A, T)

/* Makes functions that compute running results over an array of one type.
 *
 * Replaces
 *
 *     T acc = identity;
 *     for (size_t i = 0; i < n; i++) dst[i] = acc = op(acc, src[i], ctx);
 *
 * and, for name_exclusive, a loop that writes acc before it adds src[i].
 *
 * Meaning: weft_scan as void name(T *dst, const T *src, size_t n, void *ctx) and
 * name_exclusive, and their twins with options, from a function
 * T op(T acc, T x, void *ctx). op must be associative and need not commute; identity must
 * not change what it is combined with. dst may be src, but must not overlap it otherwise.
 * The result has the same bits for every number of threads. T must not need more than 16
 * bytes of alignment. */
#define WEFT_SCAN(name, T, identity, op)                                                 \
  WEFT_FOLD_LOOP_ static void name##_fold(void *wf_to, const void *wf_from,              \
                                          size_t wf_len, void *wf_ctx) {                 \
    T wf_acc = *WF_CAST(T *, wf_to);                                                     \
    for (size_t wf_i = 0; wf_i < wf_len; wf_i++)                                         \
      wf_acc = op(wf_acc, (WF_CAST(T const *, wf_from))[wf_i], wf_ctx);                  \
    *WF_CAST(T *, wf_to) = wf_acc;                                                       \
  }                                                                                      \
  static void name##_scan(void *wf_dst, const void *wf_src, size_t wf_len, void *wf_to,  \
                          void *wf_total, bool wf_inclusive, void *wf_ctx){              \
      WF_SCAN_LOOP(T, op, wf_total != NULL && wf_inclusive, wf_next, true)               \
          WF_SCAN_LOOP(T, op, wf_total != NULL && !wf_inclusive, wf_acc, true)           \
              WF_SCAN_LOOP(T, op, wf_total == NULL && wf_inclusive, wf_next, false)      \
                  WF_SCAN_LOOP(T, op, wf_total == NULL && !wf_inclusive, wf_acc,         \
                               false)} WF_SCAN_CALLS(name, name, T, identity, true)      \
      WF_SCAN_CALLS(name##_exclusive, name, T, identity, false)

#endif
