/* weft/detail/typed_loop.h - what typed loops (weft/typed_loop.h) are made of. A macro
 * keeps the arguments of a call in a struct and defines the loop over one block in the
 * user's program; the library cuts the range into blocks and calls that loop for each.
 * Not API.
 *
 * For WEFT_LOOP(saxpy, i, float, a, float *, y) these are, besides the functions that
 * users call:
 *
 *     saxpy_body_     the user's code for one index, an ordinary function
 *     saxpy_args_     the arguments of a call, and the index at which its range begins
 *     saxpy_block_    the loop over a block: calls the body with copies of the arguments
 *
 * SPDX-License-Identifier: MIT */
#ifndef WEFT_DETAIL_TYPED_LOOP_H
#define WEFT_DETAIL_TYPED_LOOP_H

#include <limits.h>
#include <weft/detail/typed_function.h>
#include <weft/loop.h>
#include <weft/typed_fold.h>

#ifdef __cplusplus
extern "C++" { /* programs include headers of C inside of extern "C" */
#include <limits>
#include <type_traits>
}
extern "C" {
#endif

/* The loops of weft/loop.h, with messages that name the user's function. A 2-d loop calls
 * fn for whole rows and parts of rows; k->n is not used. (src/par/loop) */
WEFT_API void wf_typed_for(const wf_typed *k, weft_range_fn *block);
WEFT_API int wf_typed_try_for(const wf_typed *k, weft_try_fn *block);
WEFT_API void wf_typed_for_2d(const wf_typed *k, size_t rows, size_t cols,
                              weft_tile_fn *fn);

#ifdef __cplusplus
}
#endif

/* The body is an ordinary function: compilers inline what is called at one place, but not
 * where that is impossible (setjmp) or wrong (alloca). Without `inline`, because gcc -Og,
 * which is for debuggers, would inline it then. */
#define WF_LOOP_BODY static

/* ---- lists made of the pairs ---- */

/* Each takes k pairs of type and name and a last word that means nothing: a macro cannot
 * have an empty list behind its named parameters in C11. */
/* clang-format off */
#define WF_LOOP_PARAMS_0(end)
#define WF_LOOP_PARAMS_1(T, a, ...) , T a WF_LOOP_PARAMS_0(__VA_ARGS__)
#define WF_LOOP_PARAMS_2(T, a, ...) , T a WF_LOOP_PARAMS_1(__VA_ARGS__)
#define WF_LOOP_PARAMS_3(T, a, ...) , T a WF_LOOP_PARAMS_2(__VA_ARGS__)
#define WF_LOOP_PARAMS_4(T, a, ...) , T a WF_LOOP_PARAMS_3(__VA_ARGS__)
#define WF_LOOP_PARAMS_5(T, a, ...) , T a WF_LOOP_PARAMS_4(__VA_ARGS__)
#define WF_LOOP_PARAMS_6(T, a, ...) , T a WF_LOOP_PARAMS_5(__VA_ARGS__)
#define WF_LOOP_PARAMS_7(T, a, ...) , T a WF_LOOP_PARAMS_6(__VA_ARGS__)
#define WF_LOOP_PARAMS_8(T, a, ...) , T a WF_LOOP_PARAMS_7(__VA_ARGS__)

#define WF_LOOP_NAMES_0(end)
#define WF_LOOP_NAMES_1(T, a, ...) , a WF_LOOP_NAMES_0(__VA_ARGS__)
#define WF_LOOP_NAMES_2(T, a, ...) , a WF_LOOP_NAMES_1(__VA_ARGS__)
#define WF_LOOP_NAMES_3(T, a, ...) , a WF_LOOP_NAMES_2(__VA_ARGS__)
#define WF_LOOP_NAMES_4(T, a, ...) , a WF_LOOP_NAMES_3(__VA_ARGS__)
#define WF_LOOP_NAMES_5(T, a, ...) , a WF_LOOP_NAMES_4(__VA_ARGS__)
#define WF_LOOP_NAMES_6(T, a, ...) , a WF_LOOP_NAMES_5(__VA_ARGS__)
#define WF_LOOP_NAMES_7(T, a, ...) , a WF_LOOP_NAMES_6(__VA_ARGS__)
#define WF_LOOP_NAMES_8(T, a, ...) , a WF_LOOP_NAMES_7(__VA_ARGS__)

