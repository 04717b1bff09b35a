/* par/iter/sizes_sinks.h - every sink of an iterator over elements of any size, against
 * the array that it stands for; and all combinations of sources, stages and sinks.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_PAR_ITER_SIZES_SINKS_H
#define TESTS_PAR_ITER_SIZES_SINKS_H

#include "par/iter/sizes.h"

typedef struct sized_check {
  const weft_iter *it;
  const sized *m;
  sized_data *data;
  sized_ctx *ctx;   /* in: the size of the elements */
  const char *what; /* for messages */
} sized_check;

#define SIZED_SAME(c, condition)                                                         \
  CHECK_MSG(condition, "%s, %zu elements of %zu bytes", (c)->what, (c)->m->n,            \
            (c)->m->size)

/* ---- one sink each ---- */

static inline void sink_count(const sized_check *c) {
  SIZED_SAME(c, weft_iter_count(c->it) == c->m->n);
}

/* Room for all, or for some. */
static inline void sink_collect_up_to(const sized_check *c, size_t room) {
  unsigned char *got = array_of(room + 1, c->m->size);
  size_t n = weft_iter_collect(c->it, got, room, c->m->size);
  size_t stored = n < room ? n : room;
  SIZED_SAME(c, n == c->m->n && memcmp(got, c->m->a, stored * c->m->size) == 0);
  SIZED_SAME(c, got[room * c->m->size] == 0xA5); /* nothing behind it */
  free(got);
}
static inline void sink_collect(const sized_check *c) {
  sink_collect_up_to(c, c->m->n);
}
static inline void sink_collect_some(const sized_check *c) {
  sink_collect_up_to(c, c->m->n / 2);
}

static inline void sink_append(const sized_check *c) {
  weft_buffer b = {NULL, 0, 0};
  SIZED_SAME(c, weft_iter_append(c->it, &b, c->m->size) == 0 && b.count == c->m->n);
  if (b.count == c->m->n && b.count > 0)
    SIZED_SAME(c, memcmp(b.data, c->m->a, b.count * c->m->size) == 0);
  free(b.data);
}

static inline uint64_t sum_of_hashes(const sized *m) {
  uint64_t sum = 0;
  for (size_t i = 0; i < m->n; i++) sum += sized_hash(sized_at(m, i), m->size);
  return sum;
}
static inline void sized_look_batch(const void *elems, size_t n, void *ctx) {
  const sized_ctx *c = ctx;
  for (size_t i = 0; i < n; i++) sized_look((const char *)elems + i * c->in, ctx);
}
static inline void sink_for_each(const sized_check *c) {
  atomic_store(&c->ctx->looks, 0);
  weft_iter_for_each(c->it, sized_look, c->ctx);
  SIZED_SAME(c, atomic_load(&c->ctx->looks) == sum_of_hashes(c->m));
}
static inline void sink_each_batch(const sized_check *c) {
  atomic_store(&c->ctx->looks, 0);
  weft_iter_each_batch(c->it, sized_look_batch, c->ctx);
  SIZED_SAME(c, atomic_load(&c->ctx->looks) == sum_of_hashes(c->m));
}

static inline void model_sum(const sized_check *c, unsigned char *sum) {
  memset(sum, 0, c->m->size);
  for (size_t i = 0; i < c->m->n; i++) sized_add(sum, sized_at(c->m, i), c->ctx);
}
static inline void sink_reduce(const sized_check *c) {
  unsigned char zero[SIZED_MOST] = {0}, sum[SIZED_MOST], got[SIZED_MOST];
  model_sum(c, sum);
  weft_iter_reduce(c->it, got, c->m->size, zero, sized_add, c->ctx);
  SIZED_SAME(c, memcmp(got, sum, c->m->size) == 0);
}
static inline void sized_fold_init(void *acc, void *ctx) {
  memset(acc, 0, ((const sized_ctx *)ctx)->in);
}
static inline void sized_fold_add(void *acc, const void *elems, size_t n, void *ctx) {
  for (size_t i = 0; i < n; i++)
    sized_add(acc, (const char *)elems + i * ((const sized_ctx *)ctx)->in, ctx);
}
static inline void sink_fold(const sized_check *c) {
  const weft_folder folder = {c->m->size, c->m->size, sized_fold_init, sized_fold_add,
                              sized_add};
  unsigned char sum[SIZED_MOST], got[SIZED_MOST];
  model_sum(c, sum);
  weft_iter_fold(c->it, got, &folder, c->ctx);
  SIZED_SAME(c, memcmp(got, sum, c->m->size) == 0);
}

