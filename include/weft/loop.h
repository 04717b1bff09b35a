/* weft/loop.h - parallel loops.
 *
 *     static void scale(size_t begin, size_t end, void *ctx) {
 *       double *a = ctx;
 *       for (size_t i = begin; i < end; i++) a[i] *= 2;
 *     }
 *     weft_for(n, scale, a);
 *
 * For a body of one index WEFT_LOOP (weft/typed_loop.h) is shorter:
 *
 *     WEFT_LOOP(scale, i, double *, a) { a[i] *= 2; }
 *     scale(n, a);
 *
 * SPDX-License-Identifier: MIT */
#ifndef WEFT_LOOP_H
#define WEFT_LOOP_H

#include <weft/opts.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What all loops share.
 *
 * Threads: any. Inside a pool a loop belongs to that pool. Outside, the calling thread
 * takes part in the global pool (started on first use) until the call returns. The
 * function is called in any order and on several threads at the same time; when the loop
 * returns, all calls have returned, and what they did is visible. Loops may be inside
 * tasks, joins, scopes and other loops.
 *
 * Errors: none; a loop allocates nothing. Misuse (a NULL function or array with n > 0, a
 * step or chunk of 0, bad options) ends the program with a message. The function must not
 * be left by longjmp or a C++ exception.
 *
 * Cost: nothing to choose. A thread runs its part of the range in blocks that grow until
 * one takes about ten microseconds, so functions of a nanosecond and of a second for each
 * element both work well; between two blocks a thread spends about 25 nanoseconds. A
 * thread never takes all it has left as one block, so others find something to take even
 * if a few elements cost much more than those before. The NAME_with twins take options:
 * see weft/opts.h. More is in docs/guide/loops.md. */

/* A parallel loop: calls a function for blocks of a range of indices.
 *
 * Replaces
 *
 *     body(0, n, ctx);
 *
 * Meaning: body is called for blocks [begin, end) that are disjoint, not empty, and cover
 * [0, n): each index is in exactly one of them. */
WEFT_API void weft_for(size_t n, weft_range_fn *body, void *ctx);
WEFT_API void weft_for_with(const weft_opts *o, size_t n, weft_range_fn *body, void *ctx);

/* A parallel loop whose body can fail.
 *
 * Replaces
 *
 *     for (size_t i = 0; i < n; i++) {
 *       int error = body(i, i + 1, ctx);
 *       if (error != 0) return error;
 *     }
 *     return 0;
 *
 * Meaning: body gets blocks as in weft_for, goes through a block in ascending order and
 * returns at its first error, a number that is not 0. The result is the error of the
 * lowest failing index, as in the serial loop, or 0. Blocks behind a known error are not
 * started any more; blocks in front of it are. If the options name a scope that was
 * cancelled and there was no error, the result is WEFT_ECANCELED. */
typedef int weft_try_fn(size_t begin, size_t end, void *ctx);
WEFT_API int weft_try_for(size_t n, weft_try_fn *body, void *ctx);
WEFT_API int weft_try_for_with(const weft_opts *o, size_t n, weft_try_fn *body,
                               void *ctx);

/* Calls a function for each element of an array.
 *
 * Replaces
 *
 *     for (size_t i = 0; i < n; i++) fn((char *)base + i * size, i, ctx);
 *
 * Cost: a call through a pointer for each element. For bodies of a few nanoseconds
 * WEFT_LOOP (weft/typed_loop.h) and weft_for are faster. */
typedef void weft_elem_fn(void *elem, size_t index, void *ctx);
WEFT_API void weft_for_each(void *base, size_t n, size_t size, weft_elem_fn *fn,
                            void *ctx);
WEFT_API void weft_for_each_with(const weft_opts *o, void *base, size_t n, size_t size,
                                 weft_elem_fn *fn, void *ctx);

/* Calls a function that can fail for each element of an array.
 *
 * Replaces
 *
 *     for (size_t i = 0; i < n; i++) {
 *       int error = fn((char *)base + i * size, i, ctx);
 *       if (error != 0) return error;
 *     }
 *     return 0;
 *
 * Meaning: weft_for_each for a function that can fail: it returns 0, or an error. The
 * result is the error of the lowest failing index, as in the serial loop, or 0; or
 * WEFT_ECANCELED, as in weft_try_for. All elements in front of that index were handled;
 * of those behind it, only those of blocks that had begun. */
typedef int weft_try_elem_fn(void *elem, size_t index, void *ctx);
WEFT_API int weft_try_for_each(void *base, size_t n, size_t size, weft_try_elem_fn *fn,
                               void *ctx);
WEFT_API int weft_try_for_each_with(const weft_opts *o, void *base, size_t n, size_t size,
                                    weft_try_elem_fn *fn, void *ctx);

/* Calls a function for chunks of one length of an array.
 *
 * Replaces
 *
 *     for (size_t i = 0, k = 0; i < n; i += chunk, k++)
 *       fn((char *)base + i * size, n - i < chunk ? n - i : chunk, k, ctx);
 *
 * Meaning: all chunks have `chunk` elements, only the last one may have fewer. The
 * lengths in options count chunks. */
typedef void weft_chunk_fn(void *first, size_t count, size_t chunk_index, void *ctx);
WEFT_API void weft_chunks(void *base, size_t n, size_t size, size_t chunk,
                          weft_chunk_fn *fn, void *ctx);
WEFT_API void weft_chunks_with(const weft_opts *o, void *base, size_t n, size_t size,
                               size_t chunk, weft_chunk_fn *fn, void *ctx);

/* Calls a function for every step-th index of a range.
 *
 * Replaces
 *
 *     for (size_t i = begin; i < end; i += step) fn(i, ctx);
 *
 * without its overflow where end is near SIZE_MAX. The lengths in options count steps. */
typedef void weft_index_fn(size_t i, void *ctx);
WEFT_API void weft_for_step(size_t begin, size_t end, size_t step, weft_index_fn *fn,
                            void *ctx);
WEFT_API void weft_for_step_with(const weft_opts *o, size_t begin, size_t end,
                                 size_t step, weft_index_fn *fn, void *ctx);

/* A parallel loop over the tiles of a table of rows and columns.
 *
 * Replaces
 *
 *     for (size_t r = 0; r < rows; r += tile_rows)
 *       for (size_t c = 0; c < cols; c += tile_cols)
 *         fn(r, min(r + tile_rows, rows), c, min(c + tile_cols, cols), ctx);
 *
 * Meaning: fn gets tiles of tile_rows x tile_cols; those at the right and at the lower
 * border may be smaller. tile_rows of 0 means 32 rows, tile_cols of 0 means all columns,
 * here and in weft_iter_tiles: tiles are then bands of whole rows, which is best where
 * rows are long or memory is read along them. The lengths in options count tiles. */
typedef void weft_tile_fn(size_t r0, size_t r1, size_t c0, size_t c1, void *ctx);
WEFT_API void weft_for_2d(size_t rows, size_t cols, size_t tile_rows, size_t tile_cols,
                          weft_tile_fn *fn, void *ctx);
WEFT_API void weft_for_2d_with(const weft_opts *o, size_t rows, size_t cols,
                               size_t tile_rows, size_t tile_cols, weft_tile_fn *fn,
                               void *ctx);

#ifdef __cplusplus
}
#endif

#endif