/* The fields have numbers, not the user's names: C++ refuses a field `image image`. */
#define WF_LOOP_FIELDS_0(end)
#define WF_LOOP_FIELDS_1(T, a, ...) T wf_1; WF_LOOP_FIELDS_0(__VA_ARGS__)
#define WF_LOOP_FIELDS_2(T, a, ...) T wf_2; WF_LOOP_FIELDS_1(__VA_ARGS__)
#define WF_LOOP_FIELDS_3(T, a, ...) T wf_3; WF_LOOP_FIELDS_2(__VA_ARGS__)
#define WF_LOOP_FIELDS_4(T, a, ...) T wf_4; WF_LOOP_FIELDS_3(__VA_ARGS__)
#define WF_LOOP_FIELDS_5(T, a, ...) T wf_5; WF_LOOP_FIELDS_4(__VA_ARGS__)
#define WF_LOOP_FIELDS_6(T, a, ...) T wf_6; WF_LOOP_FIELDS_5(__VA_ARGS__)
#define WF_LOOP_FIELDS_7(T, a, ...) T wf_7; WF_LOOP_FIELDS_6(__VA_ARGS__)
#define WF_LOOP_FIELDS_8(T, a, ...) T wf_8; WF_LOOP_FIELDS_7(__VA_ARGS__)

#define WF_LOOP_STORED_0
#define WF_LOOP_STORED_1 , wf_a.wf_1 WF_LOOP_STORED_0
#define WF_LOOP_STORED_2 , wf_a.wf_2 WF_LOOP_STORED_1
#define WF_LOOP_STORED_3 , wf_a.wf_3 WF_LOOP_STORED_2
#define WF_LOOP_STORED_4 , wf_a.wf_4 WF_LOOP_STORED_3
#define WF_LOOP_STORED_5 , wf_a.wf_5 WF_LOOP_STORED_4
#define WF_LOOP_STORED_6 , wf_a.wf_6 WF_LOOP_STORED_5
#define WF_LOOP_STORED_7 , wf_a.wf_7 WF_LOOP_STORED_6
#define WF_LOOP_STORED_8 , wf_a.wf_8 WF_LOOP_STORED_7
/* clang-format on */

/* ---- what one macro defines, with k pairs ---- */

/* The struct of arguments; `place` declares where the range begins. */
#define WF_LOOP_ARGS(k, name, place, ...)                                                \
  typedef struct name##_args_ {                                                          \
    place;                                                                               \
    WF_LOOP_FIELDS_##k(__VA_ARGS__)                                                      \
  } name##_args_;

/* In a block: the arguments, by value, so that the compiler knows that nothing that the
 * body stores changes them. */
#define WF_LOOP_TAKE_ARGS(name)                                                          \
  const name##_args_ wf_a = *WF_CAST(const name##_args_ *, wf_ctx);

/* The functions that users call. `give` is `return` or nothing; `run` does the work of a
 * call from wf_k, which describes it, and wf_a. */
