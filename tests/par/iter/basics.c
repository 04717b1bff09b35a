/* Iterators: every source with every stage and every sink is the same as the serial code,
 * for all lengths and numbers of threads.
 *
 * SPDX-License-Identifier: MIT */
#include "par/array/support.h"
#include "par/iter/sinks.h"

#include <stdio.h>

/* One source, one stage (or none), and on the other side of those that have one another
 * source. */
typedef struct pair_case {
  source_kind source;
  int stage; /* STAGES: none */
  size_t n;
  unsigned first_sink, sink_step;
  const weft_opts *opts;
} pair_case;

static void run_pair(const pair_case *p, uint64_t *random) {
  source_data *data[2] = {source_new(p->n, random), source_new(p->n + p->n / 3, random)};
  uint64_t salt = harness_random(random) >> 8;
  char what[80];
  model m, other = {NULL, 0, true, false};
  weft_iter it = build_source(p->source, data[0], &m), right;
  bool fits = true;
  snprintf(what, sizeof what, "source %d, stage %d", (int)p->source, p->stage);
  if (p->stage >= ONE_SIDED && p->stage < STAGES) {
    source_kind kind = (source_kind)((p->source + (unsigned)p->n) % FROM_PULL);
    right = build_source(kind, data[1], &other);
    fits = stage_fits((stage_kind)p->stage, &m, &other);
    if (fits) add_both((stage_kind)p->stage, &it, &m, &right, &other, &salt);
    model_free(&other);
  } else if (p->stage < STAGES) {
    fits = stage_fits((stage_kind)p->stage, &m, NULL);
    if (fits) add_stage((stage_kind)p->stage, &it, &m, &salt);
  }
  if (fits) {
    sink_check c = {&it, &m, data, 2, what};
    weft_iter_options(&it, p->opts);
    for (unsigned s = p->first_sink; s < SINKS; s += p->sink_step) check_sink(&c, s);
  }
  model_free(&m);
  source_free(data[0]);
  source_free(data[1]);
}

static void all_pairs(size_t n, unsigned first_sink, unsigned sink_step) {
  uint64_t random = harness_seed() + n;
  FOR_POOLS(opts) {
    for (int source = 0; source < SOURCES; source++)
      for (int stage = 0; stage <= STAGES; stage++) {
        unsigned first = (first_sink + (unsigned)(source + stage)) % sink_step;
        pair_case p = {(source_kind)source, stage, n, first, sink_step, &opts};
        run_pair(&p, &random);
      }
  }
}

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
