/* par/iter/sinks.h - every sink of an iterator, checked against the array that it stands
 * for.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_PAR_ITER_SINKS_H
#define TESTS_PAR_ITER_SINKS_H

#include "par/iter/support.h"

typedef struct sink_check {
  const weft_iter *it;
  const model *m;
  source_data **data; /* whose pulls start again before each sink */
  unsigned sources;
  const char *what; /* for messages */
} sink_check;

static inline void rewind_sources(const sink_check *c) {
  for (unsigned i = 0; i < c->sources; i++) atomic_store(&c->data[i]->pulled, 0);
}

#define SINK_EQ(c, got, expected)                                                        \
  CHECK_MSG((got) == (expected), "%s, %zu elements", (c)->what, (c)->m->n)

/* ---- functions ---- */

typedef struct looks {
  atomic_ullong sum, count;
} looks;

static inline void add_look(const void *elem, void *ctx) {
  looks *l = ctx;
  uint64_t one = 1;
  atomic_fetch_add_explicit(&l->sum, mixed(load(elem), &one), memory_order_relaxed);
  atomic_fetch_add_explicit(&l->count, 1, memory_order_relaxed);
}

static inline void add_batch(const void *elems, size_t n, void *ctx) {
  CHECK(n > 0);
  for (size_t j = 0; j < n; j++) add_look((const int64_t *)elems + j, ctx);
}

/* Maps x -> a x + b on 32 bits, one after the other: associative, order matters. */
static inline void compose(void *acc, const void *x, void *ctx) {
  uint64_t l = (uint64_t)load(acc), r = (uint64_t)load(x);
  uint32_t a = (uint32_t)(l >> 32), b = (uint32_t)l;
  uint32_t c = (uint32_t)(r >> 32), d = (uint32_t)r;
  (void)ctx;
  store_at(acc, (int64_t)((uint64_t)(a * c) << 32 | (uint32_t)(c * b + d)));
}

static const int64_t UNCHANGED = (int64_t)1 << 32;

typedef struct text_hash {
  uint64_t hash, power, count;
} text_hash;

static inline void hash_init(void *acc, void *ctx) {
  text_hash none = {0, 1, 0};
  (void)ctx;
  *(text_hash *)acc = none;
}

static inline void hash_fold(void *acc, const void *elems, size_t n, void *ctx) {
  text_hash *h = acc;
  (void)ctx;
  for (size_t j = 0; j < n; j++) {
    h->hash = h->hash * 0x100000001b3u + (uint64_t)load((const int64_t *)elems + j);
    h->power *= 0x100000001b3u;
  }
  h->count += n;
}

static inline void hash_merge(void *acc, const void *right, void *ctx) {
  text_hash *l = acc;
  const text_hash *r = right;
  (void)ctx;
  l->hash = l->hash * r->power + r->hash;
  l->power *= r->power;
  l->count += r->count;
}

static const weft_folder HASH = {sizeof(text_hash), sizeof(int64_t), hash_init, hash_fold,
                                 hash_merge};

static inline int compare_few(const void *a, const void *b, void *ctx) {
  uint64_t x = (uint64_t)load(a) % 16, y = (uint64_t)load(b) % 16;
  (void)ctx;
  return (x > y) - (x < y);
}

static inline int compare_all(const void *a, const void *b, void *ctx) {
  int64_t x = load(a), y = load(b);
  (void)ctx;
  return (x > y) - (x < y);
}

static inline int compare_plain(const void *a, const void *b) {
  return compare_all(a, b, NULL);
}

static inline bool is_rare(const void *elem, void *ctx) {
  return mixed(load(elem), ctx) % 100 == 0;
}

/* ---- sinks ---- */

static inline void sink_each(const sink_check *c, bool batches) {
  looks got = {0, 0};
  uint64_t sum = 0, one = 1;
  for (size_t i = 0; i < c->m->n; i++) sum += mixed(c->m->a[i], &one);
  if (batches)
    weft_iter_each_batch(c->it, add_batch, &got);
  else
    weft_iter_for_each(c->it, add_look, &got);
  SINK_EQ(c, atomic_load(&got.count), c->m->n);
  SINK_EQ(c, atomic_load(&got.sum), sum);
}

static inline void sink_reduce(const sink_check *c) {
  int64_t expected = UNCHANGED, got = 7;
  for (size_t i = 0; i < c->m->n; i++) compose(&expected, &c->m->a[i], NULL);
  weft_iter_reduce(c->it, &got, sizeof got, &UNCHANGED, compose, NULL);
  SINK_EQ(c, got, expected);
}

static inline void sink_fold(const sink_check *c) {
  text_hash expected, got = {1, 2, 3};
  hash_init(&expected, NULL);
  hash_fold(&expected, c->m->a, c->m->n, NULL);
  weft_iter_fold(c->it, &got, &HASH, NULL);
  SINK_EQ(c, got.count, expected.count);
  SINK_EQ(c, got.hash, expected.hash);
}

