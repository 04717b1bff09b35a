/* The packed counters: fields that do not leak into each other, the jobs event counter
 * (JEC) that never gets stuck, and the invariants while threads follow the protocol.
 *
 * SPDX-License-Identifier: MIT */
#include "core/counters.h"

#include "core/bitset.h"
#include "harness/harness.h"
#include "pairing.h"

static wf_counters make(uint32_t jec, unsigned inactive, unsigned sleeping) {
  wf_counters counters;
  wf_u64_store_relaxed(&counters.x_word, (uint64_t)jec << 32 | (uint64_t)inactive << 16 |
                                             (uint64_t)sleeping);
  return counters;
}

static bool check_word(uint64_t word, uint32_t jec, unsigned inactive,
                       unsigned sleeping) {
  return CHECK_EQ(wf_counters_jec(word), jec) &&
         CHECK_EQ(wf_counters_inactive(word), inactive) &&
         CHECK_EQ(wf_counters_sleeping(word), sleeping);
}

/* Even and odd, around zero, the sign bit and the end. */
static const uint32_t JECS[] = {
    0, 1, 2, 0x7ffffffe, 0x7fffffff, 0x80000000u, 0x80000001u, 0xfffffffeu, 0xffffffffu};
enum { JEC_COUNT = sizeof JECS / sizeof JECS[0] };

/* ---- packing ---- */

TEST(v17_fields_are_where_they_belong) {
  check_word(0, 0, 0, 0);
  check_word(1, 0, 0, 1);
  check_word(UINT64_C(1) << 16, 0, 1, 0);
  check_word(UINT64_C(1) << 32, 1, 0, 0);
  check_word(UINT64_C(0xdeadbeef12345678), 0xdeadbeef, 0x1234, 0x5678);
  check_word(UINT64_MAX, 0xffffffff, 65535, 65535);
  CHECK_EQ(WF_ONE_SLEEPING, 1);
  CHECK_EQ(WF_ONE_INACTIVE, 0x10000);
  CHECK_EQ(WF_ONE_JEC, UINT64_C(0x100000000));
  CHECK_EQ(sizeof(wf_counters), 8);
}

TEST(v17_awake_idle_is_the_difference) {
  static const struct {
    unsigned inactive, sleeping, awake_idle;
  } table[] = {{0, 0, 0},         {1, 0, 1},         {1, 1, 0},        {5, 2, 3},
               {65535, 0, 65535}, {65535, 1, 65534}, {65535, 65535, 0}};
  for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
    for (int j = 0; j < JEC_COUNT; j++) {
      wf_counters counters = make(JECS[j], table[i].inactive, table[i].sleeping);
      CHECK_EQ(wf_counters_awake_idle(wf_counters_load(&counters)), table[i].awake_idle);
    }
  }
}

TEST(v17_counts_reach_their_limits_without_touching_their_neighbours) {
  for (int j = 0; j < JEC_COUNT; j++) {
    const uint32_t jec = JECS[j] & ~1u; /* even, as a sleepy worker leaves it */
    wf_counters counters = make(jec, 0, 0);
    for (unsigned i = 1; i <= 65535; i++) {
      uint64_t word = wf_counters_add_inactive(&counters);
      if (i % 4096 == 1 || i > 65530) check_word(word, jec, i, 0);
    }
    for (unsigned i = 1; i <= 65535; i++) {
      if (!CHECK(wf_counters_try_sleep(&counters, jec))) return;
      if (i % 4096 == 1 || i > 65530)
        check_word(wf_counters_load(&counters), jec, 65535, i);
    }
    for (unsigned i = 65535; i > 0; i--) {
      wf_counters_sub_sleeping(&counters);
      if (i % 4096 == 1 || i > 65530)
        check_word(wf_counters_load(&counters), jec, 65535, i - 1);
    }
    for (unsigned i = 65535; i > 0; i--) {
      uint64_t word = wf_counters_sub_inactive(&counters);
      if (i % 4096 == 1 || i > 65530) check_word(word, jec, i - 1, 0);
    }
    check_word(wf_counters_load(&counters), jec, 0, 0);
  }
}

