/* weft/iter_kernel.h - stages of iterators whose loops the compiler sees: each is a macro
 * around an expression, for elements of one type.
 *
 *     WEFT_KERNEL_FILTER(even, int64_t, x % 2 == 0)
 *     WEFT_KERNEL_MAP(square, int64_t, int64_t, x * x)
 *
 *     weft_iter it = weft_iter_slice(a, n, sizeof *a);
 *     weft_iter_apply(&it, &even, NULL);
 *     weft_iter_apply(&it, &square, NULL);
 *     int64_t sum = weft_iter_sum_i64(&it);
 *
 * Each macro stands where a function definition may stand and defines a constant of type
 * weft_iter_kernel with the given name. In the expressions `x` is the element, by value,
 * and `ctx` the pointer that was given to weft_iter_apply. Expressions are evaluated on
 * several threads at the same time, in any order, and some more than once: they shall
 * have no side effects. Types are those that can be copied as bytes.
 *
 * Cost: a call through a pointer for each batch of about a thousand elements; the loops
 * are vectorised where the expression allows it.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WEFT_ITER_KERNEL_H
#define WEFT_ITER_KERNEL_H

#include <weft/detail/iter.h>
#include <weft/detail/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum weft_iter_kernel_kind {
  WEFT_ITER_KERNEL_MAP,
  WEFT_ITER_KERNEL_FILTER,
  WEFT_ITER_KERNEL_FILTER_MAP,
  WEFT_ITER_KERNEL_FLAT_MAP,
  WEFT_ITER_KERNEL_ZIP
} weft_iter_kernel_kind;

/* What the macros define. The kinds other than the flat map have `run`, which takes n
 * elements (of the zip, n of each side) and returns how many it has written; those that
 * change the number have `count`, which returns it without writing any. */
typedef struct weft_iter_kernel {
  const char *name;
  weft_iter_kernel_kind kind;
  size_t in, right, out; /* element sizes; right: of the zip */
  size_t (*run)(void *out, const void *in, const void *right, size_t n, void *ctx);
  void (*flat)(struct wf_out *out, const void *in, size_t n, void *ctx);
  size_t (*count)(const void *in, size_t n, void *ctx);
} weft_iter_kernel;

#ifdef __cplusplus
}
#endif

/* Replaces
 *
 *     for (each x) out = expr;
 *
 * from elements of type T makes one of type U each. */
