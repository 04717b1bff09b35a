/* par/iter/pairs.h - every source with every stage and every sink, of 64-bit numbers.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_PAR_ITER_PAIRS_H
#define TESTS_PAR_ITER_PAIRS_H

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

static inline void run_pair(const pair_case *p, uint64_t *random) {
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

static inline void all_pairs(size_t n, unsigned first_sink, unsigned sink_step) {
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

#endif
