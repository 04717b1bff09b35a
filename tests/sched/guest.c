/* Threads from outside that take part in pools: many at once, more than there are places,
 * across pools and back, and what worker indices promise.
 *
 * SPDX-License-Identifier: MIT */
#include "support.h"

#include <pthread.h>
#include <stdlib.h>

static const unsigned SIZES[] = {1, 2, 3, 8, 64};
enum { SIZE_COUNT = sizeof SIZES / sizeof SIZES[0], CALLERS = 16 };

static weft_pool *pool_with_guests(unsigned threads, unsigned guests) {
  weft_config config = WEFT_CONFIG_INIT;
  config.threads = threads;
  config.guests = guests;
  return pool_with(&config);
}

/* ---- V25: many callers ---- */

static void join_many_trees(unsigned index, void *arg) {
  uint64_t random = harness_seed() + index;
  for (unsigned long i = 0; i < scaled(1000); i++)
    check_tree_in(arg, (unsigned)(harness_random(&random) % 10));
}

TEST_LIMIT(v25_many_callers_join_at_once, 120) {
  for (unsigned i = 0; i < SIZE_COUNT; i++) {
    weft_pool *pool = pool_of(SIZES[i]);
    harness_run_threads(CALLERS, join_many_trees, pool);
    weft_pool_destroy(pool);
  }
}

/* The others are served by the started threads. */
TEST_LIMIT(v25_more_callers_than_places, 120) {
  for (unsigned i = 0; i < SIZE_COUNT; i++) {
    for (unsigned guests = 1; guests <= 3; guests += 2) {
      weft_pool *pool = pool_with_guests(SIZES[i], guests);
      harness_run_threads(CALLERS, join_many_trees, pool);
      weft_pool_destroy(pool);
    }
  }
}

static void join_from_outside(unsigned index, void *arg) {
  (void)arg;
  for (unsigned long i = 0; i < scaled(500); i++) check_tree((index + (unsigned)i) % 9);
}

TEST(v25_many_callers_of_the_global_pool) {
  harness_run_threads(CALLERS, join_from_outside, NULL);
  weft_shutdown();
}

/* ---- V10: worker indices ---- */

enum { LIMIT = 256 };

typedef struct claims claims;

typedef struct claim_tree {
  unsigned depth;
  claims *shared;
} claim_tree;

struct claims {
  weft_pool *pool;
  unsigned limit;
  claim_tree root;
  atomic_flag taken[LIMIT];
  atomic_ulong made;
};

/* Nobody else in the pool has this thread's index while it is here. */
static void claim_index(claims *shared) {
  int index = weft_worker_index();
  REQUIRE(index >= 0 && index < LIMIT);
  CHECK_MSG((unsigned)index < shared->limit, "index %d of %u", index, shared->limit);
  CHECK(!atomic_flag_test_and_set(&shared->taken[index]));
  atomic_fetch_add(&shared->made, 1);
  for (int i = 0; i < 20; i++) wf_sys_relax();
  CHECK_EQ(weft_worker_index(), index);
  atomic_flag_clear(&shared->taken[index]);
}

static void claim_in_tree(void *ctx) {
  const claim_tree *self = ctx;
  if (self->depth == 0) {
    claim_index(self->shared);
    return;
  }
  int index = weft_worker_index();
  claim_tree below = {self->depth - 1, self->shared};
  weft_join(claim_in_tree, &below, claim_in_tree, &below);
  CHECK_EQ(weft_worker_index(), index);
}

enum { CLAIMERS = 6 };

static void claim_from_outside(unsigned index, void *arg) {
  claims *shared = arg;
  (void)index;
  for (unsigned long i = 0; i < scaled(500); i++) {
    CHECK_EQ(weft_worker_index(), -1);
    weft_pool_run(shared->pool, claim_in_tree, &shared->root);
    CHECK_EQ(weft_pool_detach(shared->pool, claim_in_tree, &shared->root), 0);
  }
}

