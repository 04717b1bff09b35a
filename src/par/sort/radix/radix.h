/* par/sort/radix/radix.h - what radix sorts of all kinds of elements share; see
 * sort_scalar.h.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_PAR_RADIX_H
#define WF_PAR_RADIX_H

#include "../../../core/rng.h"
#include "../../base/bytes.h"
#include "../../base/checks.h"
#include "../../base/scratch.h"
#include "../../loop/loop.h"

#include <stdint.h>
#include <string.h>

#if defined __SSE2__
#include <emmintrin.h>
#endif

/* For short loops over arrays: gcc vectorises them at -O2 only when told to. */
#if defined __GNUC__ && !defined __clang__
#define WF_VECTORISE __attribute__((optimize("tree-vectorize,vect-cost-model=dynamic")))
#else
#define WF_VECTORISE
#endif

/* Up to so many elements are sorted by insertion. */
enum { WF_SORT_FEW = 40 };

/* A leaf sorts by as many leading bits as it takes to number its elements and so many
 * more; then it may move each by so many places on average, or starts again with all. */
enum { WF_SORT_MORE_BITS = 3, WF_SORT_MOVES = 4 };

/* A leaf has at most so many bytes: it shall fit twice into a CPU's own cache. */
enum { WF_LEAF_BYTES = 128 << 10 };

/* Buckets of a distribution: about as many as make leaves of WF_BUCKET_BYTES. */
enum { WF_BUCKETS_LEAST = 16, WF_BUCKETS_MOST = 4096, WF_BUCKET_BYTES = 64 << 10 };

/* What a distribution gathers before it writes: whole cache lines. */
enum { WF_LINE_BYTES = 128 };

/* Of a sample that tells the range of the keys. */
enum { WF_SAMPLES = 1024 };

/* Keys that are not spread evenly: their range is cut into cells, and a cell into as many
 * buckets (a power of two) as its part of another sample says; cells with a small part
 * share one. The bucket of a key is the cell's offset plus the key's distance from the
 * lowest one, shifted; modulo 2^32. */
typedef struct wf_cell {
  uint32_t offset, shift;
} wf_cell;

/* It is worth its cost from so many elements on. */
enum { WF_CELLS = 4096, WF_CELL_SAMPLES = 4096, WF_CELLS_WORTH = 32 * WF_CELL_SAMPLES };

/* A bucket with more than this part of the elements, and more than a leaf may have, is
 * distributed again by all threads. There are fewer such buckets than parts. */
enum { WF_LARGE_PARTS = 32 };

/* How the bits of an element become an unsigned number that sorts as the element does:
 * if its sign bit is set, `negative` is turned over, and in any case `always`; then
 * `offset` is taken away. See below. */
typedef struct wf_coding {
  uint64_t negative, always, offset;
} wf_coding;

static inline uint64_t wf_encode_u64(const wf_coding *c, uint64_t x) {
  return (x ^ (((0 - (x >> 63)) & c->negative) | c->always)) - c->offset;
}

static inline uint64_t wf_decode_u64(const wf_coding *c, uint64_t x) {
  x += c->offset;
  return x ^ ((((x >> 63) - 1) & c->negative) | c->always);
}

static inline uint32_t wf_encode_u32(const wf_coding *c, uint32_t x) {
  return (x ^ (((0 - (x >> 31)) & (uint32_t)c->negative) | (uint32_t)c->always)) -
         (uint32_t)c->offset;
}

static inline uint32_t wf_decode_u32(const wf_coding *c, uint32_t x) {
  x += (uint32_t)c->offset;
  return x ^ ((((x >> 31) - 1) & (uint32_t)c->negative) | (uint32_t)c->always);
}

/* Floats: numbers with the sign bit count downwards. Negative NaNs would come first; as
 * many as there are of them are taken away from all, so that they come last, behind the
 * positive ones. */
static const wf_coding wf_coding_u32 = {0, 0, 0};
static const wf_coding wf_coding_u64 = {0, 0, 0};
static const wf_coding wf_coding_i32 = {0, UINT32_C(1) << 31, 0};
static const wf_coding wf_coding_i64 = {0, UINT64_C(1) << 63, 0};
static const wf_coding wf_coding_f32 = {UINT32_MAX >> 1, UINT32_C(1) << 31,
                                        (UINT32_C(1) << 23) - 1};
static const wf_coding wf_coding_f64 = {UINT64_MAX >> 1, UINT64_C(1) << 63,
                                        (UINT64_C(1) << 52) - 1};

/* The key of the lowest NaN, or the highest of all; its lower half if keys have 32 bits.
 * There are as many positive NaNs as negative ones, and `offset` is their number. */
