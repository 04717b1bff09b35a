/* The counters of idle workers: groups that do not touch each other, the jobs event
 * counter (JEC) that never gets stuck, pools without one, and the invariants while
 * threads follow the protocol.
 *
 * SPDX-License-Identifier: MIT */
#include "core/counters.h"

#include "core/bitset.h"
#include "harness/harness.h"
#include "pairing.h"

#include <string.h>

/* For a pool of so many workers, with the JEC at `jec`. */
static void make(wf_counters *counters, unsigned workers, uint32_t jec) {
  memset(counters, 0, sizeof *counters);
  wf_counters_init(counters, workers);
  wf_u32_store_relaxed(&counters->x_jec, jec);
}

static uint32_t jec_of(const wf_counters *counters) {
  return wf_u32_load_relaxed(&counters->x_jec);
}

static unsigned in_group(const wf_counters *counters, unsigned group) {
  return wf_u32_load_relaxed(&counters->of[group].x_inactive);
}

/* Even and odd, around zero, the sign bit and the end. */
static const uint32_t JECS[] = {
    0, 1, 2, 0x7ffffffe, 0x7fffffff, 0x80000000u, 0x80000001u, 0xfffffffeu, 0xffffffffu};
enum { JEC_COUNT = sizeof JECS / sizeof JECS[0] };

/* ---- groups ---- */

TEST(v17_as_many_groups_as_eights) {
  static const struct {
    unsigned workers, groups;
  } table[] = {{1, 1},  {7, 1},    {8, 1},    {9, 2},    {16, 2},   {17, 3},
               {64, 8}, {248, 31}, {249, 32}, {256, 32}, {257, 32}, {65535, 32}};
  for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
    wf_counters counters;
    make(&counters, table[i].workers, 0);
    CHECK_EQ(counters.groups, table[i].groups);
    CHECK_EQ(wf_counters_has_jec(&counters), table[i].workers <= 8);
    /* Every worker has a group, and every group has workers: at most nine in a pool of up
     * to 256, because places begin with 1. */
    unsigned members[WF_COUNTERS_GROUPS] = {0};
    for (unsigned index = 1; index <= table[i].workers; index++) {
      unsigned group = wf_counters_group(&counters, index);
      REQUIRE(group < table[i].groups);
      members[group]++;
    }
    for (unsigned group = 0; group < table[i].groups; group++) {
      CHECK(members[group] > 0);
      CHECK(table[i].workers > 256 || members[group] <= WF_COUNTERS_GROUP + 1);
    }
  }
}

/* Counters that nobody has initialised are those of a small pool. */
TEST(v17_no_groups_are_one_group) {
  static wf_counters counters;
  CHECK(wf_counters_has_jec(&counters));
  CHECK_EQ(wf_counters_group(&counters, 100), 0);
  wf_counters_add_inactive(&counters, 0);
  CHECK_EQ(wf_counters_inactive(&counters), 1);
  CHECK_EQ(wf_counters_inactive_about(&counters, 0), 1);
  wf_counters_sub_inactive(&counters, 0);
}

TEST(v17_groups_have_lines_of_their_own) {
  CHECK_EQ(sizeof(((wf_counters *)NULL)->of[0]), WF_CACHE_LINE);
  CHECK_EQ(sizeof(wf_counters), (WF_COUNTERS_GROUPS + 1) * (size_t)WF_CACHE_LINE);
  CHECK(offsetof(wf_counters, of) >= WF_CACHE_LINE);
}

TEST(v17_groups_do_not_touch_each_other) {
  static const unsigned sizes[] = {1, 8, 9, 20, 256};
  for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
    wf_counters counters;
    make(&counters, sizes[s], 6);
    unsigned total = 0;
    for (unsigned group = 0; group < counters.groups; group++) {
      for (unsigned i = 0; i <= group; i++) {
        wf_counters_add_inactive(&counters, group);
        CHECK_EQ(wf_counters_inactive(&counters), ++total);
      }
      for (unsigned other = 0; other < WF_COUNTERS_GROUPS; other++)
        CHECK_EQ(in_group(&counters, other), other <= group ? other + 1 : 0);
    }
    /* About how many there are, by one group: exact if it is the only one. */
    for (unsigned group = 0; group < counters.groups; group++)
      CHECK_EQ(wf_counters_inactive_about(&counters, group),
               (group + 1) * counters.groups);
    for (unsigned group = 0; group < counters.groups; group++) {
      for (unsigned i = 0; i <= group; i++) {
        wf_counters_sub_inactive(&counters, group);
        CHECK_EQ(wf_counters_inactive(&counters), --total);
      }
      CHECK_EQ(in_group(&counters, group), 0);
    }
    CHECK_EQ(jec_of(&counters), 6);
  }
}

