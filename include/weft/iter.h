/* weft/iter.h - lazy sequences: a source, stages that work on it, and a sink that runs
 * it all in parallel.
 *
 *     weft_iter it = weft_iter_slice(a, n, sizeof *a);
 *     weft_iter_filter(&it, is_even, NULL);
 *     weft_iter_map(&it, sizeof(long), square, NULL);
 *     int64_t sum = weft_iter_sum_i64(&it);
 *
 * Sources and stages are here, sinks in weft/iter_sink.h, kernel stages, whose loops the
 * compiler can vectorise, in weft/iter_kernel.h. The guide is docs/guide/iterators.md.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WEFT_ITER_H
#define WEFT_ITER_H

#include <weft/detail/iter.h>
#include <weft/fn.h>
#include <weft/iter_kernel.h>
#include <weft/opts.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What holds for all iterators: a sequence that is described, and computed by a sink.
 *
 * An iterator is a value: it lives on the stack, is copied by assignment, owns nothing
 * and needs no clean-up. It describes a sequence. Nothing runs before a sink is called,
 * and sinks do not change it, so it can be used again, also by several threads at once.
 * What it refers to (arrays, contexts) must live until the last sink has returned. A
 * stage changes the iterator that it is given. An iterator has room for 16 sources and
 * stages.
 *
 * Elements are bytes of one size for each stage, as in qsort. They go through all stages
 * in batches of some hundreds (fewer if they are large, or if there is little stack),
 * which stay in the cache. Functions get pointers to elements in such a batch, aligned as
 * malloc's memory is where the size allows; they are valid until the function returns.
 * The pointers inside of elements of weft_iter_refs, chunks, windows and lines point into
 * the array.
 *
 * Order: results are those of the serial code. Functions are called in any order and at
 * the same time on several threads, once for each element that is needed, unless a
 * comment says otherwise. They may use weft themselves, and must not be left by longjmp
 * or a C++ exception.
 *
 * Length: some stages need to know how many elements there are (enumerate, zip,
 * interleave, step, skip, take, reverse, chunk; the sink position). They cannot follow
 * those that lose it: filter, filter_map, flat_map, take_while, and the sources split,
 * pull and lines.
 *
 * Parameters: an array is `base, n, size`, as everywhere in weft; what is special to a
 * call follows.
 *
 * Serial: none: nothing runs before a sink is called, unless the call says otherwise.
 *
 * Threads: any; one at a time builds an iterator, any number at a time use it.
 *
 * Errors: a NULL function, sizes that do not match, a stage that needs the length where
 * it is lost, too many stages, an iterator that no source has made: the program ends at
 * once, with a message that names the call.
 *
 * Cost: building takes nanoseconds. Sinks: a call through a pointer for each element and
 * stage that is a plain function (1 to 2 ns), or for each batch and kernel stage. */
typedef struct weft_iter weft_iter; /* its members are not API: weft/detail/iter.h */

/* ---- sources ---- */

/* A source: the elements of an array.
 *
 * Replaces
 *
 *     for (size_t i = 0; i < n; i++) ... base[i] ...
 *
 * The elements themselves. They are read in place, and copied where a stage needs that.
 */
WEFT_API weft_iter weft_iter_slice(const void *base, size_t n, size_t size);

/* A source: pointers to the elements of an array.
 *
 * Replaces
 *
 *     for (size_t i = 0; i < n; i++) ... &base[i] ...
 *
 * Elements of type void *, one to each element of the array, to change it in place. */
WEFT_API weft_iter weft_iter_refs(void *base, size_t n, size_t size);

/* A source: numbers from a begin to an end.
 *
 * Replaces
 *
 *     for (int64_t i = begin; i < end; i += step) ... i ...
 *
 * (and i > end if the step is negative), without overflow. Elements of type int64_t. */
WEFT_API weft_iter weft_iter_range(int64_t begin, int64_t end);
WEFT_API weft_iter weft_iter_range_step(int64_t begin, int64_t end, int64_t step);

/* A part of an array: element type of chunks and windows. */
typedef struct weft_chunk {
  void *data; /* of the first element; may be written if the array may be */
  size_t count;
  size_t index; /* of the chunk or window */
} weft_chunk;

/* A source: parts of an array, one after the other or overlapping.
 *
 * Replaces
 *
 *     for (size_t i = 0; i < n; i += chunk) ... base[i] to base[min(i + chunk, n) - 1]
 *
 * weft_iter_windows: every `window` neighbours, which overlap; none if the array is
 * shorter. */
WEFT_API weft_iter weft_iter_chunks(const void *base, size_t n, size_t size,
                                    size_t chunk);
WEFT_API weft_iter weft_iter_windows(const void *base, size_t n, size_t size,
                                     size_t window);

