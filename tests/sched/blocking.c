/* Blocking sections: other threads take over while tasks block, not more of them than the
 * configuration says, and afterwards there are as many at work as before.
 *
 * SPDX-License-Identifier: MIT */
#include "support.h"

#include <pthread.h>

static weft_pool *pool_with_blocking(unsigned threads, unsigned blocking) {
  weft_config config = WEFT_CONFIG_INIT;
  config.threads = threads;
  config.blocking = blocking;
  return pool_with(&config);
}

/* ---- tasks that block until another one runs ---- */

enum { MOST_INDICES = 4096 };

typedef struct stand {
  gate hold;
  unsigned blockers;
  atomic_ulong done;
  atomic_flag taken[MOST_INDICES]; /* worker indices, while a task is in a section */
} stand;

static stand *stand_of(unsigned blockers) {
  stand *s = calloc(1, sizeof *s);
  REQUIRE(s != NULL);
  for (int i = 0; i < MOST_INDICES; i++) atomic_flag_clear(&s->taken[i]);
  s->blockers = blockers;
  return s;
}

static void block(void *ctx) {
  stand *s = ctx;
  int index = weft_worker_index();
  REQUIRE(index >= 0 && index < MOST_INDICES);
  CHECK_MSG((unsigned)index < weft_worker_limit(), "index %d of %u", index,
            weft_worker_limit());
  weft_blocking_begin();
  CHECK(!atomic_flag_test_and_set(&s->taken[index])); /* nobody else has it meanwhile */
  gate_pass(&s->hold);
  atomic_flag_clear(&s->taken[index]);
  weft_blocking_end();
  CHECK_EQ(weft_worker_index(), index);
  atomic_fetch_add(&s->done, 1);
}

static void open_when_all_block(void *ctx) {
  stand *s = ctx;
  AWAIT(atomic_load(&s->hold.inside) == s->blockers);
  gate_open(&s->hold);
  atomic_fetch_add(&s->done, 1);
}

/* As many tasks block as threads can be added, and then one more must run. */
static void block_and_open(weft_pool *pool, unsigned blockers) {
  stand *s = stand_of(blockers);
  for (unsigned i = 0; i < blockers; i++) CHECK_EQ(weft_pool_detach(pool, block, s), 0);
  CHECK_EQ(weft_pool_detach(pool, open_when_all_block, s), 0);
  AWAIT(atomic_load(&s->done) == blockers + 1);
  free(s);
}

TEST(others_run_while_tasks_block) {
  unsigned baseline = harness_thread_count();
  for (unsigned threads = 1; threads <= 4; threads++) {
    for (unsigned blocking = 1; blocking <= 8; blocking *= 2) {
      weft_pool *pool = pool_with_blocking(threads, blocking);
      for (unsigned long i = 0; i < scaled(50); i++) {
        block_and_open(pool, blocking);
        unsigned now = harness_thread_count() - baseline;
        CHECK_MSG(now <= wf_pool_started(pool) + blocking, "%u threads", now);
      }
      weft_pool_destroy(pool);
      CHECK_EQ(harness_thread_count(), baseline);
    }
  }
}

/* By default as many as `threads`. */
TEST(the_default_limit) {
  for (unsigned threads = 2; threads <= 5; threads++) {
    weft_pool *pool = pool_with_blocking(threads, 0);
    for (unsigned long i = 0; i < scaled(50); i++) block_and_open(pool, threads);
    weft_pool_destroy(pool);
  }
}

/* Threads that come and go with their pools. */
TEST(pools_end_with_their_added_threads) {
  unsigned baseline = harness_thread_count();
  for (unsigned long i = 0; i < scaled(300); i++) {
    weft_pool *pool = pool_with_blocking((unsigned)(i % 3) + 1, 3);
    block_and_open(pool, (unsigned)(i / 3 % 3) + 1);
    weft_pool_destroy(pool);
    CHECK_EQ(harness_thread_count(), baseline);
  }
}

