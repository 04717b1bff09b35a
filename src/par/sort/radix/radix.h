/* par/sort/radix/radix.h - sorting numbers by their bits: what the files of this folder
 * share.
 *
 *     typed.c            weft_sort_T, weft_nth_element_T, weft_partial_sort_T,
 *                        weft_is_sorted_T, weft_argsort_T and weft_sort_by_key_T for the
 *                        six types
 *     sort_template.h    the sort, for one kind of element: sample, digit, distribution,
 *                        leaves
 *     select_template.h  the nth element, sorting without memory, looking for order
 *     radix.c            memory of a sort, places of its buckets, slices for uneven keys
 *     buckets.c          which buckets elements belong to, a batch of them at a time
 *     lists.c            sorting of leaves with AVX-512; its loops in lists_template.h
 *
 * A sort owns its wf_radix; blocks of the array and buckets belong to one task each.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_PAR_SORT_RADIX_H
#define WF_PAR_SORT_RADIX_H

#include "../../../core/rng.h"
#include "../../base/bytes.h"
#include "../../loop/loop.h"

#include <weft/detail/typed_function.h>
#include <weft/join.h>

/* Measurements without another source are in docs/investigations/sorting-scalars.md. */
enum {
  /* Up to this many elements are sorted by insertion: a choice. */
  WF_INSERTION_MOST = 40,
  /* A leaf sorts by its leading bits: as many as number its elements, and
   * WF_LEAF_MORE_BITS more so that few keys agree in all of them. If lists found the keys
   * uneven, it is WF_LEAF_UNEVEN_BITS more. After that it may move each element by
   * WF_LEAF_MOVES places on average, or it sorts by all bits. Choices. */
  WF_LEAF_MORE_BITS = 3,
  WF_LEAF_UNEVEN_BITS = 7,
  WF_LEAF_MOVES = 4,
  /* The most bytes of a leaf: fits into a CPU's own cache twice, or with the rows of its
   * lists where the cache has 512 KiB. Also what one thread sorts without entering a
   * pool. */
  WF_LEAF_BYTES = 128 << 10,
  /* Buckets of a distribution: as many as make leaves of WF_BUCKET_BYTES, measured
   * ("Fewer buckets"), and a power of two. The least is a choice: each distribution
   * within one then has at most a quarter of its keys' range, so few can follow each
   * other. */
  WF_BUCKETS_LEAST = 16,
  WF_BUCKETS_MOST = 4096,
  WF_BUCKET_BYTES = 64 << 10,
  /* What a distribution gathers before it writes: two cache lines; 64 are slower, 256
   * need a larger cache. */
  WF_LINE_BYTES = 128,
  /* Elements of the sample that shows the range of the keys: a choice. An exact range
   * costs a pass over memory. */
  WF_RANGE_SAMPLES = 1024,
  /* A bucket with more than this part of the elements, and more than a leaf may have, is
   * distributed again by all threads. There are fewer such buckets than parts. A choice:
   * what one thread sorts at the end is then at most a 32nd of all. */
  WF_LARGE_PARTS = 32
};

/* Keys that are not spread evenly: the key range is cut into slices, and a slice into as
 * many buckets (a power of two) as its part of another sample says; slices with a small
 * part share one. The bucket of a key is the slice's offset plus the key's distance from
 * the lowest one, shifted; modulo 2^32. */
typedef struct wf_key_slice {
  uint32_t offset, shift;
} wf_key_slice;

/* Which bucket a key belongs to: its distance from `low`, at most `most`, in steps of
 * 2^shift. The step is the bucket; if there are slices, it is the slice. Keys outside of
 * the range fall into the buckets of its ends. */
typedef struct wf_digit {
  uint64_t low, most;
  unsigned shift;
  const wf_key_slice *slices; /* or NULL */
} wf_digit;

static inline size_t wf_digit_steps(const wf_digit *digit) {
  return (size_t)(digit->most >> digit->shift) + 1;
}

static inline uint32_t wf_bucket_of(const wf_digit *digit, uint64_t key) {
  uint64_t above = key > digit->low ? key - digit->low : 0;
  if (above > digit->most) above = digit->most;
  uint32_t step = (uint32_t)(above >> digit->shift);
  if (digit->slices == NULL) return step;
  const wf_key_slice slice = digit->slices[step];
  return slice.offset + (uint32_t)(above >> slice.shift);
}