/* A rectangle of rows [r0, r1) and columns [c0, c1). */
typedef struct weft_tile {
  size_t r0, r1, c0, c1;
} weft_tile;

/* A source: the tiles of a table of rows and columns.
 *
 * Replaces
 *
 *     for (size_t r = 0; r < rows; r += tile_rows)
 *       for (size_t c = 0; c < cols; c += tile_cols)
 *         ... [r, min(r + tile_rows, rows)) x [c, min(c + tile_cols, cols)) ...
 *
 * Elements of type weft_tile. A tile length of 0 means 32 rows, or all columns, as in
 * weft_for_2d; tiles of 1 x 1 are index pairs. */
WEFT_API weft_iter weft_iter_tiles(size_t rows, size_t cols, size_t tile_rows,
                                   size_t tile_cols);

/* A source: one value, several times.
 *
 * Replaces
 *
 *     for (size_t i = 0; i < n; i++) ... *value ... */
WEFT_API weft_iter weft_iter_repeat(const void *value, size_t n, size_t size);

/* A source of your own: elements that a function makes by their position.
 *
 * Replaces
 *
 *     for (size_t i = 0; i < n; i++) ... element i, which fn makes ...
 *
 * A source of your own: whatever can be made or read by its position, such as a formula,
 * a compressed array, a column of a table, or several arrays that are one sequence. The
 * function writes the elements first, first + 1, ... first + n - 1 to out, side by side.
 * It is called on several threads at once, in any order, with n of at least 1 and at most
 * some hundreds, and with n = 1 for each element where a step leaves others out. The
 * length is known, so that all stages can follow. Keep no state between calls. Cost: a
 * call for each batch, so a simple loop in it is as fast as a kernel stage.
 *
 *     static void squares(void *out, size_t first, size_t n, void *ctx) {
 *       uint64_t *to = out;
 *       for (size_t i = 0; i < n; i++) to[i] = (first + i) * (first + i);
 *     }
 *     weft_iter it = weft_iter_from(1000, sizeof(uint64_t), squares, NULL); */
typedef void weft_iter_from_fn(void *out, size_t first, size_t n, void *ctx);
WEFT_API weft_iter weft_iter_from(size_t n, size_t size, weft_iter_from_fn *fn,
                                  void *ctx);

/* A source of your own: a whole that a function cuts in two, again and again.
 *
 * Replaces
 *
 *     void visit(struct piece piece) {
 *       struct piece right;
 *       if (!fn(&piece, &right, ctx)) { ... piece ...; return; }
 *       visit(piece);
 *       visit(right);
 *     }
 *
 * A source of your own without positions: a tree, a range of numbers, an area, a search
 * that is cut in two until the parts are small enough. A piece is `size` bytes that say
 * what it is. The function divides one: it leaves the left part in *piece, writes the
 * right part to *right, and returns true. Or it returns false: the piece is a leaf. The
 * elements are the leaves, from left to right. Where a leaf stands for several elements,
 * a flat map behind it emits them:
 *
 *     struct piece { const struct node *tree; };
 *
 *     struct piece whole = {root};
 *     weft_iter it = weft_iter_split(&whole, sizeof whole, halve, NULL);
 *     weft_iter_flat_map(&it, sizeof(struct item), emit_items, NULL);
 *
 * Threads divide different pieces at the same time; each sink
 * calls the function once for each piece, and the function must decide the same each
 * time. A sink finds all leaves before it looks at the first, so there must be memory for
 * them, and a leaf should be some microseconds of work: leaves that are too small cost
 * about 20 ns each, and of too few not all threads get one. Results do not depend on the
 * number of threads. The depth of the tree is limited by memory only. Options: with
 * max_workers the calling thread divides alone. A sink that is cancelled stops dividing.
 * Memory comes from malloc, else from the system; the program ends if neither has any.
 * The length is not known in advance. */
typedef bool weft_iter_split_fn(void *piece, void *right, void *ctx);
WEFT_API weft_iter weft_iter_split(const void *whole, size_t size, weft_iter_split_fn *fn,
                                   void *ctx);

/* A source of your own: a function that gives one batch after the other.
 *
 * Replaces
 *
 *     while ((got = pull(buffer, room, ctx)) > 0) ... buffer[0] to buffer[got - 1] ...
 *
 * For what comes one after the other: files, queues, generators. The function writes up
 * to `room` elements and returns how many; 0 is the end. It is called by one thread at a
 * time, and not again after the end. The stages behind it work on the batches in
 * parallel, so return many elements. Results do not depend on the number of threads as
 * long as the function returns the same batches. A pull cannot be one of two sides (zip,
 * chain and so on). With a take_while behind it, one thread does everything. */