/* ---- the limit ---- */

/* More tasks block than threads can be added: started and added ones all stand in the
 * gate, and no further one comes. */
static void check_limit(unsigned threads, unsigned blocking, unsigned added) {
  unsigned baseline = harness_thread_count();
  stand *s = stand_of(0);
  weft_pool *pool = pool_with_blocking(threads, blocking);
  unsigned most = wf_pool_started(pool) + added;
  for (unsigned i = 0; i < most + 5; i++) CHECK_EQ(weft_pool_detach(pool, block, s), 0);
  AWAIT(atomic_load(&s->hold.inside) >= most);
  give_others_time();
  CHECK_EQ(atomic_load(&s->hold.inside), most);
  CHECK_EQ(harness_thread_count(), baseline + most);
  gate_open(&s->hold);
  AWAIT(atomic_load(&s->done) == most + 5);
  weft_pool_destroy(pool);
  CHECK_EQ(harness_thread_count(), baseline);
  free(s);
}

TEST(sections_beyond_the_limit_simply_block) {
  for (unsigned long i = 0; i < scaled(20); i++) {
    for (unsigned threads = 1; threads <= 4; threads++) {
      check_limit(threads, 1, 1);
      check_limit(threads, 3, 3);
      check_limit(threads, 0, threads);
    }
  }
}

TEST(no_blocking) {
  for (unsigned long i = 0; i < scaled(50); i++)
    for (unsigned threads = 1; threads <= 4; threads++)
      check_limit(threads, WEFT_NO_BLOCKING, 0);
}

TEST(limits_of_the_configuration) {
  weft_config config = WEFT_CONFIG_INIT;
  weft_pool *pool = (weft_pool *)(uintptr_t)1;
  config.threads = 2;
  config.blocking = WEFT_MAX_BLOCKING + 1;
  CHECK_EQ(weft_pool_create(&pool, &config), WEFT_EINVAL);
  CHECK(pool == NULL);
  config.blocking = WEFT_MAX_BLOCKING;
  pool = pool_with(&config);
  block_and_open(pool, 2);
  weft_pool_destroy(pool);
}

/* ---- as many at work as before ---- */

typedef struct workload {
  crowd at_work;
  atomic_ulong ran;
} workload;

static void work(void *ctx) {
  workload *w = ctx;
  crowd_enter(&w->at_work);
  spin(50);
  sched_yield();
  crowd_leave(&w->at_work);
  atomic_fetch_add(&w->ran, 1);
}

/* `expected` tasks run at once at most, and that many do if they wait for each other. */
typedef struct meeting {
  unsigned expected;
  atomic_uint present, left;
} meeting;

static void meet(void *ctx) {
  meeting *m = ctx;
  atomic_fetch_add(&m->present, 1);
  AWAIT(atomic_load(&m->present) >= m->expected);
  atomic_fetch_add(&m->left, 1);
}

static void check_at_work(weft_pool *pool, unsigned expected) {
  enum { JOBS = 60 };
  workload w = {.ran = 0};
  meeting m = {.expected = expected};
  for (int i = 0; i < JOBS; i++) CHECK_EQ(weft_pool_detach(pool, work, &w), 0);
  AWAIT(atomic_load(&w.ran) == JOBS);
  CHECK_MSG(atomic_load(&w.at_work.most) <= expected, "%lu at work, not %u",
            atomic_load(&w.at_work.most), expected);
  for (unsigned i = 0; i < expected; i++) CHECK_EQ(weft_pool_detach(pool, meet, &m), 0);
  AWAIT(atomic_load(&m.left) == expected);
}

/* No thread is in a section any more. A stand-in that was looking for work when the last
 * one ended may take one more task, and then stops. */
static void check_back_to_normal(weft_pool *pool) {
  AWAIT(wf_u32_load_relaxed(&pool->x_stand_ins_active) == 0);
  check_at_work(pool, wf_pool_started(pool));
}