/* As many slices as buckets at most; one sample for each on average. From
 * WF_KEY_SLICES_WORTH elements on the sample is little beside them: 1 in 32. */
enum {
  WF_KEY_SLICES = 4096,
  WF_KEY_SLICE_SAMPLES = 4096,
  WF_KEY_SLICES_WORTH = 32 * WF_KEY_SLICE_SAMPLES
};

/* ---- how numbers are sorted as unsigned ones ---- */

/* How the bits of an element become an unsigned number, its key, that sorts as the
 * element does: if its sign bit is set, the bits in `negative` are turned over, and in
 * any case those in `always`; then `offset` is subtracted. */
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

/* Floats: numbers with the sign bit count downwards. Negative NaNs would come first;
 * their number is subtracted from all, so that they come last, behind the positive ones.
 */
static const wf_coding wf_coding_u32 = {0, 0, 0};
static const wf_coding wf_coding_u64 = {0, 0, 0};
static const wf_coding wf_coding_i32 = {0, UINT32_C(1) << 31, 0};
static const wf_coding wf_coding_i64 = {0, UINT64_C(1) << 63, 0};
static const wf_coding wf_coding_f32 = {UINT32_MAX >> 1, UINT32_C(1) << 31,
                                        (UINT32_C(1) << 23) - 1};
static const wf_coding wf_coding_f64 = {UINT64_MAX >> 1, UINT64_C(1) << 63,
                                        (UINT64_C(1) << 52) - 1};

/* The key of the lowest NaN, or the highest of all keys; its lower half if keys have 32
 * bits. There are as many positive NaNs as negative ones, and `offset` is their number.
 */
static inline uint64_t wf_highest_key(const wf_coding *c) {
  return c->offset != 0 ? 0 - 2 * c->offset : UINT64_MAX;
}

/* Elements are 32 or 64 bits of any type, so they may alias it. */
typedef uint32_t __attribute__((may_alias)) wf_bits32;
typedef uint64_t __attribute__((may_alias)) wf_bits64;

/* ---- a sort under way ---- */

/* All pointers lead into `scratch`. Invariants: 1 <= blocks; buckets <= stride; after
 * wf_radix_place starts[0] is 0, starts[buckets] is the number of elements, and they
 * ascend. */
typedef struct wf_radix {
  const weft_opts *given;
  weft_opts opts; /* for loops inside: not cancelled, for all elements must come back */
  wf_coding coding;
  const struct wf_bucket_loops *bucket_loops; /* which buckets elements belong to */
  const struct wf_lists *lists;               /* how leaves are sorted, or NULL */
  bool past_caches;     /* there are more elements than the caches hold */
  size_t blocks;        /* that the array is cut into: the unit of counting and writing */
  size_t stride;        /* the most buckets of any pass */
  size_t buckets;       /* of the pass under way */
  size_t too_large;     /* larger buckets of the pass under way are no leaves */
  size_t *starts;       /* of the buckets, and the end */
  size_t *counts;       /* of each block, by bucket: elements, then their places */
  size_t *firsts;       /* of each block, by bucket: its first place */
  wf_key_slice *slices; /* WF_KEY_SLICES of them, if elements are many */
  uint64_t *ranges;     /* of each block: the lowest and the highest key */
  char *slots;          /* of each block: by bucket, a line that is gathered */
  size_t slot_size;
  wf_word x_free; /* a bit for each slot that no leaf uses */
  void *elements; /* as many as there are to be sorted */
  wf_scratch scratch;
} wf_radix;

static inline size_t *wf_radix_counts(const wf_radix *radix, size_t block) {
  WF_ASSERT(block < radix->blocks);
  return radix->counts + block * radix->stride;
}

static inline size_t *wf_radix_firsts(const wf_radix *radix, size_t block) {
  WF_ASSERT(block < radix->blocks);
  return radix->firsts + block * radix->stride;
}

static inline char *wf_radix_slot(const wf_radix *radix, size_t block) {
  WF_ASSERT(block < radix->blocks);
  return radix->slots + block * radix->slot_size;
}

/* Where a block of an array of n begins; block number `blocks` begins at its end. */
static inline size_t wf_radix_block(const wf_radix *radix, size_t n, size_t block) {
  size_t length = n / radix->blocks, longer = n % radix->blocks;
  return block * length + (block < longer ? block : longer);
}

