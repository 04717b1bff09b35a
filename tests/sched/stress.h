/* stress.h - a short mix of everything a pool does, for tests that change what lies below
 * it: a system without the process-wide barrier, waits that return for no reason.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_SCHED_STRESS_H
#define TESTS_SCHED_STRESS_H

#include "support.h"

#include <pthread.h>

typedef struct stress {
  weft_pool *pool;
  unsigned long rounds;
  atomic_ulong detached;
} stress;

typedef struct stress_pair {
  pthread_t a_thread;
  atomic_bool b_began;
} stress_pair;

static inline void stress_a(void *ctx) {
  stress_pair *pair = ctx;
  AWAIT(atomic_load(&pair->b_began));
}

static inline void stress_b(void *ctx) {
  stress_pair *pair = ctx;
  CHECK(!pthread_equal(pthread_self(), pair->a_thread));
  atomic_store(&pair->b_began, true);
}

/* Another thread must come for the second half while the first one spins. */
static inline void stress_handshake(void *ctx) {
  (void)ctx;
  stress_pair pair = {.a_thread = pthread_self()};
  weft_join(stress_a, &pair, stress_b, &pair);
}

static inline void stress_mix(unsigned index, void *arg) {
  stress *s = arg;
  uint64_t random = harness_seed() + index;
  for (unsigned long i = 0; i < s->rounds; i++) {
    uint64_t choice = harness_random(&random);
    check_tree_in(s->pool, (unsigned)(choice % 9));
    CHECK_EQ(weft_pool_detach(s->pool, count_one, &s->detached), 0);
    for (uint64_t spins = choice / 16 % 2048; spins > 0; spins--) wf_sys_relax();
  }
}

/* Joins, guests, detached work, sleep and wake in a pool. */
static inline void stress_pool(weft_pool *pool, unsigned long rounds) {
  enum { CALLERS = 6 };
  stress s = {.pool = pool, .rounds = rounds};
  harness_run_threads(CALLERS, stress_mix, &s);
  for (unsigned long i = 0; i < rounds && pool->steals; i++) {
    if (i % 2 == 0) AWAIT(all_asleep(pool));
    weft_pool_run(pool, stress_handshake, NULL);
  }
  unsigned long before = CALLERS * rounds;
  for (unsigned long i = 1; i <= rounds; i++) {
    AWAIT(all_asleep(pool));
    CHECK_EQ(weft_pool_detach(pool, count_one, &s.detached), 0);
    AWAIT(atomic_load(&s.detached) == before + i);
  }
}

/* The same in pools of 1 to 4 threads. */
static inline void stress_pools(unsigned long rounds) {
  for (unsigned threads = 1; threads <= 4; threads++) {
    weft_config config = WEFT_CONFIG_INIT;
    config.threads = threads;
    config.guests = threads % 2 == 0 ? 64 : 2;
    config.deque_capacity = 2;
    config.idle = WEFT_IDLE_POWER_SAVING;
    weft_pool *pool = pool_with(&config);
    stress_pool(pool, rounds);
    weft_pool_destroy(pool);
  }
}

#endif
