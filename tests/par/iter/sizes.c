/* Iterators over elements of 1, 3, 8, 24 and 100 bytes: every source with every stage,
 * and sinks in turn. tests/long/par_iter_sizes.c has all sinks, and longer sequences.
 *
 * SPDX-License-Identifier: MIT */
#include "par/array/support.h"
#include "par/iter/sizes_sinks.h"

TEST_LIMIT(short_sequences_of_all_sizes, 180) {
  static const size_t lengths[] = {1, 17, 300};
  open_pools();
  for (unsigned l = 0; l < 3; l++) {
    weft_opts opts = opts_in(l % 2 + 1);
    all_sized(lengths[l], &opts, harness_slowdown() > 1 ? 18 : 6);
  }
  close_pools();
}

TEST_LIMIT(longer_than_a_batch, 180) {
  open_pools();
  weft_opts opts = opts_in(2);
  all_sized(4099, &opts, 18);
  close_pools();
}