/* ---- the JEC ---- */

/* Both make it what they want and leave it alone if it is that already; both return the
 * word as it is then. Counts stay, also when the JEC wraps around. */
TEST(v17_jec_parity_table) {
  static const unsigned counts[][2] = {{0, 0}, {7, 3}, {65535, 65535}};
  for (int j = 0; j < JEC_COUNT; j++) {
    for (int c = 0; c < 3; c++) {
      const uint32_t jec = JECS[j];
      const unsigned inactive = counts[c][0], sleeping = counts[c][1];
      const uint32_t even = jec % 2 == 0 ? jec : jec + 1; /* wraps to 0 */
      const uint32_t odd = jec % 2 == 1 ? jec : jec + 1;

      wf_counters counters = make(jec, inactive, sleeping);
      check_word(wf_counters_announce(&counters), even, inactive, sleeping);
      check_word(wf_counters_load(&counters), even, inactive, sleeping);
      check_word(wf_counters_announce(&counters), even, inactive, sleeping); /* again */

      counters = make(jec, inactive, sleeping);
      check_word(wf_counters_post(&counters), odd, inactive, sleeping);
      check_word(wf_counters_load(&counters), odd, inactive, sleeping);
      check_word(wf_counters_post(&counters), odd, inactive, sleeping);
    }
  }
}

/* If both made it odd, it would stand still after the first time for ever. */
TEST(v19_jec_never_gets_stuck) {
  static const uint32_t starts[] = {0, 0x7ffffffe, 0xfffffffe, 1, 0xffffffff};
  for (int s = 0; s < 5; s++) {
    for (int post_first = 0; post_first < 2; post_first++) {
      wf_counters counters = make(starts[s], 9, 4);
      uint32_t jec = starts[s];
      /* The first call may find the parity right; from then on each one moves. */
      if (post_first == (jec % 2 == 0)) jec++;
      uint64_t word =
          post_first ? wf_counters_post(&counters) : wf_counters_announce(&counters);
      check_word(word, jec, 9, 4);
      for (int i = 0; i < 1000; i++) {
        bool post = (i % 2 == 0) != post_first;
        word = post ? wf_counters_post(&counters) : wf_counters_announce(&counters);
        if (!check_word(word, ++jec, 9, 4)) return;
      }
    }
  }
}

TEST(v19_try_sleep_fails_after_a_post_only) {
  for (int j = 0; j < JEC_COUNT; j++) {
    wf_counters counters = make(JECS[j], 10, 2);
    uint32_t seen = wf_counters_jec(wf_counters_announce(&counters));
    CHECK_EQ(seen % 2, 0);
    /* Counts that change, and other workers that get sleepy, are no reason to stay awake.
     */
    wf_counters_add_inactive(&counters);
    wf_counters_sub_inactive(&counters);
    wf_counters_sub_sleeping(&counters);
    wf_counters_announce(&counters);
    CHECK(wf_counters_try_sleep(&counters, seen));
    CHECK(wf_counters_try_sleep(&counters, seen));
    check_word(wf_counters_load(&counters), seen, 10, 3);

    wf_counters_post(&counters);
    CHECK(!wf_counters_try_sleep(&counters, seen));
    check_word(wf_counters_load(&counters), seen + 1, 10, 3);
    /* Nor after another worker got sleepy again: the post happened. */
    uint32_t again = wf_counters_jec(wf_counters_announce(&counters));
    CHECK_EQ(again, seen + 2);
    CHECK(!wf_counters_try_sleep(&counters, seen));
    CHECK(wf_counters_try_sleep(&counters, again));
    check_word(wf_counters_load(&counters), again, 10, 4);
  }
}

/* ---- against a model ---- */

