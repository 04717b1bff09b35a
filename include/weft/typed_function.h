/* weft/typed_function.h - typed functions: array functions for one element type, which a
 * macro makes around an ordinary function of yours. The compiler inlines that function
 * into the inner loop and vectorises the loop where it can.
 *
 *     static inline bool is_negative(double x, void *ctx) {
 *       (void)ctx;
 *       return x < 0;
 *     }
 *     WEFT_FIND(first_negative, double, is_negative)
 *
 *     size_t i = first_negative(a, n, NULL);
 *
 * Each macro stands where a function definition may stand, and defines the static
 * functions `name` and `name`_with; the latter takes options first (weft/opts.h). These
 * mean the same as the call of weft/array.h or weft/search.h after which the macro is
 * named, and follow its rules. That call goes through a pointer for each element; a typed
 * function does so once for each block. Types are those that memcpy can copy.
 *
 * What your function gets follows one rule: a function that reads a whole element gets it
 * by value, because values in registers are what compilers vectorise (maps, predicates,
 * steps of a fold). A function that changes an element (WEFT_FOR), or that looks at parts
 * of two elements (the orders of WEFT_SORT, weft/typed_sort.h), gets pointers: elements
 * of a sort are often records of which only a key is compared. The last argument is
 * `ctx`, as everywhere.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WEFT_TYPED_FUNCTION_H
#define WEFT_TYPED_FUNCTION_H

#include <weft/detail/typed_function.h>
#include <weft/loop.h>

/* What all typed functions share.
 *
 * Threads: those of the call after which the macro is named: any. Your function is called
 * in any order and on several threads at the same time.
 *
 * Errors: none. Misuse (a NULL array with n > 0, bad options) ends the program with a
 * message that names the function. A function that gets no scratch memory uses a slower
 * method with the same result.
 *
 * Cost: nothing to choose; see weft/loop.h. Your function is inlined into the loop over a
 * block: no call through a pointer for each element. */

/* A mark for functions whose loops are vectorised as with -O3. It stands in front of the
 * definition. gcc at -O2 vectorises only loops whose length it knows; clang needs no
 * mark.
 *
 *     WEFT_SIMD static void scale(size_t begin, size_t end, void *ctx) {
 *       float *a = ctx;
 *       for (size_t i = begin; i < end; i++) a[i] *= 2;
 *     } */
#define WEFT_SIMD WF_SIMD

/* Makes a function that maps an array of one type.
 *
 * Replaces
 *
 *     for (size_t i = 0; i < n; i++) dst[i] = fn(src[i], ctx);
 *
 * Meaning: weft_map as void name(U *dst, const T *src, size_t n, void *ctx), from a
 * function U fn(T x, void *ctx). dst may be src, but must not overlap it otherwise. */
