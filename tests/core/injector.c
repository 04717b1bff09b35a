/* The injector: first in, first out; nothing lost and nothing twice; a push that has
 * returned is never overlooked.
 *
 * SPDX-License-Identifier: MIT */
#include "core/injector.h"

#include "harness/harness.h"
#include "pairing.h"

#include <stdlib.h>

/* Zero, and so close to the ends that every test comes past them. */
static const uint64_t STARTS[] = {0, (UINT64_C(1) << 32) - 2, (UINT64_C(1) << 63) - 2,
                                  UINT64_MAX - 1, UINT64_MAX - 40};
enum { START_COUNT = sizeof STARTS / sizeof STARTS[0] };

static char objects[1000];

static void function_a(void *ctx) {
  (void)ctx;
}

static void function_b(void *ctx) {
  *(char *)ctx = 1;
}

static weft_fn *function_of(unsigned i) {
  return i % 2 == 0 ? function_a : function_b;
}

static bool check_take(wf_injector *injector, unsigned i) {
  wf_injected got = {NULL, NULL};
  return CHECK(wf_injector_any(injector)) && CHECK(wf_injector_take(injector, &got)) &&
         CHECK(got.fn == function_of(i)) && CHECK_EQ(got.ctx, &objects[i]);
}

static void check_empty(wf_injector *injector) {
  wf_injected got = {function_a, &objects[7]};
  CHECK(!wf_injector_any(injector));
  CHECK(!wf_injector_take(injector, &got));
  CHECK(got.fn == function_a && got.ctx == &objects[7]); /* untouched */
}

TEST(virgin_injector_is_empty) {
  for (int s = 0; s < START_COUNT; s++) {
    wf_injector injector;
    wf_injector_init(&injector, STARTS[s]);
    check_empty(&injector);
    CHECK(injector.last == NULL); /* it allocates with the first push only */
    wf_injector_destroy(&injector);
  }
}

/* How many segments hang in the queue. */
static unsigned segments_of(const wf_injector *injector) {
  unsigned count = 0;
  const wf_segment *it = injector->first;
  if (it == NULL) it = wf_ptr_load_relaxed(&injector->x_head);
  for (; it != NULL; it = it->next) count++;
  return count;
}

TEST(first_in_first_out_with_growth) {
  for (int s = 0; s < START_COUNT; s++) {
    wf_injector injector;
    wf_injector_init(&injector, STARTS[s]);
    for (unsigned i = 0; i < 1000; i++)
      CHECK_EQ(wf_injector_push(&injector, function_of(i), &objects[i], NULL), 0);
    CHECK_EQ(segments_of(&injector), 1000 / WF_SEGMENT_ENTRIES + 1);
    for (unsigned i = 0; i < 1000; i++)
      if (!check_take(&injector, i)) break;
    check_empty(&injector);
    CHECK_EQ(segments_of(&injector), 1);
    wf_injector_destroy(&injector);
  }
}

/* The next segment is begun, and the last one left, at every position of the other end.
 */
TEST(growth_at_every_position) {
  for (int s = 0; s < START_COUNT; s++) {
    for (unsigned shift = 0; shift <= 2 * WF_SEGMENT_ENTRIES; shift += 3) {
      wf_injector injector;
      wf_injector_init(&injector, STARTS[s]);
      for (unsigned i = 0; i < shift; i++) {
        CHECK_EQ(wf_injector_push(&injector, function_of(i), &objects[i], NULL), 0);
        check_take(&injector, i);
      }
      for (unsigned i = 0; i < 2 * WF_SEGMENT_ENTRIES; i++)
        CHECK_EQ(wf_injector_push(&injector, function_of(i), &objects[i], NULL), 0);
      for (unsigned i = 0; i < 2 * WF_SEGMENT_ENTRIES; i++) check_take(&injector, i);
      check_empty(&injector);
      wf_injector_destroy(&injector);
    }
  }
}

/* ---- taking out of the middle ---- */

