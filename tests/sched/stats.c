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
