/* weft/kernel_sort.h - typed sort functions, with the order inlined into their loops.
 *
 *     struct item { uint64_t key; double x, y, z; };
 *
 *     static inline bool item_less(const struct item *a, const struct item *b,
 *                                  void *ctx) {
 *       (void)ctx;
 *       return a->key < b->key;
 *     }
 *     WEFT_SORT(sort_items, struct item, item_less)
 *
 *     sort_items(items, n, NULL);
 *
 * SPDX-License-Identifier: MIT */
#ifndef WEFT_KERNEL_SORT_H
#define WEFT_KERNEL_SORT_H

#include <weft/detail/sort_leaf.h>
#include <weft/opts.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Sorts by a kernel. Not API: for WEFT_SORT. */
WEFT_API void wf_sort_by_kernel(const weft_opts *o, void *base, size_t n,
                                const wf_sort_kernel *kernel, void *ctx, bool stable,
                                const char *call);

/* Replaces
 *
 *     qsort_r(a, n, sizeof(T), compare, ctx);
 *
 * Meaning: defines at file scope, for an array of type T *,
 *
 *     static void NAME(T *a, size_t n, void *ctx);         equal elements in any order
 *     static void NAME_stable(T *a, size_t n, void *ctx);  equal elements as before
 *
 * and their twins NAME_with and NAME_stable_with, whose first argument is a const
 * weft_opts *. `less` is a function or macro less(const T *a, const T *b, void *ctx):
 * does *a come before *b? It takes pointers because only part of an element is its key;
 * best is one expression without && and ||, which the compiler turns into code without
 * branches. T may be any complete type that memcpy can copy.
 *
 * Threads, errors and cost as in weft/sort.h. Compared with weft_sort no comparison is a
 * call, which makes it two to four times as fast. Compile with -O2 or more. */
#define WEFT_SORT(NAME, T, less)                                                         \
  static inline bool NAME##_less_(const void *wf_a, const void *wf_b, void *wf_ctx) {    \
    return less((T const *)wf_a, (T const *)wf_b, wf_ctx);                               \
  }                                                                                      \
  WF_SORT_KERNEL(NAME, sizeof(T), sizeof(T), NAME##_less_)                               \
  WF_SORT_FUNCTION(NAME, NAME, T, false)                                                 \
  WF_SORT_FUNCTION(NAME##_stable, NAME, T, true)

#define WF_SORT_FUNCTION(NAME, KERNEL, T, stable)                                        \
  __attribute__((unused)) static inline void NAME##_with(                                \
      const weft_opts *wf_opts, T *wf_a, size_t wf_n, void *wf_ctx) {                    \
    wf_sort_by_kernel(wf_opts, wf_a, wf_n, &KERNEL##_kernel_, wf_ctx, stable, #NAME);    \
  }                                                                                      \
  __attribute__((unused)) static inline void NAME(T *wf_a, size_t wf_n, void *wf_ctx) {  \
    NAME##_with(NULL, wf_a, wf_n, wf_ctx);                                               \
  }

#ifdef __cplusplus
}
#endif

#endif
