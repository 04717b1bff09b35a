/* weft/kernel_fold.h - reductions for one element type, generated around two ordinary
 * functions that the compiler inlines into the inner loop.
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
#ifndef WEFT_KERNEL_FOLD_H
#define WEFT_KERNEL_FOLD_H

#include <weft/detail/kernel.h>
#include <weft/reduce.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Reduces by a kernel. Not API: for WEFT_FOLD. */
WEFT_API void wf_kernel_fold(const wf_kernel *k, void *result, const void *a,
                             const weft_reducer *r, void *in);

#ifdef __cplusplus
}
#endif

/* gcc at -O2 vectorises only loops whose length it knows; clang needs no telling. */
#if defined(__GNUC__) && !defined(__clang__) && defined(__OPTIMIZE__)
#define WEFT_FOLD_LOOP_ __attribute__((optimize("O3")))
#else
#define WEFT_FOLD_LOOP_
#endif

/* Replaces
 *
 *     A acc = identity;
 *     for (size_t i = 0; i < n; i++) acc = step(acc, a[i], ctx);
 *     return acc;
 *
 * Meaning: defines static functions A name(const T *a, size_t n, void *ctx) and
 * name_with, which takes options first. As weft_reduce, with the accumulator by value:
 * A step(A acc, T x, void *ctx) adds an element, A merge(A left, A right, void *ctx) adds
 * what follows; merge must be associative, identity must not change what it is merged
 * with. The same bits for every number of threads. A must not need more than 16 bytes of
 * alignment. */
#define WEFT_FOLD(name, A, T, identity, step, merge)                                     \
  typedef struct name##_in_ {                                                            \
    T const *wf_a;                                                                       \
    void *wf_ctx;                                                                        \
  } name##_in_;                                                                          \
  static void name##_init_(void *wf_acc, void *wf_in) {                                  \
    (void)wf_in, *(A *)wf_acc = (identity);                                              \
  }                                                                                      \
  WEFT_FOLD_LOOP_ static void name##_fold_(void *wf_to, size_t wf_i, size_t wf_end,      \
                                           void *wf_from) {                              \
    const name##_in_ wf_in = *(const name##_in_ *)wf_from;                               \
    A wf_acc = *(A *)wf_to;                                                              \
    for (; wf_i < wf_end; wf_i++) wf_acc = step(wf_acc, wf_in.wf_a[wf_i], wf_in.wf_ctx); \
    *(A *)wf_to = wf_acc;                                                                \
  }                                                                                      \
  static void name##_merge_(void *wf_acc, const void *wf_right, void *wf_in) {           \
    *(A *)wf_acc =                                                                       \
        merge(*(A *)wf_acc, *(A const *)wf_right, ((name##_in_ *)wf_in)->wf_ctx);        \
  }                                                                                      \
  WF_KERNEL_FN A name##_with(const weft_opts *wf_opts, T const *wf_a, size_t wf_len,     \
                             void *wf_ctx) {                                             \
    weft_reducer wf_r = {sizeof(A), name##_init_, name##_fold_, name##_merge_};          \
    name##_in_ wf_in = {wf_a, wf_ctx};                                                   \
    A wf_acc;                                                                            \
    wf_kernel wf_k = {wf_opts, #name, wf_len, wf_ctx};                                   \
    wf_kernel_fold(&wf_k, &wf_acc, wf_a, &wf_r, &wf_in);                                 \
    return wf_acc;                                                                       \
  }                                                                                      \
  WF_KERNEL_FN A name(T const *wf_a, size_t wf_len, void *wf_ctx) {                      \
    return name##_with(NULL, wf_a, wf_len, wf_ctx);                                      \
  }

#endif
