/* sched_kit.h - a pool for scenarios whose workers are threads of the scenario.
 *
 * The pool is made in setup, without threads. A thread of the scenario plays a worker by
 * running what a started thread runs, until the pool ends; others come from outside. So
 * starting and joining threads, which have scenarios of their own, cost no steps.
 *
 * SPDX-License-Identifier: MIT */
#ifndef EXPLORE_SCHED_KIT_H
#define EXPLORE_SCHED_KIT_H

#include <explore/engine/explore.h>

#include <sched/blocking.h>
#include <sched/pool.h>
#include <weft.h>

/* Large ones: two preemptions in SC and TSO, one in RA, which has many more executions.
 */
#define LARGE_SCENARIO(scenario_name, ...)                                               \
  SCENARIO(scenario_name, .modes = XP_SC | XP_TSO, .quick_bound = 1, __VA_ARGS__)        \
  SCENARIO(scenario_name##_ra, .modes = XP_RA, .bound = 1, .quick_bound = -2, __VA_ARGS__)

static weft_pool *pool;
static wf_u32 x_ran;     /* functions that have run */
static wf_u32 x_users;   /* threads that still use the pool; the last one ends it */
static wf_u32 x_meeting; /* how many have come to a meeting */

/* What a setup may change before it makes the pool, and sets back itself. */
static unsigned kit_cpus;                     /* 0: as many as threads */
static weft_steer kit_steer = WEFT_STEER_OFF; /* where sleepers are woken is no matter */

/* Stand-ins are counted as started: threads of the scenario play them, too. */
__attribute__((unused)) static void make_pool_with_stand_ins(unsigned threads,
                                                             unsigned guests,
                                                             unsigned stand_ins,
                                                             unsigned users) {
  wf_options options = {.threads = threads,
                        .cpus = kit_cpus != 0 ? kit_cpus : threads,
                        .steer = kit_steer,
                        .guests = guests,
                        .stand_ins = stand_ins,
                        .deque_capacity = 4,
                        .idle = WEFT_IDLE_POWER_SAVING,
                        .name = "explored"};
  XP_CHECK(wf_pool_allocate(&pool, &options) == 0);
  for (unsigned i = 1; i <= pool->thread_places; i++) wf_bitset_add(pool->x_present, i);
  wf_u32_store_relaxed(&pool->x_started, pool->thread_places);
  wf_u32_store_relaxed(&pool->x_ready, 1);
  for (unsigned i = pool->stand_in_first; i < pool->slots; i++)
    XP_CHECK(wf_deque_prepare(&pool->workers[i].deque) == 0);
  wf_u32_store_relaxed(&pool->x_stand_ins, stand_ins);
  wf_u32_init(&x_ran, 0);
  wf_u32_init(&x_users, users);
  wf_u32_init(&x_meeting, 0);
}

__attribute__((unused)) static void make_pool(unsigned threads, unsigned guests,
                                              unsigned users) {
  make_pool_with_stand_ins(threads, guests, 0, users);
}

/* A pool with two groups of idle workers, and so without a jobs event counter. Nobody is
 * in its places but worker 1 of the first group and worker 8 of the second. */
__attribute__((unused)) static void make_pool_of_groups(unsigned users) {
  make_pool(10, 1, users);
  for (unsigned i = 1; i <= pool->thread_places; i++)
    if (i != 1 && i != 8) wf_bitset_remove(pool->x_present, i);
  pool->wakes_in_trees = false; /* as in the small pools */
  XP_CHECK(wf_worker_group(&pool->workers[1]) == 0 &&
           wf_worker_group(&pool->workers[8]) == 1 &&
           !wf_counters_has_jec(&pool->sleep.counters));
}

/* Setups: some workers, and some threads from outside. */
__attribute__((unused)) static void one_worker(void) {
  make_pool(2, 1, 1);
}
__attribute__((unused)) static void one_worker_two_users(void) {
  make_pool(2, 2, 2);
}
__attribute__((unused)) static void two_workers(void) {
  make_pool(3, 1, 1);
}

__attribute__((unused)) static void two_groups(void) {
  make_pool_of_groups(1);
}

/* What a started thread runs, until the pool ends. */
__attribute__((unused)) static void worker_1(void) {
  wf_worker_main(&pool->workers[1]);
}
__attribute__((unused)) static void worker_2(void) {
  wf_worker_main(&pool->workers[2]);
}
__attribute__((unused)) static void worker_8(void) {
  wf_worker_main(&pool->workers[8]);
}

/* The calling thread does not need the pool any more; the last one tells the workers, as
 * weft_pool_destroy does. */
__attribute__((unused)) static void done_with_pool(void) {
  if (wf_u32_fetch_sub_acq_rel(&x_users, 1) != 1) return;
  for (unsigned i = 1; i < pool->slots; i++)
    if ((i <= pool->thread_places || i >= pool->stand_in_first) &&
        wf_latch_set(&pool->workers[i].terminate))
      wf_sleep_wake_worker(pool, i);
}

/* Nothing is left and nobody is counted as asleep: then the pool is freed. */
__attribute__((unused)) static void free_pool(void) {
  XP_CHECK(wf_sleep_sleeping(pool) == 0);
  XP_CHECK(wf_counters_inactive(&pool->sleep.counters) == 0);
  XP_CHECK(wf_sleep_count(pool, WF_SLEEPER_HELPER) == 0);
  XP_CHECK(wf_u32_load_relaxed(&pool->x_blocked) == 0);
  XP_CHECK(wf_u32_load_relaxed(&pool->x_stand_ins_active) == 0);
  XP_CHECK(!wf_injector_any(&pool->injector) && !wf_injector_any(&pool->background));
  XP_CHECK(wf_u32_load_relaxed(&pool->x_background_count) == 0);
  wf_pool_free(pool);
}

/* After each step: never more sleepers than idle workers, nor more of those than threads.
 */
__attribute__((unused)) static void counts_hold(void) {
  unsigned inactive = wf_counters_inactive(&pool->sleep.counters);
  XP_CHECK(wf_sleep_sleeping(pool) <= inactive);
  XP_CHECK(inactive <= pool->thread_places);
}

__attribute__((unused)) static void count_run(void *ctx) {
  (void)ctx;
  wf_u32_fetch_add_relaxed(&x_ran, 1);
}

__attribute__((unused)) static void check_ran(uint32_t expected) {
  XP_CHECK(wf_u32_load_relaxed(&x_ran) == expected);
  free_pool();
}
__attribute__((unused)) static void check_ran_1(void) {
  check_ran(1);
}
__attribute__((unused)) static void check_ran_2(void) {
  check_ran(2);
}
__attribute__((unused)) static void check_ran_3(void) {
  check_ran(3);
}

/* Two functions that return only when both have begun: they must overlap. */
__attribute__((unused)) static void meet(void *ctx) {
  (void)ctx;
  wf_u32_fetch_add_seq_cst(&x_meeting, 1);
  while (wf_u32_load_acquire(&x_meeting) < 2) wf_sys_relax();
  count_run(NULL);
}

/* ---- what threads from outside do with the pool ---- */

__attribute__((unused)) static void fork_two(void *ctx) {
  (void)ctx;
  weft_join(count_run, NULL, count_run, NULL);
}
__attribute__((unused)) static void run_join(void) {
  weft_pool_run(pool, fork_two, NULL);
  done_with_pool();
}

__attribute__((unused)) static void fork_meeting(void *ctx) {
  (void)ctx;
  weft_join(meet, NULL, meet, NULL);
}
__attribute__((unused)) static void run_meeting(void) {
  weft_pool_run(pool, fork_meeting, NULL);
  done_with_pool();
}

__attribute__((unused)) static void inject(void) {
  XP_CHECK(wf_pool_inject(pool, WEFT_LANE_NORMAL, count_run, NULL, NULL) == 0);
  done_with_pool();
}
__attribute__((unused)) static void inject_meeting(void) {
  XP_CHECK(wf_pool_inject(pool, WEFT_LANE_NORMAL, meet, NULL, NULL) == 0);
  XP_CHECK(wf_pool_inject(pool, WEFT_LANE_NORMAL, meet, NULL, NULL) == 0);
  done_with_pool();
}

__attribute__((unused)) static void count_each(unsigned index, unsigned count,
                                               void *ctx) {
  XP_CHECK(index < count);
  count_run(ctx);
}

__attribute__((unused)) static void check_ran_4(void) {
  check_ran(4);
}

#endif
