/* blocks.h - writing down which blocks a loop was cut into, and checking that they tile
 * its range.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_PAR_BLOCKS_H
#define TESTS_PAR_BLOCKS_H

#include "par/support.h"
#include "sched/support.h"

/* ---- blocks that are kept ---- */

typedef struct block {
  size_t begin, end;
  int worker;
} block;

typedef struct record {
  block *blocks;
  size_t capacity;
  atomic_size_t count;
} record;

static inline record record_for(size_t capacity) {
  return (record){.blocks = array_of(capacity, sizeof(block)), .capacity = capacity};
}

static inline void record_block(size_t begin, size_t end, void *ctx) {
  record *r = ctx;
  size_t at = atomic_fetch_add(&r->count, 1);
  REQUIRE(at < r->capacity); /* more blocks cannot be disjoint and not empty */
  r->blocks[at] = (block){begin, end, weft_worker_index()};
}

static inline int compare_blocks(const void *a, const void *b) {
  size_t x = ((const block *)a)->begin, y = ((const block *)b)->begin;
  return (x > y) - (x < y);
}

/* Sorts the blocks; are they not empty, and do they cover [0, n) exactly once? */
static inline bool record_tiles(record *r, size_t n) {
  size_t count = atomic_load(&r->count), at = 0;
  qsort(r->blocks, count, sizeof *r->blocks, compare_blocks);
  for (size_t i = 0; i < count; i++) {
    const block *b = &r->blocks[i];
    if (!CHECK_MSG(b->begin == at && b->end > b->begin, "[%zu, %zu) follows %zu",
                   b->begin, b->end, at))
      return false;
    at = b->end;
  }
  return CHECK_EQ(at, n);
}

static inline void record_clear(record *r) {
  atomic_store(&r->count, 0);
}

static inline void record_free(record *r) {
  free(r->blocks);
}

/* ---- blocks that are only added up, for ranges that no memory holds ---- */

/* If blocks tile [0, n), the sum of h(end) - h(begin) is h(n) - h(0), whatever h is; with
 * a random h hardly anything else has that sum. */
typedef struct tally {
  atomic_ullong sum, length, empty;
} tally;

static inline uint64_t tally_hash(size_t i) {
  uint64_t state = i;
  return harness_random(&state);
}

static inline void tally_block(size_t begin, size_t end, void *ctx) {
  tally *t = ctx;
  if (begin >= end) atomic_fetch_add(&t->empty, 1);
  atomic_fetch_add(&t->length, end - begin);
  atomic_fetch_add(&t->sum, tally_hash(end) - tally_hash(begin));
}

static inline bool tally_is(tally *t, size_t n) {
  uint64_t expected = n > 0 ? tally_hash(n) - tally_hash(0) : 0;
  bool right = atomic_load(&t->sum) == expected && atomic_load(&t->length) == n &&
               atomic_load(&t->empty) == 0;
  CHECK_MSG(right, "the blocks do not tile [0, %zu): %llu in all", n,
            (unsigned long long)atomic_load(&t->length));
  *t = (tally){0};
  return right;
}

/* ---- marks: one plain byte for each index ---- */

static inline void mark_block(size_t begin, size_t end, void *ctx) {
  unsigned char *marks = ctx;
  CHECK(begin < end);
  for (size_t i = begin; i < end; i++) marks[i]++;
}

#endif
