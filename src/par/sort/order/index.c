/* par/sort/order/index.c - sorting indices: the order of elements that are too large to
 * be moved often, weft_argsort, and weft_sort_by_key.
 *
 * SPDX-License-Identifier: MIT */
#include "sort.h"

#include <stdlib.h>
#include <weft/sort.h>

/* ---- the order of indices ---- */

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

WF_SORT_KERNEL(index, sizeof(size_t), sizeof(size_t), less_by_index)

static void count_up(size_t begin, size_t end, void *ctx) {
  size_t *order = (size_t *)ctx;
  for (size_t i = begin; i < end; i++) order[i] = i;
}

/* order becomes the numbers below n, sorted by the elements that they stand for. */
static bool sort_order(const wf_sorter *s, size_t *order, const char *base, size_t n,
                       bool in_place) {
  by_index by = {base, s->size, s->kernel->less, s->ctx};
  wf_loop loop = {count_up, order, NULL};
  wf_sorter of_indices;
  wf_sorter_init(&of_indices, s->opts, &index_kernel_, sizeof(size_t), &by);
  wf_loop_run(&s->inner, n, &loop);
  if (wf_par_cancelled(s->opts)) return true;
  if (wf_sort_moving(&of_indices, (char *)order, n)) return true;
  if (in_place) wf_inplace_stable(&of_indices, (char *)order, NULL, 0, n);
  return in_place;
}

/* ---- moving elements into an order ---- */

typedef struct gather_job {
  char *to;
  const char *from;
  size_t size;
  const size_t *order;
} gather_job;

static void gather_indexed(size_t begin, size_t end, void *ctx) {
  const gather_job g = *(const gather_job *)ctx;
  for (size_t i = begin; i < end; i++)
    memcpy(g.to + i * g.size, g.from + g.order[i] * g.size, g.size);
}

static void swap_indexed(char *a, char *b, size_t bytes) {
  unsigned char copy[256];
  for (size_t done = 0, part; done < bytes; done += part) {
    part = bytes - done < sizeof copy ? bytes - done : sizeof copy;
    memcpy(copy, a + done, part);
    memcpy(a + done, b + done, part);
    memcpy(b + done, copy, part);
  }
}

/* Along the cycles of the order. Marks its numbers as done on the way: the sign bit. */
static void permute_by_cycles(char *base, size_t n, size_t size, size_t *order) {
  const size_t DONE = ~(SIZE_MAX >> 1);
  for (size_t i = 0; i < n; i++) {
    size_t at = i;
    while ((order[at] & DONE) == 0) {
      size_t from = order[at];
      order[at] |= DONE;
      if (from == i) break;
      swap_indexed(base + at * size, base + from * size, size);
      at = from;
    }
  }
  for (size_t i = 0; i < n; i++) order[i] &= ~DONE;
}

static void permute(wf_sorter *s, char *base, size_t n, size_t size, size_t *order) {
  void *memory;
  char *copy = wf_sort_scratch(n * size, &memory);
  if (copy == NULL) {
    permute_by_cycles(base, n, size, order);
    return;
  }
  wf_sorter bytes = *s;
  gather_job g = {copy, base, size, order};
  wf_loop loop = {gather_indexed, &g, NULL};
  bytes.size = size;
  wf_loop_run(&s->inner, n, &loop);
  wf_sorter_copy(&bytes, base, copy, n);
  free(memory);
}

bool wf_sort_by_index(wf_sorter *s, char *base, size_t n) {
  size_t *order =
      n <= SIZE_MAX / sizeof(size_t) ? (size_t *)malloc(n * sizeof(size_t)) : NULL;
  bool done = order != NULL && sort_order(s, order, base, n, false);
  if (done) permute(s, base, n, s->size, order);
  free(order);
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
  wf_sorter_init(&s, c->opts, wf_cmp_kernel(c->by.size), c->by.size, &c->by);
  sort_order(&s, c->order, c->base, c->n, true);
}

void weft_argsort_with(const weft_opts *o, size_t *order, const void *base, size_t n,
                       size_t size, weft_cmp_fn *cmp, void *ctx) {
  weft_opts opts;
  argsort_call c = {&opts, {cmp, ctx, size}, order, (const char *)base, n};
  wf_sort_check(order == NULL || base == NULL, cmp, n, size, "weft_argsort");
  wf_par_options(&opts, o, "weft_argsort");
  if (n > 0) wf_par_run(&opts, argsort_inside, &c);
}

void weft_argsort(size_t *order, const void *base, size_t n, size_t size,
                  weft_cmp_fn *cmp, void *ctx) {
  weft_argsort_with(NULL, order, base, n, size, cmp, ctx);
}

