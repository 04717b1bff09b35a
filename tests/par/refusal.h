/* refusal.h - memory that runs out: for tests that are linked as
 * harness/memory_faults.h says.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_PAR_REFUSAL_H
#define TESTS_PAR_REFUSAL_H

#include "harness/memory_faults.h"
#include "support.h"

/* Calls fn(ctx) with all requests refused, with half of them at random, and with each
 * that it makes in turn. */
static inline void with_refusals(weft_fn *fn, void *ctx) {
  refuse_all_memory();
  fn(ctx);
  refuse_memory(REFUSE_AT_RANDOM, 0);
  fn(ctx);
  for (unsigned long number = 1; number <= 20; number++) {
    refuse_memory(REFUSE_ONE, number);
    fn(ctx);
    if (allow_memory() == 0) break; /* it makes no more requests */
  }
}

#endif