static void check_indices(unsigned threads, unsigned guests) {
  claims shared = {.pool = pool_with_guests(threads, guests)};
  for (int i = 0; i < LIMIT; i++) atomic_flag_clear(&shared.taken[i]);
  shared.limit = shared.pool->slots;
  shared.root = (claim_tree){5, &shared};
  harness_run_threads(CLAIMERS, claim_from_outside, &shared);
  weft_pool_destroy(shared.pool);
  CHECK_EQ(atomic_load(&shared.made), 2 * 32 * CLAIMERS * scaled(500));
}

TEST(v10_worker_indices_are_unique) {
  for (unsigned i = 0; i < SIZE_COUNT; i++) {
    check_indices(SIZES[i], 64);
    check_indices(SIZES[i], 2);
  }
}

static void check_index_range(void *ctx) {
  unsigned *expected = ctx;
  CHECK_EQ(weft_worker_index(), *expected);
}

/* One caller has 0; with it, the numbers are those below weft_thread_count. */
TEST(v10_the_only_caller_is_0) {
  weft_pool *pool = pool_of(3);
  unsigned zero = 0;
  for (int i = 0; i < 100; i++) weft_pool_run(pool, check_index_range, &zero);
  weft_pool_destroy(pool);
}

/* Callers that find no place free, from inside another pool: their numbers begin where
 * those of the places end, and are different too. */
enum { VISITORS = 4 };

typedef struct crowded {
  weft_pool *home, *full;
  atomic_bool is_full;
  atomic_uint inside;
  int index[VISITORS + 1];
} crowded;

typedef struct visitor {
  crowded *shared;
  unsigned number;
} visitor;

static void hold_the_place(void *ctx) {
  crowded *c = ctx;
  atomic_store(&c->is_full, true);
  AWAIT(atomic_load(&c->inside) == VISITORS);
}

static void note_index(void *ctx) {
  const visitor *self = ctx;
  self->shared->index[self->number] = weft_worker_index();
  CHECK_MSG(weft_worker_index() >= (int)weft_worker_limit(), "index %d, limit %u",
            weft_worker_index(), weft_worker_limit());
  CHECK_EQ(weft_pool_current(), self->shared->full);
  check_tree(6);
  atomic_fetch_add(&self->shared->inside, 1);
  AWAIT(atomic_load(&self->shared->inside) == VISITORS); /* all are here now */
}

static void visit_the_full_pool(void *ctx) {
  const visitor *self = ctx;
  weft_pool_run(self->shared->full, note_index, ctx);
}

static void crowd_in(unsigned index, void *arg) {
  crowded *c = arg;
  visitor self = {c, index};
  if (index == 0) {
    weft_pool_run(c->full, hold_the_place, c);
  } else {
    AWAIT(atomic_load(&c->is_full));
    weft_pool_run(c->home, visit_the_full_pool, &self);
  }
}

TEST(v10_indices_without_a_place_are_unique) {
  crowded c = {.home = pool_of(2), .full = pool_with_guests(2, 1)};
  harness_run_threads(VISITORS + 1, crowd_in, &c);
  for (int i = 1; i <= VISITORS; i++)
    for (int j = 1; j < i; j++) CHECK(c.index[i] != c.index[j]);
  weft_pool_destroy(c.home);
  weft_pool_destroy(c.full);
}

/* ---- weft_pool_run ---- */

typedef struct place {
  weft_pool *pool;
  int index;
  unsigned calls;
} place;

static void note_place(void *ctx) {
  place *here = ctx;
  here->pool = weft_pool_current();
  here->index = weft_worker_index();
  here->calls++;
}

static void run_again_inside(void *ctx) {
  place *outer = ctx;
  note_place(outer);
  place inner = {0};
  weft_pool_run(outer->pool, note_place, &inner);
  weft_pool_run(NULL, note_place, &inner);
  CHECK_EQ(inner.calls, 2);
  CHECK_EQ(inner.pool, outer->pool);
  CHECK_EQ(inner.index, outer->index);
}

