/* weft/iter_kernel.h - kernel stages: stages of iterators whose loops the compiler sees.
 * Each macro WEFT_KERNEL_... makes one from an expression, for elements of one type.
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
 * several threads at the same time, in any order, and some more than once: they must have
 * no side effects. Types are those that can be copied as bytes.
 *
 * Not to be confused with typed functions: WEFT_MAP, WEFT_FILTER and the others of
 * weft/typed_function.h make functions that work on whole arrays at once. A kernel stage
 * does nothing by itself; it is one step of a chain.
 *
 * Cost: a call through a pointer for each batch of some hundred elements. The loops are
 * vectorised where the expression allows it.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WEFT_ITER_KERNEL_H
#define WEFT_ITER_KERNEL_H

#include <weft/detail/iter_kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a kernel stage does. */
typedef enum weft_iter_kernel_kind {
  WEFT_ITER_KERNEL_MAP,        /* one element from each */
  WEFT_ITER_KERNEL_FILTER,     /* each element, or nothing */
  WEFT_ITER_KERNEL_FILTER_MAP, /* one element from each, or nothing */
  WEFT_ITER_KERNEL_FLAT_MAP,   /* any number of elements from each */
  WEFT_ITER_KERNEL_ZIP         /* one element from one of each side */
} weft_iter_kernel_kind;

/* A kernel stage, as the macros define it. `any` has loops for every CPU; those of `wide`
 * are used instead on CPUs with wide vectors. Members are only added at the end, and the
 * library looks at struct_size before it reads them. */
typedef struct weft_iter_kernel {
  size_t struct_size; /* sizeof(weft_iter_kernel) */
  const char *name;
  weft_iter_kernel_kind kind;
  size_t in, right, out; /* element sizes; right: of the zip */
  wf_iter_code any, wide;
  wf_iter_number number; /* what the stage makes */
  wf_iter_sums sums, wide_sums;
} weft_iter_kernel;

#ifdef __cplusplus
}
#endif

/* What all kernel stages share.
 *
 * Threads: the sink that runs the iterator evaluates the expressions on several threads
 * at the same time, and some more than once: they must have no side effects. Errors:
 * none; weft_iter_apply ends the program with a message if the size of the elements is
 * not that of T. Cost: a call through a pointer for each batch of some hundred elements.
 * The loops are vectorised where the expression allows it. */

/* A kernel stage: makes one element from each.
 *
 * Replaces
 *
 *     for (each x) out = expr;
 *
 * makes an element of type U from each x of type T. */