typedef size_t weft_pull_fn(void *out, size_t room, void *ctx);
WEFT_API weft_iter weft_iter_pull(size_t size, weft_pull_fn *fn, void *ctx);

/* A line of a text, without the '\n' at its end. */
typedef struct weft_line {
  const char *text;
  size_t length;
} weft_line;

/* A source: the lines of a text.
 *
 * Replaces
 *
 *     for (char *p = text; p < text + length; p = end + 1) ... p to end ...
 *
 * where `end` is the next '\n', or the end of the text. Elements of type weft_line. */
WEFT_API weft_iter weft_iter_lines(const char *text, size_t length);

/* ---- stages: one element from each ---- */

/* A stage: makes one element from each.
 *
 * Replaces
 *
 *     fn(&out, &in, ctx);
 *
 * makes an element of out_size bytes from each. */
typedef void weft_iter_map_fn(void *out, const void *in, void *ctx);
WEFT_API void weft_iter_map(weft_iter *it, size_t out_size, weft_iter_map_fn *fn,
                            void *ctx);

/* A stage: calls fn for each element that passes, and hands it on as it is.
 *
 * Serial: fn(&x, ctx); and x goes on. */
typedef void weft_iter_look_fn(const void *elem, void *ctx);
WEFT_API void weft_iter_inspect(weft_iter *it, weft_iter_look_fn *fn, void *ctx);

/* A stage: a kernel stage of weft/iter_kernel.h: a map, a filter, a filter-map or a flat
 * map.
 *
 * Serial: that of the macro that made the kernel, such as WEFT_KERNEL_MAP. */
WEFT_API void weft_iter_apply(weft_iter *it, const weft_iter_kernel *kernel, void *ctx);

/* A stage: puts the index in front of each element.
 *
 * Replaces
 *
 *     pair.index = i++, pair.value = x;
 *
 * Elements become structs of `size` bytes that begin with a size_t, the index, and have
 * the value at `value_at`:
 *
 *     struct numbered { size_t index; double value; };
 *     weft_iter_enumerate(&it, sizeof(struct numbered),
 *                         offsetof(struct numbered, value)); */
WEFT_API void weft_iter_enumerate(weft_iter *it, size_t size, size_t value_at);

/* ---- stages: fewer or more ---- */

/* A stage: lets pass the elements for which a predicate holds.
 *
 * Replaces
 *
 *     if (pred(&x, ctx)) ... x ... */
WEFT_API void weft_iter_filter(weft_iter *it, weft_pred_fn *pred, void *ctx);

/* A stage: makes an element from each, or leaves it out.
 *
 * Replaces
 *
 *     if (fn(&out, &in, ctx)) ... out ... */
typedef bool weft_iter_filter_map_fn(void *out, const void *in, void *ctx);
WEFT_API void weft_iter_filter_map(weft_iter *it, size_t out_size,
                                   weft_iter_filter_map_fn *fn, void *ctx);

/* A stage: makes any number of elements from each.
 *
 * Replaces
 *
 *     fn(&x, out, ctx);
 *
 * which calls weft_emit for any number of elements of out_size bytes:
 *
 *     static void divisors(const void *x, weft_out *out, void *ctx) {
 *       int n = *(const int *)x;
 *       for (int d = 1; d <= n; d++)
 *         if (n % d == 0) weft_emit(out, &d, sizeof d);
 *     } */
typedef struct wf_out weft_out;
typedef void weft_iter_flat_map_fn(const void *in, weft_out *out, void *ctx);
WEFT_API void weft_iter_flat_map(weft_iter *it, size_t out_size,
                                 weft_iter_flat_map_fn *fn, void *ctx);

/* Hands an element on; for functions of weft_iter_flat_map only, on their own thread.
 * A few instructions.
 *
 * Serial: out[count++] = *elem; Cost: a few instructions. */
static inline void weft_emit(weft_out *out, const void *elem, size_t size) {
  memcpy(wf_out_slot(out, size), elem, size);
}

/* Says how many elements a flat map emits, where they are only counted.
 *
 * Replaces
 *
 *     for (size_t j = 0; j < n; j++) weft_emit(...);
 *
 * where elements are only counted, as by weft_iter_count: it adds n to the count and
 * returns true. Else it does nothing and returns false, and the function must emit the
 * elements. For functions of weft_iter_flat_map that know how many they will emit:
 *
 *     if (weft_emit_count(out, n)) return;
 *     for (size_t j = 0; j < n; j++) weft_emit(out, &j, sizeof j); */
static inline bool weft_emit_count(weft_out *out, size_t n) {
  if (out->only_counted) out->counted += n;
  return out->only_counted;
}