static bool is_object(void *ctx, const void *arg) {
  return ctx == arg;
}

TEST(a_match_is_taken_from_anywhere) {
  enum { COUNT = 3 * WF_SEGMENT_ENTRIES };
  for (unsigned which = 0; which < COUNT; which++) {
    wf_injector injector;
    wf_injected got = {NULL, NULL};
    wf_injector_init(&injector, STARTS[which % START_COUNT]);
    CHECK(!wf_injector_take_match(&injector, function_of(0), is_object, objects, &got));
    for (unsigned i = 0; i < COUNT; i++)
      CHECK_EQ(wf_injector_push(&injector, function_of(i), &objects[i], NULL), 0);
    /* The function must be the right one too. */
    CHECK(!wf_injector_take_match(&injector, function_of(which + 1), is_object,
                                  &objects[which], &got));
    CHECK(wf_injector_take_match(&injector, function_of(which), is_object,
                                 &objects[which], &got));
    CHECK(got.fn == function_of(which) && got.ctx == &objects[which]);
    CHECK(!wf_injector_take_match(&injector, function_of(which), is_object,
                                  &objects[which], &got));
    for (unsigned i = 0; i < COUNT; i++)
      if (i != which) check_take(&injector, i);
    check_empty(&injector);
    wf_injector_destroy(&injector);
  }
}

/* What was revoked is never taken, what was taken is not revoked. */
TEST(an_entry_is_revoked_once_or_taken) {
  enum { COUNT = 3 * WF_SEGMENT_ENTRIES };
  static wf_receipt receipts[COUNT];
  for (unsigned step = 1; step < COUNT; step += 5) {
    for (unsigned taken = 0; taken < COUNT; taken += 40) {
      wf_injector injector;
      wf_injector_init(&injector, STARTS[step % START_COUNT]);
      for (unsigned i = 0; i < COUNT; i++)
        CHECK_EQ(wf_injector_push(&injector, function_of(i), &objects[i], &receipts[i]),
                 0);
      for (unsigned i = 0; i < taken; i++) check_take(&injector, i);
      for (unsigned i = COUNT; i-- > 0;) {
        if (i % step != 0) continue;
        CHECK_EQ(wf_injector_revoke(&injector, &receipts[i]), i >= taken);
      }
      for (unsigned i = taken; i < COUNT; i++)
        if (i % step != 0) check_take(&injector, i);
      check_empty(&injector);
      wf_injector_destroy(&injector);
    }
  }
}

static bool is_any(void *ctx, const void *arg) {
  (void)ctx;
  (void)arg;
  return true;
}

/* In any order, mixed with takes from the front: what is left keeps its order, and a
 * queue of holes is empty. */
TEST(many_holes) {
  enum { COUNT = 200 };
  uint64_t random = harness_seed();
  for (unsigned round = 0; round < 200 / harness_slowdown() + 1; round++) {
    bool there[COUNT];
    unsigned left = COUNT, first = 0;
    wf_injector injector;
    wf_injector_init(&injector, STARTS[round % START_COUNT]);
    for (unsigned i = 0; i < COUNT; i++) {
      there[i] = true;
      CHECK_EQ(wf_injector_push(&injector, function_of(i), &objects[i], NULL), 0);
    }
    while (left > 0) {
      CHECK(wf_injector_any(&injector));
      while (!there[first]) first++;
      unsigned which = (unsigned)(harness_random(&random) % COUNT);
      wf_injected got;
      if (harness_random(&random) % 4 == 0) {
        check_take(&injector, first);
        there[first] = false;
        left--;
      } else if (wf_injector_take_match(&injector, function_of(which), is_object,
                                        &objects[which], &got) == there[which]) {
        left -= there[which];
        there[which] = false;
      } else {
        CHECK(false);
        break;
      }
    }
    check_empty(&injector);
    wf_injected got;
    CHECK(!wf_injector_take_match(&injector, function_of(0), is_any, NULL, &got));
    wf_injector_destroy(&injector);
  }
}

