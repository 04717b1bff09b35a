/* A hundred thousand random iterators, see tests/par/iter/chains.h; and every source with
 * every stage and every sink at 65,537 elements, of 64-bit numbers and of elements of 1,
 * 3, 8, 24 and 100 bytes.
 *
 * SPDX-License-Identifier: MIT */
#include "par/iter/chains.h"
#include "par/iter/pairs.h"

TEST_LIMIT(random_chains, 1800) {
  uint64_t random = harness_seed();
  open_pools();
  for (unsigned i = 0; i < 100000 / harness_slowdown(); i++) {
    weft_opts opts = opts_in(i % THREADS_COUNT);
    check_random_chain(&random, &opts, 4);
  }
  close_pools();
}

TEST_LIMIT(every_source_stage_and_sink, 1800) {
  open_pools();
  all_pairs(65537, 0, 1);
  close_pools();
}
