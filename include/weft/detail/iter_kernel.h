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

/* What a stage makes, if those are numbers that sinks add up. Others have no sums. */
typedef enum wf_iter_number {
  WF_ITER_NO_NUMBER,
  WF_ITER_I32,
  WF_ITER_U32,
  WF_ITER_I64,
  WF_ITER_U64,
  WF_ITER_F32,
  WF_ITER_F64
} wf_iter_number;

/* The sum of what a stage makes of n elements, in one loop that hands on no element. For
 * one kind of CPU. No member may be added here either. */
typedef struct wf_iter_sums {
  /* All but flat maps, where they make integers: the sum, which wraps around. */
  uint64_t (*whole)(const void *in, const void *right, size_t n, void *ctx);
  /* Maps and zips that make floats: eight sums for each group of WF_ITER_GROUP elements,
   * by the tree of src/par/fold/simd.h. */
  void (*columns)(double *sums, const void *in, const void *right, size_t groups,
                  void *ctx);
} wf_iter_sums;

enum { WF_ITER_GROUP = 128 };

/* Adds four rows of eight columns by halves, each column alone. */
static inline void wf_iter_add_rows(double *to, const double *rows) {
  for (int c = 0; c < 8; c++)
    to[c] = (rows[c] + rows[c + 8]) + (rows[c + 16] + rows[c + 24]);
}

#ifdef __cplusplus
}

/* Which number U is, and its value. */
template <class U> struct wf_iter_type {
  static constexpr wf_iter_number number = WF_ITER_NO_NUMBER;
  static uint64_t whole(const U &) {
    return 0;
  }
  static double real(const U &) {
    return 0;
  }
};
#define WF_ITER_TYPE_WHOLE(U, name, wide)                                                \
  template <> struct wf_iter_type<U> {                                                   \
    static constexpr wf_iter_number number = name;                                       \
    static uint64_t whole(U y) {                                                         \
      return static_cast<uint64_t>(static_cast<wide>(y));                                \
    }                                                                                    \
    static double real(U) {                                                              \
      return 0;                                                                          \
    }                                                                                    \
  };
#define WF_ITER_TYPE_REAL(U, name)                                                       \
  template <> struct wf_iter_type<U> {                                                   \
    static constexpr wf_iter_number number = name;                                       \
    static uint64_t whole(U) {                                                           \
      return 0;                                                                          \
    }                                                                                    \
    static double real(U y) {                                                            \
      return static_cast<double>(y);                                                     \
    }                                                                                    \
  };
WF_ITER_TYPE_WHOLE(int32_t, WF_ITER_I32, int64_t)
WF_ITER_TYPE_WHOLE(uint32_t, WF_ITER_U32, uint64_t)
WF_ITER_TYPE_WHOLE(int64_t, WF_ITER_I64, int64_t)
WF_ITER_TYPE_WHOLE(uint64_t, WF_ITER_U64, uint64_t)
WF_ITER_TYPE_REAL(float, WF_ITER_F32)
WF_ITER_TYPE_REAL(double, WF_ITER_F64)
#undef WF_ITER_TYPE_WHOLE
#undef WF_ITER_TYPE_REAL

#define WF_ITER_NUMBER_OF(U)   wf_iter_type<U>::number
#define WF_ITER_WHOLE_OF(U, y) wf_iter_type<U>::whole(y)
#define WF_ITER_REAL_OF(U, y)  wf_iter_type<U>::real(y)
#else
/* The functions take any pointer, because all of them must compile for every type. */
#define WF_ITER_VALUE(name, result, U, wide)                                             \
  static inline result name(const void *y) {                                             \
    return (result)(wide) * (const U *)y;                                                \
  }