#define WF_LOOP_CALLS(k, name, R, give, run, ...)                                        \
  WF_TYPED_FN R name##_range_with(const weft_opts *wf_opts, size_t wf_from,              \
                                  size_t wf_to WF_LOOP_PARAMS_##k(__VA_ARGS__)) {        \
    name##_args_ wf_a = {wf_from WF_LOOP_NAMES_##k(__VA_ARGS__)};                        \
    wf_typed wf_k = {wf_opts, #name, wf_to > wf_from ? wf_to - wf_from : 0, &wf_a};      \
    run                                                                                  \
  }                                                                                      \
  WF_TYPED_FN R name##_range(size_t wf_from,                                             \
                             size_t wf_to WF_LOOP_PARAMS_##k(__VA_ARGS__)) {             \
    give name##_range_with(NULL, wf_from, wf_to WF_LOOP_NAMES_##k(__VA_ARGS__));         \
  }                                                                                      \
  WF_TYPED_FN R name##_with(const weft_opts *wf_opts,                                    \
                            size_t wf_n WF_LOOP_PARAMS_##k(__VA_ARGS__)) {               \
    give name##_range_with(wf_opts, 0, wf_n WF_LOOP_NAMES_##k(__VA_ARGS__));             \
  }                                                                                      \
  WF_TYPED_FN R name(size_t wf_n WF_LOOP_PARAMS_##k(__VA_ARGS__)) {                      \
    give name##_range_with(NULL, 0, wf_n WF_LOOP_NAMES_##k(__VA_ARGS__));                \
  }