#define WEFT_MAP(name, T, U, fn)                                                         \
  WF_MAP_LOOP(name##_apart, T, U, WF_RESTRICT, fn)                                       \
  WF_MAP_LOOP(name##_in_place, T, U, , fn)                                               \
  WF_SIMD static void name##_leaf(void *wf_to, const void *wf_from, size_t wf_len,       \
                                  void *wf_ctx) {                                        \
    if (wf_to != wf_from)                                                                \
      name##_apart(WF_CAST(U *, wf_to), WF_CAST(T const *, wf_from), wf_len, wf_ctx);    \
    else                                                                                 \
      name##_in_place(WF_CAST(U *, wf_to), WF_CAST(T const *, wf_from), wf_len, wf_ctx); \
  }                                                                                      \
  WF_TYPED_FN void name##_with(const weft_opts *wf_opts, U *wf_to, T const *wf_from,     \
                               size_t wf_len, void *wf_ctx) {                            \
    wf_typed wf_k = {wf_opts, #name, wf_len, wf_ctx};                                    \
    wf_typed_map(&wf_k, wf_to, sizeof(U), wf_from, sizeof(T), name##_leaf);              \
  }                                                                                      \
  WF_TYPED_FN void name(U *wf_to, T const *wf_from, size_t wf_len, void *wf_ctx) {       \
    name##_with(NULL, wf_to, wf_from, wf_len, wf_ctx);                                   \
  }

/* Makes a function that maps two arrays to one.
 *
 * Replaces
 *
 *     for (size_t i = 0; i < n; i++) dst[i] = fn(a[i], b[i], ctx);
 *
 * Meaning: weft_map with two sources, as void name(V *dst, const T *a, const U *b,
 * size_t n, void *ctx), from a function V fn(T x, U y, void *ctx). dst may be a or b, but
 * must not overlap them otherwise. */
#define WEFT_MAP2(name, T, U, V, fn)                                                     \
  WF_MAP2_JOB(name, T, U, V)                                                             \
  WF_MAP2_LOOP(name##_apart, name##_job, V, WF_RESTRICT, fn)                             \
  WF_MAP2_LOOP(name##_in_place, name##_job, V, , fn)                                     \
  WF_SIMD static void name##_block(size_t wf_i, size_t wf_end, void *wf_job) {           \
    const name##_job wf_j = *WF_CAST(const name##_job *, wf_job);                        \
    const void *wf_to = wf_j.to;                                                         \
    if (wf_to != wf_j.a && wf_to != wf_j.b)                                              \
      name##_apart(wf_j.to, wf_j, wf_i, wf_end);                                         \
    else                                                                                 \
      name##_in_place(wf_j.to, wf_j, wf_i, wf_end);                                      \
  }                                                                                      \
  WF_TYPED_FN void name##_with(const weft_opts *wf_opts, V *wf_to, T const *wf_a,        \
                               U const *wf_b, size_t wf_len, void *wf_ctx) {             \
    name##_job wf_j = {wf_to, wf_a, wf_b, wf_ctx};                                       \
    weft_for_with(wf_opts, wf_len, name##_block, &wf_j);                                 \
  }                                                                                      \
  WF_TYPED_FN void name(V *wf_v, T const *wf_t, U const *wf_u, size_t wf_n, void *c) {   \
    name##_with(NULL, wf_v, wf_t, wf_u, wf_n, c);                                        \
  }

/* Makes a function that changes each element of an array of one type.
 *
 * Replaces
 *
 *     for (size_t i = 0; i < n; i++) fn(&a[i], i, ctx);
 *
 * Meaning: weft_for_each as void name(T *a, size_t n, void *ctx), from a function
 * void fn(T *x, size_t i, void *ctx). fn may change its own element *x; it must not read
 * another element that is changed. */
#define WEFT_FOR(name, T, fn)                                                            \
  WF_FOR_JOB(name, T)                                                                    \
  WF_SIMD static void name##_loop(T *WF_RESTRICT wf_a, size_t wf_i, size_t wf_end,       \
                                  void *wf_ctx) {                                        \
    WF_INDEPENDENT                                                                       \
    for (; wf_i < wf_end; wf_i++) fn(&wf_a[wf_i], wf_i, wf_ctx);                         \
  }                                                                                      \
  WF_SIMD static void name##_block(size_t wf_i, size_t wf_end, void *wf_job) {           \
    const name##_job *wf_j = WF_CAST(const name##_job *, wf_job);                        \
    name##_loop(wf_j->a, wf_i, wf_end, wf_j->ctx);                                       \
  }                                                                                      \
  WF_TYPED_FN void name##_with(const weft_opts *wf_opts, T *wf_a, size_t wf_len,         \
                               void *wf_ctx) {                                           \
    name##_job wf_j = {wf_a, wf_ctx};                                                    \
    weft_for_with(wf_opts, wf_len, name##_block, &wf_j);                                 \
  }                                                                                      \
  WF_TYPED_FN void name(T *wf_a, size_t wf_len, void *wf_ctx) {                          \
    name##_with(NULL, wf_a, wf_len, wf_ctx);                                             \
  }

/* Makes a function that filters an array of one type.
 *
 * Replaces
 *
 *     size_t kept = 0;
 *     for (size_t i = 0; i < n; i++)
 *       if (pred(src[i], ctx)) dst[kept++] = src[i];
 *     return kept;
 *
 * Meaning: weft_filter as size_t name(T *dst, const T *src, size_t n, void *ctx), from a
 * function bool pred(T x, void *ctx), which may be called twice for some elements. Small
 * elements are copied before it is known whether they stay, so there is no branch to
 * predict. Where few elements stay, groups of elements are tested at once. */
#define WEFT_FILTER(name, T, pred)                                                       \
  WEFT_SIMD static size_t name##_leaf(void *wf_dst, const void *wf_from, size_t wf_len,  \
                                      void *wf_ctx) {                                    \
    T *wf_to = WF_CAST(T *, wf_dst);                                                     \
    T const *wf_src = WF_CAST(T const *, wf_from);                                       \
    size_t wf_i = 0;                                                                     \
    bool wf_few = false;                                                                 \
    while (wf_i < wf_len) {                                                              \
      T const *const wf_before = wf_to;                                                  \
      const size_t wf_end = WF_FILTER_END(wf_i, wf_len);                                 \
      if (wf_few) WF_FILTER_GROUPS(T, pred)                                              \
      WF_FILTER_STEPS(T, pred)                                                           \
      for (; wf_i < wf_end; wf_i++) WF_FILTER_ONE(T, pred, wf_i)                         \
      wf_few = WF_FILTER_FEW(T, wf_to - wf_before);                                      \
    }                                                                                    \
    return WF_CAST(size_t, wf_to - WF_CAST(T *, wf_dst));                                \
  }                                                                                      \
  WF_FILTER_CALLS(name, T)