/* How many buckets a distribution of n elements of `size` bytes has at most. */
size_t wf_radix_buckets(size_t n, size_t size);

/* Scratch memory for n elements of `size` bytes; false if there is none. Inside the pool
 * only. */
bool wf_radix_begin(wf_radix *radix, const weft_opts *given, const wf_coding *coding,
                    size_t n, size_t size);
void wf_radix_end(wf_radix *radix);

/* From the counts of all blocks to their places and the starts of the buckets. */
void wf_radix_place(wf_radix *radix, size_t n);

/* Makes slices of the number of samples in each, which its offset is before. A slice has
 * 2^shift keys. False if the samples are spread evenly: the slices are not needed. */
bool wf_radix_make_slices(wf_radix *radix, size_t slices, unsigned shift);

/* While no lines are gathered, slots serve the threads that sort leaves: memory that is
 * in their CPU's cache already. NULL if none is free. */
char *wf_radix_take_slot(wf_radix *radix);
void wf_radix_put_slot(wf_radix *radix, const char *slot);

/* ---- buckets.c ---- */

/* A distribution reads elements in batches of this length, encodes them and finds their
 * buckets in a loop of its own, which the compiler makes vectors of. A choice: shorter
 * ones need less of the stack. */
enum { WF_BUCKET_BATCH = 64 };

/* For WF_BUCKET_BATCH elements of `src`. */
typedef struct wf_bucket_loops {
  void (*bits32)(const wf_digit *digit, const wf_coding *coding, const wf_bits32 *src,
                 wf_bits32 *encoded, uint32_t *buckets);
  void (*bits64)(const wf_digit *digit, const wf_coding *coding, const wf_bits64 *src,
                 wf_bits64 *encoded, uint32_t *buckets);
} wf_bucket_loops;

/* The widest that this CPU can run. */
const wf_bucket_loops *wf_bucket_loops_get(void);

/* Those for any CPU, for AVX2 and for AVX-512, or NULL if this CPU cannot run them. */
enum { WF_BUCKET_LOOPS_SETS = 3 };
const wf_bucket_loops *wf_bucket_loops_of(unsigned set);

/* ---- lists.c ---- */

/* A leaf is put into lists of WF_LISTS_USUAL elements on average, if its keys are even,
 * so that few find no place in a row of WF_LISTS_LENGTH, the width of the sorting
 * network. The number of lists is a multiple of the columns of the widest vector.
 * Leaves that are shorter than WF_LISTS_LEAST or longer than WF_LISTS_MOST are sorted by
 * bytes. The usual length and both limits are choices. */
enum {
  WF_LISTS_LENGTH = 16,
  WF_LISTS_USUAL = 9,
  WF_LISTS_COLUMNS = 16,
  WF_LISTS_LEAST = 256,
  WF_LISTS_MOST = WF_LEAF_BYTES / 4
};

/* How many lists a leaf of n elements is put into. */
static inline size_t wf_lists_count(size_t n) {
  return (n / (WF_LISTS_USUAL * WF_LISTS_COLUMNS) + 1) * WF_LISTS_COLUMNS;
}

/* The slot that it needs: a table of counts, and a row for each list. */
enum { WF_LISTS_TABLE = 8 << 10 };
_Static_assert(WF_LISTS_MOST / WF_LISTS_USUAL + WF_LISTS_COLUMNS <= WF_LISTS_TABLE / 2,
               "the table has two bytes for each list");

static inline size_t wf_lists_bytes(size_t n, size_t size) {
  return WF_LISTS_TABLE + wf_lists_count(n) * WF_LISTS_LENGTH * size;
}

/* Sorts n encoded elements of `src` into `result`, which may be the same, decoded; n is
 * from WF_LISTS_LEAST to WF_LISTS_MOST, and `slot` has wf_lists_bytes. False if the keys
 * are too uneven: nothing was changed. */
typedef struct wf_lists {
  bool (*leaf_bits32)(const wf_bits32 *src, void *slot, size_t n, wf_bits32 *result,
                      const wf_coding *coding);
  bool (*leaf_bits64)(const wf_bits64 *src, void *slot, size_t n, wf_bits64 *result,
                      const wf_coding *coding);
} wf_lists;

/* Those of this CPU, or NULL. */
const wf_lists *wf_lists_get(void);

/* For tests: whether they are used from now on, if the CPU has what they need. */
void wf_lists_allow(bool allow);

#endif