/* WEFT_LOOP */
#define WF_LOOP_EACH(k, name, i, ...)                                                    \
  WF_LOOP_BODY void name##_body_(size_t i WF_LOOP_PARAMS_##k(__VA_ARGS__));              \
  WF_LOOP_ARGS(k, name, size_t wf_begin, __VA_ARGS__)                                    \
  WF_SIMD static void name##_block_(size_t wf_i, size_t wf_end, void *wf_ctx) {          \
    WF_LOOP_TAKE_ARGS(name)                                                              \
    for (wf_i += wf_a.wf_begin, wf_end += wf_a.wf_begin; wf_i < wf_end; wf_i++)          \
      name##_body_(wf_i WF_LOOP_STORED_##k);                                             \
  }                                                                                      \
  WF_LOOP_CALLS(k, name, void, , wf_typed_for(&wf_k, name##_block_);, __VA_ARGS__)       \
  WF_LOOP_BODY void name##_body_(size_t i WF_LOOP_PARAMS_##k(__VA_ARGS__))

/* WEFT_TRY_LOOP */
#define WF_LOOP_TRY(k, name, i, ...)                                                     \
  WF_LOOP_BODY int name##_body_(size_t i WF_LOOP_PARAMS_##k(__VA_ARGS__));               \
  WF_LOOP_ARGS(k, name, size_t wf_begin, __VA_ARGS__)                                    \
  static int name##_block_(size_t wf_i, size_t wf_end, void *wf_ctx) {                   \
    WF_LOOP_TAKE_ARGS(name)                                                              \
    int wf_error = 0;                                                                    \
    wf_i += wf_a.wf_begin, wf_end += wf_a.wf_begin;                                      \
    for (; wf_i < wf_end && wf_error == 0; wf_i++)                                       \
      wf_error = name##_body_(wf_i WF_LOOP_STORED_##k);                                  \
    return wf_error;                                                                     \
  }                                                                                      \
  WF_LOOP_CALLS(k, name, int, return, return wf_typed_try_for(&wf_k, name##_block_);     \
                , __VA_ARGS__)                                                           \
  WF_LOOP_BODY int name##_body_(size_t i WF_LOOP_PARAMS_##k(__VA_ARGS__))

/* WEFT_LOOP_2D. A block is some whole rows, or a part of one. */
#define WF_LOOP_CELLS(k, name, r, c, ...)                                                \
  WF_LOOP_BODY void name##_body_(size_t r, size_t c WF_LOOP_PARAMS_##k(__VA_ARGS__));    \
  WF_LOOP_ARGS(k, name, size_t wf_row; size_t wf_col, __VA_ARGS__)                       \
  WF_SIMD static void name##_block_(size_t wf_r0, size_t wf_r1, size_t wf_c0,            \
                                    size_t wf_c1, void *wf_ctx) {                        \
    WF_LOOP_TAKE_ARGS(name)                                                              \
    wf_c0 += wf_a.wf_col, wf_c1 += wf_a.wf_col;                                          \
    for (size_t wf_r = wf_a.wf_row + wf_r0; wf_r < wf_a.wf_row + wf_r1; wf_r++)          \
      for (size_t wf_c = wf_c0; wf_c < wf_c1; wf_c++)                                    \
        name##_body_(wf_r, wf_c WF_LOOP_STORED_##k);                                     \
  }                                                                                      \
  WF_LOOP_CALLS_2D(k, name, __VA_ARGS__)                                                 \
  WF_LOOP_BODY void name##_body_(size_t r, size_t c WF_LOOP_PARAMS_##k(__VA_ARGS__))

#define WF_LOOP_CALLS_2D(k, name, ...)                                                   \
  WF_TYPED_FN void name##_range_with(const weft_opts *wf_opts, size_t wf_r0,             \
                                     size_t wf_r1, size_t wf_c0,                         \
                                     size_t wf_c1 WF_LOOP_PARAMS_##k(__VA_ARGS__)) {     \
    name##_args_ wf_a = {wf_r0, wf_c0 WF_LOOP_NAMES_##k(__VA_ARGS__)};                   \
    wf_typed wf_k = {wf_opts, #name, 0, &wf_a};                                          \
    wf_typed_for_2d(&wf_k, wf_r1 > wf_r0 ? wf_r1 - wf_r0 : 0,                            \
                    wf_c1 > wf_c0 ? wf_c1 - wf_c0 : 0, name##_block_);                   \
  }                                                                                      \
  WF_TYPED_FN void name##_range(size_t wf_r0, size_t wf_r1, size_t wf_c0,                \
                                size_t wf_c1 WF_LOOP_PARAMS_##k(__VA_ARGS__)) {          \
    name##_range_with(NULL, wf_r0, wf_r1, wf_c0, wf_c1 WF_LOOP_NAMES_##k(__VA_ARGS__));  \
  }                                                                                      \
  WF_LOOP_WHOLE_2D(k, name, __VA_ARGS__)

#define WF_LOOP_WHOLE_2D(k, name, ...)                                                   \
  WF_TYPED_FN void name##_with(const weft_opts *wf_opts, size_t wf_rows,                 \
                               size_t wf_cols WF_LOOP_PARAMS_##k(__VA_ARGS__)) {         \
    name##_range_with(wf_opts, 0, wf_rows, 0, wf_cols WF_LOOP_NAMES_##k(__VA_ARGS__));   \
  }                                                                                      \
  WF_TYPED_FN void name(size_t wf_rows,                                                  \
                        size_t wf_cols WF_LOOP_PARAMS_##k(__VA_ARGS__)) {                \
    name##_range_with(NULL, 0, wf_rows, 0, wf_cols WF_LOOP_NAMES_##k(__VA_ARGS__));      \
  }

/* ---- reductions ---- */

/* WF_SIMD for reductions: gcc at -O2 unrolls a short loop of known length only if it is
 * also told that the code may grow (in one attribute: a second one resets the first).
 * Then the accumulators stay in registers: dot takes 0.15 ns for each element instead of
 * 0.41 (gcc 12, AMD EPYC, arrays of 64 KiB). */
#if defined(__GNUC__) && !defined(__clang__)
#define WF_LOOP_SIMD                                                                     \
  __attribute__((optimize("tree-vectorize", "vect-cost-model=dynamic", "align-loops=64", \
                          "peel-loops")))
#else
#define WF_LOOP_SIMD WF_SIMD
#endif

/* How many accumulators a leaf has. A sum, minimum or maximum has lanes, a power of two
 * of them, and each gets every eighth value, say: that is what compilers vectorise
 * without changing the order of additions. A reduction by a function must keep the order;
 * it goes through four quarters of the leaf side by side, because each merge waits for
 * the one before it. Integers have one accumulator where compilers divide a plain loop
 * better by themselves: they may add integers in any order. Choices, and fixed: results
 * of floats depend on them. */