WF_ITER_VALUE(wf_iter_i32, uint64_t, int32_t, int64_t)
WF_ITER_VALUE(wf_iter_u32, uint64_t, uint32_t, uint64_t)
WF_ITER_VALUE(wf_iter_i64, uint64_t, int64_t, int64_t)
WF_ITER_VALUE(wf_iter_u64, uint64_t, uint64_t, uint64_t)
WF_ITER_VALUE(wf_iter_f32, double, float, double)
WF_ITER_VALUE(wf_iter_f64, double, double, double)
#undef WF_ITER_VALUE
static inline uint64_t wf_iter_no_whole(const void *y) {
  return (void)y, 0;
}
static inline double wf_iter_no_real(const void *y) {
  return (void)y, 0;
}

/* clang-format off */
#define WF_ITER_NUMBER_OF(U)                                                             \
  _Generic((U *)NULL, int32_t *: WF_ITER_I32, uint32_t *: WF_ITER_U32,                   \
    int64_t *: WF_ITER_I64, uint64_t *: WF_ITER_U64, float *: WF_ITER_F32,               \
    double *: WF_ITER_F64, default: WF_ITER_NO_NUMBER)
#define WF_ITER_WHOLE_OF(U, y)                                                           \
  _Generic((U *)NULL, int32_t *: wf_iter_i32, uint32_t *: wf_iter_u32,                   \
    int64_t *: wf_iter_i64, uint64_t *: wf_iter_u64, default: wf_iter_no_whole)(&(y))
#define WF_ITER_REAL_OF(U, y)                                                            \
  _Generic((U *)NULL, float *: wf_iter_f32, double *: wf_iter_f64,                       \
    default: wf_iter_no_real)(&(y))
/* clang-format on */
#endif

/* Nothing that made the values of an array is merged with what is done to them: neither
 * does a product become one operation with the sum that it goes into. */
#if defined(__GNUC__)
#define WF_ITER_SETTLE(array) __asm__ volatile("" : "+m"(array))
#else
#define WF_ITER_SETTLE(array)
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

/* `second` is what a zip needs to have y. */
#define WF_ITER_NOTHING
#define WF_ITER_SECOND(V)                                                                \
  V const y = WF_CAST(V const *, wf_right)[wf_i];                                        \
  (void)y;

#define WF_ITER_WHOLE_LOOP(SIMD, fn, T, second, U, keep, expr)                           \
  SIMD static uint64_t fn(const void *wf_from, const void *wf_right, size_t wf_n,        \
                          void *ctx) {                                                   \
    WF_ITER_SOURCE(T);                                                                   \
    uint64_t wf_sum = 0;                                                                 \
    (void)wf_right;                                                                      \
    for (size_t wf_i = 0; wf_i < wf_n; wf_i++) {                                         \
      T const x = wf_src[wf_i];                                                          \
      second(void) x;                                                                    \
      U const wf_y = expr;                                                               \
      wf_sum += (keep) ? WF_ITER_WHOLE_OF(U, wf_y) : 0;                                  \
    }                                                                                    \
    return wf_sum;                                                                       \
  }

/* Four rows at a time: what is read from memory is read in its order. Where the compiler
 * keeps more bits than a number has until it is stored (x87), there is no such loop:
 * elements are stored and then added up, with the same result as on other machines. */
#if defined(__FLT_EVAL_METHOD__) && __FLT_EVAL_METHOD__ != 0
#define WF_ITER_COLUMNS_OR_NULL(loop) NULL
#define WF_ITER_COLUMNS_LOOP(SIMD, fn, T, second, U, expr)
#else
#define WF_ITER_COLUMNS_OR_NULL(loop) loop
#define WF_ITER_COLUMNS_LOOP(SIMD, fn, T, second, U, expr)                               \
  SIMD static void fn(double *wf_sums, const void *wf_from, const void *wf_right,        \
                      size_t wf_groups, void *ctx) {                                     \
    WF_ITER_SOURCE(T);                                                                   \
    (void)wf_right;                                                                      \
    for (size_t wf_begin = 0; wf_begin < wf_groups * WF_ITER_GROUP;                      \
         wf_begin += WF_ITER_GROUP, wf_sums += 8) {                                      \
      double wf_quarters[32];                                                            \
      for (size_t wf_q = 0; wf_q < 4; wf_q++) {                                          \
        double wf_rows[32];                                                              \
        for (size_t wf_k = 0; wf_k < 32; wf_k++) {                                       \
          const size_t wf_i = wf_begin + 32 * wf_q + wf_k;                               \
          T const x = wf_src[wf_i];                                                      \
          second(void) x;                                                                \
          U const wf_y = expr;                                                           \
          wf_rows[wf_k] = WF_ITER_REAL_OF(U, wf_y);                                      \
        }                                                                                \
        WF_ITER_SETTLE(wf_rows);                                                         \
        wf_iter_add_rows(wf_quarters + 8 * wf_q, wf_rows);                               \
      }                                                                                  \
      wf_iter_add_rows(wf_sums, wf_quarters);                                            \
    }                                                                                    \
  }