/* The first that does not go on, from the front or the back; n: none. */
static inline bool sized_stops(const void *elem, void *ctx) {
  return !sized_go_on(elem, ctx);
}
static inline size_t model_find(const sized_check *c, bool last) {
  size_t found = c->m->n;
  for (size_t i = 0; i < c->m->n; i++) {
    if (!sized_stops(sized_at(c->m, i), c->ctx)) continue;
    found = i;
    if (!last) break;
  }
  return found;
}
static inline void check_find(const sized_check *c, bool last) {
  unsigned char got[SIZED_MOST];
  size_t at = model_find(c, last);
  bool found = (last ? weft_iter_find_last : weft_iter_find_first)(c->it, got, c->m->size,
                                                                   sized_stops, c->ctx);
  SIZED_SAME(c, found == (at < c->m->n));
  if (found) SIZED_SAME(c, memcmp(got, sized_at(c->m, at), c->m->size) == 0);
}
static inline void sink_find_first(const sized_check *c) {
  check_find(c, false);
}
static inline void sink_find_last(const sized_check *c) {
  check_find(c, true);
}
static inline void sink_find_any(const sized_check *c) {
  unsigned char got[SIZED_MOST];
  bool found = weft_iter_find_any(c->it, got, c->m->size, sized_stops, c->ctx);
  SIZED_SAME(c, found == (model_find(c, false) < c->m->n));
  if (found) SIZED_SAME(c, sized_stops(got, c->ctx));
}
static inline void sink_all(const sized_check *c) {
  SIZED_SAME(c, weft_iter_all(c->it, sized_go_on, c->ctx) ==
                    (model_find(c, false) == c->m->n));
}
static inline void sink_position(const sized_check *c) {
  size_t at = model_find(c, false);
  if (!c->m->known) return;
  SIZED_SAME(c, weft_iter_position(c->it, sized_stops, c->ctx) ==
                    (at < c->m->n ? at : SIZE_MAX));
}

static inline void sink_min(const sized_check *c) {
  unsigned char got[SIZED_MOST];
  bool any = weft_iter_min_by(c->it, got, c->m->size, sized_compare, c->ctx);
  SIZED_SAME(c, any == (c->m->n > 0));
  for (size_t i = 0; any && i < c->m->n; i++)
    SIZED_SAME(c, memcmp(got, sized_at(c->m, i), c->m->size) <= 0);
}

static inline void sink_partition(const sized_check *c) {
  size_t size = c->m->size, yes = 0, no = 0, wrong = 0;
  unsigned char *kept = array_of(c->m->n, size), *left = array_of(c->m->n, size);
  weft_counts n =
      weft_iter_partition(c->it, kept, left, c->m->n, size, sized_keep, c->ctx);
  for (size_t i = 0; i < c->m->n; i++) {
    const void *x = sized_at(c->m, i);
    const unsigned char *to =
        sized_keep(x, c->ctx) ? kept + yes++ * size : left + no++ * size;
    wrong += memcmp(to, x, size) != 0;
  }
  SIZED_SAME(c, n.yes == yes && n.no == no && wrong == 0);
  free(kept);
  free(left);
}

static inline void sink_unzip(const sized_check *c) {
  size_t size = c->m->size, front = size / 2, wrong = 0;
  if (size < 2) return;
  unsigned char *left = array_of(c->m->n, front),
                *right = array_of(c->m->n, size - front);
  size_t n = weft_iter_unzip(c->it, left, right, c->m->n, front, size - front, front);
  for (size_t i = 0; i < c->m->n; i++) {
    wrong += memcmp(left + i * front, sized_at(c->m, i), front) != 0;
    wrong +=
        memcmp(right + i * (size - front), sized_at(c->m, i) + front, size - front) != 0;
  }
  SIZED_SAME(c, n == c->m->n && wrong == 0);
  free(left);
  free(right);
}

