/* link: -Wl,--wrap=pthread_create,--wrap=__imp_CreateThread */
/* A system that refuses threads: the pool works with those it got, and without any the
 * callers do everything.
 *
 * SPDX-License-Identifier: MIT */
#include "support.h"

#include "harness/thread_limit.h"

static weft_pool *pool_with_refusal(unsigned threads, unsigned guests, long granted) {
  weft_config config = WEFT_CONFIG_INIT;
  config.threads = threads;
  config.guests = guests;
  atomic_store(&allowed, granted);
  weft_pool *pool = pool_with(&config);
  atomic_store(&allowed, -1);
  return pool;
}

typedef struct shared {
  weft_pool *pool;
  atomic_ulong ran;
} shared;

static void use(unsigned index, void *arg) {
  shared *s = arg;
  for (unsigned long i = 0; i < scaled(2000); i++) {
    check_tree_in(s->pool, (unsigned)(i + index) % 8);
    CHECK_EQ(weft_pool_detach(s->pool, count_one, &s->ran), 0);
  }
}

static void check_use(weft_pool *pool, unsigned callers) {
  shared s = {.pool = pool};
  harness_run_threads(callers, use, &s);
  weft_pool_destroy(pool);
  CHECK_EQ(atomic_load(&s.ran), callers * scaled(2000));
}

static void check_count(void *ctx) {
  CHECK_EQ(weft_thread_count(), *(const unsigned *)ctx);
}

TEST(v11_the_kth_thread_is_refused) {
  enum { THREADS = 6 };
  unsigned baseline = harness_thread_count();
  for (unsigned granted = 0; granted < THREADS; granted++) {
    unsigned count = granted + 1;
    weft_pool *pool = pool_with_refusal(THREADS, 64, granted);
    CHECK_EQ(wf_pool_started(pool), granted);
    CHECK_EQ(harness_thread_count(), baseline + granted);
    weft_pool_run(pool, check_count, &count);
    check_use(pool, 4);
    CHECK_EQ(harness_thread_count(), baseline);
  }
}

/* ---- no thread at all ---- */

TEST(v30_no_thread_and_one_caller) {
  check_use(pool_with_refusal(4, 64, 0), 1);
  check_use(pool_with_refusal(1, 64, 0), 1);
}

/* The guests may still share their work with each other. */
TEST(v30_no_thread_and_many_callers) {
  check_use(pool_with_refusal(4, 64, 0), 8);
  check_use(pool_with_refusal(1, 64, 0), 8);
}

TEST(v30_no_thread_and_more_callers_than_places) {
  check_use(pool_with_refusal(4, 1, 0), 8);
  check_use(pool_with_refusal(1, 1, 0), 8);
}

typedef struct order {
  unsigned number;
  unsigned *next;
  pthread_t thread;
} order;

static void check_order(void *ctx) {
  order *self = ctx;
  CHECK_EQ((*self->next)++, self->number);
  CHECK(pthread_equal(self->thread, pthread_self()));
}

/* Detached work is done in the call, by the caller. */
TEST(v2_no_thread_and_detached_work) {
  unsigned next = 0;
  weft_pool *pool = pool_with_refusal(3, 64, 0);
  for (unsigned i = 0; i < 100; i++) {
    order job = {i, &next, pthread_self()};
    CHECK_EQ(weft_pool_detach(pool, check_order, &job), 0);
    CHECK_EQ(next, i + 1);
  }
  weft_pool_destroy(pool);
}

/* From another pool into one without threads whose only place is taken. */
static void tree_inside(void *ctx) {
  check_tree_in(ctx, 5);
}

typedef struct pools {
  weft_pool *with, *without;
} pools;

static void visit(unsigned index, void *arg) {
  const pools *both = arg;
  (void)index;
  for (unsigned long i = 0; i < scaled(2000); i++) {
    weft_pool_run(both->with, tree_inside, both->without);
    weft_pool_run(both->without, tree_inside, both->with);
  }
}

TEST(v25_visits_to_a_pool_without_threads) {
  pools both = {pool_of(2), pool_with_refusal(3, 1, 0)};
  harness_run_threads(6, visit, &both);
  weft_pool_destroy(both.with);
  weft_pool_destroy(both.without);
}

TEST(v1_global_pool_without_threads) {
  atomic_store(&allowed, 0);
  check_tree(10);
  CHECK_EQ(weft_thread_count(), 1);
  atomic_ulong ran = 0;
  CHECK_EQ(weft_detach(count_one, &ran), 0);
  CHECK_EQ(atomic_load(&ran), 1);
  weft_shutdown();
  atomic_store(&allowed, -1);
  check_tree(10);
  weft_shutdown();
}