#define WF_LOOP_LANES(R) (WF_LOOP_ALONE(R) || sizeof(R) > 16 ? 1 : sizeof(R) > 8 ? 4 : 8)
#if defined(__clang__)
#define WF_LOOP_ALONE(R) WF_LOOP_IS_WHOLE(R)
#else
#define WF_LOOP_ALONE(R) 0
#endif
#define WF_LOOP_QUARTERED(R) (sizeof(R) <= WF_FOLD_SMALL && !WF_LOOP_IS_WHOLE(R))

/* The accumulator with the value of one index merged into it. The only place that calls
 * the body, which is therefore inlined, however long it is. */
#define WF_LOOP_NEXT(k, name, R, merge)                                                  \
  WF_LOOP_SIMD static inline R name##_next_(R wf_acc, size_t wf_i, const void *wf_ctx) { \
    WF_LOOP_TAKE_ARGS(name)                                                              \
    R wf_value = name##_body_(wf_i + wf_a.wf_begin WF_LOOP_STORED_##k);                  \
    return merge(wf_acc, wf_value);                                                      \
  }

/* The fold of a sum, minimum or maximum, of the elements from wf_i on. */
#define WF_LOOP_FOLD_LANES(name, R, identity, merge)                                     \
  WF_LOOP_SIMD static void name##_fold_(void *wf_to, size_t wf_i, size_t wf_end,         \
                                        void *wf_ctx) {                                  \
    enum { WF_COUNT = WF_LOOP_LANES(R) };                                                \
    const name##_args_ wf_a = *WF_CAST(const name##_args_ *, wf_ctx);                    \
    R wf_acc[WF_COUNT];                                                                  \
    for (size_t wf_q = 0; wf_q < WF_COUNT; wf_q++) wf_acc[wf_q] = identity;              \
    for (; wf_end - wf_i >= WF_COUNT; wf_i += WF_COUNT)                                  \
      for (size_t wf_q = 0; wf_q < WF_COUNT; wf_q++)                                     \
        wf_acc[wf_q] = name##_next_(wf_acc[wf_q], wf_i + wf_q, &wf_a);                   \
    for (size_t wf_q = 0; wf_i < wf_end; wf_i++, wf_q++)                                 \
      wf_acc[wf_q] = name##_next_(wf_acc[wf_q], wf_i, &wf_a);                            \
    for (size_t wf_half = WF_COUNT / 2; wf_half > 0; wf_half /= 2)                       \
      for (size_t wf_q = 0; wf_q < wf_half; wf_q++)                                      \
        wf_acc[wf_q] = merge(wf_acc[wf_q], wf_acc[wf_q + wf_half]);                      \
    name##_merge_(wf_to, wf_acc, wf_ctx);                                                \
  }

/* The fold of a reduction by a function. */
#define WF_LOOP_FOLD_QUARTERS(name, R, identity, merge)                                  \
  WF_LOOP_SIMD static void name##_fold_(void *wf_to, size_t wf_i, size_t wf_end,         \
                                        void *wf_ctx) {                                  \
    const name##_args_ wf_a = *WF_CAST(const name##_args_ *, wf_ctx);                    \
    const size_t wf_n = WF_LOOP_QUARTERED(R) ? (wf_end - wf_i) / 4 : 0;                  \
    R wf_acc = *WF_CAST(R *, wf_to);                                                     \
    if (wf_n > 0) {                                                                      \
      R wf_b = identity, wf_c = identity, wf_d = identity;                               \
      for (const size_t wf_stop = wf_i + wf_n; wf_i < wf_stop; wf_i++) {                 \
        wf_acc = name##_next_(wf_acc, wf_i, &wf_a);                                      \
        wf_b = name##_next_(wf_b, wf_i + wf_n, &wf_a);                                   \
        wf_c = name##_next_(wf_c, wf_i + 2 * wf_n, &wf_a);                               \
        wf_d = name##_next_(wf_d, wf_i + 3 * wf_n, &wf_a);                               \
      }                                                                                  \
      wf_acc = merge(wf_acc, wf_b), wf_acc = merge(wf_acc, wf_c);                        \
      wf_acc = merge(wf_acc, wf_d), wf_i += 3 * wf_n;                                    \
    }                                                                                    \
    for (; wf_i < wf_end; wf_i++) wf_acc = name##_next_(wf_acc, wf_i, &wf_a);            \
    *WF_CAST(R *, wf_to) = wf_acc;                                                       \
  }

