/* The lock: states, mutual exclusion, and no wake-up lost with more threads than CPUs.
 *
 * SPDX-License-Identifier: MIT */
#include "core/lock.h"

#include "harness/harness.h"
#include "sys/sys.h"

TEST(states_without_contention) {
  wf_lock lock = {{WF_LOCK_FREE}};
  CHECK_EQ(sizeof lock, 4);
  for (int i = 0; i < 3; i++) {
    wf_lock_lock(&lock);
    CHECK_EQ(wf_u32_load_relaxed(&lock.x_state), WF_LOCK_HELD);
    CHECK(!wf_lock_try(&lock));
    CHECK_EQ(wf_u32_load_relaxed(&lock.x_state), WF_LOCK_HELD);
    wf_lock_unlock(&lock);
    CHECK_EQ(wf_u32_load_relaxed(&lock.x_state), WF_LOCK_FREE);
    CHECK(wf_lock_try(&lock));
    CHECK(!wf_lock_try(&lock));
    wf_lock_unlock(&lock);
    CHECK_EQ(wf_u32_load_relaxed(&lock.x_state), WF_LOCK_FREE);
  }
}

TEST(contended_lock_is_left_alone_by_try_and_freed_by_unlock) {
  wf_lock lock = {{WF_LOCK_FREE}};
  wf_lock_lock(&lock);
  wf_u32_store_relaxed(&lock.x_state, WF_LOCK_CONTENDED); /* as a waiter would */
  CHECK(!wf_lock_try(&lock));
  CHECK_EQ(wf_u32_load_relaxed(&lock.x_state), WF_LOCK_CONTENDED);
  wf_lock_unlock(&lock); /* wakes nobody, which is allowed */
  CHECK_EQ(wf_u32_load_relaxed(&lock.x_state), WF_LOCK_FREE);
}

/* ---- threads ---- */

enum { THREADS = 8 };

struct shared {
  wf_lock lock;
  uint64_t plain; /* only ever touched by the holder */
  uint64_t inside;
  uint32_t rounds;
  uint32_t work; /* how long the lock is held */
  bool tries;    /* odd threads do not block */
};

static void count_under_lock(unsigned index, void *arg) {
  struct shared *it = arg;
  for (uint32_t i = 0; i < it->rounds; i++) {
    if (it->tries && index % 2 == 1) {
      while (!wf_lock_try(&it->lock)) wf_sys_thread_yield();
    } else {
      wf_lock_lock(&it->lock);
    }
    if (!CHECK_EQ(it->inside, 0)) it->inside = 0;
    it->inside = 1;
    it->plain++;
    for (uint32_t spin = 0; spin < it->work; spin++) wf_sys_relax();
    /* Now and then the holder loses its CPU, and the others come to block. */
    if (i % 64 == index) wf_sys_thread_yield();
    it->inside = 0;
    wf_lock_unlock(&it->lock);
  }
}

static void run_shared(unsigned threads, struct shared shared) {
  shared.rounds /= harness_slowdown();
  harness_run_threads(threads, count_under_lock, &shared);
  CHECK_EQ(shared.plain, (uint64_t)threads * shared.rounds);
  CHECK_EQ(wf_u32_load_relaxed(&shared.lock.x_state), WF_LOCK_FREE);
}

TEST(mutual_exclusion_of_two_threads) {
  run_shared(2, (struct shared){.rounds = 200 * 1000});
}

TEST(mutual_exclusion_of_eight_threads) {
  run_shared(THREADS, (struct shared){.rounds = 50 * 1000});
}

TEST(mutual_exclusion_with_some_that_only_try) {
  run_shared(THREADS, (struct shared){.rounds = 10 * 1000, .tries = true});
}

/* Held so long that the waiters give up spinning: each release must wake one. */
TEST(no_wake_up_is_lost_while_many_block) {
  run_shared(4 * THREADS, (struct shared){.rounds = 1000, .work = 200});
}

/* The holder waits until a thread blocks, then lets go: the wake-up must arrive. */
static void hand_over(unsigned index, void *arg) {
  struct shared *it = arg;
  for (uint32_t i = 0; i < it->rounds; i++) {
    wf_lock_lock(&it->lock);
    it->plain++;
    /* The last rounds of the slower thread have nobody to wait for. */
    while (index == 0 && it->inside < it->rounds &&
           wf_u32_load_relaxed(&it->lock.x_state) != WF_LOCK_CONTENDED)
      wf_sys_thread_yield();
    if (index == 1) it->inside++;
    wf_lock_unlock(&it->lock);
  }
}

TEST(a_blocked_waiter_is_woken) {
  struct shared shared = {.rounds = 20 * 1000 / harness_slowdown()};
  harness_run_threads(2, hand_over, &shared);
  CHECK_EQ(shared.plain, 2 * (uint64_t)shared.rounds);
  CHECK_EQ(wf_u32_load_relaxed(&shared.lock.x_state), WF_LOCK_FREE);
}
