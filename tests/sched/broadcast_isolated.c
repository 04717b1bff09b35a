/* Broadcasts by isolated code: several at once, inside of each other, and by what more
 * than one isolated call waits for. A thread that waits in a part of such a call must
 * answer, or they all wait for each other.
 *
 * SPDX-License-Identifier: MIT */
#include "support.h"

#include <pthread.h>

static void count_call(unsigned index, unsigned count, void *ctx) {
  CHECK(index < count);
  atomic_fetch_add((atomic_ulong *)ctx, 1);
}

static void count_and_broadcast(unsigned index, unsigned count, void *ctx) {
  count_call(index, count, ctx);
  weft_broadcast(count_call, ctx);
}

/* ---- two at once ---- */

/* Each of the isolated calls is on two threads: one broadcasts, when all are at that
 * point, and the other waits for it. */
typedef struct company {
  void (*fn)(unsigned index, unsigned count, void *ctx);
  unsigned size;
  atomic_uint there;
  atomic_uint gone;
  atomic_ulong calls;
} company;

typedef struct member {
  pairing pair;
  company *all;
} member;

static void broadcast_when_all_are_there(void *ctx) {
  member *m = ctx;
  b_begins(&m->pair);
  atomic_fetch_add(&m->all->there, 1);
  AWAIT(atomic_load(&m->all->there) == m->all->size);
  weft_broadcast(m->all->fn, &m->all->calls);
}

static void join_a_broadcast(void *ctx) {
  member m = {.pair = {.a_thread = pthread_self()}, .all = ctx};
  weft_join(a_until_b, &m.pair, broadcast_when_all_are_there, &m);
}

static void isolate_a_broadcast(void *ctx) {
  weft_isolate(join_a_broadcast, ctx);
  atomic_fetch_add(&((company *)ctx)->gone, 1);
}

/* calls: of each thread for each broadcast. */
static void several_at_once(unsigned size, unsigned long calls,
                            void (*fn)(unsigned index, unsigned count, void *ctx)) {
  unsigned started = 2 * size;
  weft_pool *pool = pool_of(started + 1);
  for (unsigned long round = 0; round < scaled(50); round++) {
    company all = {.fn = fn, .size = size};
    for (unsigned i = 0; i < size; i++)
      REQUIRE(weft_pool_detach(pool, isolate_a_broadcast, &all) == 0);
    AWAIT(atomic_load(&all.gone) == size);
    CHECK_EQ(atomic_load(&all.calls), size * started * calls);
  }
  weft_pool_destroy(pool);
}

TEST(two_isolated_calls_broadcast) {
  several_at_once(2, 1, count_call);
}

TEST(four_isolated_calls_broadcast) {
  several_at_once(4, 1, count_call);
}

TEST(isolated_calls_broadcast_inside_broadcasts) {
  several_at_once(1, 1 + 2, count_and_broadcast);
  several_at_once(2, 1 + 4, count_and_broadcast);
}

/* ---- two who wait for the same function ---- */

/* `below` is a handle's function on two threads. Its second half lets `caller` through,
 * and so waits for it as its first half does. `waiter` is another handle's function and
 * waits for `caller`, which broadcasts. */
typedef struct bystanders {
  pairing pair;
  weft_handle *caller;
  atomic_bool may_yield, caller_began, waiter_began, waiter_waits;
  atomic_ulong calls;
} bystanders;

enum { CALLS_OF_ONE = 20 };

static void let_the_caller_through(void *ctx) {
  bystanders *by = ctx;
  b_begins(&by->pair);
  AWAIT(atomic_load(&by->may_yield));
  while (!atomic_load(&by->caller_began)) weft_yield();
}

static void below(void *ctx) {
  bystanders *by = ctx;
  by->pair.a_thread = pthread_self();
  weft_join(a_until_b, &by->pair, let_the_caller_through, by);
}

static void waiter(void *ctx) {
  bystanders *by = ctx;
  atomic_store(&by->waiter_began, true);
  AWAIT(atomic_load(&by->caller_began));
  atomic_store(&by->waiter_waits, true);
  CHECK_EQ(weft_handle_wait(by->caller), 0);
}

static void caller(void *ctx) {
  bystanders *by = ctx;
  atomic_store(&by->caller_began, true);
  AWAIT(atomic_load(&by->waiter_waits));
  for (int i = 0; i < CALLS_OF_ONE; i++) weft_broadcast(count_call, &by->calls);
}

TEST(two_isolated_calls_wait_for_the_caller) {
  weft_pool *pool = pool_of(4); /* three are started, and all have a part */
  weft_opts opts = opts_on(pool);
  for (unsigned long round = 0; round < scaled(50); round++) {
    bystanders by = {.caller = NULL};
    weft_handle *first, *second;
    REQUIRE(weft_async_with(&opts, &first, below, &by) == 0);
    AWAIT(atomic_load(&by.pair.b_began));
    REQUIRE(weft_async_with(&opts, &second, waiter, &by) == 0);
    AWAIT(atomic_load(&by.waiter_began));
    REQUIRE(weft_async_with(&opts, &by.caller, caller, &by) == 0);
    atomic_store(&by.may_yield, true);
    AWAIT(weft_handle_done(first) && weft_handle_done(second));
    CHECK_EQ(atomic_load(&by.calls), 3 * CALLS_OF_ONE);
    weft_handle_drop(first);
    weft_handle_drop(second);
  }
  weft_pool_destroy(pool);
}