/* What wf_typed_fold (src/par/fold) needs besides, and the call. */
#define WF_LOOP_REDUCTION(k, name, R, identity, merge, FOLD, i, ...)                     \
  WF_LOOP_BODY R name##_body_(size_t i WF_LOOP_PARAMS_##k(__VA_ARGS__));                 \
  WF_LOOP_ARGS(k, name, size_t wf_begin, __VA_ARGS__)                                    \
  static void name##_init_(void *wf_acc, void *wf_ctx) {                                 \
    (void)wf_ctx, *WF_CAST(R *, wf_acc) = identity;                                      \
  }                                                                                      \
  static void name##_merge_(void *wf_acc, const void *wf_right, void *wf_ctx) {          \
    R *wf_left = WF_CAST(R *, wf_acc);                                                   \
    R wf_next = *WF_CAST(R const *, wf_right);                                           \
    (void)wf_ctx, wf_left[0] = merge(wf_left[0], wf_next);                               \
  }                                                                                      \
  WF_LOOP_NEXT(k, name, R, merge)                                                        \
  FOLD(name, R, identity, merge)                                                         \
  WF_LOOP_CALLS(k, name, R, return, WF_LOOP_RUN_REDUCTION(name, R), __VA_ARGS__)         \
  WF_LOOP_BODY R name##_body_(size_t i WF_LOOP_PARAMS_##k(__VA_ARGS__))

