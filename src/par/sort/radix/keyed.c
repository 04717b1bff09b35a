/* par/sort/radix/keyed.c - argsort, and sorting by key: pairs of a key and an index are
 * sorted, then everything else is moved as the indices say.
 *
 * SPDX-License-Identifier: MIT */
#include "lists.h"
#include "radix.h"
#include "rows.h"

#include <weft/join.h>
#include <weft/sort_numbers.h>

/* Keys of 64 bits, and the rare array with more elements than 32 bits can number. */
typedef struct wf_pair {
  uint64_t key; /* encoded */
  size_t index;
} wf_pair;

#define WF_SORT(name)   name##_pair
#define WF_ELEM         wf_pair
#define WF_KEY          uint64_t
#define WF_KEY_OF(e)    ((e).key)
#define WF_ENCODE(c, e) (e)
#define WF_DECODE(c, e) (e)
#include "scalar.h"
#include "undefine.h"

/* Up to here the pool is not entered. */
enum { ALONE_MOST = 4096 };

static void over_elements(const weft_opts *opts, size_t n, weft_range_fn *body,
                          void *ctx) {
  const wf_loop loop = {body, ctx, NULL};
  if (n <= ALONE_MOST)
    body(0, n, ctx);
  else
    wf_loop_run(opts, n, &loop);
}

/* ---- argsort ---- */

typedef struct ordering {
  const weft_opts *given;
  weft_opts opts; /* without the scope: loops that must come to their end */
  wf_keys keys;
  size_t n;
  size_t *order;
  wf_bits64 *packed; /* the order as numbers: the key above, the index below */
  wf_pair *pairs;
} ordering;

static void number_block(size_t begin, size_t end, void *ctx) {
  size_t *order = ((const ordering *)ctx)->order;
  for (size_t i = begin; i < end; i++) order[i] = i;
}

static void pack_keyed(size_t begin, size_t end, void *ctx) {
  const ordering o = *(const ordering *)ctx;
  for (size_t i = begin; i < end; i++) o.packed[i] = wf_key_at(&o.keys, i) << 32 | i;
}

static void unpack_keyed(size_t begin, size_t end, void *ctx) {
  wf_bits64 *packed = ((const ordering *)ctx)->packed;
  for (size_t i = begin; i < end; i++) packed[i] &= UINT32_MAX;
}

static void pair_block(size_t begin, size_t end, void *ctx) {
  const ordering o = *(const ordering *)ctx;
  for (size_t i = begin; i < end; i++) {
    o.pairs[i].key = wf_key_at(&o.keys, i);
    o.pairs[i].index = i;
  }
}

static void unpair_block(size_t begin, size_t end, void *ctx) {
  const ordering o = *(const ordering *)ctx;
  for (size_t i = begin; i < end; i++) o.order[i] = o.pairs[i].index;
}

/* All numbers differ, so the sort need not be stable; where a size_t has 64 bits it takes
 * place in the result itself. */
static bool can_pack(const ordering *o) {
  return sizeof(size_t) == sizeof(uint64_t) && !o->keys.is_wide && o->n - 1 <= UINT32_MAX;
}

static void sort_packed(ordering *o) {
  o->packed = (wf_bits64 *)(void *)o->order;
  over_elements(&o->opts, o->n, pack_keyed, o);
  wf_sort_bits64(o->given, &wf_coding_u64, o->packed, o->n);
  over_elements(&o->opts, o->n, unpack_keyed, o);
}

static bool sort_pairs_alone(ordering *o) {
  wf_scratch scratch = wf_scratch_get(2 * o->n * sizeof(wf_pair));
  if (scratch.memory == NULL) return false;
  o->pairs = (wf_pair *)scratch.memory;
  pair_block(0, o->n, o);
  leaf_pair(o->pairs, o->pairs + o->n, o->n, o->pairs, &wf_coding_u64);
  unpair_block(0, o->n, o);
  wf_scratch_put(scratch);
  return true;
}

static bool sort_pairs(ordering *o) {
  wf_radix radix;
  wf_scratch scratch = wf_scratch_get(o->n * sizeof(wf_pair));
  if (scratch.memory == NULL) return false;
  bool has_memory =
      wf_radix_begin(&radix, o->given, &wf_coding_u64, o->n, sizeof(wf_pair));
  if (has_memory) {
    o->pairs = (wf_pair *)scratch.memory;
    over_elements(&o->opts, o->n, pair_block, o);
    radix_sort_pair(&radix, o->pairs, o->n);
    over_elements(&o->opts, o->n, unpair_block, o);
    wf_radix_end(&radix);
  }
  wf_scratch_put(scratch);
  return has_memory;
}

static void run_pairs(void *ctx) {
  ordering *o = (ordering *)ctx;
  if (o->n <= ALONE_MOST ? sort_pairs_alone(o) : sort_pairs(o)) return;
  wf_rows rows = {o->keys, NULL, 0, o->order, o->given};
  over_elements(&o->opts, o->n, number_block, o);
  wf_rows_sort(&rows, o->n);
}

static bool is_ordered(const weft_opts *opts, const wf_keys *keys, size_t n) {
  if (keys->is_wide)
    return wf_is_ordered_bits64(opts, keys->coding, (const wf_bits64 *)keys->keys, n);
  return wf_is_ordered_bits32(opts, keys->coding, (const wf_bits32 *)keys->keys, n);
}

/* `opts` are what wf_par_options read. */
static void argsort(const weft_opts *opts, const wf_keys *keys, size_t *order, size_t n) {
  ordering o = {opts, *opts, *keys, n, order, NULL, NULL};
  o.opts.cancel = NULL;
  if (is_ordered(opts, keys, n))
    over_elements(&o.opts, n, number_block, &o);
  else if (can_pack(&o))
    sort_packed(&o);
  else if (n <= ALONE_MOST)
    run_pairs(&o);
  else
    wf_par_run(opts, run_pairs, &o);
}