TEST(v17_v19_random_sequences_against_model) {
  static const uint32_t starts[] = {0, 0x7ffffffe, 0xfffffffe};
  uint64_t random = harness_seed();
  for (int s = 0; s < 3; s++) {
    uint32_t jec = starts[s], seen = starts[s];
    unsigned inactive = 0, sleeping = 0;
    bool seen_is_old = false; /* was there a post since `seen` was read? */
    wf_counters counters = make(jec, 0, 0);
    for (unsigned i = 0; i < 200 * 1000 / harness_slowdown(); i++) {
      uint64_t word = wf_counters_load(&counters);
      bool slept;
      switch (harness_random(&random) % 6) {
      case 0:
        if (jec % 2 == 1) jec++;
        word = wf_counters_announce(&counters);
        if (harness_random(&random) % 4 == 0) {
          seen = jec;
          seen_is_old = false;
        }
        break;
      case 1:
        if (jec % 2 == 0) jec++;
        seen_is_old = true;
        word = wf_counters_post(&counters);
        break;
      case 2:
        if (inactive == 65535) break;
        inactive++;
        word = wf_counters_add_inactive(&counters);
        break;
      case 3:
        if (inactive == sleeping) break; /* only a worker that is awake becomes busy */
        inactive--;
        word = wf_counters_sub_inactive(&counters);
        break;
      case 4:
        if (sleeping == inactive) break; /* only an idle worker falls asleep */
        slept = wf_counters_try_sleep(&counters, seen);
        /* A value read on the way to sleep is even, and the JEC leaves it with the first
         * post for good. */
        if (!CHECK_EQ(slept, jec == seen)) return;
        if (i > 0 && seen_is_old && !CHECK(!slept)) return;
        if (slept) sleeping++;
        word = wf_counters_load(&counters);
        break;
      default:
        if (sleeping == 0) break;
        sleeping--;
        wf_counters_sub_sleeping(&counters);
        word = wf_counters_load(&counters);
      }
      if (!check_word(word, jec, inactive, sleeping)) return;
      if (!CHECK_EQ(wf_counters_load(&counters), word)) return;
    }
  }
}

/* ---- threads that follow the protocol ---- */

enum { MOST_WORKERS = 3 };

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

static bool check_invariant(uint64_t word) {
  unsigned sleeping = wf_counters_sleeping(word), inactive = wf_counters_inactive(word);
  return CHECK_MSG(sleeping <= inactive && inactive <= pool.workers,
                   "sleeping %u, inactive %u", sleeping, inactive);
}

static bool take_job(void) {
  uint64_t done = wf_u64_load_seq_cst(&pool.x_done);
  while (done < wf_u64_load_seq_cst(&pool.x_posted)) {
    if (wf_u64_cas_seq_cst(&pool.x_done, &done, done + 1)) return true;
  }
  return false;
}

/* Wakes one, if any sleeps. The waker counts it off. */
static void wake_one(void) {
  unsigned spins = 0;
  while (wf_counters_sleeping(wf_counters_load(&pool.counters)) > 0) {
    int index = wf_bitset_take_any(&pool.x_sleepers, 1);
    if (index >= 0) {
      wf_counters_sub_sleeping(&pool.counters);
      check_invariant(wf_counters_load(&pool.counters));
      wf_u32_store_release(&pool.x_awake[index], 1);
      wf_sys_wake_one(&pool.x_awake[index]);
      return;
    }
    pairing_pause(&spins); /* it is counted, and about to add itself to the set */
  }
}

static bool all_done(void) {
  return wf_u64_load_seq_cst(&pool.x_done) == pool.jobs;
}

static void worker(unsigned index, uint64_t random) {
  while (!all_done()) {
    if (take_job()) continue;
    check_invariant(wf_counters_add_inactive(&pool.counters));
    while (!all_done()) {
      uint64_t word = wf_counters_announce(&pool.counters);
      check_invariant(word);
      CHECK_EQ(wf_counters_jec(word) % 2, 0);
      pairing_jitter(harness_random(&random));
      if (wf_u64_load_seq_cst(&pool.x_done) < wf_u64_load_seq_cst(&pool.x_posted)) break;
      wf_u32_store_relaxed(&pool.x_awake[index], 0);
      pairing_jitter(harness_random(&random));
      if (!wf_counters_try_sleep(&pool.counters, wf_counters_jec(word))) continue;
      check_invariant(wf_counters_load(&pool.counters));
      wf_bitset_add(&pool.x_sleepers, index);
      /* A job may have been posted between the look at the JEC and the registration. */
      wf_fence_seq_cst();
      bool stays_awake =
          wf_u64_load_seq_cst(&pool.x_done) < wf_u64_load_seq_cst(&pool.x_posted) ||
          harness_random(&random) % 8 == 0; /* or it changes its mind */
      if (stays_awake && wf_bitset_remove(&pool.x_sleepers, index)) {
        wf_counters_sub_sleeping(&pool.counters);
        continue;
      }
      while (wf_u32_load_acquire(&pool.x_awake[index]) == 0)
        wf_sys_wait(&pool.x_awake[index], 0);
    }
    check_invariant(wf_counters_sub_inactive(&pool.counters));
  }
}