/* A stage: the elements in front of the first for which a predicate fails.
 *
 * Replaces
 *
 *     if (!pred(&x, ctx)) break;
 *
 * The stages before it, and pred, run twice for the elements up to the end: the first
 * time to find the end. So their functions must give the same result again. No function
 * of a later stage or sink sees an element behind the end. */
WEFT_API void weft_iter_take_while(weft_iter *it, weft_pred_fn *pred, void *ctx);

/* ---- stages: by position ---- */

/* Stages that choose by position, or turn the order round.
 *
 * Replaces
 *
 *     for (size_t i = 0; i < n; i += k) ... x[i] ...    step: every k-th, from the first
 *     for (size_t i = k; i < n; i++) ... x[i] ...       skip: all but the first k
 *     for (size_t i = 0; i < k; i++) ... x[i] ...       take: the first k
 *     for (size_t i = n; i-- > 0;) ... x[i] ...         reverse: the last one first
 *
 * Functions of earlier stages are only called for elements that are left. */
WEFT_API void weft_iter_step(weft_iter *it, size_t k);
WEFT_API void weft_iter_skip(weft_iter *it, size_t k);
WEFT_API void weft_iter_take(weft_iter *it, size_t k);
WEFT_API void weft_iter_reverse(weft_iter *it);

/* A stage: groups of neighbours become one element.
 *
 * Replaces
 *
 *     for (i = 0; i < n; i += k) ... {&x[i], min(k, n - i), i / k} ...
 *
 * Elements become weft_chunk, of k elements each, the last one of fewer. The elements of
 * a chunk are next to each other in memory that is valid while functions of later stages
 * and of the sink look at the chunk; directly behind weft_iter_slice it is the array
 * itself. Memory for large chunks comes from malloc, else from the system; the program
 * ends if neither has any. Cannot follow another chunk stage. */
WEFT_API void weft_iter_chunk(weft_iter *it, size_t k);

/* ---- stages: two sequences ---- */

/* A stage: pairs of one element of each of two sequences.
 *
 * Replaces
 *
 *     pair.left = x, pair.right = y;
 *
 * The other iterator is copied into the first, here and in the stages below; its options
 * are not. Elements become structs of `size` bytes that have the left element at their
 * begin and the right one at `right_at`. The result is as long as the shorter sequence.
 */
WEFT_API void weft_iter_zip(weft_iter *it, const weft_iter *other, size_t size,
                            size_t right_at);

/* A stage: makes one element from one of each of two sequences.
 *
 * Replaces
 *
 *     fn(&out, &x, &y, ctx);
 *
 * a zip and a map without pairs in between. weft_iter_zip_apply does it by a kernel
 * stage, WEFT_KERNEL_ZIP. */
typedef void weft_iter_zip_fn(void *out, const void *left, const void *right, void *ctx);
WEFT_API void weft_iter_zip_map(weft_iter *it, const weft_iter *other, size_t out_size,
                                weft_iter_zip_fn *fn, void *ctx);
WEFT_API void weft_iter_zip_apply(weft_iter *it, const weft_iter *other,
                                  const weft_iter_kernel *kernel, void *ctx);

/* A stage: all of the first, then all of the other. Elements have the same size.
 *
 * Serial: for (each x of the first) ...; for (each y of the other) ... */
WEFT_API void weft_iter_chain(weft_iter *it, const weft_iter *other);

/* A stage: one of the first, one of the other, in turn; when one ends, the rest of the
 * other.
 *
 * Serial: while (both have more) { ... x ...; ... y ...; } and then the rest. */
WEFT_API void weft_iter_interleave(weft_iter *it, const weft_iter *other);

/* ---- how it runs ---- */

/* Sets options for the sinks, at any place in the chain: those of weft/opts.h. Lengths
 * count elements of the sources. In folds, min_len, max_len and target_chunks set the
 * leaves and so the number of accumulators, as in weft_reduce. weft_iter_options sets all
 * of them. A sink that is cancelled returns soon, with a result that means nothing. */
WEFT_API void weft_iter_pool(weft_iter *it, weft_pool *pool);
WEFT_API void weft_iter_cancel(weft_iter *it, struct weft_scope *scope);
WEFT_API void weft_iter_min_len(weft_iter *it, size_t min_len);
WEFT_API void weft_iter_max_len(weft_iter *it, size_t max_len);
WEFT_API void weft_iter_options(weft_iter *it, const weft_opts *opts);

/* The number of elements, and the size of one. The number is SIZE_MAX if it is not known
 * (or if that is the number, as in the range from INT64_MIN to INT64_MAX). */
WEFT_API size_t weft_iter_len(const weft_iter *it);
WEFT_API size_t weft_iter_size(const weft_iter *it);

#ifdef __cplusplus
}
#endif

#include <weft/iter_sink.h>

#endif
