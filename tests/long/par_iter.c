/* A hundred thousand random iterators, see tests/par/iter/chains.h.
 *
 * SPDX-License-Identifier: MIT */
#include "par/iter/chains.h"

TEST_LIMIT(random_chains, 1800) {
  uint64_t random = harness_seed();
  open_pools();
  for (unsigned i = 0; i < 100000 / harness_slowdown(); i++) {
    weft_opts opts = opts_in(i % THREADS_COUNT);
    check_random_chain(&random, &opts, 4);
  }
  close_pools();
}
