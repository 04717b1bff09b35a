/* link: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc */
/* link: -Wl,--wrap=free */
/* The scratch memory of large calls: a pool keeps one block for the next call, whoever
 * makes it, and gives it back at its end.
 *
 * SPDX-License-Identifier: MIT */
#include "harness/memory_faults.h"
#include "support.h"

enum { LARGE = 3000000 }; /* numbers of 8 bytes */

typedef struct numbers {
  uint64_t *a;
  size_t n;
} numbers;

/* Sorts numbers in the order of a permutation, so that the result is known. */
static void sort_numbers(void *ctx) {
  const numbers *s = ctx;
  bool right = true;
  for (size_t i = 0; i < s->n; i++) s->a[i] = (i * 7919 + 13) % s->n;
  weft_sort_u64(s->a, s->n);
  for (size_t i = 0; i < s->n; i++) right = right && s->a[i] == i;
  CHECK(right);
}

static unsigned long bytes_of_a_sort(weft_pool *pool, size_t n) {
  numbers s = {array_of(n, 8), n};
  refuse_memory(REFUSE_NONE, 0);
  weft_pool_run(pool, sort_numbers, &s);
  unsigned long bytes = memory_requested_bytes();
  free(s.a);
  return bytes;
}

TEST(kept_for_the_next_call) {
  long before = memory_in_use();
  weft_pool *pool = pool_of(2);
  CHECK(bytes_of_a_sort(pool, LARGE) >= 8 * (unsigned long)LARGE);
  CHECK(bytes_of_a_sort(pool, LARGE) < 1 << 20);
  CHECK(bytes_of_a_sort(pool, LARGE - LARGE / 5) < 1 << 20);
  /* More than there is: a new block in its place, and only that is kept. */
  CHECK(bytes_of_a_sort(pool, LARGE + LARGE / 5) >= 8 * (unsigned long)LARGE);
  CHECK(bytes_of_a_sort(pool, LARGE) < 1 << 20);
  weft_pool_destroy(pool);
  CHECK_EQ(memory_in_use(), before);
}

TEST(small_ones_are_not_kept) {
  weft_pool *pool = pool_of(2);
  for (int i = 0; i < 2; i++) CHECK(bytes_of_a_sort(pool, 100000) >= 800000);
  weft_pool_destroy(pool);
}

static void sort_both(void *ctx) {
  numbers *both = ctx;
  weft_join(sort_numbers, &both[0], sort_numbers, &both[1]);
}

/* Each has memory of its own, kept or not; one block is left. */
TEST(calls_at_the_same_time) {
  long before = memory_in_use();
  weft_pool *pool = pool_of(2);
  for (unsigned round = 0; round < (harness_slowdown() == 1 ? 3 : 1); round++) {
    numbers both[2] = {{array_of(LARGE, 8), LARGE}, {array_of(LARGE, 8), LARGE - 100}};
    weft_pool_run(pool, sort_both, both);
    free(both[0].a);
    free(both[1].a);
  }
  weft_pool_destroy(pool);
  CHECK_EQ(memory_in_use(), before);
}

/* Without memory the block that was kept, which is too small, is of no use. */
TEST(more_is_refused) {
  weft_pool *pool = pool_of(2);
  bytes_of_a_sort(pool, LARGE);
  numbers s = {array_of(2 * LARGE, 8), 2 * LARGE};
  refuse_all_memory();
  weft_pool_run(pool, sort_numbers, &s);
  CHECK(allow_memory() > 0);
  CHECK(bytes_of_a_sort(pool, LARGE) >= 8 * (unsigned long)LARGE);
  free(s.a);
  weft_pool_destroy(pool);
}