/* ---- moving elements to their places ---- */

typedef struct move {
  char *base, *moved;
  size_t size, n;
  size_t *order;
} move;

static void gather_keyed(size_t begin, size_t end, void *ctx) {
  const move m = *(const move *)ctx;
  if (m.size == 4)
    for (size_t i = begin; i < end; i++)
      memcpy(m.moved + 4 * i, m.base + 4 * m.order[i], 4);
  else if (m.size == 8)
    for (size_t i = begin; i < end; i++)
      memcpy(m.moved + 8 * i, m.base + 8 * m.order[i], 8);
  else
    for (size_t i = begin; i < end; i++)
      memcpy(m.moved + m.size * i, m.base + m.size * m.order[i], m.size);
}

static void copy_back_block(size_t begin, size_t end, void *ctx) {
  const move *m = (const move *)ctx;
  memcpy(m->base + m->size * begin, m->moved + m->size * begin, m->size * (end - begin));
}

/* Without memory: along the cycles of the order, in which a place that is done is marked
 * by turning over its bits. */
static void move_along_cycles(const move *m) {
  size_t *order = m->order;
  for (size_t start = 0; start < m->n; start++) {
    if (order[start] >= m->n) continue;
    size_t at = start;
    while (order[at] != start) {
      size_t from = order[at];
      wf_swap_bytes(m->base + at * m->size, m->base + from * m->size, m->size);
      order[at] = ~from;
      at = from;
    }
    order[at] = ~start;
  }
  for (size_t i = 0; i < m->n; i++) order[i] = ~order[i];
}

/* Element i becomes what element order[i] was. */
static void move_by_order(const weft_opts *opts, void *base, size_t size, size_t *order,
                          size_t n) {
  move m = {(char *)base, NULL, size, n, order};
  if (size == 0) return;
  wf_scratch scratch = wf_scratch_get(n * size);
  if (scratch.memory == NULL) {
    move_along_cycles(&m);
    return;
  }
  m.moved = (char *)scratch.memory;
  over_elements(opts, n, gather_keyed, &m);
  over_elements(opts, n, copy_back_block, &m);
  wf_scratch_put(scratch);
}

/* ---- by key ---- */

typedef struct by_key {
  const weft_opts *opts;
  wf_keys keys;
  void *payload;
  size_t payload_size, n;
} by_key;

static void run_by_key(void *ctx) {
  by_key *b = (by_key *)ctx;
  weft_opts complete = *b->opts; /* what is moved is moved to the end */
  complete.cancel = NULL;
  wf_scratch scratch = wf_scratch_get(b->n * sizeof(size_t));
  if (scratch.memory == NULL) {
    wf_rows rows = {b->keys, (char *)b->payload, b->payload_size, NULL, b->opts};
    wf_rows_sort(&rows, b->n);
    return;
  }
  size_t *order = (size_t *)scratch.memory;
  argsort(b->opts, &b->keys, order, b->n);
  if (!wf_par_cancelled(b->opts)) {
    size_t key_size = b->keys.is_wide ? sizeof(uint64_t) : sizeof(uint32_t);
    move_by_order(&complete, b->keys.keys, key_size, order, b->n);
    move_by_order(&complete, b->payload, b->payload_size, order, b->n);
  }
  wf_scratch_put(scratch);
}

static void sort_by_key(by_key *b) {
  if (b->n < 2 || is_ordered(b->opts, &b->keys, b->n) || wf_par_cancelled(b->opts))
    return;
  if (b->n <= ALONE_MOST)
    run_by_key(b);
  else
    wf_par_run(b->opts, run_by_key, b);
}

/* ---- the six types ---- */

#define KEYED_SORT(N, T)                                                                 \
  void weft_argsort_##N##_with(const weft_opts *o, size_t *order, const T *a,            \
                               size_t n) {                                               \
    weft_opts opts;                                                                      \
    wf_par_start(&opts, o, order == NULL || a == NULL, n, "weft_argsort_" #N);           \
    wf_keys keys = wf_keys_of((void *)(uintptr_t)a, sizeof *a, &wf_coding_##N);          \
    if (n > 0) argsort(&opts, &keys, order, n);                                          \
  }                                                                                      \
  void weft_argsort_##N(size_t *order, const T *a, size_t n) {                           \
    weft_argsort_##N##_with(NULL, order, a, n);                                          \
  }                                                                                      \
  void weft_sort_by_key_##N##_with(const weft_opts *o, T *keys, size_t n, void *payload, \
                                   size_t payload_size) {                                \
    weft_opts opts;                                                                      \
    wf_par_start(&opts, o, keys == NULL || (payload == NULL && payload_size > 0), n,     \
                 "weft_sort_by_key_" #N);                                                \
    by_key b = {&opts, wf_keys_of(keys, sizeof *keys, &wf_coding_##N), payload,          \
                payload_size, n};                                                        \
    sort_by_key(&b);                                                                     \
  }                                                                                      \
  void weft_sort_by_key_##N(T *keys, size_t n, void *payload, size_t payload_size) {     \
    weft_sort_by_key_##N##_with(NULL, keys, n, payload, payload_size);                   \
  }

KEYED_SORT(i32, int32_t)
KEYED_SORT(u32, uint32_t)
KEYED_SORT(i64, int64_t)
KEYED_SORT(u64, uint64_t)
KEYED_SORT(f32, float)
KEYED_SORT(f64, double)
