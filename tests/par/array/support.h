/* array_support.h - what the tests of array calls share: elements of any size with keys
 * that repeat, functions that look at them and note that they did, and the walk through
 * lengths, element sizes and pools.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_PAR_ARRAY_SUPPORT_H
#define TESTS_PAR_ARRAY_SUPPORT_H

#include "par/support.h"

/* An array whose elements have a random key in their first one or two bytes, smaller than
 * `range`, and random bytes behind it, which tell equal elements apart. */
typedef struct elements {
  unsigned char *base;
  size_t n, size;
  unsigned range;      /* at most 256 if the size is 1 */
  unsigned below;      /* the predicate holds for keys below this */
  atomic_uchar *looks; /* how often each element was looked at; NULL: nobody wants it */
} elements;

static inline unsigned key_at(const elements *e, const void *elem) {
  const unsigned char *bytes = elem;
  return e->size == 1 ? bytes[0] : bytes[0] + 256u * bytes[1];
}

static inline void set_key(const elements *e, size_t i, unsigned key) {
  unsigned char *bytes = e->base + i * e->size;
  bytes[0] = (unsigned char)key;
  if (e->size > 1) bytes[1] = (unsigned char)(key >> 8);
}

static inline const void *elem_at(const elements *e, size_t i) {
  return e->base + i * e->size;
}

static inline elements elements_of(size_t n, size_t size, unsigned range,
                                   uint64_t *random) {
  elements e = {array_of(n, size), n, size, range, 0, NULL};
  if (size == 1 && e.range > 256) e.range = 256;
  fill_random(e.base, n * size, random);
  for (size_t i = 0; i < n; i++)
    set_key(&e, i, (unsigned)(harness_random(random) % e.range));
  e.below = e.range / 2;
  e.looks = calloc(n + 1, sizeof *e.looks);
  REQUIRE(e.looks != NULL);
  return e;
}

static inline void elements_free(elements *e) {
  free(e->base);
  free(e->looks);
}

/* The same elements, once more. */
static inline unsigned char *copy_of(const elements *e) {
  unsigned char *copy = array_of(e->n, e->size);
  memcpy(copy, e->base, e->n * e->size);
  return copy;
}

static inline void note_look(const elements *e, const void *elem) {
  size_t i = (size_t)((const unsigned char *)elem - e->base) / e->size;
  CHECK(i < e->n);
  if (e->looks != NULL && i < e->n)
    atomic_fetch_add_explicit(&e->looks[i], 1, memory_order_relaxed);
}

/* Each element was looked at so often; and from now on not at all. */
static inline void check_looks(elements *e, unsigned times) {
  size_t wrong = 0;
  for (size_t i = 0; i < e->n; i++) wrong += atomic_load(&e->looks[i]) != times;
  CHECK_EQ(wrong, 0);
  memset((void *)e->looks, 0, e->n);
}

/* ---- functions for the calls; ctx is the elements ---- */

static inline bool is_below(const void *elem, void *ctx) {
  const elements *e = ctx;
  note_look(e, elem);
  return key_at(e, elem) < e->below;
}

static inline int by_key(const void *a, const void *b, void *ctx) {
  const elements *e = ctx;
  unsigned x = key_at(e, a), y = key_at(e, b);
  return (x > y) - (x < y);
}

/* ---- pools ---- */

/* One of each number of threads, for the whole program. */
static weft_pool *array_pools[THREADS_COUNT];

static inline void open_pools(void) {
  for (unsigned i = 0; i < THREADS_COUNT; i++) array_pools[i] = pool_of(THREADS[i]);
}

static inline void close_pools(void) {
  for (unsigned i = 0; i < THREADS_COUNT; i++) weft_pool_destroy(array_pools[i]);
}

static inline weft_opts opts_in(unsigned pool) {
  weft_opts opts = WEFT_OPTS_INIT;
  opts.pool = array_pools[pool];
  return opts;
}

#define FOR_POOLS(opts)                                                                  \
  for (unsigned wf_pool_i = 0; wf_pool_i < THREADS_COUNT; wf_pool_i++)                   \
    for (weft_opts opts = opts_in(wf_pool_i), *wf_once = &opts; wf_once != NULL;         \
         wf_once = NULL)

/* ---- lengths and sizes ---- */

typedef void case_fn(size_t n, size_t size, uint64_t *random);

/* Calls fn for all lengths and element sizes of up to 8 MiB together.
 */
static inline void for_cases(case_fn *fn) {
  uint64_t random = harness_seed();
  open_pools();
  for (unsigned l = 0; l < LENGTHS_COUNT; l++)
    for (unsigned s = 0; s < ELEMENT_SIZES_COUNT; s++)
      if (!is_too_large(8 * LENGTHS[l], ELEMENT_SIZES[s]))
        fn(LENGTHS[l], ELEMENT_SIZES[s], &random);
  close_pools();
}

#endif
