/* Detached work: it arrives with its context, in order, from anywhere; none is dropped
 * when the pool ends, and none starves.
 *
 * SPDX-License-Identifier: MIT */
#include "sched/search.h"
#include "support.h"

#include <stdlib.h>

/* ---- V2: order, context, errors ---- */

enum { ORDERED = 10000 };

typedef struct numbered {
  unsigned number;
  atomic_uint *next;
} numbered;

static void check_turn(void *ctx) {
  const numbered *self = ctx;
  CHECK_EQ(atomic_fetch_add(self->next, 1), self->number);
}

/* With one started thread the order in which the work came can be seen. */
TEST(v2_detached_work_runs_in_order) {
  static numbered jobs[ORDERED];
  atomic_uint next = 0;
  weft_pool *pool = pool_of(1);
  for (unsigned i = 0; i < ORDERED; i++) {
    jobs[i] = (numbered){i, &next};
    CHECK_EQ(weft_pool_detach(pool, check_turn, &jobs[i]), 0);
  }
  weft_pool_destroy(pool);
  CHECK_EQ(atomic_load(&next), ORDERED);
}

TEST(v2_detach_of_nothing) {
  weft_pool *pool = pool_of(2);
  weft_stats stats = WEFT_STATS_INIT;
  CHECK_EQ(weft_pool_detach(pool, NULL, NULL), WEFT_EINVAL);
  CHECK_EQ(weft_pool_detach(NULL, NULL, NULL), WEFT_EINVAL);
  CHECK_EQ(weft_detach(NULL, NULL), WEFT_EINVAL);
  weft_pool_stats(pool, &stats);
  CHECK_EQ(stats.injected, 0);
  weft_pool_destroy(pool);
  weft_shutdown();
}

static void check_where(void *ctx) {
  CHECK_EQ(weft_pool_current(), ctx);
  /* It is a started thread that runs it, though two callers are free to help. */
  int index = weft_worker_index();
  CHECK_MSG(index >= 1 && index <= 2, "%d", index);
}

TEST(v2_detached_work_runs_on_started_threads) {
  weft_pool *pool = pool_of(3);
  for (unsigned long i = 0; i < scaled(1000); i++)
    CHECK_EQ(weft_pool_detach(pool, check_where, pool), 0);
  for (unsigned long i = 0; i < scaled(100); i++) check_tree_in(pool, 6);
  weft_pool_destroy(pool);
}

TEST(v2_detach_into_the_global_pool) {
  atomic_ulong ran = 0;
  for (int i = 0; i < 100; i++) CHECK_EQ(weft_detach(count_one, &ran), 0);
  for (int i = 0; i < 100; i++) CHECK_EQ(weft_pool_detach(NULL, count_one, &ran), 0);
  weft_shutdown();
  CHECK_EQ(atomic_load(&ran), 200);
}

/* ---- V26, V12: none is dropped ---- */

TEST(v26_all_detached_work_runs_before_the_end) {
  for (unsigned threads = 1; threads <= 4; threads++) {
    unsigned long jobs = scaled(100000);
    atomic_ulong ran = 0;
    weft_pool *pool = pool_of(threads);
    for (unsigned long i = 0; i < jobs; i++)
      if (weft_pool_detach(pool, count_one, &ran) != 0) CHECK(false);
    weft_pool_destroy(pool);
    CHECK_EQ(atomic_load(&ran), jobs);
  }
}

/* Each one detaches two more, until a depth is reached, also while the pool ends. */
typedef struct shower {
  unsigned depth;
  atomic_ulong *ran;
} shower;

static void spread(void *ctx) {
  shower *self = ctx;
  if (self->depth > 0) {
    for (int i = 0; i < 2; i++) {
      shower *next = malloc(sizeof *next);
      REQUIRE(next != NULL);
      *next = (shower){self->depth - 1, self->ran};
      CHECK_EQ(weft_detach(spread, next), 0);
    }
  }
  atomic_fetch_add(self->ran, 1);
  free(self);
}

TEST(v26_work_detached_during_the_end_runs) {
  for (unsigned long round = 0; round < scaled(50); round++) {
    for (unsigned threads = 1; threads <= 4; threads++) {
      atomic_ulong ran = 0;
      shower *first = malloc(sizeof *first);
      REQUIRE(first != NULL);
      *first = (shower){10, &ran};
      weft_pool *pool = pool_of(threads);
      CHECK_EQ(weft_pool_detach(pool, spread, first), 0);
      weft_pool_destroy(pool);
      CHECK_EQ(atomic_load(&ran), 2047);
    }
  }
}

typedef struct producers {
  weft_pool *pool;
  atomic_ulong ran;
} producers;

