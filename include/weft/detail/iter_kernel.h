/* weft/detail/iter_kernel.h - the loops of kernel stages, which the macros of
 * weft/iter_kernel.h define in the program, each as a function of its own. Not API.
 *
 * On x86-64 each loop is defined twice: for every CPU, and for those with AVX2 and its
 * vectors of 32 bytes; the library chooses when it runs. Both do the same operations with
 * the same roundings, because AVX2 has no fused product and sum.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WEFT_DETAIL_ITER_KERNEL_H
#define WEFT_DETAIL_ITER_KERNEL_H

#include <weft/detail/iter.h>
#include <weft/detail/typed_function.h>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__AVX2__) &&                    \
    !defined(WEFT_NO_SIMD) &&                                                            \
    !(defined(_WIN32) && !defined(__clang__)) /* see src/par/base/cpu_features.h */
#define WF_SIMD_WIDE             WF_SIMD __attribute__((target("avx2")))
#define WF_ITER_WIDE(...)        __VA_ARGS__
#define WF_ITER_WIDE_OR_NULL(fn) fn
#else
#define WF_ITER_WIDE(...)
#define WF_ITER_WIDE_OR_NULL(fn) NULL
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The loops of a kernel stage, for one kind of CPU. All of them get n elements. No member
 * may be added here: weft_iter_kernel has two of these in a row. */
typedef struct wf_iter_code {
  /* Maps, filters and zips: writes elements, and returns how many. */
  size_t (*run)(void *out, const void *in, const void *right, size_t n, void *ctx);
  /* Flat maps. */
  void (*flat)(struct wf_out *out, const void *in, size_t n, void *ctx);
  /* Filters and flat maps: returns how many elements there will be. */
  size_t (*count)(const void *in, size_t n, void *ctx);
  /* Filters: writes a byte for each element, 1 if it stays, else 0. */
  void (*keep)(unsigned char *kept, const void *in, size_t n, void *ctx);
} wf_iter_code;

#ifdef __cplusplus
}
#endif

/* `expr` stands without parentheses, so that gcc reports a wrong type where the program
 * has written it, and not here. It is one macro argument: no comma can be in it. */

/* What all loops begin with. */
#define WF_ITER_SOURCE(T)                                                                \
  T const *wf_src = WF_CAST(T const *, wf_from);                                         \
  (void)ctx

#define WF_ITER_MAP_LOOP(SIMD, fn, T, U, expr)                                           \
  SIMD static size_t fn(void *wf_to, const void *wf_from, const void *wf_none,           \
                        size_t wf_n, void *ctx) {                                        \
    U *wf_dst = WF_CAST(U *, wf_to);                                                     \
    WF_ITER_SOURCE(T);                                                                   \
    (void)wf_none;                                                                       \
    WF_INDEPENDENT                                                                       \
    for (size_t wf_i = 0; wf_i < wf_n; wf_i++) {                                         \
      T const x = wf_src[wf_i];                                                          \
      (void)x;                                                                           \
      wf_dst[wf_i] = expr;                                                               \
    }                                                                                    \
    return wf_n;                                                                         \
  }

#define WF_ITER_ZIP_LOOP(SIMD, fn, T, V, U, expr)                                        \
  SIMD static size_t fn(void *wf_to, const void *wf_from, const void *wf_right,          \
                        size_t wf_n, void *ctx) {                                        \
    U *wf_dst = WF_CAST(U *, wf_to);                                                     \
    WF_ITER_SOURCE(T);                                                                   \
    V const *wf_other = WF_CAST(V const *, wf_right);                                    \
    WF_INDEPENDENT                                                                       \
    for (size_t wf_i = 0; wf_i < wf_n; wf_i++) {                                         \
      T const x = wf_src[wf_i];                                                          \
      V const y = wf_other[wf_i];                                                        \
      (void)x, (void)y;                                                                  \
      wf_dst[wf_i] = expr;                                                               \
    }                                                                                    \
    return wf_n;                                                                         \
  }

/* Small results are written before it is known whether they stay, so that there is no
 * branch to mispredict. */
#define WF_ITER_SIEVE_LOOP(SIMD, fn, T, U, keep, expr)                                   \
  SIMD static size_t fn(void *wf_to, const void *wf_from, const void *wf_none,           \
                        size_t wf_n, void *ctx) {                                        \
    U *wf_dst = WF_CAST(U *, wf_to);                                                     \
    WF_ITER_SOURCE(T);                                                                   \
    size_t wf_kept = 0;                                                                  \
    (void)wf_none;                                                                       \
    for (size_t wf_i = 0; wf_i < wf_n; wf_i++) {                                         \
      T const x = wf_src[wf_i];                                                          \
      (void)x;                                                                           \
      bool wf_keep = keep;                                                               \
      if (sizeof(U) <= WF_TYPED_SMALL || wf_keep) wf_dst[wf_kept] = expr;                \
      wf_kept += wf_keep;                                                                \
    }                                                                                    \
    return wf_kept;                                                                      \
  }

/* Which elements a filter keeps. The library moves them, with instructions that compilers
 * do not find. */
