/* weft/detail/typed_function.h - what typed functions (weft/typed_function.h) are made
 * of. A macro defines a leaf, the loop over one block, in the user's program; the library
 * cuts the array into blocks and calls the leaf for each. Not API.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WEFT_DETAIL_TYPED_FUNCTION_H
#define WEFT_DETAIL_TYPED_FUNCTION_H

#include <weft/opts.h>

#ifdef __cplusplus
extern "C" {
#endif

/* gcc still inlines plain functions into one with this attribute, because the attribute
 * only allows more. Loops start at a cache line: a short loop that crosses two lines
 * takes up to a fifth longer. The pragma says that iterations do not depend on each
 * other; clang's own pragma would warn about loops that it cannot vectorise. */
#if defined(__GNUC__) && !defined(__clang__)
#define WF_SIMD                                                                          \
  __attribute__((optimize("tree-vectorize", "vect-cost-model=dynamic", "align-loops=64")))
#define WF_INDEPENDENT _Pragma("GCC ivdep")
#else
#define WF_SIMD
#define WF_INDEPENDENT
#endif

#if defined(__GNUC__)
#define WF_RESTRICT __restrict
#else
#define WF_RESTRICT
#endif

/* A macro defines two functions, and most programs use only one of them. */
#if defined(__GNUC__)
#define WF_TYPED_FN __attribute__((unused)) static inline
#else
#define WF_TYPED_FN static inline
#endif

/* A filter copies elements of at most this many bytes before it knows whether they stay:
 * one cache line, a choice. */
#define WF_TYPED_SMALL 64

/* Loops run in steps of a length that the compiler knows: 512 bytes, for large elements
 * 64 of them. A search checks after each step whether there was a match. Within a step 32
 * bits hold every count. */
#define WF_TYPED_STEP(T) (sizeof(T) <= 8 ? 512 / sizeof(T) : 64)

/* A count of up to WF_TYPED_STEP elements, with as many bits as the type, 64 or 32: so
 * it is vectorised with the comparison. */
#define WF_COUNTER(count)                                                                \
  unsigned count = 0;                                                                    \
  size_t count##_wide = 0
#define WF_COUNTED(count) (count + count##_wide)

/* Adds 1 if the condition holds, in the form that the compiler vectorises best: for types
 * of 64 bits gcc the first one, clang the second. */
#if defined(__clang__)
#define WF_COUNT_SELECTS false
#else
#define WF_COUNT_SELECTS true
#endif
#define WF_COUNT_IF(count, condition, T)                                                 \
  {                                                                                      \
    if (sizeof(T) > 4 && WF_COUNT_SELECTS) {                                             \
      count##_wide = (condition) ? count##_wide + 1 : count##_wide;                      \
    } else if (sizeof(T) > 4) {                                                          \
      count##_wide += (condition) ? 1u : 0u;                                             \
    } else {                                                                             \
      unsigned char wf_one = (condition) ? 1 : 0;                                        \
      count += wf_one;                                                                   \
    }                                                                                    \
  }

/* The loop over a step. gcc does not unroll by itself, and a fourth of the instructions
 * of such a loop only count. */
#if defined(__clang__)
#define WF_COUNT_LOOP
#else
#define WF_COUNT_LOOP _Pragma("GCC unroll 4")
#endif
#define WF_COUNT_EACH(j, T) WF_COUNT_LOOP for (size_t j = 0; j < WF_TYPED_STEP(T); j++)

typedef struct wf_typed {
  const weft_opts *opts; /* as given: may be NULL */
  const char *name;      /* of the generated function, for messages */
  size_t n;
  void *ctx; /* the user's */
} wf_typed;

typedef void wf_map_leaf(void *dst, const void *src, size_t n, void *ctx);

/* Writes the elements that stay to dst, which has room for n, and returns their number.
 * If elements are larger than WF_TYPED_SMALL, nothing is written behind them. */
typedef size_t wf_filter_leaf(void *dst, const void *src, size_t n, void *ctx);

/* Returns the lowest matching index, or n; or the number of matches. */
typedef size_t wf_array_leaf(const void *a, size_t n, void *ctx);

WEFT_API void wf_typed_map(const wf_typed *k, void *dst, size_t dst_size, const void *src,
                           size_t src_size, wf_map_leaf *leaf);
WEFT_API size_t wf_typed_filter(const wf_typed *k, void *dst, const void *src,
                                size_t size, wf_filter_leaf *leaf);
WEFT_API size_t wf_typed_find(const wf_typed *k, const void *a, size_t size,
                              wf_array_leaf *leaf);
WEFT_API size_t wf_typed_count(const wf_typed *k, const void *a, size_t size,
                               wf_array_leaf *leaf);

