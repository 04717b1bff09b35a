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

/* ---- forks that are public at once ---- */

enum { PLACES = 300 };

/* How many a worker gives that was woken and has found work while `sleeping` others are
 * in the set of sleepers. */
static unsigned given(weft_pool *pool, unsigned sleeping) {
  wf_worker *worker = &pool->workers[1];
  for (unsigned i = 2; i < 2 + sleeping; i++)
    wf_set_add(pool->sleep.x_sets[WF_SLEEPER_IDLE], i);
  wf_idle_begin_woken(worker);
  for (unsigned i = 2; i < 2 + sleeping; i++)
    CHECK(wf_set_remove(pool->sleep.x_sets[WF_SLEEPER_IDLE], i));
  return worker->deque.eager_forks;
}

/* The worker worked for this time after a wake-up; the time that it searched is left out.
 */
static void note_run(weft_pool *pool, uint64_t ns) {
  wf_worker *worker = &pool->workers[1];
  worker->measures = true;
  worker->woken_at_ns = 0;
  wf_u64_store_relaxed(&worker->x_searching_ns, 5000000);
  wf_idle_note_worth(worker, 5000000 + ns);
  wf_u64_store_relaxed(&worker->x_searching_ns, 0);
}

TEST(a_woken_worker_gives_forks_while_many_sleep) {
  weft_pool *pool = empty_pool(PLACES);
  CHECK_EQ(given(pool, 11), 0); /* no large pool */
  pool->wakes_in_trees = true;
  CHECK_EQ(given(pool, 0), 0);
  CHECK_EQ(given(pool, 8), 0);
  CHECK_EQ(given(pool, 9), 4);
  CHECK_EQ(given(pool, 16), 5);
  CHECK_EQ(given(pool, 255), 8);
  CHECK_EQ(given(pool, 3), 0);
  wf_pool_free(pool);
}

TEST(forks_are_not_given_where_wake_ups_do_not_pay) {
  weft_pool *pool = empty_pool(PLACES);
  pool->wakes_in_trees = true;
  for (unsigned i = 0; i < pool->thread_places; i++) note_run(pool, 1000);
  CHECK_EQ(given(pool, 9), 0);
  for (unsigned i = 0; i < pool->thread_places; i++) note_run(pool, 2000000);
  CHECK_EQ(given(pool, 9), 4);
  /* The short tasks at the end of long work do not change that. */
  for (unsigned i = 0; i < pool->thread_places / 2; i++) note_run(pool, 1000);
  CHECK_EQ(given(pool, 9), 4);
  wf_pool_free(pool);
}

TEST(only_a_run_after_a_wake_up_counts) {
  weft_pool *pool = empty_pool(PLACES);
  for (unsigned i = 0; i < 100; i++) wf_idle_note_worth(&pool->workers[1], 1000);
  CHECK_EQ(wf_u64_load_relaxed(&pool->sleep.x_worth), 0);
  wf_pool_free(pool);
}