TEST(random_pushes_and_takes_against_model) {
  uint64_t random = harness_seed();
  for (int s = 0; s < START_COUNT; s++) {
    wf_injector injector;
    unsigned pushed = 0, taken = 0;
    wf_injector_init(&injector, STARTS[s]);
    for (unsigned i = 0; i < 100 * 1000 / harness_slowdown(); i++) {
      /* About one segment, so that segments are used up and recycled all the time. */
      if (harness_random(&random) % 2 == 0 && pushed - taken < 64) {
        CHECK_EQ(wf_injector_push(&injector, function_of(pushed % 1000),
                                  &objects[pushed % 1000], NULL),
                 0);
        pushed++;
      } else if (pushed == taken) {
        check_empty(&injector);
      } else {
        if (!check_take(&injector, taken % 1000)) break;
        taken++;
      }
      if (!CHECK_EQ(wf_injector_any(&injector), pushed != taken)) break;
    }
    CHECK(segments_of(&injector) <= 3);
    wf_injector_destroy(&injector);
  }
}

static void check_takes_a(wf_injector *injector, unsigned i) {
  wf_injected got = {NULL, NULL};
  CHECK(wf_injector_take(injector, &got));
  CHECK(got.fn == function_a && got.ctx == &objects[i]);
}

/* A leak checker watches this. */
TEST(destroy_with_entries_left) {
  wf_injector injector;
  wf_injector_init(&injector, UINT64_MAX - 10);
  for (unsigned i = 0; i < 300; i++)
    CHECK_EQ(wf_injector_push(&injector, function_a, &objects[i], NULL), 0);
  for (unsigned i = 0; i < 70; i++) check_takes_a(&injector, i);
  wf_injector_destroy(&injector);
  CHECK(injector.first == NULL && injector.last == NULL);
}

/* ---- many producers and consumers ---- */

enum { PRODUCERS = 4, CONSUMERS = 4 };

typedef struct item {
  uint32_t producer;
  uint32_t number;
  wf_u32 taken;
} item;

struct traffic {
  wf_injector injector;
  uint32_t per_producer;
  item *items; /* producer by producer */
  wf_u32 taken;
};

static void produce(struct traffic *it, unsigned producer) {
  for (uint32_t i = 0; i < it->per_producer; i++) {
    item *next = &it->items[producer * it->per_producer + i];
    next->producer = producer;
    next->number = i;
    if (!CHECK_EQ(wf_injector_push(&it->injector, function_of(i), next, NULL), 0)) return;
    /* So that the consumers keep up, and the ring is often nearly empty. */
    unsigned spins = 0;
    while (i % 64 == 63 && wf_injector_any(&it->injector) && spins < 200)
      pairing_pause(&spins);
  }
}

static void consume(struct traffic *it) {
  const uint32_t all = PRODUCERS * it->per_producer;
  int64_t last[PRODUCERS];
  unsigned spins = 0;
  for (int i = 0; i < PRODUCERS; i++) last[i] = -1;
  while (wf_u32_load_acquire(&it->taken) < all) {
    wf_injected got = {NULL, NULL};
    if (!wf_injector_take(&it->injector, &got)) {
      pairing_pause(&spins);
      continue;
    }
    item *next = got.ctx;
    wf_u32_fetch_add_seq_cst(&it->taken, 1);
    CHECK_EQ(wf_u32_fetch_add_relaxed(&next->taken, 1), 0);
    CHECK(got.fn == function_of(next->number));
    /* What one consumer gets of one producer is in the producer's order. */
    CHECK(last[next->producer] < (int64_t)next->number);
    last[next->producer] = next->number;
  }
}

static void traffic_part(unsigned index, void *arg) {
  if (index < PRODUCERS) {
    produce(arg, index);
  } else {
    consume(arg);
  }
}

