/* Statistics: totals after known actions.
 *
 * SPDX-License-Identifier: MIT */
#include "support.h"

#include <pthread.h>
#include <string.h>

static weft_stats stats_of(const weft_pool *pool) {
  weft_stats stats = WEFT_STATS_INIT;
  weft_pool_stats(pool, &stats);
  CHECK_EQ(stats.struct_size, sizeof stats);
  return stats;
}

TEST(stats_of_a_new_pool) {
  weft_pool *pool = pool_of(3);
  weft_stats stats = stats_of(pool);
  CHECK_EQ(stats.tasks, 0);
  CHECK_EQ(stats.steals, 0);
  CHECK_EQ(stats.exposes, 0);
  CHECK_EQ(stats.takeovers, 0);
  CHECK_EQ(stats.injected, 0);
  CHECK_EQ(stats.wakes, 0);
  weft_pool_destroy(pool);
}

TEST(stats_of_detached_work) {
  for (unsigned threads = 1; threads <= 3; threads++) {
    enum { JOBS = 1000 };
    atomic_ulong ran = 0;
    weft_pool *pool = pool_of(threads);
    for (int i = 0; i < JOBS; i++) CHECK_EQ(weft_pool_detach(pool, count_one, &ran), 0);
    AWAIT(atomic_load(&ran) == JOBS);
    weft_stats stats = stats_of(pool);
    CHECK_EQ(stats.injected, JOBS);
    CHECK_EQ(stats.tasks, JOBS);
    CHECK_EQ(stats.steals, 0);
    CHECK_EQ(stats.takeovers, 0);
    weft_pool_destroy(pool);
  }
}

/* In a pool of one thread nothing is stolen, whichever thread joins. */
static void join_there(unsigned index, void *arg) {
  (void)index;
  for (unsigned long i = 0; i < scaled(200); i++) check_tree_in(arg, 10);
}

TEST(v30_one_thread_steals_nothing) {
  weft_pool *pool = pool_of(1);
  harness_run_threads(4, join_there, pool);
  weft_stats stats = stats_of(pool);
  CHECK_EQ(stats.steals, 0);
  CHECK_EQ(stats.tasks, 0);
  CHECK_EQ(stats.takeovers, 0);
  CHECK_EQ(stats.injected, 0);
  weft_pool_destroy(pool);
}

/* Joins whose second half must run on another thread: one steal and one task each. */
TEST(stats_of_stolen_tasks) {
  unsigned long rounds = scaled(1000);
  weft_pool *pool = pool_of(2);
  for (unsigned long i = 0; i < rounds; i++) weft_pool_run(pool, join_pairing, NULL);
  weft_stats stats = stats_of(pool);
  CHECK_EQ(stats.steals, rounds);
  CHECK_EQ(stats.tasks, rounds);
  /* Each of these was made public by its owner or by a thief. */
  CHECK_EQ(stats.exposes + stats.takeovers, rounds);
  CHECK_EQ(stats.injected, 0);
  weft_pool_destroy(pool);
}

/* Steals and tasks agree, and every sleep that ended was ended by a wake, a change of
 * mind apart. */
TEST(stats_agree_with_each_other) {
  weft_pool *pool = sleepy_pool_of(3);
  harness_run_threads(4, join_there, pool);
  AWAIT(all_asleep(pool));
  weft_stats stats = stats_of(pool);
  CHECK_EQ(stats.tasks, stats.steals + stats.injected);
  CHECK_MSG(stats.wakes + 2 >= stats.sleeps, "%llu wakes, %llu sleeps",
            (unsigned long long)stats.wakes, (unsigned long long)stats.sleeps);
  weft_pool_destroy(pool);
}

/* One wake for each job into a sleeping pool of one started thread. */
TEST(v21_one_wake_for_one_job) {
  enum { JOBS = 200 };
  atomic_ulong ran = 0;
  weft_pool *pool = sleepy_pool_of(1);
  for (unsigned long i = 1; i <= JOBS; i++) {
    /* Counted when the worker cannot change its mind any more. */
    AWAIT(stats_of(pool).sleeps == i);
    CHECK_EQ(weft_pool_detach(pool, count_one, &ran), 0);
    AWAIT(atomic_load(&ran) == i);
  }
  CHECK_EQ(stats_of(pool).wakes, JOBS);
  weft_pool_destroy(pool);
}

TEST(stats_of_an_older_header) {
  weft_pool *pool = pool_of(1);
  atomic_ulong ran = 0;
  CHECK_EQ(weft_pool_detach(pool, count_one, &ran), 0);
  AWAIT(atomic_load(&ran) == 1);
  for (size_t size = sizeof(size_t); size <= sizeof(weft_stats); size += 8) {
    weft_stats stats;
    memset(&stats, 0xab, sizeof stats);
    stats.struct_size = size;
    weft_pool_stats(pool, &stats);
    CHECK_EQ(stats.struct_size, size);
    for (size_t i = size; i < sizeof stats; i++)
      CHECK_EQ(((const unsigned char *)&stats)[i], 0xab);
    if (size >= offsetof(weft_stats, steals)) CHECK_EQ(stats.tasks, 1);
  }
  weft_stats half; /* of the next number nothing is written */
  memset(&half, 0xab, sizeof half);
  half.struct_size = offsetof(weft_stats, steals) + 4;
  weft_pool_stats(pool, &half);
  CHECK_EQ(half.tasks, 1);
  CHECK_EQ(half.steals, UINT64_C(0xabababababababab));
  weft_stats none;
  memset(&none, 0xab, sizeof none);
  none.struct_size = 0;
  weft_pool_stats(pool, &none);
  CHECK_EQ(none.tasks, UINT64_C(0xabababababababab));
  weft_pool_stats(pool, NULL);
  weft_pool_destroy(pool);
}