TEST(run_in_the_current_pool) {
  place here = {0};
  weft_pool *pool = pool_of(2);
  weft_pool_run(pool, run_again_inside, &here);
  CHECK_EQ(here.calls, 1);
  CHECK_EQ(here.pool, pool);
  CHECK_EQ(here.index, 0);
  weft_pool_destroy(pool);

  here = (place){0};
  weft_pool_run(NULL, run_again_inside, &here);
  CHECK_EQ(here.calls, 1);
  CHECK_EQ(here.pool, weft_pool_current());
  weft_shutdown();
}

/* The calling thread itself runs the function. */
static void note_thread(void *ctx) {
  *(pthread_t *)ctx = pthread_self();
}

TEST(run_stays_on_the_calling_thread) {
  weft_pool *pool = pool_of(3);
  for (unsigned long i = 0; i < scaled(1000); i++) {
    pthread_t thread;
    weft_pool_run(pool, note_thread, &thread);
    CHECK(pthread_equal(thread, pthread_self()));
  }
  weft_pool_destroy(pool);
}

/* ---- across pools ---- */

typedef struct visit {
  weft_pool *pools[2];
  unsigned depth;
  int seen[2]; /* the thread's index in each pool, -1 while it was not there */
} visit;

/* Goes to and fro between the pools; at each level the thread is who it was there. */
static void visit_in_turn(void *ctx) {
  visit *v = ctx;
  unsigned here = weft_pool_current() == v->pools[1];
  CHECK_EQ(weft_pool_current(), v->pools[here]);
  if (v->seen[here] < 0) v->seen[here] = weft_worker_index();
  CHECK_EQ(weft_worker_index(), v->seen[here]);
  check_tree(5);
  if (v->depth == 0) return;
  v->depth--;
  weft_pool_run(v->pools[!here], visit_in_turn, v);
  CHECK_EQ(weft_pool_current(), v->pools[here]);
  CHECK_EQ(weft_worker_index(), v->seen[here]);
  check_tree(3);
}

static void visit_in_both(weft_pool *a, weft_pool *b, unsigned depth) {
  visit v = {{a, b}, depth, {-1, -1}};
  weft_pool_run(a, visit_in_turn, &v);
  CHECK_EQ(weft_worker_index(), -1);
}

TEST(a_thread_comes_back_to_its_place) {
  weft_pool *a = pool_of(2), *b = pool_of(3);
  for (unsigned long i = 0; i < scaled(200); i++) visit_in_both(a, b, 2);
  weft_pool_destroy(a);
  weft_pool_destroy(b);
}

/* Four deep: into A, B, A again and B again. */
TEST(a_thread_comes_back_to_its_place_four_deep) {
  weft_pool *a = pool_of(2), *b = pool_of(3);
  visit_in_both(a, b, 3);
  visit_in_both(a, b, 9);
  weft_pool_destroy(a);
  weft_pool_destroy(b);
}

/* Cycles between pools with one place each, by many threads at once: somebody always
 * finds no place free, and nobody may wait for a place. */
typedef struct cycle {
  weft_pool *pools[2];
  unsigned depth;
  unsigned here;
} cycle;

static void run_cycle(void *ctx) {
  const cycle *c = ctx;
  check_tree(4);
  if (c->depth == 0) return;
  cycle next = *c;
  next.depth--;
  next.here = !c->here;
  weft_pool_run(c->pools[next.here], run_cycle, &next);
  check_tree(2);
}

static void *shared_pools[2];

static void cycles_from_outside(unsigned index, void *arg) {
  (void)arg;
  for (unsigned long i = 0; i < scaled(300); i++) {
    cycle c = {{shared_pools[0], shared_pools[1]}, 4, (index + (unsigned)i) % 2};
    weft_pool_run(c.pools[c.here], run_cycle, &c);
  }
}