TEST(four_producers_four_consumers_each_item_once_in_order) {
  for (int s = 0; s < START_COUNT; s++) {
    struct traffic it = {.per_producer = 20 * 1000 / harness_slowdown()};
    const size_t all = PRODUCERS * (size_t)it.per_producer;
    it.items = calloc(all, sizeof *it.items);
    REQUIRE(it.items != NULL);
    wf_injector_init(&it.injector, STARTS[s]);
    harness_run_threads(PRODUCERS + CONSUMERS, traffic_part, &it);
    CHECK_EQ(wf_u32_load_relaxed(&it.taken), all);
    for (size_t i = 0; i < all; i++) CHECK_EQ(wf_u32_load_relaxed(&it.items[i].taken), 1);
    check_empty(&it.injector);
    wf_injector_destroy(&it.injector);
    free(it.items);
  }
}

/* ---- any() ---- */

/* Thread 0 pushes and says so; thread 1 takes and says so before; thread 2 looks. A push
 * that was announced is either in any(), or was about to be taken by then. */
struct looking {
  wf_injector injector;
  uint32_t rounds;
  _Alignas(WF_CACHE_LINE) wf_u64 x_pushed;
  _Alignas(WF_CACHE_LINE) wf_u64 x_taking;
};

static void look(unsigned index, void *arg) {
  struct looking *it = arg;
  wf_injected got;
  unsigned spins = 0;
  for (uint32_t i = 0; index == 0 && i < it->rounds; i++) {
    CHECK_EQ(wf_injector_push(&it->injector, function_a, &objects[0], NULL), 0);
    wf_u64_store_release(&it->x_pushed, i + 1);
    while (i % 16 == 0 && wf_u64_load_acquire(&it->x_taking) <= i) pairing_pause(&spins);
  }
  for (uint32_t i = 0; index == 1 && i < it->rounds;) {
    if (!wf_injector_any(&it->injector)) {
      pairing_pause(&spins);
      continue;
    }
    wf_u64_store_release(&it->x_taking, ++i); /* first say it, then do it */
    if (!CHECK(wf_injector_take(&it->injector, &got))) return;
  }
  while (index == 2) {
    uint64_t pushed = wf_u64_load_acquire(&it->x_pushed);
    bool any = wf_injector_any(&it->injector);
    uint64_t taking = wf_u64_load_acquire(&it->x_taking);
    if (!any && !CHECK_MSG(taking >= pushed, "missed: %llu pushed, %llu taken",
                           (unsigned long long)pushed, (unsigned long long)taking))
      return;
    if (pushed == it->rounds) return;
    pairing_pause(&spins);
  }
}

TEST(any_never_misses_a_push_that_has_returned) {
  for (int s = 0; s < START_COUNT; s++) {
    struct looking it = {.rounds = 20 * 1000 / harness_slowdown()};
    wf_injector_init(&it.injector, STARTS[s]);
    harness_run_threads(3, look, &it);
    check_empty(&it.injector);
    wf_injector_destroy(&it.injector);
  }
}

/* One thread pushes and takes in turn, so that at every moment something is queued. */
static void look_or_change(unsigned index, void *arg) {
  struct looking *it = arg;
  wf_injected got;
  if (index > 0) {
    while (wf_u64_load_acquire(&it->x_taking) < it->rounds)
      if (!CHECK(wf_injector_any(&it->injector))) return;
    return;
  }
  for (uint32_t i = 0; i < it->rounds; i++) {
    CHECK_EQ(wf_injector_push(&it->injector, function_a, &objects[0], NULL), 0);
    CHECK(wf_injector_take(&it->injector, &got));
    wf_u64_store_release(&it->x_taking, i + 1);
  }
}

TEST(any_is_never_false_while_something_is_queued) {
  for (int s = 0; s < START_COUNT; s++) {
    struct looking it = {.rounds = 1000 * 1000 / harness_slowdown()};
    wf_injector_init(&it.injector, STARTS[s]);
    CHECK_EQ(wf_injector_push(&it.injector, function_a, &objects[0], NULL), 0);
    harness_run_threads(2, look_or_change, &it);
    wf_injector_destroy(&it.injector);
  }
}