static inline uint64_t wf_highest_key(const wf_coding *c) {
  return c->offset != 0 ? 0 - 2 * c->offset : UINT64_MAX;
}

/* A sort under way, and its scratch memory. */
typedef struct wf_radix {
  const weft_opts *given;
  weft_opts opts; /* of its loops: they are not cancelled, for all must come back */
  wf_coding coding;
  const struct wf_lists *lists; /* how leaves are sorted, see sort_lists.h; or NULL */
  bool streams;     /* past the caches, for there are more elements than these hold */
  size_t blocks;    /* that the array is cut into: the unit of counting and writing */
  size_t stride;    /* the most buckets of any pass */
  size_t buckets;   /* of the pass under way */
  size_t too_large; /* larger buckets of the pass under way are no leaves */
  size_t *starts;   /* of the buckets, and the end */
  size_t *counts;   /* of each block, by bucket: elements, then their places */
  size_t *firsts;   /* of each block, by bucket: its first place */
  wf_cell *cells;   /* WF_CELLS of them, if elements are many */
  uint64_t *ranges; /* of each block: the lowest and the highest key */
  char *slots;      /* of each block: by bucket, a line that is gathered */
  size_t slot_size;
  wf_word x_free; /* a bit for each slot that no leaf uses */
  void *elements; /* as many as there are to be sorted */
  wf_scratch scratch;
} wf_radix;

static inline size_t *wf_radix_counts(const wf_radix *radix, size_t block) {
  return radix->counts + block * radix->stride;
}

static inline size_t *wf_radix_firsts(const wf_radix *radix, size_t block) {
  return radix->firsts + block * radix->stride;
}

static inline char *wf_radix_slot(const wf_radix *radix, size_t block) {
  return radix->slots + block * radix->slot_size;
}

/* Where a block of an array of n begins. */
static inline size_t wf_radix_block(const wf_radix *radix, size_t n, size_t block) {
  size_t length = n / radix->blocks, longer = n % radix->blocks;
  return block * length + (block < longer ? block : longer);
}

/* How many buckets a distribution of n elements of `size` bytes shall have. */
size_t wf_radix_buckets(size_t n, size_t size);

/* Scratch memory for n elements of `size` bytes; false if there is none. Inside the pool
 * only. */
bool wf_radix_begin(wf_radix *radix, const weft_opts *given, const wf_coding *coding,
                    size_t n, size_t size);
void wf_radix_end(wf_radix *radix);

/* From the counts of all blocks to their places and the starts of the buckets. */
void wf_radix_place(wf_radix *radix);

/* From the number of samples in each cell, its offset, to what the cells shall be.
 * `shift`: a cell's size is 2 to the power of it. False if samples are spread evenly. */
bool wf_radix_make_cells(wf_radix *radix, size_t cells, unsigned shift);

/* When lines are not gathered, a slot serves whoever sorts leaves: memory that is in its
 * CPU's cache already. NULL if none is free. */
char *wf_radix_claim_slot(wf_radix *radix);
void wf_radix_release_slot(wf_radix *radix, const char *slot);

/* Makes three buckets out of all that were counted: those below the middle one (left out
 * if it is the first), the middle one, and those above. */
void wf_radix_fold(wf_radix *radix, size_t middle);

/* ---- sort_typed.c ---- */

/* Elements are 32 or 64 bits of any type, so they may alias it. */
typedef uint32_t __attribute__((may_alias)) wf_bits32;
typedef uint64_t __attribute__((may_alias)) wf_bits64;

/* Sorts the numbers; inside the pool or, if there are few, anywhere. */
void wf_sort_bits64(const weft_opts *opts, const wf_coding *coding, wf_bits64 *a,
                    size_t n);

/* Are the numbers in ascending order? */
bool wf_is_ordered_bits32(const weft_opts *opts, const wf_coding *coding,
                          const wf_bits32 *a, size_t n);
bool wf_is_ordered_bits64(const weft_opts *opts, const wf_coding *coding,
                          const wf_bits64 *a, size_t n);

/* ---- lines ---- */

/* Writes a gathered line; what is not needed soon need not go through the caches. */
static inline void wf_write_line(void *to, const void *from, bool streams) {
#if defined __SSE2__
  if (!streams)
    memcpy(to, from, WF_LINE_BYTES);
  else
    for (size_t i = 0; i < WF_LINE_BYTES / sizeof(__m128i); i++)
      _mm_stream_si128((__m128i *)to + i, _mm_load_si128((const __m128i *)from + i));
#else
  (void)streams;
  memcpy(to, from, WF_LINE_BYTES);
#endif
}

/* Streamed lines are visible to whoever sees what follows. */
static inline void wf_stream_end(void) {
#if defined __SSE2__
  _mm_sfence();
#endif
}

#endif