#define WF_ITER_KEEP_LOOP(SIMD, fn, T, keep)                                             \
  SIMD static void fn(unsigned char *wf_kept, const void *wf_from, size_t wf_n,          \
                      void *ctx) {                                                       \
    WF_ITER_SOURCE(T);                                                                   \
    WF_INDEPENDENT                                                                       \
    for (size_t wf_i = 0; wf_i < wf_n; wf_i++) {                                         \
      T const x = wf_src[wf_i];                                                          \
      (void)x;                                                                           \
      wf_kept[wf_i] = (keep) ? 1 : 0;                                                    \
    }                                                                                    \
  }

/* In steps of a length that the compiler knows, and then one by one. */
#define WF_ITER_COUNT_LOOP(SIMD, fn, T, keep)                                            \
  SIMD static size_t fn(const void *wf_from, size_t wf_n, void *ctx) {                   \
    WF_ITER_SOURCE(T);                                                                   \
    size_t wf_total = 0;                                                                 \
    for (; wf_n >= WF_TYPED_STEP(T); wf_n -= WF_TYPED_STEP(T)) {                         \
      WF_COUNTER(wf_count);                                                              \
      for (size_t wf_j = 0; wf_j < WF_TYPED_STEP(T); wf_j++) {                           \
        T const x = *wf_src++;                                                           \
        (void)x;                                                                         \
        WF_COUNT_IF(wf_count, (keep), T)                                                 \
      }                                                                                  \
      wf_total += WF_COUNTED(wf_count);                                                  \
    }                                                                                    \
    for (; wf_n > 0; wf_n--) {                                                           \
      T const x = *wf_src++;                                                             \
      (void)x;                                                                           \
      wf_total += (keep) ? 1u : 0u;                                                      \
    }                                                                                    \
    return wf_total;                                                                     \
  }

#define WF_ITER_FLAT_LOOP(SIMD, fn, T, U, number, expr)                                  \
  SIMD static void fn(struct wf_out *wf_to, const void *wf_from, size_t wf_n,            \
                      void *ctx) {                                                       \
    WF_ITER_SOURCE(T);                                                                   \
    for (size_t wf_i = 0; wf_i < wf_n; wf_i++) {                                         \
      T const x = wf_src[wf_i];                                                          \
      (void)x;                                                                           \
      const size_t wf_number = WF_CAST(size_t, number);                                  \
      for (size_t j = 0; j < wf_number;) {                                               \
        if (wf_to->next == wf_to->end) wf_to->flush(wf_to);                              \
        U *wf_dst = WF_CAST(U *, WF_CAST(void *, wf_to->next));                          \
        size_t wf_stop = WF_CAST(size_t, wf_to->end - wf_to->next) / sizeof(U);          \
        wf_stop = wf_number - j < wf_stop ? wf_number : j + wf_stop;                     \
        for (; j < wf_stop; j++) *wf_dst++ = expr;                                       \
        wf_to->next = WF_CAST(char *, WF_CAST(void *, wf_dst));                          \
      }                                                                                  \
    }                                                                                    \
  }

#define WF_ITER_TOTAL_LOOP(SIMD, fn, T, number)                                          \
  SIMD static size_t fn(const void *wf_from, size_t wf_n, void *ctx) {                   \
    WF_ITER_SOURCE(T);                                                                   \
    size_t wf_total = 0;                                                                 \
    for (size_t wf_i = 0; wf_i < wf_n; wf_i++) {                                         \
      T const x = wf_src[wf_i];                                                          \
      (void)x;                                                                           \
      wf_total += WF_CAST(size_t, number);                                               \
    }                                                                                    \
    return wf_total;                                                                     \
  }

/* ---- all loops of a kernel stage, for both kinds of CPUs ---- */

#define WF_ITER_MAP(name, T, U, expr)                                                    \
  WF_ITER_MAP_LOOP(WF_SIMD, name##_run_, T, U, expr)                                     \
  WF_ITER_WIDE(WF_ITER_MAP_LOOP(WF_SIMD_WIDE, name##_run_wide_, T, U, expr))

#define WF_ITER_ZIP(name, T, V, U, expr)                                                 \
  WF_ITER_ZIP_LOOP(WF_SIMD, name##_run_, T, V, U, expr)                                  \
  WF_ITER_WIDE(WF_ITER_ZIP_LOOP(WF_SIMD_WIDE, name##_run_wide_, T, V, U, expr))

#define WF_ITER_SIEVE(name, T, U, keep, expr)                                            \
  WF_ITER_SIEVE_LOOP(WF_SIMD, name##_run_, T, U, keep, expr)                             \
  WF_ITER_COUNT_LOOP(WF_SIMD, name##_count_, T, keep)                                    \
  WF_ITER_WIDE(WF_ITER_COUNT_LOOP(WF_SIMD_WIDE, name##_count_wide_, T, keep))

#define WF_ITER_KEEP(name, T, keep)                                                      \
  WF_ITER_KEEP_LOOP(WF_SIMD, name##_keep_, T, keep)                                      \
  WF_ITER_WIDE(WF_ITER_KEEP_LOOP(WF_SIMD_WIDE, name##_keep_wide_, T, keep))

#define WF_ITER_FLAT(name, T, U, number, expr)                                           \
  WF_ITER_FLAT_LOOP(WF_SIMD, name##_flat_, T, U, number, expr)                           \
  WF_ITER_TOTAL_LOOP(WF_SIMD, name##_count_, T, number)                                  \
  WF_ITER_WIDE(WF_ITER_TOTAL_LOOP(WF_SIMD_WIDE, name##_count_wide_, T, number))

#endif
