/* Iterators of up to eight stages, with sides that are such chains themselves, put
 * together at random: the same as serial code. tests/long/par_iter.c has more of them.
 *
 * SPDX-License-Identifier: MIT */
#include "par/iter/chains.h"

TEST(random_chains) {
  uint64_t random = harness_seed();
  open_pools();
  for (unsigned i = 0; i < 3000 / harness_slowdown(); i++) {
    weft_opts opts = opts_in(i % THREADS_COUNT);
    check_random_chain(&random, &opts, 3);
  }
  close_pools();
}
