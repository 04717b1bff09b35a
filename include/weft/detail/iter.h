/* weft/detail/iter.h - what a weft_iter is made of, how flat maps hand on the elements
 * that they make, and how long tiles are. Not API: programs copy iterators, and only the
 * library looks inside.
 *
 * How a weft_iter can grow
 *
 * Programs hold iterators on their stack, get them from functions by value and copy them.
 * So each program has the size of a weft_iter compiled into it, and a library that wrote
 * more bytes than that would overwrite its stack. A size that is stored in the iterator
 * cannot help: the library has to write the iterator before anyone can look at the size,
 * and a program that has the smaller struct has no room for a longer chain anyway. What
 * helps is a size that never changes:
 *
 * - sizeof(weft_iter) is WF_ITER_BYTES for as long as the name of the shared library
 * stays (libweft.so.0), and its alignment that of uint64_t. About a fourth is not used
 * yet.
 * - The program never reads or writes a member; there is no inline code that does. All
 * that it has of an iterator was written by the library that also reads it.
 *
 * Hence a program that was compiled with an older header runs with a newer library in
 * which any of these has changed: kinds of stages, members of a stage and its size, the
 * number of stages, weft_opts, the order of the members, as long as all of it fits into
 * WF_ITER_BYTES (a static assertion in src/par/iter/build.c). The other way round, a
 * newer header with an older library, works until a function is called that the library
 * does not have. What needs a new name of the library: another WF_ITER_BYTES, or another
 * size of what the program does see (weft_chunk, weft_tile, weft_line, weft_buffer).
 *
 * `layout` is for what is left: two copies of the library in one process (a plugin that
 * was linked with its own), one of which gets an iterator of the other, and memory that
 * was never an iterator. Sources write WF_ITER_LAYOUT; each other call compares it first
 * and ends the program with a message if it differs. With each change of
 * weft_iter or wf_stage WF_ITER_VERSION goes up by one.
 *
 * Two structs here go the other way, from the program's inline code to the library:
 * wf_out is made by the library and only gets new members at its end; weft_iter_kernel is
 * made by the program and says its size.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WEFT_DETAIL_ITER_H
#define WEFT_DETAIL_ITER_H

#include <string.h>
#include <weft/opts.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weft_iter_kernel;
struct wf_out;

/* A source or a stage; `kind` says which member of `as` is set (none for reverse, chain
 * and interleave). A stage follows the stages that it works on: its operand is the one
 * directly before it. With two operands that is the right one, and the left one is `left`
 * places before the stage. All distances are relative, so stages stay valid when they are
 * copied behind those of another iterator. */
