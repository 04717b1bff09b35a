/* weft/typed_loop.h - typed loops: a parallel loop as a function, from its body alone.
 * The arguments go by value; there is no struct and no void pointer.
 *
 *     WEFT_LOOP(saxpy, i, float, a, const float *, x, float *, y) { y[i] += a * x[i]; }
 *     WEFT_SUM_LOOP(dot, float, i, const float *, x, const float *, y) {
 *       return x[i] * y[i];
 *     }
 *
 *     saxpy(n, 2.0f, x, y);
 *     float d = dot(n, x, y);
 *
 * SPDX-License-Identifier: MIT */
#ifndef WEFT_TYPED_LOOP_H
#define WEFT_TYPED_LOOP_H

#include <weft/detail/typed_loop.h>

/* What all typed loops share.
 *
 * Each macro stands for the head of a function, outside of other functions; the body for
 * one index follows. First come the name and what is special to the macro, then 0 to 8
 * pairs of type and name: the arguments. A type is what can stand in front of a name: use
 * a typedef for pointers to arrays and to functions. For WEFT_LOOP(name, i, T, x, U, y)
 * there are these functions, all static; those of a reduction have its result, those of
 * WEFT_TRY_LOOP an int:
 *
 *     void name(size_t n, T x, U y)                          i from 0 to n - 1
 *     void name_range(size_t begin, size_t end, T x, U y)    i from begin to end - 1
 *     void name_with(const weft_opts *o, size_t n, T x, U y)
 *     void name_range_with(const weft_opts *o, size_t begin, size_t end, T x, U y)
 *
 * A range whose end is not behind its begin is empty.
 *
 * Meaning: the body runs once for each index, in any order and on several threads at the
 * same time; when the call returns, all of it has been done, and is visible. Each run of
 * the body has its own copies of the arguments, so what it assigns to them is gone when
 * it ends. `return` ends the run of this index. The body may call anything of weft, also
 * the loop itself.
 *
 * Threads, errors, misuse: those of weft_for, for reductions those of weft_reduce. A
 * message about misuse (bad options) names the loop. The body must not be left by longjmp
 * or a C++ exception. Options mean what they mean for these calls; with `cancel`, no
 * block starts once that scope is cancelled.
 *
 * Cost: that of weft_for or weft_reduce with a block function written by hand: the
 * compiler inlines the body into the loop over a block and vectorises the loop where it
 * can, gcc also at -O2. Nothing is allocated.
 *
 * In a debugger the body is the function name_body_: `break name_body_ if i == 42` stops
 * in it with its arguments, and stepping goes from line to line. Profiles show the time
 * in name_block_, or name_fold_ for reductions. */

/* Makes a parallel loop from its body.
 *
 * Replaces
 *
 *     for (size_t i = 0; i < n; i++) { body }
 *
 * Meaning: void name(size_t n, ...), a weft_for.
 *
 *     WEFT_LOOP(scale, i, double *, a, double, by) { a[i] *= by; }
 *
 *     scale(n, a, 0.5);                 // all elements
 *     scale_range(1, n - 1, a, 0.5);    // all but the first and the last one */
#define WEFT_LOOP(...)                                                                   \
  WF_LOOP_MAKE(EACH, WF_LOOP_COUNT(0, 0, 0, __VA_ARGS__), __VA_ARGS__)

/* Makes a parallel loop over rows and columns from its body.
 *
 * Replaces
 *
 *     for (size_t r = 0; r < rows; r++)
 *       for (size_t c = 0; c < cols; c++) { body }
 *
 * Meaning: void name(size_t rows, size_t cols, ...). The range is one of rows and of
 * columns: name_range(row_begin, row_end, col_begin, col_end, ...).
 *
 * A block is a tile of whole rows, or a part of a row: a matrix of few cells that take
 * long is shared as well as one of many cells that take a nanosecond. The lengths in
 * options count cells. Bodies that read along columns, such as a transposition, are
 * faster in small square tiles: use weft_for_2d.
 *
 *     WEFT_LOOP_2D(smooth, r, c, float *, to, const float *, from, size_t, cols) {
 *       const float *p = &from[r * cols + c];
 *       to[r * cols + c] = (p[0] + p[1] + p[cols] + p[cols + 1]) / 4;
 *     }
 *
 *     smooth(rows - 1, cols - 1, to, from, cols); */
#define WEFT_LOOP_2D(...)                                                                \
  WF_LOOP_MAKE(CELLS, WF_LOOP_COUNT(0, 0, __VA_ARGS__), __VA_ARGS__)

