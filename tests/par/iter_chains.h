/* iter_chains.h - iterators put together at random, against serial code.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_PAR_ITER_CHAINS_H
#define TESTS_PAR_ITER_CHAINS_H

#include "par/array_support.h"
#include "par/iter_sinks.h"

#include <stdio.h>

enum { CHAIN_SOURCES = 6, CHAIN_STAGES = 8 };

typedef struct chain_case {
  uint64_t *random;
  source_data *data[CHAIN_SOURCES];
  unsigned sources;
  uint64_t salts[2 * CHAIN_STAGES];
  unsigned stages;
  unsigned chunks; /* chunk stages so far: chunks of chunks are refused */
  char what[200];
} chain_case;

static inline size_t chain_length(uint64_t *random) {
  uint64_t r = harness_random(random);
  if (r % 16 == 0) return r >> 32 & 1 ? 4096 + r % 5000 : 0;
  return r % 4 == 0 ? (r >> 8) % 2000 : (r >> 8) % 70;
}

static inline void chain_note(chain_case *c, char kind, int number) {
  size_t at = strlen(c->what);
  snprintf(c->what + at, sizeof c->what - at, "%c%d ", kind, number);
}

static inline weft_iter chain_source(chain_case *c, bool may_pull, model *m) {
  int kind = (int)(harness_random(c->random) % (may_pull ? SOURCES : FROM_PULL));
  source_data *d = source_new(chain_length(c->random), c->random);
  c->data[c->sources++] = d;
  chain_note(c, 's', kind);
  return build_source((source_kind)kind, d, m);
}

/* A chunk stage directly behind a slice is a source; others count. */
static inline bool chain_fits(const chain_case *c, int kind, const model *m) {
  if (kind == BY_CHUNK && c->chunks > 0) return false;
  if (kind >= ONE_SIDED) return !m->pulls && (kind == BY_CHAIN || m->known);
  return stage_fits((stage_kind)kind, m, NULL);
}

static inline weft_iter random_chain(chain_case *c, unsigned stages, unsigned depth,
                                     model *m);

static inline void chain_both(chain_case *c, int kind, unsigned stages, unsigned depth,
                              weft_iter *it, model *m) {
  model other;
  chain_note(c, '(', kind);
  weft_iter right = random_chain(c, stages, depth + 1, &other);
  uint64_t *salt = &c->salts[c->stages++];
  *salt = harness_random(c->random) >> 8;
  chain_note(c, ')', kind);
  if (stage_fits((stage_kind)kind, m, &other) &&
      it->count + right.count + STAGE_PLACES <= WF_ITER_STAGES)
    add_both((stage_kind)kind, it, m, &right, &other, salt);
  else
    chain_note(c, '!', kind);
  model_free(&other);
}

static inline weft_iter random_chain(chain_case *c, unsigned stages, unsigned depth,
                                     model *m) {
  weft_iter it = chain_source(c, depth == 0, m);
  for (unsigned i = 0; i < stages && m->n < 30000; i++) {
    int kind = (int)(harness_random(c->random) % STAGES);
    if (!chain_fits(c, kind, m) || it.count + STAGE_PLACES > WF_ITER_STAGES) continue;
    if (kind >= ONE_SIDED) {
      if (depth < 2 && c->sources < CHAIN_SOURCES && c->stages + stages < CHAIN_STAGES)
        chain_both(c, kind, stages / 2, depth, &it, m);
      continue;
    }
    if (c->stages == 2 * CHAIN_STAGES) break;
    if (kind == BY_CHUNK) c->chunks++;
    uint64_t *salt = &c->salts[c->stages++];
    *salt = harness_random(c->random) >> 8;
    chain_note(c, 't', kind);
    add_stage((stage_kind)kind, &it, m, salt);
  }
  return it;
}

/* One chain, some sinks. */
static inline void check_random_chain(uint64_t *random, const weft_opts *opts,
                                      unsigned sinks) {
  chain_case c = {.random = random};
  model m;
  weft_iter it =
      random_chain(&c, (unsigned)(harness_random(random) % (CHAIN_STAGES + 1)), 0, &m);
  sink_check check = {&it, &m, c.data, c.sources, c.what};
  weft_iter_options(&it, opts);
  for (unsigned i = 0; i < sinks; i++)
    check_sink(&check, (unsigned)(harness_random(random) % SINKS));
  model_free(&m);
  for (unsigned i = 0; i < c.sources; i++) source_free(c.data[i]);
}

#endif