/* While tasks stand in sections. */
TEST(as_many_at_work_during_sections) {
  for (unsigned threads = 2; threads <= 4; threads++) {
    for (unsigned blockers = 1; blockers <= 3; blockers++) {
      weft_pool *pool = pool_with_blocking(threads, 3);
      for (unsigned long i = 0; i < scaled(20); i++) {
        stand *s = stand_of(blockers);
        for (unsigned k = 0; k < blockers; k++)
          CHECK_EQ(weft_pool_detach(pool, block, s), 0);
        AWAIT(atomic_load(&s->hold.inside) == blockers);
        check_at_work(pool, wf_pool_started(pool));
        gate_open(&s->hold);
        AWAIT(atomic_load(&s->done) == blockers);
        free(s);
      }
      weft_pool_destroy(pool);
    }
  }
}

/* And when they have left them. */
TEST(as_many_at_work_after_sections) {
  for (unsigned threads = 1; threads <= 4; threads++) {
    weft_pool *pool = pool_with_blocking(threads, 4);
    for (unsigned long i = 0; i < scaled(100); i++) {
      block_and_open(pool, (unsigned)(i % 4) + 1);
      check_back_to_normal(pool);
    }
    weft_pool_destroy(pool);
  }
}

/* ---- sections inside sections ---- */

typedef struct steps {
  atomic_uint reached, allowed;
} steps;

static void step(steps *s, unsigned number) {
  atomic_store(&s->reached, number);
  AWAIT(atomic_load(&s->allowed) == number);
}

static void block_three_times(void *ctx) {
  steps *s = ctx;
  for (int i = 0; i < 3; i++) weft_blocking_begin();
  step(s, 1);
  weft_blocking_end();
  step(s, 2);
  weft_blocking_begin();
  weft_blocking_end();
  weft_blocking_end();
  step(s, 3); /* still in the outermost */
  weft_blocking_end();
  atomic_store(&s->reached, 4);
}

TEST(sections_nest) {
  unsigned baseline = harness_thread_count();
  for (unsigned threads = 2; threads <= 3; threads++) {
    weft_pool *pool = pool_with_blocking(threads, 8);
    unsigned started = wf_pool_started(pool);
    for (unsigned long i = 0; i < scaled(30); i++) {
      steps s = {.reached = 0};
      CHECK_EQ(weft_pool_detach(pool, block_three_times, &s), 0);
      for (unsigned number = 1; number <= 3; number++) {
        AWAIT(atomic_load(&s.reached) == number);
        check_at_work(pool, started);
        atomic_store(&s.allowed, number);
      }
      AWAIT(atomic_load(&s.reached) == 4);
      check_back_to_normal(pool);
      CHECK(harness_thread_count() <= baseline + started + 1); /* one was enough */
    }
    weft_pool_destroy(pool);
  }
}

/* ---- the part of the work that the blocking thread had ---- */

static void spawn_and_block(void *ctx) {
  pairing pair = {.a_thread = pthread_self()};
  weft_scope scope;
  (void)ctx;
  weft_scope_begin(&scope);
  weft_spawn(&scope, b_begins, &pair);
  weft_blocking_begin();
  a_until_b(&pair);
  weft_blocking_end();
  CHECK_EQ(weft_scope_end(&scope), 0);
}

static void block_until_b(void *ctx) {
  weft_blocking_begin();
  a_until_b(ctx);
  weft_blocking_end();
}

static void fork_and_block(void *ctx) {
  pairing pair = {.a_thread = pthread_self()};
  (void)ctx;
  weft_join(block_until_b, &pair, b_begins, &pair);
}

static void block_in_own_work(void *ctx) {
  (void)ctx;
  for (unsigned long i = 0; i < scaled(300); i++) {
    spawn_and_block(NULL);
    fork_and_block(NULL);
  }
}