#define WEFT_KERNEL_MAP(name, T, U, expr)                                                \
  WF_ITER_MAP(name, T, U, expr)                                                          \
  static const weft_iter_kernel name = {                                                 \
      sizeof(weft_iter_kernel),                                                          \
      #name,                                                                             \
      WEFT_ITER_KERNEL_MAP,                                                              \
      sizeof(T),                                                                         \
      0,                                                                                 \
      sizeof(U),                                                                         \
      {name##_run_, NULL, NULL, NULL},                                                   \
      {WF_ITER_WIDE_OR_NULL(name##_run_wide_), NULL, NULL, NULL},                        \
      WF_ITER_NUMBER_OF(U),                                                              \
      {name##_whole_, WF_ITER_COLUMNS_OR_NULL(name##_columns_)},                         \
      {WF_ITER_WIDE_OR_NULL(name##_whole_wide_),                                         \
       WF_ITER_WIDE_OR_NULL(WF_ITER_COLUMNS_OR_NULL(name##_columns_wide_))}};

/* A kernel stage: makes one element from one of each of two sequences.
 *
 * Replaces
 *
 *     for (each x, y) out = expr;
 *
 * For weft_iter_zip_apply: `x` of type T comes from the left side, `y` of type V from the
 * right one. */
#define WEFT_KERNEL_ZIP(name, T, V, U, expr)                                             \
  WF_ITER_ZIP(name, T, V, U, expr)                                                       \
  static const weft_iter_kernel name = {                                                 \
      sizeof(weft_iter_kernel),                                                          \
      #name,                                                                             \
      WEFT_ITER_KERNEL_ZIP,                                                              \
      sizeof(T),                                                                         \
      sizeof(V),                                                                         \
      sizeof(U),                                                                         \
      {name##_run_, NULL, NULL, NULL},                                                   \
      {WF_ITER_WIDE_OR_NULL(name##_run_wide_), NULL, NULL, NULL},                        \
      WF_ITER_NUMBER_OF(U),                                                              \
      {name##_whole_, WF_ITER_COLUMNS_OR_NULL(name##_columns_)},                         \
      {WF_ITER_WIDE_OR_NULL(name##_whole_wide_),                                         \
       WF_ITER_WIDE_OR_NULL(WF_ITER_COLUMNS_OR_NULL(name##_columns_wide_))}};

/* A kernel stage: makes an element from each, or leaves it out.
 *
 * Replaces
 *
 *     for (each x) if (keep) out = expr;
 *
 * Where U is small, `expr` is evaluated for all elements, kept or not, so that there is
 * no branch to mispredict. */
#define WEFT_KERNEL_FILTER_MAP(name, T, U, keep, expr)                                   \
  WF_ITER_SIEVE(name, T, U, keep, expr)                                                  \
  static const weft_iter_kernel name = {                                                 \
      sizeof(weft_iter_kernel),                                                          \
      #name,                                                                             \
      WEFT_ITER_KERNEL_FILTER_MAP,                                                       \
      sizeof(T),                                                                         \
      0,                                                                                 \
      sizeof(U),                                                                         \
      {name##_run_, NULL, name##_count_, NULL},                                          \
      {NULL, NULL, WF_ITER_WIDE_OR_NULL(name##_count_wide_), NULL},                      \
      WF_ITER_NUMBER_OF(U),                                                              \
      {name##_whole_, NULL},                                                             \
      {WF_ITER_WIDE_OR_NULL(name##_whole_wide_), NULL}};

/* A kernel stage: lets pass the elements for which an expression is true.
 *
 * Replaces
 *
 *     for (each x) if (keep) out = x; */
#define WEFT_KERNEL_FILTER(name, T, keep)                                                \
  WF_ITER_SIEVE(name, T, T, keep, x)                                                     \
  WF_ITER_KEEP(name, T, keep)                                                            \
  static const weft_iter_kernel name = {                                                 \
      sizeof(weft_iter_kernel),                                                          \
      #name,                                                                             \
      WEFT_ITER_KERNEL_FILTER,                                                           \
      sizeof(T),                                                                         \
      0,                                                                                 \
      sizeof(T),                                                                         \
      {name##_run_, NULL, name##_count_, name##_keep_},                                  \
      {NULL, NULL, WF_ITER_WIDE_OR_NULL(name##_count_wide_),                             \
       WF_ITER_WIDE_OR_NULL(name##_keep_wide_)},                                         \
      WF_ITER_NUMBER_OF(T),                                                              \
      {name##_whole_, NULL},                                                             \
      {WF_ITER_WIDE_OR_NULL(name##_whole_wide_), NULL}};

/* A kernel stage: makes any number of elements from each.
 *
 * Replaces
 *
 *     for (each x)
 *       for (size_t j = 0; j < number; j++) out = expr;
 *
 * Makes `number` elements of type U from each x. Where they are only counted, expr is not
 * evaluated. */
#define WEFT_KERNEL_FLAT_MAP(name, T, U, number, expr)                                   \
  WF_ITER_FLAT(name, T, U, number, expr)                                                 \
  static const weft_iter_kernel name = {                                                 \
      sizeof(weft_iter_kernel),                                                          \
      #name,                                                                             \
      WEFT_ITER_KERNEL_FLAT_MAP,                                                         \
      sizeof(T),                                                                         \
      0,                                                                                 \
      sizeof(U),                                                                         \
      {NULL, name##_flat_, name##_count_, NULL},                                         \
      {NULL, NULL, WF_ITER_WIDE_OR_NULL(name##_count_wide_), NULL},                      \
      WF_ITER_NO_NUMBER,                                                                 \
      {NULL, NULL},                                                                      \
      {NULL, NULL}};

#endif
