/* Iterators: every source with every stage and every sink is the same as the serial code,
 * for all lengths and numbers of threads.
 *
 * SPDX-License-Identifier: MIT */
#include "par/iter/pairs.h"

TEST_LIMIT(short_sequences, 180) {
  open_pools();
  for (unsigned l = 0; l < LENGTHS_COUNT && LENGTHS[l] <= 65; l++)
    all_pairs(LENGTHS[l], 0, harness_slowdown() > 1 ? 5 : 1);
  close_pools();
}

TEST_LIMIT(a_thousand, 180) {
  open_pools();
  all_pairs(1000, 0, harness_slowdown() > 1 ? 12 : 1);
  close_pools();
}

TEST_LIMIT(about_four_batches, 180) {
  open_pools();
  for (size_t n = 4095; n <= 4097; n++) all_pairs(n, (unsigned)n % 12, 12);
  close_pools();
}

/* Some of the sinks for each pair, others for others. */
TEST_LIMIT(long_sequences, 180) {
  open_pools();
  if (harness_slowdown() == 1) all_pairs(65537, 3, 24);
  uint64_t random = harness_seed();
  unsigned sink = 0;
  for (int stage = 0; stage <= STAGES; stage++) {
    weft_opts opts = opts_in(1 + (unsigned)stage % 3);
    size_t n = harness_slowdown() > 1 ? 65537 : 1000003;
    pair_case p = {
        (source_kind)(stage % SOURCES), stage, n, sink++ % SINKS, SINKS, &opts};
    run_pair(&p, &random);
  }
  close_pools();
}

/* ---- options ---- */

TEST(options_change_no_result) {
  uint64_t random = harness_seed();
  open_pools();
  for (unsigned i = 0; i < 200 / harness_slowdown(); i++) {
    weft_opts opts = opts_in((unsigned)(harness_random(&random) % THREADS_COUNT));
    opts.min_len = harness_random(&random) % 100;
    opts.max_len = opts.min_len + harness_random(&random) % 100 + 1;
    opts.max_workers = (unsigned)(harness_random(&random) % 4);
    opts.split = (weft_split)(harness_random(&random) % 3);
    opts.target_chunks = harness_random(&random) % 9;
    pair_case p = {(source_kind)(harness_random(&random) % SOURCES),
                   (int)(harness_random(&random) % (STAGES + 1)),
                   harness_random(&random) % 5000,
                   (unsigned)(harness_random(&random) % SINKS),
                   5,
                   &opts};
    run_pair(&p, &random);
  }
  close_pools();
}