static void produce(unsigned index, void *arg) {
  producers *shared = arg;
  (void)index;
  for (unsigned long i = 0; i < scaled(20000); i++)
    if (weft_pool_detach(shared->pool, count_one, &shared->ran) != 0) CHECK(false);
}

TEST(v12_detach_from_many_threads) {
  for (unsigned threads = 1; threads <= 8; threads *= 2) {
    producers shared = {.pool = pool_of(threads)};
    harness_run_threads(8, produce, &shared);
    weft_pool_destroy(shared.pool);
    CHECK_EQ(atomic_load(&shared.ran), 8 * scaled(20000));
  }
}

static void join_and_count(void *ctx) {
  check_tree(8);
  count_one(ctx);
}

TEST(v12_detached_tasks_that_join) {
  for (unsigned threads = 1; threads <= 8; threads *= 2) {
    unsigned long jobs = scaled(2000);
    atomic_ulong ran = 0;
    weft_pool *pool = pool_of(threads);
    for (unsigned long i = 0; i < jobs; i++)
      CHECK_EQ(weft_pool_detach(pool, join_and_count, &ran), 0);
    weft_pool_destroy(pool);
    CHECK_EQ(atomic_load(&ran), jobs);
  }
}

/* ---- nobody starves ---- */

static void detach_and_join_until(void *ctx) {
  atomic_ulong *ran = ctx;
  check_tree(8);
  CHECK_EQ(weft_detach(count_one, ran), 0);
  while (atomic_load(ran) == 0) check_tree(6);
}

static void join_until(void *ctx) {
  atomic_ulong *ran = ctx;
  while (atomic_load(ran) == 0) check_tree(6);
}

/* Seen from one worker that always finds a task to steal: the injected job is taken in
 * the 61st search at the latest. */
TEST(v12_every_61st_search_looks_at_injected_work_first) {
  enum { TURN = 61 };
  wf_options options;
  weft_config config = WEFT_CONFIG_INIT;
  weft_pool *pool = NULL;
  config.threads = 3;
  REQUIRE(wf_options_resolve(&options, &config, (wf_environment){0}) == 0);
  REQUIRE(wf_pool_allocate(&pool, &options) == 0);
  wf_bitset_add(pool->x_present, 1);
  wf_bitset_add(pool->x_present, 2);
  atomic_ulong ran = 0;
  unsigned taken = 0;
  for (unsigned i = 0; i < 10; i++)
    CHECK_EQ(wf_injector_push(&pool->injector, count_one, &ran, NULL), 0);
  for (unsigned i = 1; i <= 10 * TURN; i++) {
    wf_task task = {do_nothing, NULL, {{0}}};
    wf_deque_news news;
    wf_work work;
    CHECK(wf_deque_prepare(&pool->workers[2].deque) == 0); /* the next fork is public */
    CHECK(wf_deque_push(&pool->workers[2].deque, &task));
    CHECK(wf_deque_fork_slow(&pool->workers[2].deque, &news) == NULL);
    REQUIRE(wf_search_anything(&pool->workers[1], &work));
    taken += work.task == NULL;
    CHECK_EQ(taken, i / TURN);
    if (work.task == NULL)
      CHECK_EQ(wf_deque_pop(&pool->workers[2].deque, &news), &task);
    else
      CHECK_EQ(work.task, &task);
  }
  CHECK_EQ(taken, 10);
  wf_pool_free(pool);
}

/* The outside caller keeps the only started thread supplied with tasks for as long as the
 * detached job has not run. */
TEST(v12_detached_work_does_not_starve) {
  for (unsigned threads = 2; threads <= 3; threads++) {
    weft_pool *pool = pool_of(threads);
    for (unsigned long i = 0; i < scaled(300); i++) {
      atomic_ulong ran = 0;
      weft_pool_run(pool, detach_and_join_until, &ran);
    }
    weft_pool_destroy(pool);
  }
}

/* More handed-in callers than places: they too get their turn while others join. */
typedef struct endless {
  weft_pool *pool;
  atomic_ulong ran;
} endless;

static void hand_in_or_join(unsigned index, void *arg) {
  endless *shared = arg;
  if (index == 0)
    weft_pool_run(shared->pool, join_until, &shared->ran);
  else
    weft_pool_run(shared->pool, count_one, &shared->ran);
}

TEST(v12_handed_in_calls_do_not_starve) {
  weft_config config = WEFT_CONFIG_INIT;
  config.threads = 2;
  config.guests = 1;
  weft_pool *pool = pool_with(&config);
  for (unsigned long i = 0; i < scaled(300); i++) {
    endless shared = {.pool = pool};
    harness_run_threads(3, hand_in_or_join, &shared);
    CHECK_EQ(atomic_load(&shared.ran), 2);
  }
  weft_pool_destroy(pool);
}