/* ---- weft_sort_by_key ---- */

/* Keys and payloads side by side in records, which are sorted as such. */
typedef struct key_call {
  const weft_opts *opts;
  wf_by_cmp by; /* of keys; while records are sorted, of records */
  char *keys, *payload;
  size_t key_size, payload_size, n;
  char *records;
  size_t record;
} key_call;

static void pack_indexed(size_t begin, size_t end, void *ctx) {
  const key_call c = *(const key_call *)ctx;
  for (size_t i = begin; i < end; i++) {
    char *record = c.records + i * c.record;
    memcpy(record, c.keys + i * c.key_size, c.key_size);
    memcpy(record + c.key_size, c.payload + i * c.payload_size, c.payload_size);
  }
}

static void unpack_indexed(size_t begin, size_t end, void *ctx) {
  const key_call c = *(const key_call *)ctx;
  for (size_t i = begin; i < end; i++) {
    const char *record = c.records + i * c.record;
    memcpy(c.keys + i * c.key_size, record, c.key_size);
    memcpy(c.payload + i * c.payload_size, record + c.key_size, c.payload_size);
  }
}

/* The keys in records are aligned as the type of a key can ask for. */
static size_t record_size(size_t key_size, size_t payload_size) {
  size_t alignment = key_size & (0 - key_size);
  if (alignment > 64) alignment = 64;
  return (key_size + payload_size + alignment - 1) / alignment * alignment;
}

static bool sort_records(const wf_sorter *s, key_call *c) {
  void *memory;
  wf_sorter of_records;
  wf_loop pack = {pack_indexed, c, NULL}, unpack = {unpack_indexed, c, NULL};
  if (c->key_size > WF_SORT_LARGEST || c->payload_size > WF_SORT_LARGEST) return false;
  c->record = record_size(c->key_size, c->payload_size);
  if (c->record > WF_SORT_LARGEST / 2 || c->n > SIZE_MAX / c->record) return false;
  c->records = wf_sort_scratch(c->n * c->record, &memory);
  if (c->records == NULL) return false;
  c->by.size = c->record;
  wf_sorter_init(&of_records, c->opts, wf_cmp_kernel(c->record), c->record, &c->by);
  wf_loop_run(&s->inner, c->n, &pack);
  bool done = wf_sort_moving(&of_records, c->records, c->n);
  if (done) wf_loop_run(&s->inner, c->n, &unpack);
  free(memory);
  c->by.size = c->key_size;
  return done;
}

static bool sort_by_order(wf_sorter *s, const key_call *c) {
  size_t *order =
      c->n <= SIZE_MAX / sizeof(size_t) ? (size_t *)malloc(c->n * sizeof(size_t)) : NULL;
  bool done = order != NULL && sort_order(s, order, c->keys, c->n, false);
  if (done) {
    permute(s, c->keys, c->n, c->key_size, order);
    permute(s, c->payload, c->n, c->payload_size, order);
  }
  free(order);
  return done;
}

static void sort_by_key_inside(void *ctx) {
  key_call *c = (key_call *)ctx;
  wf_sorter s;
  wf_sorter_init(&s, c->opts, wf_cmp_kernel(c->key_size), c->key_size, &c->by);
  if (wf_par_cancelled(c->opts) || wf_sorter_is_run(&s, c->keys, c->n, false)) return;
  if (!sort_records(&s, c) && !sort_by_order(&s, c))
    wf_inplace_stable(&s, c->keys, c->payload, c->payload_size, c->n);
}

void weft_sort_by_key_with(const weft_opts *o, void *keys, size_t n, size_t key_size,
                           void *payload, size_t payload_size, weft_cmp_fn *cmp_keys,
                           void *ctx) {
  weft_opts opts;
  key_call c = {.opts = &opts,
                .by = {cmp_keys, ctx, key_size},
                .keys = (char *)keys,
                .payload = (char *)payload,
                .key_size = key_size,
                .payload_size = payload_size,
                .n = n};
  wf_sort_check(keys == NULL || (payload == NULL && payload_size > 0), cmp_keys, n,
                key_size, "weft_sort_by_key");
  wf_par_options(&opts, o, "weft_sort_by_key");
  if (n > 1) wf_par_run(&opts, sort_by_key_inside, &c);
}

void weft_sort_by_key(void *keys, size_t n, size_t key_size, void *payload,
                      size_t payload_size, weft_cmp_fn *cmp_keys, void *ctx) {
  weft_sort_by_key_with(NULL, keys, n, key_size, payload, payload_size, cmp_keys, ctx);
}