/* Makes a parallel loop from a body that can fail.
 *
 * Replaces
 *
 *     for (size_t i = 0; i < n; i++) {
 *       int error = body;
 *       if (error != 0) return error;
 *     }
 *     return 0;
 *
 * Meaning: int name(size_t n, ...), a weft_try_for. The body returns 0 or an error, and
 * the call returns the error of the lowest failing index, on any number of threads. The
 * body has then run for all indices in front of that one, and for some behind it: blocks
 * behind a known error do not start. Without an error, the result is 0, or WEFT_ECANCELED
 * if the scope in the options was cancelled.
 *
 *     WEFT_TRY_LOOP(load, i, char **, names, struct image *, images) {
 *       return image_load(&images[i], names[i]);
 *     }
 *
 *     int error = load(n, names, images); */
#define WEFT_TRY_LOOP(...)                                                               \
  WF_LOOP_MAKE(TRY, WF_LOOP_COUNT(0, 0, 0, __VA_ARGS__), __VA_ARGS__)

/* Makes a parallel sum from its body.
 *
 * Replaces
 *
 *     R sum = 0;
 *     for (size_t i = 0; i < n; i++) sum += body;
 *     return sum;
 *
 * Meaning: R name(size_t n, ...) from WEFT_SUM_LOOP(name, R, i, ...), with a body that
 * returns an R. R is a type of numbers, also a complex one.
 *
 * The result has the same bits on any number of threads. What is added to what follows
 * from the length of the range, and from the lengths in the options if they are set: the
 * range is cut as weft_reduce cuts one, and each part is added in lanes, which compilers
 * vectorise. So
 * name_range(k, k + n, x) has the bits of name(n, x + k). A long sum of floats is more
 * precise than that of the serial loop, but not the same. Integers wrap on the way: the
 * sum is right if it fits into R. After a cancellation the result means nothing.
 *
 *     WEFT_SUM_LOOP(zeros, size_t, i, const int *, a) { return a[i] == 0; } */
#define WEFT_SUM_LOOP(...)                                                               \
  WF_LOOP_MAKE(SUM, WF_LOOP_COUNT(0, 0, __VA_ARGS__), __VA_ARGS__)

/* Makes a parallel minimum or maximum from its body.
 *
 * Replaces
 *
 *     R least = the largest R, or infinity;
 *     for (size_t i = 0; i < n; i++) {
 *       R value = body;
 *       if (value < least) least = value;
 *     }
 *     return least;
 *
 * Meaning: R name(size_t n, ...) from WEFT_MIN_LOOP(name, R, i, ...), with a body that
 * returns an R, a type of integers or floats. For n = 0 the result is the largest value
 * of R, or infinity. NaNs are skipped. The two zeros of floats are equal: a result of
 * zero may have the sign of either, but the same one on any number of threads.
 *
 * WEFT_MAX_LOOP is the maximum, and for n = 0 the smallest value or -infinity.
 *
 *     WEFT_MAX_LOOP(change, double, i, const double *, now, const double *, before) {
 *       return fabs(now[i] - before[i]);
 *     } */
#define WEFT_MIN_LOOP(...)                                                               \
  WF_LOOP_MAKE(MIN, WF_LOOP_COUNT(0, 0, __VA_ARGS__), __VA_ARGS__)
#define WEFT_MAX_LOOP(...)                                                               \
  WF_LOOP_MAKE(MAX, WF_LOOP_COUNT(0, 0, __VA_ARGS__), __VA_ARGS__)

/* Makes a parallel reduction from its body and an operation.
 *
 * Replaces
 *
 *     R acc = identity;
 *     for (size_t i = 0; i < n; i++) acc = merge(acc, body);
 *     return acc;
 *
 * Meaning: R name(size_t n, ...) from WEFT_REDUCE_LOOP(name, R, identity, merge, i, ...),
 * with a body that returns an R, any type that can be assigned. merge is a function or
 * macro R merge(R left, R right); it must be associative and need not commute. identity
 * is an expression that must not change what it is merged with. The result has the same
 * bits on any number of threads, as that of weft_reduce. R must not need more than 16
 * bytes of alignment.
 *
 *     static inline size_t max_size(size_t a, size_t b) { return a > b ? a : b; }
 *
 *     WEFT_REDUCE_LOOP(longest, size_t, 0, max_size, i, const char *const *, words) {
 *       return strlen(words[i]);
 *     } */
#define WEFT_REDUCE_LOOP(...)                                                            \
  WF_LOOP_MAKE(REDUCE, WF_LOOP_COUNT(__VA_ARGS__), __VA_ARGS__)

#endif
