/* everywhere.h - what the tests of loops share: pools of several sizes, and options of
 * every kind.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_PAR_LOOP_EVERYWHERE_H
#define TESTS_PAR_LOOP_EVERYWHERE_H

#include "par/support.h"

/* In pools of each size, and from outside of all pools. */
static inline void everywhere(weft_fn *fn, void *ctx) {
  static const unsigned crews[] = {1, 2, 3, 8, 64};
  for (unsigned i = 0; i < sizeof crews / sizeof crews[0]; i++) {
    weft_pool *pool = pool_of(crews[i]);
    weft_pool_run(pool, fn, ctx);
    weft_pool_destroy(pool);
  }
  fn(ctx);
  weft_shutdown();
}

/* Options of every kind, by number. The lengths count elements, chunks, steps, tiles or
 * cells. */
enum { OPTION_SETS = 9 };

static inline weft_opts option_set(unsigned which) {
  weft_opts opts = WEFT_OPTS_INIT;
  if (which == 1) opts.max_len = 1;
  if (which == 2) opts.min_len = 50;
  if (which == 3) opts.split = WEFT_SPLIT_FIXED;
  if (which == 4) opts.split = WEFT_SPLIT_RECURSIVE;
  if (which == 5) opts.max_workers = 2;
  if (which == 6) opts.max_workers = 1;
  if (which == 7) opts.target_chunks = 3;
  if (which == 8) opts.max_len = 100;
  return opts;
}

#endif