/* Each makes a loop of a map. With WF_RESTRICT, where dst is another array than src, the
 * compiler knows that no store changes what ctx points to, and does not read it again for
 * each element. */
#define WF_MAP_LOOP(name, T, U, restricted, fn)                                          \
  WF_SIMD static void name(U *restricted wf_dst, T const *wf_src, size_t wf_len,         \
                           void *wf_ctx) {                                               \
    WF_INDEPENDENT                                                                       \
    for (size_t wf_i = 0; wf_i < wf_len; wf_i++)                                         \
      wf_dst[wf_i] = fn(wf_src[wf_i], wf_ctx);                                           \
  }

#define WF_MAP2_LOOP(name, job, V, restricted, fn)                                       \
  WF_SIMD static void name(V *restricted wf_dst, const job wf_j, size_t wf_i,            \
                           size_t wf_end) {                                              \
    WF_INDEPENDENT                                                                       \
    for (; wf_i < wf_end; wf_i++)                                                        \
      wf_dst[wf_i] = fn(wf_j.a[wf_i], wf_j.b[wf_i], wf_j.ctx);                           \
  }

/* Makes a wf_array_leaf that counts where the condition holds for the element x. */
#define WF_COUNT_LEAF(leaf, T, x, ctx, condition)                                        \
  WF_SIMD static size_t leaf(const void *wf_array, size_t wf_len, void *ctx) {           \
    T const *wf_a = WF_CAST(T const *, wf_array);                                        \
    size_t wf_i = 0, wf_total = 0;                                                       \
    const size_t wf_steps = wf_len - wf_len % WF_TYPED_STEP(T);                          \
    (void)ctx;                                                                           \
    for (; wf_i < wf_steps; wf_i += WF_TYPED_STEP(T)) {                                  \
      WF_COUNTER(wf_count);                                                              \
      WF_COUNT_EACH(wf_j, T) {                                                           \
        WF_ELEMENT(T, x, wf_a[wf_i + wf_j]);                                             \
        WF_COUNT_IF(wf_count, condition, T)                                              \
      }                                                                                  \
      wf_total += WF_COUNTED(wf_count);                                                  \
    }                                                                                    \
    for (; wf_i < wf_len; wf_i++) {                                                      \
      WF_ELEMENT(T, x, wf_a[wf_i]);                                                      \
      wf_total += (condition) ? 1u : 0u;                                                 \
    }                                                                                    \
    return wf_total;                                                                     \
  }

/* For a condition that may not use its element. */
#define WF_ELEMENT(T, x, from)                                                           \
  T const x = from;                                                                      \
  (void)x