static inline void sink_sum(const sink_check *c) {
  uint64_t sum = 0;
  for (size_t i = 0; i < c->m->n; i++) sum += (uint64_t)c->m->a[i];
  SINK_EQ(c, (uint64_t)weft_iter_sum_i64(c->it), sum);
}

static inline void sink_extreme(const sink_check *c, bool largest) {
  int64_t best = largest ? INT64_MIN : INT64_MAX;
  for (size_t i = 0; i < c->m->n; i++)
    if (largest ? c->m->a[i] > best : c->m->a[i] < best) best = c->m->a[i];
  SINK_EQ(c, largest ? weft_iter_max_i64(c->it) : weft_iter_min_i64(c->it), best);
}

/* Few different keys, so that there is more than one best: the first counts. */
static inline void sink_best(const sink_check *c, bool largest) {
  const int64_t *best = NULL;
  int64_t got = 7;
  for (size_t i = 0; i < c->m->n; i++) {
    int order = best != NULL ? compare_few(&c->m->a[i], best, NULL) : 0;
    if (best == NULL || (largest ? order > 0 : order < 0)) best = &c->m->a[i];
  }
  bool any = (largest ? weft_iter_max_by : weft_iter_min_by)(c->it, &got, sizeof got,
                                                             compare_few, NULL);
  SINK_EQ(c, any, best != NULL);
  if (best != NULL) SINK_EQ(c, got, *best);
}

static inline void sink_find(const sink_check *c, bool last, weft_pred_fn *pred) {
  uint64_t salt = 5;
  const int64_t *expected = NULL;
  int64_t got = 7;
  for (size_t i = 0; i < c->m->n; i++) {
    size_t at = last ? c->m->n - 1 - i : i;
    if (pred != NULL && !pred(&c->m->a[at], &salt)) continue;
    expected = &c->m->a[at];
    break;
  }
  bool found = (last ? weft_iter_find_last
                     : weft_iter_find_first)(c->it, &got, sizeof got, pred, &salt);
  SINK_EQ(c, found, expected != NULL);
  if (found && expected != NULL) SINK_EQ(c, got, *expected);
}

static inline void sink_find_any(const sink_check *c) {
  uint64_t salt = 5;
  int64_t got = 7;
  size_t matches = 0, same = 0;
  bool found = weft_iter_find_any(c->it, &got, sizeof got, is_rare, &salt);
  for (size_t i = 0; i < c->m->n; i++) {
    matches += is_rare(&c->m->a[i], &salt);
    same += c->m->a[i] == got;
  }
  SINK_EQ(c, found, matches > 0);
  if (found) CHECK(same > 0 && is_rare(&got, &salt));
}

static inline void sink_position(const sink_check *c) {
  uint64_t salt = 5;
  size_t at = 0;
  if (!c->m->known) return;
  while (at < c->m->n && !is_rare(&c->m->a[at], &salt)) at++;
  SINK_EQ(c, weft_iter_position(c->it, is_rare, &salt), at < c->m->n ? at : SIZE_MAX);
}

static inline void sink_quantor(const sink_check *c, int which) {
  uint64_t salt = 5;
  size_t matches = 0;
  for (size_t i = 0; i < c->m->n; i++) matches += is_rare(&c->m->a[i], &salt);
  if (which == 0) SINK_EQ(c, weft_iter_any(c->it, is_rare, &salt), matches > 0);
  if (which == 1) SINK_EQ(c, weft_iter_all(c->it, is_rare, &salt), matches == c->m->n);
  if (which == 2) SINK_EQ(c, weft_iter_none(c->it, is_rare, &salt), matches == 0);
}

static inline bool same_numbers(const int64_t *a, const int64_t *b, size_t n) {
  return memcmp(a, b, n * sizeof *a) == 0;
}

/* Nothing may be written behind the room. */
static inline void sink_collect(const sink_check *c, size_t room) {
  size_t stored = c->m->n < room ? c->m->n : room;
  int64_t *got = array_of(room + 1, sizeof *got), behind = got[room];
  SINK_EQ(c, weft_iter_collect(c->it, got, room, sizeof *got), c->m->n);
  SINK_EQ(c, same_numbers(got, c->m->a, stored), true);
  SINK_EQ(c, got[room], behind);
  free(got);
}

static inline void sink_append(const sink_check *c) {
  weft_buffer b = {malloc(3 * sizeof(int64_t)), 3, 3};
  REQUIRE(b.data != NULL);
  memcpy(b.data, (int64_t[]){1, 2, 3}, 3 * sizeof(int64_t));
  SINK_EQ(c, weft_iter_append(c->it, &b, sizeof(int64_t)), 0);
  const int64_t *got = b.data;
  SINK_EQ(c, b.count, c->m->n + 3);
  CHECK(b.capacity >= b.count && got[0] == 1 && got[2] == 3);
  if (b.count == c->m->n + 3) SINK_EQ(c, same_numbers(got + 3, c->m->a, c->m->n), true);
  free(b.data);
}