#define WEFT_KERNEL_MAP(name, T, U, expr)                                                \
  WF_SIMD static size_t name##_run_(void *wf_to, const void *wf_from,                    \
                                    const void *wf_none, size_t wf_n, void *ctx) {       \
    U *wf_dst = (U *)wf_to;                                                              \
    T const *wf_src = (T const *)wf_from;                                                \
    (void)wf_none, (void)ctx;                                                            \
    WF_INDEPENDENT                                                                       \
    for (size_t wf_i = 0; wf_i < wf_n; wf_i++) {                                         \
      WF_ELEMENT(T, x, wf_src[wf_i]);                                                    \
      wf_dst[wf_i] = (expr);                                                             \
    }                                                                                    \
    return wf_n;                                                                         \
  }                                                                                      \
  static const weft_iter_kernel name = {                                                 \
      #name, WEFT_ITER_KERNEL_MAP, sizeof(T), 0, sizeof(U), name##_run_, NULL, NULL};

/* Replaces
 *
 *     for (each x, y) out = expr;
 *
 * for weft_iter_zip_apply: `x` of type T comes from the left side, `y` of type V from the
 * right one. */
#define WEFT_KERNEL_ZIP(name, T, V, U, expr)                                             \
  WF_SIMD static size_t name##_run_(void *wf_to, const void *wf_from,                    \
                                    const void *wf_right, size_t wf_n, void *ctx) {      \
    U *wf_dst = (U *)wf_to;                                                              \
    T const *wf_src = (T const *)wf_from;                                                \
    V const *wf_other = (V const *)wf_right;                                             \
    (void)ctx;                                                                           \
    WF_INDEPENDENT                                                                       \
    for (size_t wf_i = 0; wf_i < wf_n; wf_i++) {                                         \
      WF_ELEMENT(T, x, wf_src[wf_i]);                                                    \
      WF_ELEMENT(V, y, wf_other[wf_i]);                                                  \
      wf_dst[wf_i] = (expr);                                                             \
    }                                                                                    \
    return wf_n;                                                                         \
  }                                                                                      \
  static const weft_iter_kernel name = {                                                 \
      #name,     WEFT_ITER_KERNEL_ZIP, sizeof(T), sizeof(V),                             \
      sizeof(U), name##_run_,          NULL,      NULL};

/* Replaces
 *
 *     for (each x) if (keep) out = expr;
 *
 * Both expressions are evaluated for each element where they have no more than
 * WF_KERNEL_SMALL bytes: no branch to predict. WEFT_KERNEL_FILTER(name, T, keep) keeps
 * the elements as they are. */
#define WEFT_KERNEL_FILTER_MAP(name, T, U, keep, expr)                                   \
  WF_ITER_SIEVE(name, T, U, keep, expr, WEFT_ITER_KERNEL_FILTER_MAP)
#define WEFT_KERNEL_FILTER(name, T, keep)                                                \
  WF_ITER_SIEVE(name, T, T, keep, x, WEFT_ITER_KERNEL_FILTER)

#define WF_ITER_SIEVE(name, T, U, keep, expr, kind)                                      \
  WF_SIMD static size_t name##_run_(void *wf_to, const void *wf_from,                    \
                                    const void *wf_none, size_t wf_n, void *ctx) {       \
    U *wf_dst = (U *)wf_to;                                                              \
    T const *wf_src = (T const *)wf_from;                                                \
    size_t wf_kept = 0;                                                                  \
    (void)wf_none, (void)ctx;                                                            \
    for (size_t wf_i = 0; wf_i < wf_n; wf_i++) {                                         \
      WF_ELEMENT(T, x, wf_src[wf_i]);                                                    \
      bool wf_keep = (keep);                                                             \
      if (sizeof(U) <= WF_KERNEL_SMALL || wf_keep) wf_dst[wf_kept] = (expr);             \
      wf_kept += wf_keep;                                                                \
    }                                                                                    \
    return wf_kept;                                                                      \
  }                                                                                      \
  WF_COUNT_LEAF(name##_count_, T, x, ctx, keep)                                          \
  static const weft_iter_kernel name = {                                                 \
      #name, kind, sizeof(T), 0, sizeof(U), name##_run_, NULL, name##_count_};

/* Replaces
 *
 *     for (each x)
 *       for (size_t j = 0; j < number; j++) out = expr;
 *
 * makes `number` elements of type U from each x. Where they are only counted, expr is not
 * evaluated. */
#define WEFT_KERNEL_FLAT_MAP(name, T, U, number, expr)                                   \
  WF_ITER_FLAT(name##_flat_, T, U, number, expr)                                         \
  WF_ITER_FLAT_COUNT(name##_count_, T, number)                                           \
  static const weft_iter_kernel name = {#name,        WEFT_ITER_KERNEL_FLAT_MAP,         \
                                        sizeof(T),    0,                                 \
                                        sizeof(U),    NULL,                              \
                                        name##_flat_, name##_count_};

#define WF_ITER_FLAT(flat, T, U, number, expr)                                           \
  WF_SIMD static void flat(struct wf_out *wf_to, const void *wf_from, size_t wf_n,       \
                           void *ctx) {                                                  \
    T const *wf_src = (T const *)wf_from;                                                \
    (void)ctx;                                                                           \
    for (size_t wf_i = 0; wf_i < wf_n; wf_i++) {                                         \
      WF_ELEMENT(T, x, wf_src[wf_i]);                                                    \
      const size_t wf_number = (size_t)(number);                                         \
      for (size_t j = 0; j < wf_number;) {                                               \
        if (wf_to->next == wf_to->end) wf_to->flush(wf_to);                              \
        U *wf_dst = (U *)(void *)wf_to->next;                                            \
        size_t wf_stop = (size_t)(wf_to->end - wf_to->next) / sizeof(U);                 \
        wf_stop = wf_number - j < wf_stop ? wf_number : j + wf_stop;                     \
        for (; j < wf_stop; j++) *wf_dst++ = (expr);                                     \
        wf_to->next = (char *)wf_dst;                                                    \
      }                                                                                  \
    }                                                                                    \
  }

#define WF_ITER_FLAT_COUNT(count, T, number)                                             \
  WF_SIMD static size_t count(const void *wf_from, size_t wf_n, void *ctx) {             \
    T const *wf_src = (T const *)wf_from;                                                \
    size_t wf_total = 0;                                                                 \
    (void)ctx;                                                                           \
    for (size_t wf_i = 0; wf_i < wf_n; wf_i++) {                                         \
      WF_ELEMENT(T, x, wf_src[wf_i]);                                                    \
      wf_total += (size_t)(number);                                                      \
    }                                                                                    \
    return wf_total;                                                                     \
  }

#endif