typedef struct wf_stage {
  uint8_t kind;  /* wf_iter_kind of src/par/iter/iter.h */
  uint8_t flags; /* WF_ITER_KNOWN and others, there too */
  uint16_t left; /* places from the left operand to here; 0 without one */
  uint32_t unused;
  size_t size; /* bytes of an element */
  size_t len;  /* number of elements; 0 if that is not known */
  union {
    /* Sources. */
    struct {
      const void *array;
    } slice;
    struct {
      void *array;
      size_t size; /* of an element of the array */
    } refs;
    struct {
      int64_t begin, step;
    } range;
    struct { /* chunks, which do not overlap, and windows, which do */
      const void *array;
      size_t n, size; /* elements of the array, bytes of each */
      size_t part;    /* elements of a chunk or window */
    } parts;
    struct {
      size_t rows, cols;           /* of the table */
      size_t tile_rows, tile_cols; /* of a tile; at least 1 */
    } tiles;
    struct {
      const void *value;
    } repeat;
    struct {
      void (*fn)(void *out, size_t first, size_t n, void *ctx);
      void *ctx;
    } from;
    struct {
      const void *whole;
      bool (*fn)(void *piece, void *right, void *ctx);
      void *ctx;
    } split;
    struct {
      size_t (*fn)(void *out, size_t room, void *ctx);
      void *ctx;
    } pull;
    struct {
      const char *text;
      size_t length;
    } lines;
    /* Stages that call a function. */
    struct {
      void (*fn)(void *out, const void *in, void *ctx);
      void *ctx;
    } map;
    struct {
      void (*fn)(const void *elem, void *ctx);
      void *ctx;
    } inspect;
    struct { /* filter and take_while */
      bool (*fn)(const void *elem, void *ctx);
      void *ctx;
    } test;
    struct {
      bool (*fn)(void *out, const void *in, void *ctx);
      void *ctx;
    } filter_map;
    struct {
      void (*fn)(const void *in, struct wf_out *out, void *ctx);
      void *ctx;
    } flat_map;
    struct {
      void (*fn)(void *out, const void *left, const void *right, void *ctx);
      void *ctx;
    } zip_map;
    struct { /* kernel stages: of one operand, and zips */
      const struct weft_iter_kernel *loops;
      void *ctx;
    } kernel;
    /* Stages that go by position. */
    struct {
      size_t value_at; /* bytes from the begin of an element to the value */
    } enumerate;
    struct {
      size_t stride; /* 1 to the length of the operand */
    } step;
    struct {
      size_t count; /* elements that are left out */
    } skip;
    struct {
      size_t length; /* elements of a chunk */
    } chunk;
    struct {
      size_t right_at; /* bytes from the begin of an element to its right part */
    } zip;
    size_t room[5]; /* one word more than the largest of them needs */
  } as;
} wf_stage;

enum {
  WF_ITER_STAGES = 16,
  WF_ITER_BYTES = 1536, /* never changes: see above */
  WF_ITER_VERSION = 2,
  WF_ITER_MARK = 0x7766, /* "wf" */
  WF_ITER_LAYOUT = WF_ITER_MARK << 16 | WF_ITER_VERSION
};

/* An iterator; weft/iter.h explains what it means. */
typedef struct weft_iter {
  uint32_t layout; /* WF_ITER_LAYOUT of the library that made it */
  uint32_t count;  /* of stages, 1 to WF_ITER_STAGES */
  weft_opts opts;  /* for the sinks */
  wf_stage stages[WF_ITER_STAGES];
  uint64_t unused[(WF_ITER_BYTES - 2 * sizeof(uint32_t) - sizeof(weft_opts) -
                   WF_ITER_STAGES * sizeof(wf_stage)) /
                  sizeof(uint64_t)]
      __attribute__((aligned(8))); /* i386 aligns such a member to 4 */
} weft_iter;

/* The length of a tile that was given as 0, the same for weft_for_2d, weft_iter_tiles and
 * weft::tiles: 32 rows and all columns, so that a table of a few hundred rows already has
 * work for several threads and a tile goes through memory in its order. A choice: fewer
 * rows would balance better, more would call less often. At least 1, also for no rows. */
static inline size_t wf_tile_rows(size_t rows, size_t tile_rows) {
  if (tile_rows != 0) return tile_rows;
  return rows < 32 ? rows + (rows == 0) : 32;
}

static inline size_t wf_tile_cols(size_t cols, size_t tile_cols) {
  return tile_cols != 0 ? tile_cols : cols + (cols == 0);
}

/* Where a flat map puts its elements: memory that is handed on when it is full. New
 * members go to the end, since weft_emit is compiled into programs. */
typedef struct wf_out {
  char *next, *end;
  size_t size;                       /* of an element */
  void (*flush)(struct wf_out *out); /* makes room for one more at least */
  bool only_counted;                 /* nobody looks at the elements */
  size_t counted; /* then: elements that come in addition to those in memory */
} wf_out;

WEFT_API void wf_out_mismatch(size_t size, size_t expected);

static inline void *wf_out_slot(wf_out *out, size_t size) {
  if (size != out->size) wf_out_mismatch(size, out->size);
  if (out->next == out->end) out->flush(out);
  void *slot = out->next;
  out->next += size;
  return slot;
}

#ifdef __cplusplus
}
#endif

#endif
