/* par/sort/radix/typed.c - sorting and selecting of the six types of numbers: their bits
 * become unsigned numbers of 32 or 64 bits (wf_coding in radix.h), and these are sorted.
 * The calls are at the end; what they call is made from the templates.
 *
 * For weft_argsort_T and weft_sort_by_key_T keys are sorted together with their indices,
 * then everything else is moved as the indices say. Keys of 32 bits and their indices fit
 * into one number of 64 bits. Keys of 64 bits are sorted in pairs with their indices.
 * Without memory both are sorted by rotations (order/merge.c).
 *
 * Called by programs. The wf_radix of a sort is in the frame of the call; sort_template.h
 * says which thread owns which part of the array.
 *
 * SPDX-License-Identifier: MIT */
#include "../order/order.h"
#include "radix.h"

#include <weft/array.h>
#include <weft/sort_numbers.h>

#define WF_SORT(name)   name##_bits32
#define WF_ELEM         wf_bits32
#define WF_KEY          uint32_t
#define WF_KEY_OF(e)    (e)
#define WF_ENCODE(c, e) wf_encode_u32(c, e)
#define WF_DECODE(c, e) wf_decode_u32(c, e)
#define WF_BUCKET_LOOP  bits32
#define WF_LISTS_LEAF   leaf_bits32
#include "sort_template.h"

#define WF_SORT(name)   name##_bits64
#define WF_ELEM         wf_bits64
#define WF_KEY          uint64_t
#define WF_KEY_OF(e)    (e)
#define WF_ENCODE(c, e) wf_encode_u64(c, e)
#define WF_DECODE(c, e) wf_decode_u64(c, e)
#define WF_BUCKET_LOOP  bits64
#define WF_LISTS_LEAF   leaf_bits64
#include "sort_template.h"

/* Keys of 64 bits, and the rare array with more elements than 32 bits can number. The
 * index has 64 bits on every machine: a line is made of whole elements. */
typedef struct wf_pair {
  uint64_t key; /* encoded */
  uint64_t index;
} wf_pair;

#define WF_SORT(name)   name##_pair
#define WF_ELEM         wf_pair
#define WF_KEY          uint64_t
#define WF_KEY_OF(e)    ((e).key)
#define WF_ENCODE(c, e) ((void)(c), (e))
#define WF_DECODE(c, e) ((void)(c), (e))
#include "sort_template.h"

/* Up to here the pool is not entered: a choice, some 50 us of work. */
enum { ALONE_MOST = 4096 };

static void over_elements(const weft_opts *opts, size_t n, weft_range_fn *body,
                          void *ctx) {
  const wf_loop loop = {body, ctx, NULL};
  if (n <= ALONE_MOST)
    body(0, n, ctx);
  else
    wf_loop_run(opts, n, &loop);
}

/* ---- keys of any of the six types ---- */

typedef struct key_array {
  char *keys;
  size_t size; /* of a key: 4 or 8 */
  const wf_coding *coding;
  uint64_t highest; /* what all NaNs are encoded as: they count as equal */
} key_array;

static key_array keys_of(void *keys, size_t size, const wf_coding *coding) {
  key_array k = {(char *)keys, size, coding, wf_highest_key(coding)};
  if (size == 4) k.highest &= UINT32_MAX;
  return k;
}

/* Of the key at this address, encoded. */
static inline uint64_t encoded_key(const key_array *k, const void *key) {
  uint64_t code = k->size == 8 ? wf_encode_u64(k->coding, *(const wf_bits64 *)key)
                               : wf_encode_u32(k->coding, *(const wf_bits32 *)key);
  return code < k->highest ? code : k->highest;
}

static inline uint64_t key_at(const key_array *k, size_t i) {
  return encoded_key(k, k->keys + i * k->size);
}

static bool keys_are_ordered(const weft_opts *opts, const key_array *k, size_t n) {
  if (k->size == 8)
    return all_ordered_bits64(opts, (const wf_bits64 *)(void *)k->keys, n, false,
                              k->coding);
  return all_ordered_bits32(opts, (const wf_bits32 *)(void *)k->keys, n, false,
                            k->coding);
}

/* ---- without memory ---- */

static bool key_is_less(const void *a, const void *b, void *ctx) {
  const key_array *k = (const key_array *)ctx;
  return encoded_key(k, a) < encoded_key(k, b);
}

static bool index_is_less(const void *a, const void *b, void *ctx) {
  const key_array *k = (const key_array *)ctx;
  return key_at(k, *(const size_t *)a) < key_at(k, *(const size_t *)b);
}

/* Sorting by rotations needs nothing else. */
static const wf_sort_loops keys_only = {.less = key_is_less};
static const wf_sort_loops indices_only = {.less = index_is_less};

/* ---- argsort ---- */

typedef struct argsort_job {
  const weft_opts *given;
  weft_opts opts; /* for loops inside: not cancelled */
  key_array keys;
  size_t n;
  size_t *order;
  wf_bits64 *packed; /* the order as numbers: the key above, the index below */
  wf_pair *pairs;
} argsort_job;

