/* support.h - what the tests of loops and algorithms share: sizes, pools, data.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_PAR_SUPPORT_H
#define TESTS_PAR_SUPPORT_H

#include "sched/support.h"

#include <stdlib.h>
#include <string.h>
#include <weft.h>

/* The lengths that every call is tested with; fewer in slow builds. */
static const size_t LENGTHS[] = {0,  1,  2,    3,    7,    8,    9,     63,
                                 64, 65, 1000, 4095, 4096, 4097, 65537, 1000003};
enum { LENGTHS_COUNT = sizeof LENGTHS / sizeof LENGTHS[0] };

static const size_t ELEMENT_SIZES[] = {1, 2, 3, 4, 8, 12, 16, 24, 32, 100, 4096};
enum { ELEMENT_SIZES_COUNT = sizeof ELEMENT_SIZES / sizeof ELEMENT_SIZES[0] };

static const unsigned THREADS[] = {1, 2, 3, 8};
enum { THREADS_COUNT = sizeof THREADS / sizeof THREADS[0] };

/* Elements of this size are not tested with more than 64 MiB in all. */
static inline bool is_too_large(size_t n, size_t size) {
  size_t bytes = ((size_t)64 << 20) / harness_slowdown();
  return n > bytes / size;
}

/* Calls fn(ctx) in a pool of each of the thread counts. */
static inline void in_each_pool(weft_fn *fn, void *ctx) {
  for (unsigned i = 0; i < THREADS_COUNT; i++) {
    weft_pool *pool = pool_of(THREADS[i]);
    weft_pool_run(pool, fn, ctx);
    weft_pool_destroy(pool);
  }
}

/* Memory for n elements; never NULL, filled with a byte that no test expects. */
static inline void *array_of(size_t n, size_t size) {
  size_t bytes = n * size;
  void *memory = malloc(bytes + 1);
  REQUIRE(memory != NULL);
  memset(memory, 0xA5, bytes + 1);
  return memory;
}

static inline void fill_random(void *memory, size_t bytes, uint64_t *random) {
  unsigned char *to = memory;
  for (size_t i = 0; i < bytes; i++) {
    if (i % 8 == 0) harness_random(random);
    to[i] = (unsigned char)(*random >> (8 * (i % 8)));
  }
}

#endif