#define WF_LOOP_RUN_REDUCTION(name, R)                                                   \
  weft_reducer wf_r = {sizeof(R), name##_init_, name##_fold_, name##_merge_};            \
  R wf_result;                                                                           \
  wf_typed_fold(&wf_k, &wf_result, &wf_a, &wf_r, &wf_a);                                 \
  return wf_result;

#define WF_LOOP_REDUCE(k, name, R, identity, merge, i, ...)                              \
  WF_LOOP_REDUCTION(k, name, R, identity, merge, WF_LOOP_FOLD_QUARTERS, i, __VA_ARGS__)

#define WF_LOOP_SUM(k, name, R, i, ...)                                                  \
  WF_LOOP_REDUCTION(k, name, R, WF_CAST(R, 0), WF_LOOP_ADD, WF_LOOP_FOLD_LANES, i,       \
                    __VA_ARGS__)

#define WF_LOOP_MIN(k, name, R, i, ...)                                                  \
  WF_LOOP_EXPECT_NUMBER(R, "WEFT_MIN_LOOP: the result must be a number");                \
  WF_LOOP_REDUCTION(k, name, R, WF_LOOP_LARGEST(R), WF_LOOP_LESSER, WF_LOOP_FOLD_LANES,  \
                    i, __VA_ARGS__)

#define WF_LOOP_MAX(k, name, R, i, ...)                                                  \
  WF_LOOP_EXPECT_NUMBER(R, "WEFT_MAX_LOOP: the result must be a number");                \
  WF_LOOP_REDUCTION(k, name, R, WF_LOOP_SMALLEST(R), WF_LOOP_GREATER,                    \
                    WF_LOOP_FOLD_LANES, i, __VA_ARGS__)

/* The first of equals, and never a NaN: comparisons with it are false. */
#define WF_LOOP_LESSER(a, b)  ((b) < (a) ? (b) : (a))
#define WF_LOOP_GREATER(a, b) ((a) < (b) ? (b) : (a))

/* The end of the values of a type, and a sum that wraps: partial sums of signed integers
 * may overflow although the sum of all does not. */
#ifdef __cplusplus

#define WF_LOOP_ASSERT      static_assert
#define WF_LOOP_IS_WHOLE(R) std::is_integral<R>::value
#define WF_LOOP_EXPECT_NUMBER(R, text)                                                   \
  static_assert(std::numeric_limits<R>::is_specialized, text)
#define WF_LOOP_LARGEST(R)                                                               \
  (std::numeric_limits<R>::has_infinity ? std::numeric_limits<R>::infinity()             \
                                        : (std::numeric_limits<R>::max)())
#define WF_LOOP_SMALLEST(R)                                                              \
  (std::numeric_limits<R>::has_infinity                                                  \
       ? static_cast<R>(-std::numeric_limits<R>::infinity())                             \
       : std::numeric_limits<R>::lowest())
#define WF_LOOP_ADD wf_loop_add

extern "C++" {
template <class R> inline R wf_loop_add(R a, R b) {
  if constexpr (std::is_integral<R>::value && std::is_signed<R>::value) {
    using whole = typename std::make_unsigned<R>::type;
    return static_cast<R>(
        static_cast<whole>(static_cast<whole>(a) + static_cast<whole>(b)));
  } else {
    return static_cast<R>(a + b);
  }
}
}

#else

#define WF_LOOP_ASSERT _Static_assert
#define WF_LOOP_IS_WHOLE(R)                                                              \
  WF_LOOP_OF_TYPE(R, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0)
#define WF_LOOP_EXPECT_NUMBER(R, text)                                                   \
  _Static_assert(WF_LOOP_OF_TYPE(R, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0), text)
#define WF_LOOP_LARGEST(R)                                                               \
  (R) WF_LOOP_OF_TYPE(R, CHAR_MAX, SCHAR_MAX, UCHAR_MAX, SHRT_MAX, USHRT_MAX, INT_MAX,   \
                      UINT_MAX, LONG_MAX, ULONG_MAX, LLONG_MAX, ULLONG_MAX,              \
                      __builtin_inff(), __builtin_inf(), __builtin_infl(), 0)
#define WF_LOOP_SMALLEST(R)                                                              \
  (R) WF_LOOP_OF_TYPE(R, CHAR_MIN, SCHAR_MIN, 0, SHRT_MIN, 0, INT_MIN, 0, LONG_MIN, 0,   \
                      LLONG_MIN, 0, -__builtin_inff(), -__builtin_inf(),                 \
                      -__builtin_infl(), 0)

/* Chooses among values, in the order of the types below. A pointer, so that R may be no
 * number. */
/* clang-format off */
#define WF_LOOP_OF_TYPE(R, c, sc, uc, s, us, i, ui, l, ul, ll, ull, f, d, ld, other)     \
  _Generic((R *)NULL, char *: c, signed char *: sc, unsigned char *: uc, short *: s,     \
    unsigned short *: us, int *: i, unsigned *: ui, long *: l, unsigned long *: ul,      \
    long long *: ll, unsigned long long *: ull, float *: f, double *: d,                 \
    long double *: ld, default: other)
#define WF_LOOP_ADD(a, b)                                                                \
  _Generic((a), char: (char)((a) + (b)), signed char: (signed char)((a) + (b)),          \
    unsigned char: (unsigned char)((a) + (b)), short: (short)((a) + (b)),                \
    unsigned short: (unsigned short)((a) + (b)),                                         \
    int: (int)((unsigned)(a) + (unsigned)(b)),                                           \
    long: (long)((unsigned long)(a) + (unsigned long)(b)),                               \
    long long: (long long)((unsigned long long)(a) + (unsigned long long)(b)),           \
    default: (a) + (b))
/* clang-format on */

#endif

/* ---- the choice by the number of arguments ---- */

/* WF_LOOP_MAKE(kind, words, ...) makes a loop of a kind, or an error with its words. A
 * kind with fewer fixed arguments than WEFT_REDUCE_LOOP, which has five, is counted with
 * some in front, so that one table counts for all. */
#define WF_LOOP_COUNT(...)                                                               \
  WF_LOOP_COUNTED(__VA_ARGS__, MANY, MANY, MANY, MANY, MANY, MANY, MANY, MANY, MANY, 8,  \
                  ODD, 7, ODD, 6, ODD, 5, ODD, 4, ODD, 3, ODD, 2, ODD, 1, ODD, 0, ODD,   \
                  ODD, ODD, ODD, unused)
#define WF_LOOP_COUNTED(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u,   \
                        v, w, x, y, z, a2, b2, c2, d2, form, ...)                        \
  form