static void pack_keys(size_t begin, size_t end, void *ctx) {
  const argsort_job o = *(const argsort_job *)ctx;
  for (size_t i = begin; i < end; i++) o.packed[i] = key_at(&o.keys, i) << 32 | i;
}

static void unpack_keys(size_t begin, size_t end, void *ctx) {
  wf_bits64 *packed = ((const argsort_job *)ctx)->packed;
  for (size_t i = begin; i < end; i++) packed[i] &= UINT32_MAX;
}

static void pair_block(size_t begin, size_t end, void *ctx) {
  const argsort_job o = *(const argsort_job *)ctx;
  for (size_t i = begin; i < end; i++) {
    o.pairs[i].key = key_at(&o.keys, i);
    o.pairs[i].index = i;
  }
}

static void unpair_block(size_t begin, size_t end, void *ctx) {
  const argsort_job o = *(const argsort_job *)ctx;
  for (size_t i = begin; i < end; i++) {
    WF_ASSERT(o.pairs[i].index < o.n);
    o.order[i] = (size_t)o.pairs[i].index;
  }
}

/* All numbers differ, so the sort need not be stable; where a size_t has 64 bits it takes
 * place in the result itself. */
static bool can_pack(const argsort_job *o) {
  return sizeof(size_t) == sizeof(uint64_t) && o->keys.size == 4 &&
         o->n - 1 <= UINT32_MAX;
}

static void sort_packed(argsort_job *o) {
  o->packed = (wf_bits64 *)(void *)o->order;
  over_elements(&o->opts, o->n, pack_keys, o);
  sort_bits64(&(call_bits64){o->given, &wf_coding_u64, o->packed, o->n, 0});
  over_elements(&o->opts, o->n, unpack_keys, o);
}

/* False, and nothing has happened, if there is no memory; on 32 bits there cannot be for
 * pairs of many small keys. Up to ALONE_MOST pairs are one leaf, which needs as much
 * again. */
static bool sort_as_pairs(argsort_job *o) {
  wf_radix radix;
  bool is_leaf = o->n <= ALONE_MOST;
  if (o->n > SIZE_MAX / 4 / sizeof(wf_pair)) return false;
  wf_scratch scratch = wf_scratch_get((is_leaf ? 2 : 1) * o->n * sizeof(wf_pair));
  bool has_memory = scratch.memory != NULL &&
                    (is_leaf || wf_radix_begin(&radix, o->given, &wf_coding_u64, o->n,
                                               sizeof(wf_pair)));
  if (has_memory) {
    o->pairs = (wf_pair *)scratch.memory;
    over_elements(&o->opts, o->n, pair_block, o);
    if (is_leaf) {
      leaf_pair(o->pairs, o->pairs + o->n, o->n, o->pairs, &wf_coding_u64,
                WF_LEAF_MORE_BITS);
    } else {
      radix_sort_pair(&radix, o->pairs, o->n);
      wf_radix_end(&radix);
    }
    over_elements(&o->opts, o->n, unpair_block, o);
  }
  wf_scratch_put(scratch);
  return has_memory;
}

static void run_pairs(void *ctx) {
  argsort_job *o = (argsort_job *)ctx;
  wf_sorter s;
  if (sort_as_pairs(o)) return;
  over_elements(&o->opts, o->n, wf_count_up, o->order);
  wf_sorter_init(&s, o->given, &indices_only, sizeof(size_t), &o->keys);
  wf_sort_by_rotations(&s, (char *)o->order, NULL, 0, o->n);
}

/* `opts` are what wf_par_options read. */
static void argsort(const weft_opts *opts, const key_array *keys, size_t *order,
                    size_t n) {
  argsort_job o = {opts, *opts, *keys, n, order, NULL, NULL};
  o.opts.cancel = NULL;
  if (keys_are_ordered(opts, keys, n))
    over_elements(&o.opts, n, wf_count_up, order);
  else if (can_pack(&o))
    sort_packed(&o);
  else if (n <= ALONE_MOST)
    run_pairs(&o);
  else
    wf_par_run_over(opts, n, run_pairs, &o);
}

/* ---- by key ---- */

typedef struct numbers_call {
  const weft_opts *opts;
  key_array keys;
  char *payload;
  size_t payload_size, n;
} numbers_call;

static void run_by_key(void *ctx) {
  numbers_call *b = (numbers_call *)ctx;
  size_t size = b->keys.size;
  weft_opts complete = *b->opts; /* once elements are moved, all are */
  complete.cancel = NULL;
  wf_scratch scratch = wf_scratch_get(b->n * sizeof(size_t));
  size_t *order = (size_t *)scratch.memory;
  if (order == NULL) {
    wf_sorter s;
    wf_sorter_init(&s, b->opts, &keys_only, size, &b->keys);
    wf_sort_by_rotations(&s, b->keys.keys, b->payload, b->payload_size, b->n);
    return;
  }
  argsort(b->opts, &b->keys, order, b->n);
  if (!wf_par_cancelled(b->opts)) {
    const weft_opts *moves = b->n <= ALONE_MOST ? NULL : &complete;
    wf_move_by_order(moves, b->keys.keys, b->n, size, order);
    wf_move_by_order(moves, b->payload, b->n, b->payload_size, order);
  }
  wf_scratch_put(scratch);
}