static void check_current(void *ctx) {
  weft_stats stats = stats_of(NULL);
  CHECK_EQ(stats.injected, *(const unsigned *)ctx);
}

TEST(stats_of_the_current_pool) {
  unsigned expected = 3;
  weft_pool *pool = pool_of(2);
  for (unsigned i = 0; i < expected; i++)
    CHECK_EQ(weft_pool_detach(pool, do_nothing, NULL), 0);
  weft_pool_run(pool, check_current, &expected);
  weft_pool_destroy(pool);
}

/* ---- of each worker ---- */

static weft_stats worker_stats_of(const weft_pool *pool, unsigned worker) {
  weft_stats stats = WEFT_STATS_INIT;
  CHECK_EQ(weft_pool_worker_stats(pool, worker, &stats), 0);
  CHECK_EQ(stats.struct_size, sizeof stats);
  return stats;
}

static void limit_of(void *out) {
  *(unsigned *)out = weft_worker_limit();
}

static weft_stats sum_over_workers(const weft_pool *pool, unsigned limit) {
  weft_stats sum = WEFT_STATS_INIT;
  for (unsigned i = 0; i < limit; i++) {
    weft_stats one = worker_stats_of(pool, i);
    sum.tasks += one.tasks;
    sum.steals += one.steals;
    sum.exposes += one.exposes;
    sum.takeovers += one.takeovers;
    sum.sleeps += one.sleeps;
    sum.failed_steals += one.failed_steals;
    sum.futile += one.futile;
    if (one.deepest > sum.deepest) sum.deepest = one.deepest;
    CHECK(one.futile <= one.wakes && one.wakes <= one.sleeps);
    CHECK((one.tasks > 0) == (one.deepest > 0));
  }
  return sum;
}

/* The numbers of the workers add up to those of the pool. A worker counts its sleep after
 * it is registered as asleep, so they are read until none has changed meanwhile. They
 * only grow: if they are the same before and after, they were the same in between. */
TEST(stats_of_workers_add_up) {
  weft_pool *pool = sleepy_pool_of(3);
  unsigned limit;
  harness_run_threads(4, join_there, pool);
  weft_pool_run(pool, limit_of, &limit);
  AWAIT(all_asleep(pool));
  weft_stats before, sum, total;
  do {
    before = stats_of(pool);
    sum = sum_over_workers(pool, limit);
    total = stats_of(pool);
  } while (before.sleeps != total.sleeps || before.failed_steals != total.failed_steals);
  CHECK_EQ(sum.tasks, total.tasks);
  CHECK_EQ(sum.steals, total.steals);
  CHECK_EQ(sum.exposes, total.exposes);
  CHECK_EQ(sum.takeovers, total.takeovers);
  CHECK_EQ(sum.sleeps, total.sleeps);
  CHECK_EQ(sum.futile, total.futile);
  CHECK_EQ(sum.deepest, total.deepest);
  CHECK(total.failed_steals >= sum.failed_steals);
  weft_pool_destroy(pool);
}

TEST(stats_of_workers_that_are_not_there) {
  weft_pool *pool = pool_of(2);
  weft_stats stats = WEFT_STATS_INIT;
  CHECK_EQ(weft_pool_worker_stats(pool, 100000, &stats), WEFT_EINVAL);
  CHECK_EQ(weft_pool_worker_stats(pool, 0, NULL), WEFT_EINVAL);
  stats.struct_size = 0;
  CHECK_EQ(weft_pool_worker_stats(pool, 0, &stats), WEFT_EINVAL);
  weft_pool_destroy(pool);
}

/* Times go on, also while a worker sleeps, and together they are the thread's life. */
TEST(stats_of_time) {
  weft_pool *pool = sleepy_pool_of(2);
  AWAIT(all_asleep(pool));
  weft_stats before = worker_stats_of(pool, 1);
  AWAIT(worker_stats_of(pool, 1).asleep_ns > before.asleep_ns + 1000000);
  CHECK(worker_stats_of(pool, 1).working_ns <= before.working_ns + 1000000);
  for (int i = 0; i < 3; i++) {
    weft_stats sleeping = worker_stats_of(pool, 1);
    weft_pool_run(pool, join_pairing, NULL); /* wakes it */
    AWAIT(all_asleep(pool));
    weft_stats after = worker_stats_of(pool, 1);
    CHECK(after.asleep_ns >= sleeping.asleep_ns);
    CHECK(after.searching_ns >= sleeping.searching_ns);
    CHECK_EQ(after.tasks, sleeping.tasks + 1);
    CHECK(after.wakes > sleeping.wakes);
    CHECK_EQ(after.deepest, 1);
  }
  weft_pool_destroy(pool);
}

/* The structure of an older header ends before the newer numbers. */
TEST(stats_of_the_header_of_0_1) {
  weft_pool *pool = pool_of(1);
  weft_stats stats;
  memset(&stats, 0xAB, sizeof stats);
  stats.struct_size = offsetof(weft_stats, failed_steals);
  weft_pool_stats(pool, &stats);
  CHECK_EQ(stats.steered, 0);
  CHECK_EQ(stats.failed_steals, UINT64_C(0xABABABABABABABAB));
  CHECK_EQ(stats.asleep_ns, UINT64_C(0xABABABABABABABAB));
  weft_pool_destroy(pool);
}
