/* played_pool.h - a pool without threads: the test says which of its workers sleep, and
 * looks at what a post would wake.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_SCHED_PLAYED_POOL_H
#define TESTS_SCHED_PLAYED_POOL_H

#include "support.h"

/* The places 1 to 8, and three workers more that are awake and only counted. */
enum { WORKERS = 8, AWAKE = 3 };

/* The jobs event counter starts at `jec`. */
static inline weft_pool *played_pool(uint32_t jec) {
  wf_options options;
  weft_config config = WEFT_CONFIG_INIT;
  config.threads = WORKERS + AWAKE + 1;
  weft_pool *pool = NULL;
  REQUIRE(wf_options_resolve(&options, &config, (wf_environment){0}) == 0);
  options.cpus = options.threads; /* nothing is held back */
  REQUIRE(wf_pool_allocate(&pool, &options) == 0);
  pool->wakes_in_trees = false; /* no woken worker runs here, to wake others */
  wf_u64_store_relaxed(&pool->sleep.counters.x_word, (uint64_t)jec << 32);
  for (unsigned i = 1; i <= WORKERS; i++) wf_bitset_add(pool->x_present, i);
  return pool;
}

/* Registers a worker as wf_sleep_idle and wf_sleep_waiting do; nobody really blocks. */
static inline void play_sleeper(weft_pool *pool, unsigned index, wf_sleeper kind) {
  if (kind == WF_SLEEPER_IDLE)
    wf_u64_fetch_add_seq_cst(&pool->sleep.counters.x_word,
                             WF_ONE_INACTIVE + WF_ONE_SLEEPING);
  if (kind == WF_SLEEPER_HELPER) wf_u32_fetch_add_seq_cst(&pool->sleep.x_helpers, 1);
  wf_u32_store_relaxed(&pool->workers[index].x_park, 1);
  CHECK(wf_bitset_add(pool->sleep.x_sets[kind], index));
}

#endif