static void sort_by_number(numbers_call *b) {
  if (b->n < 2 || keys_are_ordered(b->opts, &b->keys, b->n) || wf_par_cancelled(b->opts))
    return;
  if (b->n <= ALONE_MOST)
    run_by_key(b);
  else
    wf_par_run_over(b->opts, b->n, run_by_key, b);
}

/* ---- the six types: weft_sort_i32 weft_sort_u32 weft_sort_i64 weft_sort_u64
 * weft_sort_f32 weft_sort_f64, and in the same way weft_nth_element_ weft_partial_sort_
 * weft_is_sorted_ weft_argsort_ weft_sort_by_key_ ---- */

#define TYPED_SORT(N, T, BITS)                                                           \
  void weft_sort_##N##_with(const weft_opts *o, T *a, size_t n) {                        \
    weft_opts opts;                                                                      \
    wf_par_start(&opts, o, a == NULL, n, sizeof *a, "weft_sort_" #N);                    \
    call_bits##BITS call = {&opts, &wf_coding_##N, (wf_bits##BITS *)a, n, 0};            \
    sort_bits##BITS(&call);                                                              \
  }                                                                                      \
  WF_PLAIN(weft_sort_##N, (T * a, size_t n), a, n)                                       \
  void weft_nth_element_##N##_with(const weft_opts *o, T *a, size_t n, size_t nth) {     \
    weft_opts opts;                                                                      \
    wf_par_start(&opts, o, a == NULL, n, sizeof *a, "weft_nth_element_" #N);             \
    call_bits##BITS call = {&opts, &wf_coding_##N, (wf_bits##BITS *)a, n, nth};          \
    select_bits##BITS(&call);                                                            \
  }                                                                                      \
  WF_PLAIN(weft_nth_element_##N, (T * a, size_t n, size_t nth), a, n, nth)               \
  void weft_partial_sort_##N##_with(const weft_opts *o, T *a, size_t n, size_t k) {      \
    weft_opts opts;                                                                      \
    wf_par_start(&opts, o, a == NULL, n, sizeof *a, "weft_partial_sort_" #N);            \
    call_bits##BITS call = {&opts, &wf_coding_##N, (wf_bits##BITS *)a, n, 0};            \
    partial_sort_bits##BITS(&call, k);                                                   \
  }                                                                                      \
  WF_PLAIN(weft_partial_sort_##N, (T * a, size_t n, size_t k), a, n, k)                  \
  bool weft_is_sorted_##N##_with(const weft_opts *o, const T *a, size_t n) {             \
    weft_opts opts;                                                                      \
    wf_par_start(&opts, o, a == NULL, n, sizeof *a, "weft_is_sorted_" #N);               \
    return all_ordered_bits##BITS(&opts, (const wf_bits##BITS *)a, n, false,             \
                                  &wf_coding_##N);                                       \
  }                                                                                      \
  WF_PLAIN_OF(bool, weft_is_sorted_##N, (const T *a, size_t n), a, n)                    \
  void weft_argsort_##N##_with(const weft_opts *o, size_t *order, const T *a,            \
                               size_t n) {                                               \
    weft_opts opts;                                                                      \
    wf_par_start(&opts, o, order == NULL || a == NULL, n, sizeof *a,                     \
                 "weft_argsort_" #N);                                                    \
    wf_refuse_if(wf_is_too_large(n, sizeof *order), "weft_argsort_" #N, WF_TOO_LARGE);   \
    key_array keys = keys_of((void *)(uintptr_t)a, sizeof *a, &wf_coding_##N);           \
    if (n > 0) argsort(&opts, &keys, order, n);                                          \
  }                                                                                      \
  WF_PLAIN(weft_argsort_##N, (size_t * order, const T *a, size_t n), order, a, n)        \
  void weft_sort_by_key_##N##_with(const weft_opts *o, T *keys, size_t n, void *payload, \
                                   size_t payload_size) {                                \
    weft_opts opts;                                                                      \
    wf_par_start(&opts, o, keys == NULL || (payload == NULL && payload_size > 0), n,     \
                 sizeof *keys, "weft_sort_by_key_" #N);                                  \
    wf_refuse_if(wf_is_too_large(n, payload_size), "weft_sort_by_key_" #N,               \
                 WF_TOO_LARGE);                                                          \
    numbers_call b = {&opts, keys_of(keys, sizeof *keys, &wf_coding_##N),                \
                      (char *)payload, payload_size, n};                                 \
    sort_by_number(&b);                                                                  \
  }                                                                                      \
  WF_PLAIN(weft_sort_by_key_##N,                                                         \
           (T * keys, size_t n, void *payload, size_t payload_size), keys, n, payload,   \
           payload_size)

TYPED_SORT(i32, int32_t, 32)
TYPED_SORT(u32, uint32_t, 32)
TYPED_SORT(i64, int64_t, 64)
TYPED_SORT(u64, uint64_t, 64)
TYPED_SORT(f32, float, 32)
TYPED_SORT(f64, double, 64)
