/* par/sort/order/by_key.c - sorting indices instead of elements (elements that are too
 * large to be moved often, weft_argsort), and sorting by key: weft_sort_by_key and the
 * functions that WEFT_SORT_BY_KEY makes.
 *
 * By key there are three ways. Pairs of a key and its payload are sorted in scratch
 * memory: a pair is moved where an index would be followed later, and that costs a cache
 * miss for each element. Pairs that are too large to be moved often: indices are sorted,
 * and both arrays moved as these say. Without memory: by rotations.
 *
 * Keys that are numbers are sorted by radix/typed.c.
 *
 * SPDX-License-Identifier: MIT */
#include "order.h"

#include <weft/array.h>
#include <weft/sort.h>
#include <weft/typed_sort.h>

/* ---- indices ---- */

typedef struct by_index {
  const char *base;
  size_t size;
  wf_less_fn *less;
  void *ctx;
} by_index;

static inline bool less_by_index(const void *a, const void *b, void *ctx) {
  const by_index *by = (const by_index *)ctx;
  return by->less(by->base + *(const size_t *)a * by->size,
                  by->base + *(const size_t *)b * by->size, by->ctx);
}

WF_SORT_LOOPS(index, sizeof(size_t), sizeof(size_t), less_by_index)

void wf_count_up(size_t begin, size_t end, void *ctx) {
  size_t *order = (size_t *)ctx;
  for (size_t i = begin; i < end; i++) order[i] = i;
}

/* `order` becomes the indices below n, sorted by the elements at them. False if there is
 * no memory, unless it may be done without. */
static bool sort_indices(const wf_sorter *s, size_t *order, const char *base, size_t n,
                         bool or_without_memory) {
  by_index by = {base, s->size, s->loops->less, s->ctx};
  wf_loop loop = {wf_count_up, order, NULL};
  wf_sorter of_indices;
  wf_sorter_init(&of_indices, s->opts, &index_loops_, sizeof(size_t), &by);
  wf_loop_run(&s->inner, n, &loop);
  if (wf_par_cancelled(s->opts)) return true;
  if (wf_sort_moving(&of_indices, (char *)order, n)) return true;
  if (or_without_memory) wf_sort_by_rotations(&of_indices, (char *)order, NULL, 0, n);
  return or_without_memory;
}

void wf_move_by_order(const weft_opts *opts, char *base, size_t n, size_t size,
                      size_t *order) {
  if (size == 0) return;
  wf_scratch scratch = wf_scratch_get(n * size);
  char *moved = (char *)scratch.memory;
  if (moved == NULL) {
    wf_permute_by_cycles(base, n, size, order);
  } else if (opts == NULL) {
    wf_gather(moved, base, order, 0, n, size);
    memcpy(base, moved, n * size);
  } else {
    weft_gather_with(opts, moved, base, order, n, size);
    weft_copy_with(opts, base, moved, n, size);
  }
  wf_scratch_put(scratch);
}

bool wf_sort_by_index(wf_sorter *s, char *keys, char *payload, size_t payload_size,
                      size_t n) {
  if (n > SIZE_MAX / 2 / sizeof(size_t)) return false;
  wf_scratch scratch = wf_scratch_get(n * sizeof(size_t));
  size_t *order = (size_t *)scratch.memory;
  bool done = order != NULL && sort_indices(s, order, keys, n, false);
  if (done) {
    wf_move_by_order(&s->inner, keys, n, s->size, order);
    if (payload != NULL) wf_move_by_order(&s->inner, payload, n, payload_size, order);
  }
  wf_scratch_put(scratch);
  return done;
}

/* ---- weft_argsort ---- */

typedef struct argsort_call {
  const weft_opts *opts;
  wf_by_cmp by;
  size_t *order;
  const char *base;
  size_t n;
} argsort_call;

static void argsort_inside(void *ctx) {
  argsort_call *c = (argsort_call *)ctx;
  wf_sorter s;
  wf_sorter_init(&s, c->opts, wf_cmp_loops(c->by.size), c->by.size, &c->by);
  sort_indices(&s, c->order, c->base, c->n, true);
}

void weft_argsort_with(const weft_opts *o, size_t *order, const void *base, size_t n,
                       size_t size, weft_cmp_fn *cmp, void *ctx) {
  weft_opts opts;
  argsort_call c = {&opts, {cmp, ctx, size}, order, (const char *)base, n};
  wf_sort_check(order == NULL || base == NULL, cmp, n, size, "weft_argsort");
  wf_refuse_if(wf_is_too_large(n, sizeof *order), "weft_argsort", WF_TOO_LARGE);
  wf_par_options(&opts, o, "weft_argsort");
  if (n > 0) wf_par_run_over(&opts, n, argsort_inside, &c);
}

void weft_argsort(size_t *order, const void *base, size_t n, size_t size,
                  weft_cmp_fn *cmp, void *ctx) {
  weft_argsort_with(NULL, order, base, n, size, cmp, ctx);
}

/* ---- by key ---- */

/* `pairs.sort` is an order of keys, and of pairs, which start with their key; its context
 * is pairs_ctx. `pair_size` is 0 if pairs are too large. */
typedef struct key_call {
  weft_opts opts;
  wf_pair_arrays arrays;
  wf_pair_loops pairs;
  void *pairs_ctx;
  size_t pair_size;
  char *memory; /* of the pairs */
} key_call;

static void pack_pairs(size_t begin, size_t end, void *ctx) {
  const key_call *c = (const key_call *)ctx;
  c->pairs.pack(&c->arrays, c->memory, begin, end);
}

