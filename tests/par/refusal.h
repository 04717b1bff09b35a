/* refusal.h - memory that runs out: for tests that are linked with
 *
 *     -Wl,--wrap=malloc -Wl,--wrap=calloc
 *
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_PAR_REFUSAL_H
#define TESTS_PAR_REFUSAL_H

#include "support.h"

/* Requests of this thread and of all others: none, each with so many in 256, or the one
 * of that number is refused. */
static atomic_uint refused_share;
static atomic_long refused_number = -1;
static atomic_ulong refused_draws, refused_count;

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);

static bool is_refused(void) {
  unsigned share = atomic_load(&refused_share);
  bool refused = false;
  if (share > 0) {
    uint64_t state = harness_seed() + atomic_fetch_add(&refused_draws, 1);
    refused = harness_random(&state) % 256 < share;
  }
  if (atomic_load(&refused_number) >= 0 && atomic_fetch_sub(&refused_number, 1) == 0)
    refused = true;
  if (refused) atomic_fetch_add(&refused_count, 1);
  return refused;
}

void *__wrap_malloc(size_t size) {
  return is_refused() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size) {
  return is_refused() ? NULL : __real_calloc(count, size);
}

/* Calls fn(ctx) with all requests refused, with half of them at random, and with each
 * that it makes in turn. */
static inline void with_refusals(weft_fn *fn, void *ctx) {
  for (unsigned share = 128; share <= 256; share += 128) {
    atomic_store(&refused_share, share);
    fn(ctx);
  }
  atomic_store(&refused_share, 0);
  for (long number = 0; number < 20; number++) {
    unsigned long before = atomic_load(&refused_count);
    atomic_store(&refused_number, number);
    fn(ctx);
    atomic_store(&refused_number, -1);
    if (atomic_load(&refused_count) == before) break; /* it makes no more requests */
  }
}

#endif