/* Makes a function that finds an element in an array of one type.
 *
 * Replaces
 *
 *     for (size_t i = 0; i < n; i++)
 *       if (pred(a[i], ctx)) return i;
 *     return SIZE_MAX;
 *
 * Meaning: weft_find_first as size_t name(const T *a, size_t n, void *ctx), from a
 * function bool pred(T x, void *ctx). pred may be called for some elements behind the
 * match, and twice for some. */
#define WEFT_FIND(name, T, pred)                                                         \
  WEFT_SIMD static size_t name##_leaf(const void *wf_array, size_t wf_len,               \
                                      void *wf_ctx) {                                    \
    T const *wf_a = WF_CAST(T const *, wf_array);                                        \
    size_t wf_i = 0;                                                                     \
    const size_t wf_steps = wf_len - wf_len % WF_TYPED_STEP(T);                          \
    for (; wf_i < wf_steps; wf_i += WF_TYPED_STEP(T)) {                                  \
      WF_COUNTER(wf_count);                                                              \
      WF_COUNT_EACH(wf_j, T)                                                             \
      WF_COUNT_IF(wf_count, pred(wf_a[wf_i + wf_j], wf_ctx), T)                          \
      if (WF_COUNTED(wf_count) > 0) break;                                               \
    }                                                                                    \
    while (wf_i < wf_len && !pred(wf_a[wf_i], wf_ctx)) wf_i++;                           \
    return wf_i;                                                                         \
  }                                                                                      \
  WF_ARRAY_CALLS(name, T, wf_typed_find)

/* Makes a function that counts elements in an array of one type.
 *
 * Replaces
 *
 *     size_t count = 0;
 *     for (size_t i = 0; i < n; i++) count += pred(a[i], ctx);
 *     return count;
 *
 * Meaning: weft_count as size_t name(const T *a, size_t n, void *ctx), from a function
 * bool pred(T x, void *ctx). */
#define WEFT_COUNT(name, T, pred)                                                        \
  WF_COUNT_LEAF(name##_leaf, T, wf_x, wf_ctx, pred(wf_x, wf_ctx))                        \
  WF_ARRAY_CALLS(name, T, wf_typed_count)

#endif
