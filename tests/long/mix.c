/* A minute of everything at once. Sixteen outside threads play random scripts
 * on pools of 1, 2, 3, 8 and 64 threads: joins of random trees, detached work that joins,
 * calls from one pool into another and back, short-lived pools. A script follows from the
 * seed alone, so a failure can be replayed.
 *
 * SPDX-License-Identifier: MIT */
#include "sched/support.h"

#include <stdio.h>
#include <time.h>

enum { POOLS = 5, CALLERS = 16, RUN_SECONDS = 60 };

static const unsigned SIZES[POOLS] = {1, 2, 3, 8, 64};

typedef struct stage {
  weft_pool *pools[POOLS];
  time_t end;
  atomic_ulong steps;
  atomic_ulong detached, done; /* jobs handed over, jobs run */
} stage;

static stage scene;

/* ---- actions ---- */

/* A tree of random shape; the result is the number of its nodes. */
typedef struct wild {
  uint64_t seed;
  unsigned size;
  unsigned counted;
} wild;

static void wild_run(void *ctx) {
  wild *self = ctx;
  self->counted = self->size == 0 ? 0 : 1;
  if (self->size < 2) return;
  uint64_t random = self->seed;
  for (uint64_t i = harness_random(&random) % 32; i > 0; i--) wf_sys_relax();
  unsigned rest = self->size - 1;
  unsigned left_size = (unsigned)(harness_random(&random) % (rest + 1));
  wild left = {harness_random(&random), left_size, 0};
  wild right = {harness_random(&random), rest - left_size, 0};
  weft_join(wild_run, &left, wild_run, &right);
  self->counted += left.counted + right.counted;
}

static void check_wild(uint64_t seed) {
  wild root = {seed, (unsigned)(seed % 3000), 0};
  wild_run(&root);
  CHECK_EQ(root.counted, root.size);
}

typedef struct call {
  uint64_t random;
  unsigned depth;
} call;

/* In a pool: a tree, then perhaps on into another pool. */
static void visit(void *ctx) {
  const call *self = ctx;
  call next = {self->random, self->depth + 1};
  check_wild(harness_random(&next.random));
  if (self->depth < 4 && harness_random(&next.random) % 3 == 0) {
    unsigned to = (unsigned)(harness_random(&next.random) % POOLS);
    weft_pool_run(scene.pools[to], visit, &next);
  }
}

static void visit_detached(void *ctx) {
  call self = {(uint64_t)(uintptr_t)ctx, 2};
  visit(&self);
  atomic_fetch_add(&scene.done, 1);
}

static void step(uint64_t *random) {
  weft_pool *pool = scene.pools[harness_random(random) % POOLS];
  uint64_t choice = harness_random(random) % 100;
  call self = {harness_random(random), 0};
  if (choice < 60) {
    weft_pool_run(pool, visit, &self);
  } else if (choice < 90) {
    atomic_fetch_add(&scene.detached, 1);
    CHECK_EQ(weft_pool_detach(pool, visit_detached, (void *)(uintptr_t)self.random), 0);
  } else if (choice < 91) {
    weft_pool *own = pool_of((unsigned)(self.random % 4) + 1);
    weft_pool_run(own, visit, &self);
    weft_pool_destroy(own);
  } else {
    for (uint64_t i = self.random % 50000; i > 0; i--) wf_sys_relax();
  }
}

static void play(unsigned index, void *arg) {
  uint64_t random = harness_seed() + index;
  (void)arg;
  while (time(NULL) < scene.end) {
    step(&random);
    atomic_fetch_add(&scene.steps, 1);
    /* Do not let the queues grow without end. */
    AWAIT(atomic_load(&scene.detached) - atomic_load(&scene.done) < 1000);
  }
}

TEST_LIMIT(v15_a_minute_of_everything, 600) {
  unsigned baseline = harness_thread_count();
  for (unsigned i = 0; i < POOLS; i++) {
    weft_config config = WEFT_CONFIG_INIT;
    config.threads = SIZES[i];
    config.guests = i % 2 == 0 ? 3 : 64;
    config.deque_capacity = i % 2 == 0 ? 2 : 0;
    scene.pools[i] = pool_with(&config);
  }
  scene.end = time(NULL) + RUN_SECONDS;
  harness_run_threads(CALLERS, play, NULL);
  /* Jobs of one pool go into others, so all must have run before the first one ends. */
  AWAIT(atomic_load(&scene.done) == atomic_load(&scene.detached));
  for (unsigned i = 0; i < POOLS; i++) {
    weft_stats stats = WEFT_STATS_INIT;
    weft_pool_stats(scene.pools[i], &stats);
    printf("  %2u threads: %llu steals, %llu injected, %llu sleeps, %llu wakes\n",
           SIZES[i], (unsigned long long)stats.steals, (unsigned long long)stats.injected,
           (unsigned long long)stats.sleeps, (unsigned long long)stats.wakes);
    AWAIT(all_asleep(scene.pools[i]));
    CHECK_EQ(wf_sleep_count(scene.pools[i], WF_SLEEPER_HELPER), 0);
    weft_pool_destroy(scene.pools[i]);
  }
  printf("  %lu steps, %lu detached\n", atomic_load(&scene.steps),
         atomic_load(&scene.detached));
  CHECK_EQ(harness_thread_count(), baseline);
}