static void unpack_pairs(size_t begin, size_t end, void *ctx) {
  const key_call *c = (const key_call *)ctx;
  c->pairs.unpack(&c->arrays, c->memory, begin, end);
}

/* The pairs are packed and unpacked in full even if the call is cancelled: the arrays
 * keep their elements. */
static bool sort_pairs(key_call *c) {
  size_t n = c->arrays.n;
  wf_sorter s;
  wf_loop pack = {pack_pairs, c, NULL}, unpack = {unpack_pairs, c, NULL};
  if (c->pair_size == 0 || c->pair_size > WF_SORT_LARGEST) return false;
  if (n > SIZE_MAX / 2 / c->pair_size) return false;
  WF_ASSERT(c->pair_size >= c->arrays.key_size + c->arrays.payload_size);
  wf_scratch scratch = wf_scratch_get(n * c->pair_size);
  c->memory = (char *)scratch.memory;
  if (c->memory == NULL) return false;
  wf_sorter_init(&s, &c->opts, c->pairs.sort, c->pair_size, c->pairs_ctx);
  wf_loop_run(&s.inner, n, &pack);
  bool done = wf_sort_by_looking(&s, c->memory, n) || wf_sort_moving(&s, c->memory, n);
  if (done) wf_loop_run(&s.inner, n, &unpack);
  wf_scratch_put(scratch);
  return done;
}

/* The ways that need no pairs only use `less` of the loops, of keys where they are. */
static void sort_by_key_inside(void *ctx) {
  key_call *c = (key_call *)ctx;
  const wf_pair_arrays *a = &c->arrays;
  wf_sorter s;
  if (wf_par_cancelled(&c->opts) || sort_pairs(c)) return;
  wf_sorter_init(&s, &c->opts, c->pairs.sort, a->key_size, c->pairs_ctx);
  if (!wf_sort_by_index(&s, (char *)a->keys, (char *)a->payload, a->payload_size, a->n))
    wf_sort_by_rotations(&s, (char *)a->keys, (char *)a->payload, a->payload_size, a->n);
}

void wf_sort_pairs(const weft_opts *o, const wf_pair_arrays *arrays,
                   const wf_pair_loops *loops, void *ctx, const char *call) {
  key_call c = {.arrays = *arrays,
                .pairs = *loops,
                .pairs_ctx = ctx,
                .pair_size = loops->sort->size};
  wf_par_options(&c.opts, o, call);
  if (arrays->n > 1) wf_par_run_over(&c.opts, arrays->n, sort_by_key_inside, &c);
}

/* ---- weft_sort_by_key ---- */

/* Pairs of any two sizes. The keys in pairs are aligned as the type of a key can ask for;
 * 64 is the largest alignment that scratch memory has. */
static size_t size_of_pair(const wf_pair_arrays *a) {
  size_t alignment = a->key_size & (0 - a->key_size);
  if (alignment > 64) alignment = 64;
  return (a->key_size + a->payload_size + alignment - 1) / alignment * alignment;
}

static void pack_bytes(const wf_pair_arrays *a, void *pairs, size_t begin, size_t end) {
  size_t size = size_of_pair(a);
  for (size_t i = begin; i < end; i++) {
    char *pair = (char *)pairs + i * size;
    memcpy(pair, (char *)a->keys + i * a->key_size, a->key_size);
    memcpy(pair + a->key_size, (char *)a->payload + i * a->payload_size, a->payload_size);
  }
}

static void unpack_bytes(const wf_pair_arrays *a, void *pairs, size_t begin, size_t end) {
  size_t size = size_of_pair(a);
  for (size_t i = begin; i < end; i++) {
    const char *pair = (const char *)pairs + i * size;
    memcpy((char *)a->keys + i * a->key_size, pair, a->key_size);
    memcpy((char *)a->payload + i * a->payload_size, pair + a->key_size, a->payload_size);
  }
}

/* Half of what else is moved: copies of pairs of unusual sizes are slow. A choice. */
enum { PAIR_LARGEST = WF_SORT_LARGEST / 2 };

void weft_sort_by_key_with(const weft_opts *o, void *keys, size_t n, size_t key_size,
                           void *payload, size_t payload_size, weft_cmp_fn *cmp_keys,
                           void *ctx) {
  key_call c = {.arrays = {keys, key_size, payload, payload_size, n}};
  wf_sort_check(keys == NULL || (payload == NULL && payload_size > 0), cmp_keys, n,
                key_size, "weft_sort_by_key");
  wf_refuse_if(wf_is_too_large(n, payload_size), "weft_sort_by_key", WF_TOO_LARGE);
  wf_par_options(&c.opts, o, "weft_sort_by_key");
  if (n < 2 || weft_is_sorted_with(o, keys, n, key_size, cmp_keys, ctx)) return;
  bool is_small = key_size <= PAIR_LARGEST && payload_size <= PAIR_LARGEST &&
                  size_of_pair(&c.arrays) <= PAIR_LARGEST;
  if (is_small) c.pair_size = size_of_pair(&c.arrays);
  wf_by_cmp by = {cmp_keys, ctx, c.pair_size};
  c.pairs = (wf_pair_loops){wf_cmp_loops(c.pair_size), pack_bytes, unpack_bytes};
  c.pairs_ctx = &by;
  wf_par_run_over(&c.opts, c.arrays.n, sort_by_key_inside, &c);
}
WF_PLAIN(weft_sort_by_key,
         (void *keys, size_t n, size_t key_size, void *payload, size_t payload_size,
          weft_cmp_fn *cmp_keys, void *ctx),
         keys, n, key_size, payload, payload_size, cmp_keys, ctx)
