/* Steered wake-ups on the real machine: after any history each thread of a pool, and each
 * caller, has the CPUs that the user gave it, whenever the pool is at rest. Where the
 * process has one CPU, or may not set masks, there is nothing to see and the tests pass.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "support.h"

#include <sys/syscall.h>
#include <unistd.h>

enum { WORKERS = 4, ROUNDS = 200 };

static _Atomic pid_t tids[WORKERS + 1];

static cpu_set_t cpus_of(pid_t tid) {
  cpu_set_t set;
  CPU_ZERO(&set);
  REQUIRE(sched_getaffinity(tid, sizeof set, &set) == 0);
  return set;
}

static void note_thread(unsigned worker, void *ctx) {
  (void)ctx;
  if (worker <= WORKERS) tids[worker] = (pid_t)syscall(SYS_gettid);
}

static weft_pool *noted_pool(weft_steer steer) {
  weft_config config = WEFT_CONFIG_INIT;
  config.threads = WORKERS + 1;
  config.idle = WEFT_IDLE_POWER_SAVING;
  config.steer = steer;
  config.on_start = note_thread;
  return pool_with(&config);
}

static void nothing(void *ctx) {
  (void)ctx;
}
static void count(void *ctx) {
  atomic_fetch_add((atomic_uint *)ctx, 1);
}

static void join_in(void *ctx) {
  weft_join(nothing, ctx, nothing, ctx);
}

/* All sleep, and none of them looks again by itself. */
static bool is_at_rest(const weft_pool *pool) {
  return wf_u32_load_relaxed(&pool->sleep.x_watched) == 0 && all_asleep(pool);
}

/* Wakes the pool from rest, in several ways. */
static void disturb(weft_pool *pool, unsigned round) {
  atomic_uint done = 0;
  AWAIT(is_at_rest(pool));
  if (round % 3 == 0) {
    weft_pool_run(pool, join_in, NULL);
  } else {
    for (int i = 0; i < WORKERS; i++) REQUIRE(weft_pool_detach(pool, count, &done) == 0);
    AWAIT(atomic_load(&done) == WORKERS);
  }
}

static void check_masks(const cpu_set_t *expected) {
  for (int i = 1; i <= WORKERS; i++) {
    cpu_set_t now = cpus_of(tids[i]);
    CHECK_MSG(CPU_EQUAL(&now, expected), "worker %d has %d CPUs, not %d", i,
              CPU_COUNT(&now), CPU_COUNT(expected));
  }
}

TEST(at_rest_all_masks_are_those_of_the_process) {
  cpu_set_t before = cpus_of(0);
  weft_pool *pool = noted_pool(WEFT_STEER_ON);
  for (unsigned i = 0; i < scaled(ROUNDS); i++) {
    disturb(pool, i);
    AWAIT(is_at_rest(pool));
    check_masks(&before);
  }
  weft_stats stats = WEFT_STATS_INIT;
  weft_pool_stats(pool, &stats);
  /* The portable layer does not know CPUs. */
  if (CPU_COUNT(&before) > 1 && wf_sys_cpu_now() >= 0) CHECK(stats.steered > 0);
  weft_pool_destroy(pool);
  cpu_set_t after = cpus_of(0);
  CHECK(CPU_EQUAL(&before, &after));
}

/* Masks that the program sets for the threads while the pool is used. */
TEST(masks_that_are_set_later_stay) {
  cpu_set_t all = cpus_of(0), one;
  weft_pool *pool = noted_pool(WEFT_STEER_ON);
  size_t first = 0;
  while (!CPU_ISSET(first, &all)) first++;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  for (unsigned i = 0; i < scaled(ROUNDS); i++) {
    disturb(pool, i);
    AWAIT(is_at_rest(pool));
    const cpu_set_t *given = i % 2 == 0 ? &one : &all;
    for (int k = 1; k <= WORKERS; k++)
      REQUIRE(sched_setaffinity(tids[k], sizeof *given, given) == 0);
    disturb(pool, i + 1);
    AWAIT(is_at_rest(pool));
    check_masks(given);
  }
  weft_pool_destroy(pool);
}

/* A pool that does not steer makes no call that could: its threads have one CPU and keep
 * it. */
TEST(hooks_may_pin_threads) {
  cpu_set_t all = cpus_of(0), one;
  size_t first = 0;
  while (!CPU_ISSET(first, &all)) first++;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  weft_pool *pool = noted_pool(WEFT_STEER_ON);
  AWAIT(is_at_rest(pool));
  for (int k = 1; k <= WORKERS; k++)
    REQUIRE(sched_setaffinity(tids[k], sizeof one, &one) == 0);
  for (unsigned i = 0; i < scaled(ROUNDS); i++) disturb(pool, i);
  AWAIT(is_at_rest(pool));
  check_masks(&one);
  weft_pool_destroy(pool);
}