/* ---- the JEC ---- */

/* Both make it what they want and leave it alone if it is that already. Counts stay, also
 * when the JEC wraps around. */
TEST(v17_jec_parity_table) {
  for (int j = 0; j < JEC_COUNT; j++) {
    const uint32_t jec = JECS[j];
    const uint32_t even = jec % 2 == 0 ? jec : jec + 1; /* wraps to 0 */
    const uint32_t odd = jec % 2 == 1 ? jec : jec + 1;
    wf_counters counters;
    make(&counters, 8, jec);
    wf_counters_add_inactive(&counters, 0);
    CHECK_EQ(wf_counters_announce(&counters), even);
    CHECK_EQ(jec_of(&counters), even);
    CHECK_EQ(wf_counters_announce(&counters), even); /* again */
    CHECK_EQ(jec_of(&counters), even);

    wf_u32_store_relaxed(&counters.x_jec, jec);
    wf_counters_post(&counters);
    CHECK_EQ(jec_of(&counters), odd);
    wf_counters_post(&counters);
    CHECK_EQ(jec_of(&counters), odd);
    CHECK_EQ(wf_counters_inactive(&counters), 1);
  }
}

/* If both made it odd, it would stand still after the first time for ever. */
TEST(v19_jec_never_gets_stuck) {
  static const uint32_t starts[] = {0, 0x7ffffffe, 0xfffffffe, 1, 0xffffffff};
  for (int s = 0; s < 5; s++) {
    for (int post_first = 0; post_first < 2; post_first++) {
      wf_counters counters;
      make(&counters, 4, starts[s]);
      uint32_t jec = starts[s];
      /* The first call may find the parity right; from then on each one moves. */
      if (post_first == (jec % 2 == 0)) jec++;
      for (int i = 0; i <= 1000; i++) {
        if ((i % 2 == 0) == post_first)
          wf_counters_post(&counters);
        else
          CHECK_EQ(wf_counters_announce(&counters), jec);
        if (!CHECK_EQ(jec_of(&counters), jec)) return;
        jec++;
      }
    }
  }
}

TEST(v19_it_has_moved_after_a_post_only) {
  for (int j = 0; j < JEC_COUNT; j++) {
    wf_counters counters;
    make(&counters, 8, JECS[j]);
    uint32_t seen = wf_counters_announce(&counters);
    CHECK_EQ(seen % 2, 0);
    /* Counts that change, and other workers that get sleepy, are no reason to stay awake.
     */
    wf_counters_add_inactive(&counters, 0);
    CHECK(!wf_counters_has_moved(&counters, seen));
    wf_counters_sub_inactive(&counters, 0);
    CHECK_EQ(wf_counters_announce(&counters), seen);
    CHECK(!wf_counters_has_moved(&counters, seen));

    wf_counters_post(&counters);
    CHECK(wf_counters_has_moved(&counters, seen));
    /* Also after another worker got sleepy again: the post happened. */
    uint32_t again = wf_counters_announce(&counters);
    CHECK_EQ(again, seen + 2);
    CHECK(wf_counters_has_moved(&counters, seen));
    CHECK(!wf_counters_has_moved(&counters, again));
  }
}

TEST(v19_large_pools_have_no_jec) {
  wf_counters counters;
  make(&counters, 9, 0);
  CHECK(!wf_counters_has_jec(&counters));
  uint32_t seen = wf_counters_announce(&counters);
  for (int i = 0; i < 3; i++) {
    wf_counters_post(&counters);
    CHECK(!wf_counters_has_moved(&counters, seen));
    CHECK_EQ(wf_counters_announce(&counters), seen);
    CHECK_EQ(jec_of(&counters), 0); /* nobody writes it */
  }
}

/* ---- against a model ---- */