/* The last thread posts a job when the one before is done. A job that nobody is woken for
 * would wait for ever. */
static void poster(uint64_t random) {
  for (uint64_t job = 0; job < pool.jobs; job++) {
    unsigned spins = 0;
    pairing_jitter(harness_random(&random));
    wf_u64_fetch_add_seq_cst(&pool.x_posted, 1);
    uint64_t word = wf_counters_post(&pool.counters);
    check_invariant(word);
    CHECK_EQ(wf_counters_jec(word) % 2, 1);
    if (wf_counters_sleeping(word) > 0) wake_one();
    while (wf_u64_load_seq_cst(&pool.x_done) <= job) {
      check_invariant(wf_counters_load(&pool.counters));
      pairing_pause(&spins);
    }
  }
  /* Workers that sleep now are told to end. */
  wf_counters_post(&pool.counters);
  while (wf_counters_inactive(wf_counters_load(&pool.counters)) > 0) wake_one();
}

static void work_or_post(unsigned index, void *unused) {
  (void)unused;
  if (index < pool.workers) {
    worker(index, harness_seed() + index);
  } else {
    poster(harness_seed() + index);
  }
}

static void run_pool(unsigned workers) {
  static const uint32_t starts[] = {0, 0x7ffffffe, 0xfffffffe};
  for (int s = 0; s < 3; s++) {
    pool = (struct pool){.workers = workers, .jobs = 10 * 1000 / harness_slowdown()};
    pool.counters = make(starts[s], 0, 0);
    harness_run_threads(workers + 1, work_or_post, NULL);
    const uint64_t word = wf_counters_load(&pool.counters);
    CHECK_EQ(wf_counters_sleeping(word), 0);
    CHECK_EQ(wf_counters_inactive(word), 0);
    CHECK_EQ(wf_u64_load_relaxed(&pool.x_done), pool.jobs);
    CHECK_EQ(wf_u64_load_relaxed(&pool.x_sleepers), 0);
  }
}

TEST(v19_v24_one_worker_misses_no_job) {
  run_pool(1);
}

TEST(v19_v24_three_workers_miss_no_job_and_counts_are_right_at_every_step) {
  run_pool(MOST_WORKERS);
}

/* Increments from several threads: none is lost, and the JEC moves by one for each. */
static void count_together(unsigned index, void *arg) {
  wf_counters *counters = arg;
  for (unsigned i = 0; i < 20 * 1000 / harness_slowdown(); i++) {
    wf_counters_add_inactive(counters);
    if (index % 2 == 0) {
      CHECK_EQ(wf_counters_jec(wf_counters_announce(counters)) % 2, 0);
    } else {
      CHECK_EQ(wf_counters_jec(wf_counters_post(counters)) % 2, 1);
    }
    while (!wf_counters_try_sleep(counters,
                                  wf_counters_jec(wf_counters_announce(counters)))) {
    }
    wf_counters_sub_sleeping(counters);
    wf_counters_sub_inactive(counters);
  }
}

TEST(v24_concurrent_updates_lose_nothing) {
  wf_counters counters = make(0xffffff00u, 100, 50);
  harness_run_threads(4, count_together, &counters);
  const uint64_t word = wf_counters_load(&counters);
  CHECK_EQ(wf_counters_inactive(word), 100);
  CHECK_EQ(wf_counters_sleeping(word), 50);
}
