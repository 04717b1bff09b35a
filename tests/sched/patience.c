/* link: -Wl,--wrap=wf_sys_ticks,--wrap=wf_sys_ticks_per_us */
/* sched/patience.c - how long a worker waits awake for what others took from it.
 *
 * SPDX-License-Identifier: MIT */
#include "played_pool.h"
#include "sched/idle.h"

enum { TICKS_PER_US = 1000, NOW_US = 1000000 };

uint64_t __wrap_wf_sys_ticks(void);
uint64_t __wrap_wf_sys_ticks_per_us(void);

uint64_t __wrap_wf_sys_ticks(void) {
  return (uint64_t)NOW_US * TICKS_PER_US;
}

uint64_t __wrap_wf_sys_ticks_per_us(void) {
  return TICKS_PER_US;
}

/* How long it searches before it sleeps if it gave work away `own_us` ago. */
static uint64_t total_us(weft_pool *pool, uint64_t own_us) {
  wf_worker *worker = &pool->workers[1];
  worker->shared_ticks = (NOW_US - own_us) * TICKS_PER_US;
  wf_patience patience;
  wf_patience_start_waiting(&patience, worker);
  return patience.total_ns / 1000;
}

static uint64_t usual_us(weft_pool *pool) {
  wf_patience patience;
  wf_patience_start(&patience, &pool->workers[1]);
  return patience.total_ns / 1000;
}

TEST(a_waiting_worker_searches_for_a_quarter_of_its_own_part) {
  weft_pool *pool = played_pool(0);
  pool->options.idle = WEFT_IDLE_BALANCED;
  CHECK_EQ(usual_us(pool), 15);
  CHECK_EQ(total_us(pool, 0), 15);
  CHECK_EQ(total_us(pool, 60), 15);
  CHECK_EQ(total_us(pool, 64), 16);
  CHECK_EQ(total_us(pool, 300), 75);
  CHECK_EQ(total_us(pool, 400), 100);
  CHECK_EQ(total_us(pool, 404), 100);
  CHECK_EQ(total_us(pool, 500000), 100);
  wf_pool_free(pool);
}

TEST(a_worker_that_has_shared_nothing_waits_as_usual) {
  weft_pool *pool = played_pool(0);
  pool->options.idle = WEFT_IDLE_BALANCED;
  wf_patience patience;
  pool->workers[1].shared_ticks = 0;
  wf_patience_start_waiting(&patience, &pool->workers[1]);
  CHECK_EQ(patience.total_ns / 1000, 15);
  wf_pool_free(pool);
}

TEST(other_idle_modes_keep_their_budgets) {
  weft_pool *pool = played_pool(0);
  pool->options.idle = WEFT_IDLE_POWER_SAVING;
  CHECK_EQ(total_us(pool, 500000), usual_us(pool));
  pool->options.idle = WEFT_IDLE_LOW_LATENCY;
  CHECK_EQ(total_us(pool, 500000), usual_us(pool));
  wf_pool_free(pool);
}