TEST(v17_v19_random_sequences_against_model) {
  static const struct {
    unsigned workers;
    uint32_t jec;
  } starts[] = {{8, 0}, {8, 0x7ffffffe}, {8, 0xfffffffe}, {30, 0}};
  uint64_t random = harness_seed();
  for (int s = 0; s < 4; s++) {
    uint32_t jec = starts[s].jec, seen = jec;
    unsigned inactive[WF_COUNTERS_GROUPS] = {0}, total = 0;
    bool seen_is_old = false; /* was there a post since `seen` was read? */
    wf_counters counters;
    make(&counters, starts[s].workers, jec);
    const bool has_jec = starts[s].workers <= 8;
    for (unsigned i = 0; i < 200 * 1000 / harness_slowdown(); i++) {
      uint64_t choice = harness_random(&random);
      unsigned group = (unsigned)(choice / 64 % counters.groups);
      switch (choice % 4) {
      case 0:
        if (has_jec && jec % 2 == 1) jec++;
        if (!CHECK_EQ(wf_counters_announce(&counters), jec)) return;
        if (choice / 8 % 4 == 0) {
          seen = jec;
          seen_is_old = false;
        }
        break;
      case 1:
        if (has_jec && jec % 2 == 0) jec++;
        seen_is_old = true;
        wf_counters_post(&counters);
        break;
      case 2:
        inactive[group]++;
        total++;
        wf_counters_add_inactive(&counters, group);
        break;
      default:
        if (inactive[group] == 0) break;
        inactive[group]--;
        total--;
        wf_counters_sub_inactive(&counters, group);
      }
      /* A value read on the way to sleep is even, and the JEC leaves it with the first
       * post for good. */
      bool moved = wf_counters_has_moved(&counters, seen);
      if (!CHECK_EQ(moved, has_jec && seen_is_old)) return;
      if (!CHECK_EQ(moved, jec != seen)) return;
      if (!CHECK_EQ(wf_counters_inactive(&counters), total)) return;
      if (!CHECK_EQ(in_group(&counters, group), inactive[group])) return;
      if (!CHECK_EQ(jec_of(&counters), jec)) return;
    }
  }
}

/* ---- threads that follow the protocol ---- */

enum { MOST_WORKERS = 3 };

/* The set of sleepers has a bit for each worker, as in sched/sleep.c: taking it out is
 * the claim. Nothing else says who sleeps. */
struct pool {
  wf_counters counters;
  wf_u64 x_sleepers;            /* a set of worker indices */
  wf_u32 x_awake[MOST_WORKERS]; /* a word per worker to sleep on: 1 is "woken" */
  wf_u64 x_posted;              /* jobs that were posted */
  wf_u64 x_done;                /* jobs that were taken */
  uint64_t jobs;
  unsigned workers;
};

static struct pool pool;

/* Each worker has a group of its own, if there are several. */
static unsigned group_of(unsigned index) {
  return index % pool.counters.groups;
}

static unsigned sleepers(void) {
  return (unsigned)__builtin_popcountll(wf_u64_load_seq_cst(&pool.x_sleepers));
}

/* How many look for work: the set is read first, so that nobody is taken for awake whose
 * bit was there. */
static unsigned searching(unsigned asleep) {
  unsigned inactive = wf_counters_inactive(&pool.counters);
  return inactive > asleep ? inactive - asleep : 0;
}

/* Called by workers that are counted: their own group says so. */
static bool check_counts(void) {
  unsigned inactive = wf_counters_inactive(&pool.counters);
  return CHECK_MSG(inactive <= pool.workers, "inactive %u", inactive);
}

static bool take_job(void) {
  uint64_t done = wf_u64_load_seq_cst(&pool.x_done);
  while (done < wf_u64_load_seq_cst(&pool.x_posted)) {
    if (wf_u64_cas_seq_cst(&pool.x_done, &done, done + 1)) return true;
  }
  return false;
}

/* Wakes one, if any sleeps. Only who takes the bit does. */
static void wake_one(void) {
  int index = wf_bitset_take_any(&pool.x_sleepers, 1);
  if (index < 0) return;
  /* The sleeper is counted as long as it sleeps. */
  CHECK(in_group(&pool.counters, group_of((unsigned)index)) > 0);
  CHECK_EQ(wf_u32_load_relaxed(&pool.x_awake[index]), 0);
  wf_u32_store_release(&pool.x_awake[index], 1);
  wf_sys_wake_one(&pool.x_awake[index]);
}

static bool all_done(void) {
  return wf_u64_load_seq_cst(&pool.x_done) == pool.jobs;
}

/* Registers, looks once more, and sleeps. */
static void sleep_once(unsigned index, uint64_t random) {
  wf_u32_store_relaxed(&pool.x_awake[index], 0);
  wf_bitset_add(&pool.x_sleepers, index);
  /* A job may have been posted between the look at the JEC and the registration. */
  wf_fence_seq_cst();
  bool stays_awake =
      all_done() ||
      wf_u64_load_seq_cst(&pool.x_done) < wf_u64_load_seq_cst(&pool.x_posted) ||
      random % 8 == 0; /* or it changes its mind */
  if (stays_awake && wf_bitset_remove(&pool.x_sleepers, index)) return;
  while (wf_u32_load_acquire(&pool.x_awake[index]) == 0)
    wf_sys_wait(&pool.x_awake[index], 0);
}