#endif

/* ---- all loops of a kernel stage, for both kinds of CPUs ---- */

#define WF_ITER_WHOLES(name, T, second, U, keep, expr)                                   \
  WF_ITER_WHOLE_LOOP(WF_SIMD, name##_whole_, T, second, U, keep, expr)                   \
  WF_ITER_WIDE(                                                                          \
      WF_ITER_WHOLE_LOOP(WF_SIMD_WIDE, name##_whole_wide_, T, second, U, keep, expr))

#define WF_ITER_SUMS(name, T, second, U, expr)                                           \
  WF_ITER_WHOLES(name, T, second, U, true, expr)                                         \
  WF_ITER_COLUMNS_LOOP(WF_SIMD, name##_columns_, T, second, U, expr)                     \
  WF_ITER_WIDE(                                                                          \
      WF_ITER_COLUMNS_LOOP(WF_SIMD_WIDE, name##_columns_wide_, T, second, U, expr))

#define WF_ITER_MAP(name, T, U, expr)                                                    \
  WF_ITER_MAP_LOOP(WF_SIMD, name##_run_, T, U, expr)                                     \
  WF_ITER_WIDE(WF_ITER_MAP_LOOP(WF_SIMD_WIDE, name##_run_wide_, T, U, expr))             \
  WF_ITER_SUMS(name, T, WF_ITER_NOTHING, U, expr)

#define WF_ITER_ZIP(name, T, V, U, expr)                                                 \
  WF_ITER_ZIP_LOOP(WF_SIMD, name##_run_, T, V, U, expr)                                  \
  WF_ITER_WIDE(WF_ITER_ZIP_LOOP(WF_SIMD_WIDE, name##_run_wide_, T, V, U, expr))          \
  WF_ITER_SUMS(name, T, WF_ITER_SECOND(V), U, expr)

#define WF_ITER_SIEVE(name, T, U, keep, expr)                                            \
  WF_ITER_SIEVE_LOOP(WF_SIMD, name##_run_, T, U, keep, expr)                             \
  WF_ITER_COUNT_LOOP(WF_SIMD, name##_count_, T, keep)                                    \
  WF_ITER_WIDE(WF_ITER_COUNT_LOOP(WF_SIMD_WIDE, name##_count_wide_, T, keep))            \
  WF_ITER_WHOLES(name, T, WF_ITER_NOTHING, U, keep, expr)

#define WF_ITER_KEEP(name, T, keep)                                                      \
  WF_ITER_KEEP_LOOP(WF_SIMD, name##_keep_, T, keep)                                      \
  WF_ITER_WIDE(WF_ITER_KEEP_LOOP(WF_SIMD_WIDE, name##_keep_wide_, T, keep))

#define WF_ITER_FLAT(name, T, U, number, expr)                                           \
  WF_ITER_FLAT_LOOP(WF_SIMD, name##_flat_, T, U, number, expr)                           \
  WF_ITER_TOTAL_LOOP(WF_SIMD, name##_count_, T, number)                                  \
  WF_ITER_WIDE(WF_ITER_TOTAL_LOOP(WF_SIMD_WIDE, name##_count_wide_, T, number))

#endif
