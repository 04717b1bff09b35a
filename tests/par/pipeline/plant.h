/* plant.h - a pipeline that watches itself: every stage checks who comes, in which order,
 * what the stage before has left in the item, and that nobody else is in a stage that
 * admits one at a time.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_PAR_PIPELINE_PLANT_H
#define TESTS_PAR_PIPELINE_PLANT_H

#include "par/support.h"

enum { MOST_STAGES = 5, MOST_ITEMS = 2000 };

/* What is in an item; the stages before `step` have run. */
typedef struct part {
  size_t number;
  unsigned step;
  uint64_t sum;
} part;

typedef struct plant plant;

typedef struct post {
  plant *in;
  unsigned stage;
  unsigned inside;    /* plain: two threads at once in a serial stage are a data race */
  size_t next;        /* plain: the number that an ordered stage expects */
  uint64_t turns;     /* plain: calls of a serial stage */
  atomic_ulong calls; /* of any stage */
} post;

/* The numbers that have no item, and what goes wrong. */
struct plant {
  weft_stage stages[MOST_STAGES];
  post posts[MOST_STAGES];
  unsigned count;
  size_t items;
  size_t fail_at[2]; /* SIZE_MAX: never */
  unsigned fail_in[2];
  int error[2];
  size_t cancel_at; /* SIZE_MAX: never */
  unsigned cancel_in;
  weft_scope *cancel; /* NULL: the scope of the pipeline */
  void (*work)(plant *p, unsigned stage, size_t number); /* NULL: none */
  atomic_ulong in_flight, most_in_flight;
  unsigned char through[MOST_ITEMS][MOST_STAGES]; /* plain marks */
};

static inline uint64_t step_of(uint64_t sum, size_t number, unsigned stage) {
  return (sum ^ (number + 1)) * 0x9e3779b97f4a7c15u + stage;
}

static inline uint64_t whole_of(size_t number, unsigned count) {
  uint64_t sum = 0;
  for (unsigned s = 0; s < count; s++) sum = step_of(sum, number, s);
  return sum;
}

static inline void note_most(plant *p) {
  unsigned long now = atomic_fetch_add(&p->in_flight, 1) + 1;
  unsigned long most = atomic_load(&p->most_in_flight);
  while (most < now && !atomic_compare_exchange_weak(&p->most_in_flight, &most, now)) {
  }
}

static inline weft_stage_kind plain_kind(weft_stage_kind kind) {
  return (weft_stage_kind)((unsigned)kind & 3u);
}

/* What an item, and the place, must look like before the work. */
static inline void check_arrival(post *own, const part *item, size_t number) {
  plant *p = own->in;
  weft_stage_kind kind = plain_kind(p->stages[own->stage].kind);
  if (kind != WEFT_STAGE_PARALLEL) {
    CHECK_EQ(own->inside, 0);
    own->inside++;
    own->turns++;
  }
  bool in_order =
      kind == WEFT_STAGE_ORDERED || (own->stage == 0 && kind != WEFT_STAGE_PARALLEL);
  if (in_order) CHECK_EQ(number, own->next++);
  if (own->stage > 0) {
    CHECK_EQ(item->number, number);
    CHECK_EQ(item->step, own->stage);
  }
  CHECK(number < MOST_ITEMS);
}

static inline int outcome(plant *p, unsigned stage, size_t number) {
  for (int f = 0; f < 2; f++)
    if (number == p->fail_at[f] && stage == p->fail_in[f]) return p->error[f];
  if (number == p->cancel_at && stage == p->cancel_in)
    weft_scope_cancel(p->cancel != NULL ? p->cancel : weft_scope_current(), 99);
  return 0;
}

static inline int plant_stage(void *memory, size_t number, void *ctx) {
  post *own = ctx;
  plant *p = own->in;
  part *item = memory;
  if (own->stage == 0 && number >= p->items) return WEFT_END;
  atomic_fetch_add(&own->calls, 1);
  if (own->stage == 0) {
    note_most(p);
    *item = (part){number, 0, 0};
  }
  check_arrival(own, item, number);
  if (p->work != NULL) p->work(p, own->stage, number);
  item->sum = step_of(item->sum, number, own->stage);
  item->step++;
  int error = outcome(p, own->stage, number);
  if (error == 0) p->through[number][own->stage]++;
  if (own->stage + 1 == p->count) {
    CHECK_EQ(item->sum, whole_of(number, p->count));
    atomic_fetch_sub(&p->in_flight, 1);
  }
  if (plain_kind(p->stages[own->stage].kind) != WEFT_STAGE_PARALLEL) own->inside--;
  return error;
}

/* Builds a plant; kinds[s] is the kind of stage s. */
static inline plant *plant_of(const weft_stage_kind *kinds, unsigned count,
                              size_t items) {
  plant *p = calloc(1, sizeof *p);
  REQUIRE(p != NULL && count <= MOST_STAGES && items <= MOST_ITEMS);
  p->count = count;
  p->items = items;
  p->fail_at[0] = p->fail_at[1] = p->cancel_at = SIZE_MAX;
  for (unsigned s = 0; s < count; s++) {
    p->posts[s].in = p;
    p->posts[s].stage = s;
    p->stages[s] = (weft_stage){kinds[s], plant_stage, &p->posts[s]};
  }
  return p;
}

/* Every item has gone through every stage once. */
static inline void check_all_through(const plant *p) {
  for (size_t i = 0; i < p->items; i++)
    for (unsigned s = 0; s < p->count; s++)
      if (p->through[i][s] != 1) {
        CHECK_MSG(false, "item %zu of %zu went %u times through stage %u of %u", i,
                  p->items, p->through[i][s], s, p->count);
        return;
      }
}

static inline void plant_reset(plant *p) {
  memset(p->through, 0, sizeof p->through);
  for (unsigned s = 0; s < p->count; s++) {
    p->posts[s].inside = 0;
    p->posts[s].next = 0;
    atomic_store(&p->posts[s].calls, 0);
  }
  atomic_store(&p->in_flight, 0);
  atomic_store(&p->most_in_flight, 0);
}

/* Writes the kinds of mixture number `mixture`, of 3 ^ count. */
static inline void kinds_of(unsigned mixture, unsigned count, weft_stage_kind *kinds) {
  for (unsigned s = 0; s < count; s++, mixture /= 3)
    kinds[s] = (weft_stage_kind)(mixture % 3);
}

static inline unsigned mixtures_of(unsigned count) {
  unsigned mixtures = 1;
  while (count-- > 0) mixtures *= 3;
  return mixtures;
}

#endif