static void worker(unsigned index, uint64_t random) {
  while (!all_done()) {
    if (take_job()) continue;
    wf_counters_add_inactive(&pool.counters, group_of(index));
    while (!all_done()) {
      check_counts();
      uint32_t jec = wf_counters_announce(&pool.counters);
      CHECK_EQ(jec % 2, 0);
      pairing_jitter(harness_random(&random));
      if (wf_u64_load_seq_cst(&pool.x_done) < wf_u64_load_seq_cst(&pool.x_posted)) break;
      pairing_jitter(harness_random(&random));
      if (wf_counters_has_moved(&pool.counters, jec)) continue;
      sleep_once(index, harness_random(&random));
    }
    wf_counters_sub_inactive(&pool.counters, group_of(index));
  }
}

/* The last thread posts a job when the one before is done. A job that nobody is woken for
 * would wait for ever. It trusts workers that search. */
static void poster(uint64_t random) {
  for (uint64_t job = 0; job < pool.jobs; job++) {
    unsigned spins = 0;
    pairing_jitter(harness_random(&random));
    wf_u64_fetch_add_seq_cst(&pool.x_posted, 1);
    wf_fence_seq_cst();
    wf_counters_post(&pool.counters);
    unsigned asleep = sleepers();
    if (asleep > 0 && searching(asleep) == 0) wake_one();
    while (wf_u64_load_seq_cst(&pool.x_done) <= job) {
      check_counts();
      pairing_pause(&spins);
    }
  }
  /* Workers that sleep now are told to end. */
  wf_counters_post(&pool.counters);
  while (wf_counters_inactive(&pool.counters) > 0) wake_one();
}

static void work_or_post(unsigned index, void *unused) {
  (void)unused;
  if (index < pool.workers) {
    worker(index, harness_seed() + index);
  } else {
    poster(harness_seed() + index);
  }
}

static void run_pool(unsigned workers, unsigned groups) {
  static const uint32_t starts[] = {0, 0x7ffffffe, 0xfffffffe};
  for (int s = 0; s < (groups == 1 ? 3 : 1); s++) {
    pool = (struct pool){.workers = workers, .jobs = 10 * 1000 / harness_slowdown()};
    make(&pool.counters, workers, starts[s]);
    pool.counters.groups = groups;
    harness_run_threads(workers + 1, work_or_post, NULL);
    CHECK_EQ(wf_counters_inactive(&pool.counters), 0);
    CHECK_EQ(wf_u64_load_relaxed(&pool.x_done), pool.jobs);
    CHECK_EQ(wf_u64_load_relaxed(&pool.x_sleepers), 0);
    CHECK(groups == 1 || jec_of(&pool.counters) == 0);
  }
}

TEST(v19_v24_one_worker_misses_no_job) {
  run_pool(1, 1);
}

TEST(v19_v24_three_workers_miss_no_job_and_counts_are_right_at_every_step) {
  run_pool(MOST_WORKERS, 1);
}

TEST(v19_v24_workers_of_several_groups_miss_no_job) {
  run_pool(1, 2);
  run_pool(MOST_WORKERS, MOST_WORKERS);
  run_pool(MOST_WORKERS, 2);
}

/* Increments from several threads: none is lost. */
static void count_together(unsigned index, void *arg) {
  wf_counters *counters = arg;
  unsigned group = index % counters->groups;
  for (unsigned i = 0; i < 20 * 1000 / harness_slowdown(); i++) {
    wf_counters_add_inactive(counters, group);
    if (index % 2 == 0)
      CHECK_EQ(wf_counters_announce(counters) % 2, 0);
    else
      wf_counters_post(counters);
    unsigned inactive = wf_counters_inactive(counters);
    CHECK_MSG(inactive > 100 && inactive <= 104, "%u inactive", inactive);
    wf_counters_sub_inactive(counters, group);
  }
}

TEST(v24_concurrent_updates_lose_nothing) {
  static const unsigned sizes[] = {8, 16, 32};
  for (int s = 0; s < 3; s++) {
    wf_counters counters;
    make(&counters, sizes[s], s == 0 ? 0xffffff00u : 0);
    for (unsigned i = 0; i < 100; i++)
      wf_counters_add_inactive(&counters, i % counters.groups);
    unsigned before[WF_COUNTERS_GROUPS];
    for (unsigned group = 0; group < counters.groups; group++)
      before[group] = in_group(&counters, group);
    harness_run_threads(4, count_together, &counters);
    for (unsigned group = 0; group < counters.groups; group++)
      CHECK_EQ(in_group(&counters, group), before[group]);
    CHECK_EQ(wf_counters_inactive(&counters), 100);
    CHECK(s == 0 || jec_of(&counters) == 0);
  }
}