static atomic_ulong cycles_done;

static void detached_cycle(void *ctx) {
  run_cycle(ctx);
  atomic_fetch_add(&cycles_done, 1);
}

TEST_LIMIT(v25_cycles_between_pools, 120) {
  for (unsigned threads = 1; threads <= 3; threads++) {
    shared_pools[0] = pool_with_guests(threads, 1);
    shared_pools[1] = pool_with_guests(2, 1);
    harness_run_threads(8, cycles_from_outside, NULL);
    /* And from the pools' own threads, in both directions. */
    cycle both[2] = {{{shared_pools[0], shared_pools[1]}, 4, 0},
                     {{shared_pools[0], shared_pools[1]}, 4, 1}};
    unsigned long rounds = scaled(300);
    atomic_store(&cycles_done, 0);
    for (unsigned long i = 0; i < rounds; i++)
      for (int side = 0; side < 2; side++)
        CHECK_EQ(weft_pool_detach(shared_pools[side], detached_cycle, &both[side]), 0);
    AWAIT(atomic_load(&cycles_done) == 2 * rounds);
    weft_pool_destroy(shared_pools[0]);
    weft_pool_destroy(shared_pools[1]);
  }
}

/* Joins whose halves run in other pools. */
static void tree_in_the_other(void *ctx) {
  check_tree_in(ctx, 6);
}

static void join_across(void *ctx) {
  weft_join(tree_in_the_other, ctx, tree_in_the_other, ctx);
}

static void joins_across(unsigned index, void *arg) {
  weft_pool **pools = arg;
  for (unsigned long i = 0; i < scaled(200); i++)
    weft_pool_run(pools[index % 2], join_across, pools[(index + 1) % 2]);
}

TEST(v25_joins_across_pools) {
  weft_pool *pools[2] = {pool_with_guests(3, 2), pool_with_guests(2, 1)};
  harness_run_threads(6, joins_across, pools);
  weft_pool_destroy(pools[0]);
  weft_pool_destroy(pools[1]);
}

/* ---- pools inside tasks ---- */

static void use_a_pool_of_its_own(void *ctx) {
  weft_pool *outer = weft_pool_current();
  int index = weft_worker_index();
  weft_pool *pool = pool_of(2);
  check_tree_in(pool, 6);
  weft_pool_destroy(pool);
  CHECK_EQ(weft_pool_current(), outer);
  CHECK_EQ(weft_worker_index(), index);
  count_one(ctx);
}

static void join_with_pools(void *ctx) {
  weft_join(use_a_pool_of_its_own, ctx, use_a_pool_of_its_own, ctx);
}

TEST(v1_pool_made_and_ended_inside_a_task) {
  atomic_ulong done = 0;
  weft_pool *pool = pool_of(3);
  unsigned long rounds = scaled(100);
  for (unsigned long i = 0; i < rounds; i++) {
    weft_pool_run(pool, join_with_pools, &done);
    CHECK_EQ(weft_pool_detach(pool, use_a_pool_of_its_own, &done), 0);
  }
  weft_pool_destroy(pool);
  CHECK_EQ(atomic_load(&done), 3 * rounds);
}

/* ---- short lives ---- */

static void *visit_once(void *arg) {
  check_tree_in(arg, 5);
  return NULL;
}

TEST(v25_short_lived_callers) {
  weft_pool *pool = pool_of(2);
  unsigned baseline = harness_thread_count();
  for (unsigned long i = 0; i < scaled(2000); i++) {
    pthread_t threads[2];
    for (int t = 0; t < 2; t++)
      REQUIRE(pthread_create(&threads[t], NULL, visit_once, pool) == 0);
    for (int t = 0; t < 2; t++) pthread_join(threads[t], NULL);
  }
  CHECK_EQ(harness_thread_count(), baseline);
  weft_pool_destroy(pool);
}
