/* Held-back wake-ups (src/sched/sleep.md): in a pool with more threads than CPUs nobody
 * is woken while every CPU has a thread; one sleeper watches instead, and tasks that wait
 * for each other still overlap.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "played_pool.h"

/* A pool of eight workers on this many CPUs; the first `awake` of them work, the others
 * sleep. */
static weft_pool *crowded_pool(unsigned cpus, unsigned awake) {
  weft_pool *pool = played_pool(0);
  pool->options.cpus = cpus;
  pool->exceeds_cpus = true;
  wf_u32_store_relaxed(&pool->x_started, WORKERS);
  for (unsigned i = awake + 1; i <= WORKERS; i++) play_sleeper(pool, i, WF_SLEEPER_IDLE);
  return pool;
}

static unsigned watchers(const weft_pool *pool) {
  unsigned count = 0;
  for (unsigned i = 0; i < pool->slots; i++) count += pool->workers[i].watches;
  return count;
}

TEST(nobody_is_woken_for_tasks_while_all_cpus_have_a_thread) {
  for (int chain = 0; chain <= 1; chain++) {
    weft_pool *pool = crowded_pool(2, 2);
    for (int i = 0; i < 10; i++) {
      if (chain)
        CHECK_EQ(wf_sleep_wake_next(pool), 0);
      else
        CHECK_EQ(wf_sleep_new_tasks(pool, 5, true), 0);
    }
    CHECK_EQ(watchers(pool), 1); /* one was told to look again, once */
    CHECK_EQ(wf_sleep_sleeping(pool), WORKERS - 3);
    CHECK_EQ(wf_u32_load_relaxed(&pool->sleep.x_watched), 1);
    CHECK_EQ(wf_u32_load_relaxed(&pool->sleep.x_held), 1);
    wf_pool_free(pool);
  }
}

TEST(as_many_are_woken_as_cpus_are_free) {
  weft_pool *pool = crowded_pool(4, 2);
  CHECK_EQ(wf_sleep_new_tasks(pool, 2, true), 2); /* none is held back */
  CHECK_EQ(watchers(pool), 0);
  wf_pool_free(pool);
  pool = crowded_pool(4, 2);
  CHECK_EQ(wf_sleep_new_tasks(pool, 5, true), 2);
  CHECK_EQ(watchers(pool), 1);
  wf_pool_free(pool);
  pool = crowded_pool(4, 1);
  CHECK_EQ(wf_sleep_wake_batch(pool, 7), 3);
  CHECK_EQ(watchers(pool), 0);
  wf_pool_free(pool);
}

TEST(threads_in_blocking_sections_need_no_cpu) {
  weft_pool *pool = crowded_pool(2, 2);
  wf_u32_store_relaxed(&pool->x_blocked, 1);
  CHECK_EQ(wf_sleep_new_tasks(pool, 1, true), 1);
  CHECK_EQ(watchers(pool), 0);
  wf_u32_store_relaxed(&pool->x_blocked, 0);
  wf_pool_free(pool);
}

TEST(injected_work_is_not_held_back) {
  weft_pool *pool = crowded_pool(2, 3);
  CHECK_EQ(wf_sleep_new_injected(pool), 1);
  CHECK_EQ(watchers(pool), 0);
  wf_pool_free(pool);
}

/* Nobody could watch: helpers are woken as in any pool. */
TEST(helpers_are_not_held_back) {
  weft_pool *pool = crowded_pool(2, WORKERS);
  play_sleeper(pool, 1, WF_SLEEPER_HELPER);
  CHECK_EQ(wf_sleep_new_tasks(pool, 1, false), 1);
  CHECK_EQ(wf_u32_load_relaxed(&pool->sleep.x_watched), 0);
  wf_pool_free(pool);
}

/* More tasks than CPUs that return only when all have begun. */
enum { MEETING = 24 };
static atomic_uint met;

static void meet_all(void *ctx) {
  (void)ctx;
  atomic_fetch_add(&met, 1);
  AWAIT(atomic_load(&met) == MEETING);
}

static void meeting(void *ctx) {
  weft_scope scope;
  weft_scope_begin(&scope);
  for (int i = 0; i < MEETING; i++) weft_spawn(&scope, meet_all, ctx);
  weft_scope_end(&scope);
}

TEST(tasks_that_wait_for_each_other_overlap_on_any_number_of_cpus) {
  weft_pool *pool = pool_of(MEETING);
  for (int round = 0; round < 5; round++) {
    atomic_store(&met, 0);
    weft_pool_run(pool, meeting, NULL);
    CHECK_EQ(atomic_load(&met), MEETING);
  }
  AWAIT(all_asleep(pool));
  AWAIT(wf_u32_load_relaxed(&pool->sleep.x_watched) == 0); /* at rest nobody watches */
  weft_pool_destroy(pool);
}