static inline void sink_partition(const sink_check *c) {
  uint64_t salt = 9;
  size_t room = c->m->n, yes = 0, no = 0, wrong = 0;
  int64_t *a = array_of(room, sizeof *a), *b = array_of(room, sizeof *b);
  weft_counts got = weft_iter_partition(c->it, a, b, room, sizeof *a, keep, &salt);
  for (size_t i = 0; i < c->m->n; i++)
    if (keep(&c->m->a[i], &salt))
      wrong += a[yes++] != c->m->a[i];
    else
      wrong += b[no++] != c->m->a[i];
  SINK_EQ(c, got.yes, yes);
  SINK_EQ(c, got.no, no);
  SINK_EQ(c, wrong, 0);
  free(a);
  free(b);
}

static inline void sink_unzip(const sink_check *c) {
  size_t room = c->m->n / 2 + 1, wrong = 0;
  /* The first four bytes of each number, and the next two: as they lie in memory. */
  uint32_t *first = array_of(room + 1, sizeof *first);
  uint16_t *next = array_of(room + 1, sizeof *next), behind = next[room];
  SINK_EQ(c, weft_iter_unzip(c->it, first, next, room, 4, 2, 4), c->m->n);
  for (size_t i = 0; i < c->m->n && i < room; i++) {
    const char *bytes = (const char *)&c->m->a[i];
    wrong += memcmp(&first[i], bytes, 4) != 0 || memcmp(&next[i], bytes + 4, 2) != 0;
  }
  SINK_EQ(c, wrong, 0);
  SINK_EQ(c, next[room], behind);
  free(first);
  free(next);
}

static inline void sink_scan(const sink_check *c, bool inclusive) {
  int64_t *got = array_of(c->m->n, sizeof *got), acc = UNCHANGED;
  size_t wrong = 0;
  SINK_EQ(c,
          weft_iter_scan(c->it, got, c->m->n, sizeof *got, &UNCHANGED, inclusive, compose,
                         NULL),
          c->m->n);
  for (size_t i = 0; i < c->m->n; i++) {
    if (!inclusive) wrong += got[i] != acc;
    compose(&acc, &c->m->a[i], NULL);
    if (inclusive) wrong += got[i] != acc;
  }
  SINK_EQ(c, wrong, 0);
  free(got);
}

static inline void sink_sort(const sink_check *c) {
  model sorted = model_copy(c->m);
  int64_t *got = array_of(c->m->n, sizeof *got);
  qsort(sorted.a, sorted.n, sizeof *sorted.a, compare_plain);
  SINK_EQ(c, weft_iter_sort(c->it, got, c->m->n, sizeof *got, compare_all, NULL),
          c->m->n);
  SINK_EQ(c, same_numbers(got, sorted.a, sorted.n), true);
  free(got);
  model_free(&sorted);
}

/* ---- all of them ---- */

enum { SINKS = 25 };

static inline void check_sink(const sink_check *c, unsigned sink) {
  rewind_sources(c);
  switch (sink) {
  case 0:
    sink_each(c, false);
    break;
  case 1:
    sink_each(c, true);
    break;
  case 2:
    SINK_EQ(c, weft_iter_count(c->it), c->m->n);
    break;
  case 3:
    sink_reduce(c);
    break;
  case 4:
    sink_fold(c);
    break;
  case 5:
    sink_sum(c);
    break;
  case 6:
    sink_extreme(c, false);
    break;
  case 7:
    sink_extreme(c, true);
    break;
  case 8:
    sink_best(c, false);
    break;
  case 9:
    sink_best(c, true);
    break;
  case 10:
    sink_find(c, false, is_rare);
    break;
  case 11:
    sink_find(c, true, is_rare);
    break;
  case 12:
    sink_find(c, false, NULL);
    break;
  case 13:
    sink_find(c, true, NULL);
    break;
  case 14:
    sink_find_any(c);
    break;
  case 15:
    sink_position(c);
    break;
  case 16:
    sink_quantor(c, 0);
    break;
  case 17:
    sink_quantor(c, 1);
    break;
  case 18:
    sink_quantor(c, 2);
    break;
  case 19:
    sink_collect(c, c->m->n + 3);
    break;
  case 20:
    sink_collect(c, c->m->n / 2);
    break;
  case 21:
    sink_append(c);
    break;
  case 22:
    sink_partition(c);
    break;
  case 23:
    sink_unzip(c);
    break;
  default:
    sink_scan(c, true);
    rewind_sources(c);
    sink_scan(c, false);
    rewind_sources(c);
    sink_sort(c);
    break;
  }
}

#endif
