/* weft/kernel_fold.h - reductions for one element type, generated around two ordinary
 * functions that the compiler inlines into the inner loop.
 *
 *     static inline int64_t add_even(int64_t sum, int32_t x, void *ctx) {
 *       return x % 2 == 0 ? sum + x : sum;
 *     }
 *     static inline int64_t add(int64_t left, int64_t right, void *ctx) {
 *       return left + right;
 *     }
 *     WEFT_FOLD(sum_of_even, int64_t, int32_t, 0, add_even, add)
 *
 *     int64_t sum = sum_of_even(a, n, NULL);
 *
 * SPDX-License-Identifier: MIT */
#ifndef WEFT_KERNEL_FOLD_H
#define WEFT_KERNEL_FOLD_H

#include <weft/reduce.h>

/* gcc at -O2 vectorises only loops whose length it knows; clang needs no telling. */
#if defined(__GNUC__) && !defined(__clang__) && defined(__OPTIMIZE__)
#define WEFT_FOLD_LOOP_ __attribute__((optimize("O3")))
#else
#define WEFT_FOLD_LOOP_
#endif

/* Defines static functions A name(const T *a, size_t n, void *ctx) and name_with, which
 * takes options first. Replaces
 *
 *     A acc = identity;
 *     for (size_t i = 0; i < n; i++) acc = step(acc, a[i], ctx);
 *     return acc;
 *
 * Meaning: as weft_reduce, with the accumulator by value: A step(A acc, T x, void *ctx)
 * adds an element, A merge(A left, A right, void *ctx) adds what follows; merge must be
 * associative, identity must not change what it is merged with. The same bits for every
 * number of threads. A must not need more than 16 bytes of alignment. */
#define WEFT_FOLD(name, A, T, identity, step, merge)                                     \
  typedef struct name##_in_ {                                                            \
    T const *a;                                                                          \
    void *ctx;                                                                           \
  } name##_in_;                                                                          \
  static void name##_init_(void *acc, void *in) {                                        \
    (void)in, *(A *)acc = (identity);                                                    \
  }                                                                                      \
  WEFT_FOLD_LOOP_ static void name##_fold_(void *acc, size_t begin, size_t end,          \
                                           void *in) {                                   \
    const name##_in_ wf_in = *(const name##_in_ *)in;                                    \
    A wf_acc = *(A *)acc;                                                                \
    for (; begin < end; begin++) wf_acc = step(wf_acc, wf_in.a[begin], wf_in.ctx);       \
    *(A *)acc = wf_acc;                                                                  \
  }                                                                                      \
  static void name##_merge_(void *acc, const void *right, void *in) {                    \
    *(A *)acc = merge(*(A *)acc, *(A const *)right, ((name##_in_ *)in)->ctx);            \
  }                                                                                      \
  static inline A name##_with(const weft_opts *o, T const *a, size_t n, void *ctx) {     \
    weft_reducer wf_r = {sizeof(A), name##_init_, name##_fold_, name##_merge_};          \
    name##_in_ wf_in = {a, ctx};                                                         \
    A wf_acc;                                                                            \
    weft_reduce_with(o, &wf_acc, n, &wf_r, &wf_in);                                      \
    return wf_acc;                                                                       \
  }                                                                                      \
  static inline A name(T const *a, size_t n, void *ctx) {                                \
    return name##_with(NULL, a, n, ctx);                                                 \
  }

#endif
