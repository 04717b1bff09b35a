/* played_pool.h - a pool without threads: the test says which of its workers sleep, and
 * looks at what a post would wake.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_SCHED_PLAYED_POOL_H
#define TESTS_SCHED_PLAYED_POOL_H

#include "support.h"

/* The places 1 to 8, and three workers more that are awake and only counted. */
enum { WORKERS = 8, AWAKE = 3 };

/* A pool with so many workers, all places empty; nothing is held back. */
static inline weft_pool *empty_pool(unsigned workers) {
  wf_options options;
  weft_config config = WEFT_CONFIG_INIT;
  config.threads = workers + 1;
  weft_pool *pool = NULL;
  REQUIRE(wf_options_resolve(&options, &config, (wf_environment){0}) == 0);
  options.cpus = options.threads; /* nothing is held back */
  REQUIRE(wf_pool_allocate(&pool, &options) == 0);
  REQUIRE(pool->thread_places == workers);
  pool->wakes_in_trees = false; /* no woken worker runs here, to wake others */
  return pool;
}

/* Two groups of idle workers, as many as such a pool has: no jobs event counter. */
static inline weft_pool *played_pool_of_groups(void) {
  weft_pool *pool = empty_pool(WORKERS + AWAKE);
  CHECK_EQ(pool->sleep.counters.groups, 2);
  for (unsigned i = 1; i <= WORKERS; i++) wf_bitset_add(pool->x_present, i);
  return pool;
}

/* One group, as in pools with up to eight workers: there is a jobs event counter, which
 * starts at `jec`. */
static inline weft_pool *played_pool(uint32_t jec) {
  weft_pool *pool = played_pool_of_groups();
  pool->sleep.counters.groups = 1;
  wf_u32_store_relaxed(&pool->sleep.counters.x_jec, jec);
  return pool;
}

/* A worker looks for work. */
static inline void play_searcher(weft_pool *pool, unsigned index) {
  wf_counters_add_inactive(&pool->sleep.counters, wf_worker_group(&pool->workers[index]));
}

/* Registers a worker as wf_sleep_idle and wf_sleep_waiting do; nobody really blocks. */
static inline void play_sleeper(weft_pool *pool, unsigned index, wf_sleeper kind) {
  if (kind == WF_SLEEPER_IDLE) play_searcher(pool, index);
  wf_u32_store_relaxed(&pool->workers[index].x_park, 1);
  CHECK(wf_set_add(pool->sleep.x_sets[kind], index));
}

#endif
