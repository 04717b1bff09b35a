/* par/iter/chains.h - iterators put together at random, against serial code.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_PAR_ITER_CHAINS_H
#define TESTS_PAR_ITER_CHAINS_H

#include "par/array/support.h"
#include "par/iter/sinks.h"

#include <pthread.h>
#include <stdio.h>

enum { CHAIN_SOURCES = 6, CHAIN_STAGES = 8 };

/* What a chain has more of than chance gives: errors need several of a kind. */
typedef enum chain_mood {
  MIXED,
  MULTIPLYING,
  ENDING,
  TWO_SIDED,
  CHUNKED,
  MOODS
} chain_mood;

typedef struct chain_case {
  uint64_t *random;
  source_data *data[CHAIN_SOURCES];
  unsigned sources;
  chain_mood mood;
  uint64_t salts[3 * CHAIN_STAGES];
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

static inline int chain_kind(const chain_case *c) {
  static const int FLAT[] = {BY_FLAT_MAP, BY_FLAT_MAP_KERNEL};
  static const int END[] = {BY_TAKE_WHILE, BY_TAKE_WHILE, BY_FLAT_MAP, BY_CHAIN};
  static const int SIDES[] = {BY_CHAIN, BY_INTERLEAVE, BY_ZIP, BY_ZIP_MAP, BY_ZIP_KERNEL};
  static const int PARTS[] = {BY_CHUNK, BY_WIDE_CHUNK, BY_WIDE, BY_REVERSE, BY_STEP};
  uint64_t r = harness_random(c->random), pick = r >> 16;
  if (r % 2 == 0 || c->mood == MIXED) return (int)(pick % STAGES);
  if (c->mood == MULTIPLYING) return FLAT[pick % 2];
  if (c->mood == ENDING) return END[pick % 4];
  return c->mood == TWO_SIDED ? SIDES[pick % 5] : PARTS[pick % 5];
}

/* A chunk stage directly behind a slice is a source; others count. */
static inline bool chain_fits(const chain_case *c, int kind, const model *m) {
  if ((kind == BY_CHUNK || kind == BY_WIDE_CHUNK) && c->chunks > 0) return false;
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
    int kind = chain_kind(c);
    if (!chain_fits(c, kind, m) || it.count + STAGE_PLACES > WF_ITER_STAGES) continue;
    if (kind >= ONE_SIDED) {
      if (depth < 3 && c->sources < CHAIN_SOURCES && c->stages < CHAIN_STAGES)
        chain_both(c, kind, stages / 2, depth, &it, m);
      continue;
    }
    if (c->stages == 2 * CHAIN_STAGES) break;
    if (kind == BY_CHUNK || kind == BY_WIDE_CHUNK) c->chunks++;
    uint64_t *salt = &c->salts[c->stages++];
    *salt = harness_random(c->random) >> 8;
    chain_note(c, 't', kind);
    add_stage((stage_kind)kind, &it, m, salt);
  }
  return it;
}

/* ---- cancelled ---- */

typedef struct cancel_after {
  weft_scope scope;
  atomic_ulong left;
} cancel_after;

static inline void cancel_look(const void *elem, void *ctx) {
  cancel_after *c = ctx;
  (void)elem;
  if (atomic_fetch_sub_explicit(&c->left, 1, memory_order_relaxed) == 1)
    weft_scope_cancel(&c->scope, 1);
}

/* A sink that is cancelled in the middle comes back, and writes nothing where it must
 * not: the sanitizers look. What it returns means nothing. */
static inline void cancel_chain(const sink_check *check, uint64_t *random) {
  weft_iter it = *check->it;
  if (it.count == WF_ITER_STAGES) return;
  size_t room = check->m->n;
  int64_t *a = array_of(room, sizeof *a), *b = array_of(room, sizeof *b), one;
  weft_buffer buffer = {NULL, 0, 0};
  cancel_after c;
  uint64_t salt = 3;
  weft_scope_begin(&c.scope);
  atomic_init(&c.left, 1 + harness_random(random) % (room + 1));
  weft_iter_inspect(&it, cancel_look, &c);
  weft_iter_cancel(&it, &c.scope);
  rewind_sources(check);
  switch (harness_random(random) % 6) {
  case 0:
    weft_iter_collect(&it, a, room, sizeof *a);
    break;
  case 1:
    if (weft_iter_append(&it, &buffer, sizeof *a) == 0) CHECK(buffer.count <= room);
    break;
  case 2:
    weft_iter_partition(&it, a, b, room, sizeof *a, keep, &salt);
    break;
  case 3:
    weft_iter_find_last(&it, &one, sizeof one, is_rare, &salt);
    break;
  case 4:
    weft_iter_sum_i64(&it);
    break;
  default:
    weft_iter_sort(&it, a, room, sizeof *a, compare_all, NULL);
    break;
  }
  weft_scope_end(&c.scope);
  free(buffer.data);
  free(a);
  free(b);
}

/* ---- chains ---- */

typedef struct chain_run {
  const sink_check *check;
  uint64_t *random;
  unsigned sinks;
} chain_run;

static inline void run_chain(const chain_run *r) {
  if (harness_random(r->random) % 8 == 0 && r->check->it->count < WF_ITER_STAGES)
    cancel_chain(r->check, r->random);
  for (unsigned i = 0; i < r->sinks; i++)
    check_sink(r->check, (unsigned)(harness_random(r->random) % SINKS));
}

/* Much of a stack is in use: batches are short then. */
static __attribute__((noinline)) void *run_deep(void *arg) {
  volatile char used[2300 << 10];
  used[0] = 0;
  run_chain(arg);
  return used[0] == 0 ? NULL : arg;
}

static inline void run_with_little_stack(chain_run *r) {
  pthread_attr_t attr;
  pthread_t thread;
  REQUIRE(pthread_attr_init(&attr) == 0);
  REQUIRE(pthread_attr_setstacksize(&attr, 4 << 20) == 0);
  REQUIRE(pthread_create(&thread, &attr, run_deep, r) == 0);
  REQUIRE(pthread_join(thread, NULL) == 0);
  pthread_attr_destroy(&attr);
}

/* One chain, some sinks. */
static inline void check_random_chain(uint64_t *random, const weft_opts *opts,
                                      unsigned sinks) {
  chain_case c = {.random = random};
  model m;
  c.mood = (chain_mood)(harness_random(random) % MOODS);
  weft_iter it =
      random_chain(&c, (unsigned)(harness_random(random) % (CHAIN_STAGES + 1)), 0, &m);
  sink_check check = {&it, &m, c.data, c.sources, c.what};
  chain_run r = {&check, random, sinks};
  weft_iter_options(&it, opts);
  if (harness_random(random) % 16 == 0)
    run_with_little_stack(&r);
  else
    run_chain(&r);
  model_free(&m);
  for (unsigned i = 0; i < c.sources; i++) source_free(c.data[i]);
}

#endif