#define WF_LOOP_MAKE(kind, count, ...)     WF_LOOP_MAKE_NOW(kind, count, __VA_ARGS__)
#define WF_LOOP_MAKE_NOW(kind, count, ...) WF_LOOP_WITH_##count(kind, __VA_ARGS__)

#define WF_LOOP_WITH_0(kind, ...) WF_LOOP_##kind(0, __VA_ARGS__, end)
#define WF_LOOP_WITH_1(kind, ...) WF_LOOP_##kind(1, __VA_ARGS__, end)
#define WF_LOOP_WITH_2(kind, ...) WF_LOOP_##kind(2, __VA_ARGS__, end)
#define WF_LOOP_WITH_3(kind, ...) WF_LOOP_##kind(3, __VA_ARGS__, end)
#define WF_LOOP_WITH_4(kind, ...) WF_LOOP_##kind(4, __VA_ARGS__, end)
#define WF_LOOP_WITH_5(kind, ...) WF_LOOP_##kind(5, __VA_ARGS__, end)
#define WF_LOOP_WITH_6(kind, ...) WF_LOOP_##kind(6, __VA_ARGS__, end)
#define WF_LOOP_WITH_7(kind, ...) WF_LOOP_##kind(7, __VA_ARGS__, end)
#define WF_LOOP_WITH_8(kind, ...) WF_LOOP_##kind(8, __VA_ARGS__, end)

/* A wrong number of arguments gives a message in words. What is defined besides only
 * keeps the compiler from reporting more errors about the head. */
#define WF_LOOP_WITH_ODD(kind, ...)                                                      \
  WF_LOOP_ASSERT(0, WF_LOOP_WORDS_##kind ", and pairs of type and name");                \
  static inline void wf_loop_wrong_body(void)
#define WF_LOOP_WITH_MANY(kind, ...)                                                     \
  WF_LOOP_ASSERT(0, WF_LOOP_WORDS_##kind ", and at most 8 pairs of type and name");      \
  static inline void wf_loop_wrong_body(void)
#define WF_LOOP_WORDS_EACH  "WEFT_LOOP takes a name, an index"
#define WF_LOOP_WORDS_TRY   "WEFT_TRY_LOOP takes a name, an index"
#define WF_LOOP_WORDS_CELLS "WEFT_LOOP_2D takes a name, a row, a column"
#define WF_LOOP_WORDS_SUM   "WEFT_SUM_LOOP takes a name, a result type, an index"
#define WF_LOOP_WORDS_MIN   "WEFT_MIN_LOOP takes a name, a result type, an index"
#define WF_LOOP_WORDS_MAX   "WEFT_MAX_LOOP takes a name, a result type, an index"
#define WF_LOOP_WORDS_REDUCE                                                             \
  "WEFT_REDUCE_LOOP takes a name, a result type, an identity, a function, an index"

#endif
