/* par/array/histogram.c - weft_histogram: counts how often each key occurs.
 *
 * Where there are many elements for each key, each member of a crew counts into a table
 * of its own, and the tables are added up in the end. Otherwise, and where there is no
 * memory for tables, all threads add to the caller's counts atomically.
 *
 * Called by programs. The struct of the call lives in its frame; a table belongs to one
 * member until that has left and put it into the list.
 *
 * SPDX-License-Identifier: MIT */
#include "../base/bytes.h"
#include "../base/crew.h"
#include "array.h"

#include <stdlib.h>
#include <weft/array.h>

/* A member has its own table if there are at least this many elements for each of its
 * keys. So all tables together have at most 2 bytes for each element. A choice. */
enum { ELEMENTS_PER_KEY = 4 };

typedef struct count_table {
  struct count_table *next;
  size_t counts[];
} count_table;

typedef struct counting {
  const weft_opts *opts;
  size_t *counts;
  size_t keys;
  const char *base;
  size_t n, size;
  weft_key_fn *key;
  void *ctx;
  wf_lock lock;        /* of the list */
  count_table *tables; /* of the members that have left */
  size_t done;         /* elements, from the front, that are counted in tables */
} counting;

static inline size_t key_of(const counting *c, size_t i) {
  size_t key = c->key(c->base + i * c->size, c->ctx);
  if (WF_UNLIKELY(key >= c->keys))
    wf_fatal("weft_histogram", "a key is not below the number of keys");
  return key;
}

/* Tables of more than KEYS_CACHED keys (32 KiB) do not fit into a usual first-level
 * cache. There the keys of a batch of elements are found first, so that many lines of the
 * table are on their way before they are needed. The length of a batch is a choice. */
enum { KEYS_CACHED = 4096, KEYS_BATCH = 64 };

/* Finds the keys of [begin, begin + n), n <= KEYS_BATCH. */
static void find_keys(const counting *c, const size_t *table, size_t begin, size_t n,
                      size_t *keys) {
  WF_ASSERT(n <= KEYS_BATCH && begin + n <= c->n);
  for (size_t i = 0; i < n; i++) {
    keys[i] = key_of(c, begin + i);
    __builtin_prefetch(&table[keys[i]], 1);
  }
}

WF_ALIGN_LOOPS static void count_into(const counting *c, size_t *table, size_t begin,
                                      size_t end) {
  if (c->keys <= KEYS_CACHED) {
    for (size_t i = begin; i < end; i++) table[key_of(c, i)]++;
    return;
  }
  size_t keys[KEYS_BATCH];
  for (size_t n; begin < end; begin += n) {
    n = end - begin < KEYS_BATCH ? end - begin : KEYS_BATCH;
    find_keys(c, table, begin, n, keys);
    for (size_t i = 0; i < n; i++) table[keys[i]]++;
  }
}

/* ---- a table for each thread ---- */

/* calloc: the pages of a large table are zero already. */
static void *table_enter(void *ctx) {
  const counting *c = (const counting *)ctx;
  return calloc(1, sizeof(count_table) + c->keys * sizeof(size_t));
}

static void *table_block(void *own, size_t begin, size_t end, void *ctx) {
  count_into((const counting *)ctx, ((count_table *)own)->counts, begin, end);
  return own;
}

static void table_leave(void *own, void *ctx) {
  counting *c = (counting *)ctx;
  count_table *table = (count_table *)own;
  wf_lock_lock(&c->lock);
  table->next = c->tables;
  c->tables = table;
  wf_lock_unlock(&c->lock);
}

static void add_tables(size_t begin, size_t end, void *ctx) {
  const counting *c = (const counting *)ctx;
  for (const count_table *table = c->tables; table != NULL; table = table->next)
    for (size_t k = begin; k < end; k++) c->counts[k] += table->counts[k];
}

static void count_by_tables(counting *c) {
  wf_crew crew = {.enter = table_enter,
                  .block = table_block,
                  .leave = table_leave,
                  .ctx = c,
                  .max_len = c->n};
  wf_loop sum = {add_tables, c, NULL};
  c->done = wf_crew_run(c->opts, c->n, &crew);
  weft_opts opts = *c->opts;
  opts.max_len = 0;
  opts.min_len = 2048; /* 16 KiB of counts, as for all calls that only move bytes */
  wf_loop_run(&opts, c->keys, &sum);
  for (count_table *table = c->tables, *next; table != NULL; table = next) {
    next = table->next;
    free(table);
  }
}

/* ---- one table for all ---- */

static void count_shared(size_t begin, size_t end, void *ctx) {
  const counting *c = (const counting *)ctx;
  /* Words of the same size: only atomics touch them until the loop has ended. */
  wf_word *counts = (wf_word *)(void *)c->counts;
  size_t keys[KEYS_BATCH];
  for (size_t n; begin < end; begin += n) {
    n = end - begin < KEYS_BATCH ? end - begin : KEYS_BATCH;
    find_keys(c, c->counts, c->done + begin, n, keys);
    /* Relaxed: only the sums matter; the end of the loop publishes them. */
    for (size_t i = 0; i < n; i++) wf_word_fetch_add_relaxed(&counts[keys[i]], 1);
  }
}

_Static_assert(sizeof(wf_word) == sizeof(size_t), "counts are added to as words");

/* ---- the call ---- */

static void histogram_inside(void *ctx) {
  counting *c = (counting *)ctx;
  unsigned crew = wf_par_crew(c->opts);
  size_t zero = 0;
  weft_opts clear = *c->opts;
  clear.min_len = clear.max_len = 0;
  weft_fill_with(&clear, c->counts, c->keys, sizeof(size_t), &zero);
  if (crew == 1 && c->opts->cancel == NULL) {
    count_into(c, c->counts, 0, c->n);
    return;
  }
  if (c->keys <= c->n / ELEMENTS_PER_KEY / crew) count_by_tables(c);
  WF_ASSERT(c->done <= c->n);
  wf_loop loop = {count_shared, c, NULL};
  wf_loop_run(c->opts, c->n - c->done, &loop);
}

void weft_histogram_with(const weft_opts *o, size_t *counts, size_t keys,
                         const void *base, size_t n, size_t size, weft_key_fn *key,
                         void *ctx) {
  weft_opts opts;
  counting c = {&opts, counts, keys, (const char *)base, n, size, key, ctx,
                {{0}}, NULL,   0};
  wf_check_elements(base == NULL, key == NULL, n, size, "weft_histogram");
  wf_refuse_if(counts == NULL && keys > 0, "weft_histogram", "the counts are NULL");
  wf_refuse_if(wf_is_too_large(keys, sizeof *counts), "weft_histogram", WF_TOO_LARGE);
  wf_par_options(&opts, o, "weft_histogram");
  wf_par_run_over(&opts, c.n, histogram_inside, &c);
}

void weft_histogram(size_t *counts, size_t keys, const void *base, size_t n, size_t size,
                    weft_key_fn *key, void *ctx) {
  weft_histogram_with(NULL, counts, keys, base, n, size, key, ctx);
}