#define WF_FILTER_CALLS(name, T)                                                         \
  WF_TYPED_FN size_t name##_with(const weft_opts *wf_opts, T *wf_to, T const *wf_from,   \
                                 size_t wf_len, void *wf_ctx) {                          \
    wf_typed wf_k = {wf_opts, #name, wf_len, wf_ctx};                                    \
    return wf_typed_filter(&wf_k, wf_to, wf_from, sizeof(T), name##_leaf);               \
  }                                                                                      \
  WF_TYPED_FN size_t name(T *wf_to, T const *wf_from, size_t wf_len, void *wf_ctx) {     \
    return name##_with(NULL, wf_to, wf_from, wf_len, wf_ctx);                            \
  }

/* A filter checks after each step whether few elements stayed, at most one in 50. As long
 * as that is so, it first counts how many of a group stay, which the compiler
 * vectorises, and skips a group without any. */
#define WF_FILTER_STEP         128
#define WF_FILTER_GROUP        16
#define WF_FILTER_END(i, n)    ((n) - (i) < WF_FILTER_STEP ? (n) : (i) + WF_FILTER_STEP)
#define WF_FILTER_FEW(T, kept) (sizeof(T) <= 8 && (kept) <= WF_FILTER_STEP / 50)

/* In a filter of wf_src to wf_to: one element. */
#define WF_FILTER_ONE(T, pred, i)                                                        \
  {                                                                                      \
    T const wf_x = wf_src[i];                                                            \
    const bool wf_keep = pred(wf_x, wf_ctx);                                             \
    if (sizeof(T) <= WF_TYPED_SMALL || wf_keep) *wf_to = wf_x;                           \
    wf_to += wf_keep;                                                                    \
  }

/* From wf_i on, up to wf_end: whole groups. */
#define WF_FILTER_GROUPS(T, pred)                                                        \
  for (; wf_end - wf_i >= WF_FILTER_GROUP; wf_i += WF_FILTER_GROUP) {                    \
    WF_COUNTER(wf_count);                                                                \
    for (size_t wf_j = 0; wf_j < WF_FILTER_GROUP; wf_j++)                                \
      WF_COUNT_IF(wf_count, pred(wf_src[wf_i + wf_j], wf_ctx), T)                        \
    if (WF_COUNTED(wf_count) == 0) continue;                                             \
    for (size_t wf_j = 0; wf_j < WF_FILTER_GROUP; wf_j++)                                \
      WF_FILTER_ONE(T, pred, wf_i + wf_j)                                                \
  }

/* The same, four elements at a time, so that none of their tests waits for a store. clang
 * needs no help. */
#if defined(__clang__)
#define WF_FILTER_FOURS(T) false
#else
#define WF_FILTER_FOURS(T) (sizeof(T) <= 8)
#endif
#define WF_FILTER_STEPS(T, pred)                                                         \
  for (; WF_FILTER_FOURS(T) && wf_i + 4 <= wf_end; wf_i += 4) {                          \
    T const wf_a = wf_src[wf_i];                                                         \
    T const wf_b = wf_src[wf_i + 1];                                                     \
    T const wf_c = wf_src[wf_i + 2];                                                     \
    T const wf_d = wf_src[wf_i + 3];                                                     \
    const bool wf_keep_a = pred(wf_a, wf_ctx), wf_keep_b = pred(wf_b, wf_ctx);           \
    const bool wf_keep_c = pred(wf_c, wf_ctx), wf_keep_d = pred(wf_d, wf_ctx);           \
    T *wf_at_b = wf_to + wf_keep_a;                                                      \
    T *wf_at_c = wf_at_b + wf_keep_b;                                                    \
    T *wf_at_d = wf_at_c + wf_keep_c;                                                    \
    *wf_to = wf_a, *wf_at_b = wf_b, *wf_at_c = wf_c, *wf_at_d = wf_d;                    \
    wf_to = wf_at_d + wf_keep_d;                                                         \
  }

/* The functions for name##_leaf, a wf_array_leaf. */
#define WF_ARRAY_CALLS(name, T, skeleton)                                                \
  WF_TYPED_FN size_t name##_with(const weft_opts *wf_opts, T const *wf_array,            \
                                 size_t wf_len, void *wf_ctx) {                          \
    wf_typed wf_k = {wf_opts, #name, wf_len, wf_ctx};                                    \
    return skeleton(&wf_k, wf_array, sizeof(T), name##_leaf);                            \
  }                                                                                      \
  WF_TYPED_FN size_t name(T const *wf_array, size_t wf_len, void *wf_ctx) {              \
    return name##_with(NULL, wf_array, wf_len, wf_ctx);                                  \
  }

/* What the loops of WEFT_MAP2, WEFT_FOR and WEFT_FOLD get as their context. */
#define WF_MAP2_JOB(name, T, U, V)                                                       \
  typedef struct name##_job {                                                            \
    V *to;                                                                               \
    T const *a;                                                                          \
    U const *b;                                                                          \
    void *ctx;                                                                           \
  } name##_job;

#define WF_FOR_JOB(name, T)                                                              \
  typedef struct name##_job {                                                            \
    T *a;                                                                                \
    void *ctx;                                                                           \
  } name##_job;

/* ---- scans ---- */

/* Adds n elements to *acc, one after the other. */
typedef void wf_fold_leaf(void *acc, const void *src, size_t n, void *ctx);

/* Writes *acc before or after each element, and adds it to *acc and, unless total is
 * NULL, to *total. dst may be src. */
typedef void wf_scan_leaf(void *dst, const void *src, size_t n, void *acc, void *total,
                          bool inclusive, void *ctx);

typedef struct wf_typed_scan_loops {
  size_t size;
  bool inclusive;
  wf_fold_leaf *fold;
  wf_scan_leaf *scan;
} wf_typed_scan_loops;

WEFT_API void wf_typed_scan(const wf_typed *k, void *dst, const void *src,
                            const void *identity, const wf_typed_scan_loops *scan);

/* One of the four loops of a wf_scan_leaf; `written` is the accumulator with or without
 * the element. */
#define WF_SCAN_LOOP(T, op, condition, written, has_total)                               \
  if (condition) {                                                                       \
    T wf_acc = *WF_CAST(T *, wf_to),                                                     \
      wf_sum = *WF_CAST(T *, has_total ? wf_total : wf_to);                              \
    for (size_t wf_i = 0; wf_i < wf_len; wf_i++) {                                       \
      T wf_x = (WF_CAST(T const *, wf_src))[wf_i], wf_next = op(wf_acc, wf_x, wf_ctx);   \
      if (has_total) wf_sum = op(wf_sum, wf_x, wf_ctx);                                  \
      (WF_CAST(T *, wf_dst))[wf_i] = written;                                            \
      wf_acc = wf_next;                                                                  \
    }                                                                                    \
    *WF_CAST(T *, wf_to) = wf_acc;                                                       \
    if (has_total) *WF_CAST(T *, wf_total) = wf_sum;                                     \
  }

/* The functions NAME and NAME_with for one of the two kinds of scans of name. */
#define WF_SCAN_CALLS(NAME, name, T, identity, inclusive)                                \
  WF_TYPED_FN void NAME##_with(const weft_opts *wf_opts, T *wf_to, T const *wf_from,     \
                               size_t wf_len, void *wf_ctx) {                            \
    wf_typed wf_k = {wf_opts, #NAME, wf_len, wf_ctx};                                    \
    wf_typed_scan_loops wf_s = {sizeof(T), inclusive, name##_fold, name##_scan};         \
    T wf_first = identity;                                                               \
    wf_typed_scan(&wf_k, wf_to, wf_from, &wf_first, &wf_s);                              \
  }                                                                                      \
  WF_TYPED_FN void NAME(T *wf_to, T const *wf_from, size_t wf_len, void *wf_ctx) {       \
    NAME##_with(NULL, wf_to, wf_from, wf_len, wf_ctx);                                   \
  }

/* ---- folds ---- */

/* Folds keep four accumulators of at most this many bytes at a time. clang divides sums
 * of integers better by itself, because it may add them in any order. */
#define WF_FOLD_SMALL 16
#if !defined(__clang__)
#define WF_FOLD_ALONE(A) false
#elif defined(__cplusplus)
#define WF_FOLD_ALONE(A) __is_integral(A)
#else
#define WF_FOLD_ALONE(A)                                                                 \
  _Generic((A *)NULL, int *                                                              \
           : true, unsigned *                                                            \
           : true, long *                                                                \
           : true, unsigned long *                                                       \
           : true, long long *                                                           \
           : true, unsigned long long *                                                  \
           : true, default                                                               \
           : false)
#endif

/* In a fold from wf_i to wf_end: four quarters side by side, because each step waits for
 * the one before it; then their accumulators are merged, from left to right. */
#define WF_FOLD_QUARTERS(A, T, init, step, merge)                                        \
  const bool wf_fours = sizeof(A) <= WF_FOLD_SMALL && !WF_FOLD_ALONE(A);                 \
  const size_t wf_n = wf_fours ? (wf_end - wf_i) / 4 : 0;                                \
  if (wf_n > 0) {                                                                        \
    A wf_b;                                                                              \
    A wf_c;                                                                              \
    A wf_d;                                                                              \
    init(&wf_b, wf_job), init(&wf_c, wf_job), init(&wf_d, wf_job);                       \
    for (const size_t wf_stop = wf_i + wf_n; wf_i < wf_stop; wf_i++) {                   \
      T const *wf_x = wf_j.a + wf_i;                                                     \
      wf_acc = step(wf_acc, wf_x[0], wf_j.ctx);                                          \
      wf_b = step(wf_b, wf_x[wf_n], wf_j.ctx);                                           \
      wf_c = step(wf_c, wf_x[2 * wf_n], wf_j.ctx);                                       \
      wf_d = step(wf_d, wf_x[3 * wf_n], wf_j.ctx);                                       \
    }                                                                                    \
    wf_acc = merge(wf_acc, wf_b, wf_j.ctx);                                              \
    wf_acc = merge(wf_acc, wf_c, wf_j.ctx);                                              \
    wf_acc = merge(wf_acc, wf_d, wf_j.ctx);                                              \
    wf_i += 3 * wf_n;                                                                    \
  }

#define WF_FOLD_CALLS(name, A, T)                                                        \
  WF_TYPED_FN A name##_with(const weft_opts *wf_opts, T const *wf_a, size_t wf_len,      \
                            void *wf_ctx) {                                              \
    weft_reducer wf_r = {sizeof(A), name##_init_, name##_fold_, name##_merge_};          \
    name##_job wf_j = {wf_a, wf_ctx};                                                    \
    A wf_acc;                                                                            \
    wf_typed wf_k = {wf_opts, #name, wf_len, wf_ctx};                                    \
    wf_typed_fold(&wf_k, &wf_acc, wf_a, &wf_r, &wf_j);                                   \
    return wf_acc;                                                                       \
  }                                                                                      \
  WF_TYPED_FN A name(T const *wf_a, size_t wf_len, void *wf_ctx) {                       \
    return name##_with(NULL, wf_a, wf_len, wf_ctx);                                      \
  }

#ifdef __cplusplus
}
#endif

#endif