static inline void sink_scan(const sized_check *c) {
  unsigned char zero[SIZED_MOST] = {0}, sum[SIZED_MOST] = {0};
  unsigned char *got = array_of(c->m->n, c->m->size);
  size_t wrong = 0, n = weft_iter_scan(c->it, got, c->m->n, c->m->size, zero, true,
                                       sized_add, c->ctx);
  for (size_t i = 0; i < c->m->n; i++) {
    sized_add(sum, sized_at(c->m, i), c->ctx);
    wrong += memcmp(got + i * c->m->size, sum, c->m->size) != 0;
  }
  SIZED_SAME(c, n == c->m->n && wrong == 0);
  free(got);
}

static inline void sink_sort(const sized_check *c) {
  unsigned char *got = array_of(c->m->n, c->m->size);
  size_t size = c->m->size;
  size_t n = weft_iter_sort(c->it, got, c->m->n, size, sized_compare, c->ctx);
  uint64_t hashes = 0, falls = 0;
  for (size_t i = 0; i < c->m->n; i++) {
    hashes += sized_hash(got + i * size, size);
    falls += i > 0 && memcmp(got + (i - 1) * size, got + i * size, size) > 0;
  }
  SIZED_SAME(c, n == c->m->n && falls == 0 && hashes == sum_of_hashes(c->m));
  free(got);
}

static void (*const SIZED_SINKS[])(const sized_check *c) = {
    sink_count,      sink_collect, sink_collect_some, sink_append,     sink_for_each,
    sink_each_batch, sink_reduce,  sink_fold,         sink_find_first, sink_find_last,
    sink_find_any,   sink_all,     sink_position,     sink_min,        sink_partition,
    sink_unzip,      sink_scan,    sink_sort};
enum { SIZED_SINK_COUNT = sizeof SIZED_SINKS / sizeof SIZED_SINKS[0] };

/* ---- all combinations ---- */

typedef struct sized_case {
  sized_source source;
  sized_stage stage;
  size_t n, size, out; /* elements, their size, and that of what stages make */
  unsigned first_sink, sink_step;
} sized_case;

static inline void run_sized(const sized_case *k, const weft_opts *opts) {
  char what[80];
  sized m;
  sized_data d = {.array = sized_of(k->n, k->size)};
  sized_ctx ctx = {.in = k->size, .out = k->out};
  for (size_t i = 0; i < k->n; i++) sized_make(sized_at(&d.array, i), i, k->size);
  weft_iter it = sized_build(k->source, &d, &m);
  (void)snprintf(what, sizeof what, "source %d, stage %d", (int)k->source, (int)k->stage);
  if (sized_fits(k->stage, &m)) {
    sized_add_stage(k->stage, &it, &m, &d, &ctx);
    weft_iter_options(&it, opts);
    sized_ctx behind = {.in = m.size};
    sized_check c = {&it, &m, &d, &behind, what};
    REQUIRE(m.size <= SIZED_MOST && weft_iter_size(&it) == m.size);
    for (unsigned s = k->first_sink; s < SIZED_SINK_COUNT; s += k->sink_step) {
      d.pulled = 0;
      SIZED_SINKS[s](&c);
    }
  }
  free(m.a);
  free(d.array.a);
  free(d.text);
}

/* Every source with every stage, and of the sinks every `step`-th from another one on
 * each time; `step` 1: all. */
static inline void all_sized(size_t n, const weft_opts *opts, unsigned step) {
  unsigned turn = 0;
  for (unsigned s = 0; s < SIZED_COUNT; s++)
    for (int source = 0; source < SIZED_SOURCES; source++)
      for (int stage = 0; stage < SIZED_STAGES; stage++, turn++) {
        size_t out = SIZED_SIZES[(s + 1 + turn % (SIZED_COUNT - 1)) % SIZED_COUNT];
        sized_case k = {(sized_source)source,
                        (sized_stage)stage,
                        n,
                        SIZED_SIZES[s],
                        out,
                        turn % step,
                        step};
        run_sized(&k, opts);
      }
}

#endif