/* There is no other thread but the one that is added. */
TEST(an_added_thread_takes_over) {
  weft_pool *pool = pool_with_blocking(2, 1);
  run_on_started(pool, block_in_own_work, NULL);
  weft_pool_destroy(pool);
}

/* A caller from outside blocks while the started threads are busy. */
TEST(guests_block_too) {
  unsigned baseline = harness_thread_count();
  for (unsigned threads = 2; threads <= 3; threads++) {
    gate plug = {0};
    weft_pool *pool = pool_with_blocking(threads, 1);
    plug_threads(&plug, pool);
    weft_pool_run(pool, block_in_own_work, NULL);
    unplug(&plug);
    check_back_to_normal(pool);
    weft_pool_destroy(pool);
    CHECK_EQ(harness_thread_count(), baseline);
  }
}

/* Detached work that the blocking thread waits for. */
static void detach_and_block(void *ctx) {
  atomic_ulong *ran = ctx;
  for (unsigned long i = 1; i <= scaled(300); i++) {
    CHECK_EQ(weft_detach(count_one, ran), 0);
    weft_blocking_begin();
    AWAIT(atomic_load(ran) == i);
    weft_blocking_end();
  }
}

TEST(a_started_thread_blocks_for_detached_work) {
  for (unsigned threads = 1; threads <= 2; threads++) { /* one is started */
    atomic_ulong ran = 0;
    weft_pool *pool = pool_with_blocking(threads, 1);
    run_on_started(pool, detach_and_block, &ran);
    weft_pool_destroy(pool);
    CHECK_EQ(atomic_load(&ran), scaled(300));
  }
}

/* ---- outside ---- */

TEST(outside_they_do_nothing) {
  unsigned baseline = harness_thread_count();
  weft_blocking_end();
  weft_blocking_begin();
  weft_blocking_begin();
  weft_blocking_end();
  weft_blocking_end();
  weft_blocking_end();
  CHECK_EQ(harness_thread_count(), baseline);
}

/* ---- everywhere in trees of joins and scopes ---- */

typedef struct node {
  unsigned depth;
  uint64_t seed;
  unsigned leaves;
} node;

static void block_now_and_then(void *ctx) {
  node *self = ctx;
  uint64_t random = self->seed;
  if (self->depth == 0) {
    self->leaves = 1;
    if (harness_random(&random) % 4 != 0) return;
    weft_blocking_begin();
    if (harness_random(&random) % 4 == 0) sched_yield();
    weft_blocking_end();
    return;
  }
  node left = {self->depth - 1, harness_random(&random), 0};
  node right = {self->depth - 1, harness_random(&random), 0};
  if (harness_random(&random) % 2 == 0) {
    weft_join(block_now_and_then, &left, block_now_and_then, &right);
  } else {
    weft_scope scope;
    weft_scope_begin(&scope);
    weft_spawn(&scope, block_now_and_then, &left);
    weft_spawn(&scope, block_now_and_then, &right);
    CHECK_EQ(weft_scope_end(&scope), 0);
  }
  self->leaves = left.leaves + right.leaves;
}

static void trees_from_outside(unsigned index, void *arg) {
  uint64_t random = harness_seed() + index;
  for (unsigned long i = 0; i < scaled(100); i++) {
    node root = {(unsigned)(i % 8), harness_random(&random), 0};
    weft_pool_run(arg, block_now_and_then, &root);
    CHECK_EQ(root.leaves, 1u << root.depth);
  }
}

TEST(sections_in_trees) {
  static const unsigned sizes[] = {1, 2, 3, 8};
  unsigned baseline = harness_thread_count();
  for (unsigned i = 0; i < 4; i++) {
    for (unsigned blocking = 1; blocking <= 3; blocking += 2) {
      weft_pool *pool = pool_with_blocking(sizes[i], blocking);
      harness_run_threads(4, trees_from_outside, pool);
      check_back_to_normal(pool);
      weft_pool_destroy(pool);
      CHECK_EQ(harness_thread_count(), baseline);
    }
  }
}
