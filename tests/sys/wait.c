/* Waiting on a word: no wake is lost, and a wake touches nothing.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "child.h"
#include "core/atomic.h"
#include "harness/harness.h"
#include "sys/sys.h"
#include "wait_pair.h"

#include <stdlib.h>
#include <string.h>

TEST(returns_at_once_if_the_value_differs) {
  wf_u32 word = {5};
  for (uint32_t i = 0; i < 1000; i++) wf_sys_wait(&word, 6 + i);
  wf_sys_wait(&word, 0);
  wf_sys_wait(&word, UINT32_MAX);
  CHECK_EQ(wf_u32_load_relaxed(&word), 5);
}

TEST(ping_pong_loses_nothing) {
  wait_pair_run(100 * 1000, 0);
}

/* ---- timed ---- */

enum { HOUR_S = 3600 };
#define HOUR_NS (HOUR_S * UINT64_C(1000000000))

TEST(timed_wait_returns_at_once_if_the_value_differs) {
  wf_u32 word = {5};
  for (uint32_t i = 0; i < 1000; i++) CHECK(wf_sys_wait_for(&word, 6 + i, HOUR_NS));
  CHECK(wf_sys_wait_for(&word, 0, 0));
  CHECK(wf_sys_wait_for(&word, 0, UINT64_MAX));
  CHECK_EQ(wf_u32_load_relaxed(&word), 5);
}

/* Every wait ends, and none of those that say so before its time. */
TEST(timed_wait_ends_by_itself_and_not_too_early) {
  static const uint64_t times[] = {0, 1, 999, 100 * 1000, 3 * 1000 * 1000};
  wf_u32 word = {7};
  for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
    for (int round = 0; round < 10; round++) {
      uint64_t before;
      do {
        before = wf_sys_now_ns();
      } while (wf_sys_wait_for(&word, 7, times[i])); /* true: without reason */
      CHECK(wf_sys_now_ns() - before >= times[i]);
    }
  }
}

/* A lost wake would take an hour, and be noticed; or the longest time of all. */
TEST(timed_ping_pong_loses_nothing) {
  wait_pair_run(20 * 1000, HOUR_NS);
  wait_pair_run(20 * 1000, UINT64_MAX);
}

TEST(timed_ping_pong_that_times_out_loses_nothing) {
  wait_pair_run(5 * 1000, 1);
  wait_pair_run(5 * 1000, 10 * 1000);
}

/* ---- many waiters ---- */

enum { WAITERS = 16, CROWD_ROUNDS = 200 };

struct crowd {
  wf_u32 round;   /* what everybody waits on */
  wf_u32 arrived; /* in this round */
};

static void crowd_wait(unsigned index, void *arg) {
  struct crowd *crowd = arg;
  for (uint32_t round = 0; round < CROWD_ROUNDS; round++) {
    if (index == WAITERS) {
      /* The waker: all have arrived, some of them sleep. */
      uint32_t arrived;
      while ((arrived = wf_u32_load_acquire(&crowd->arrived)) != WAITERS) {
        wf_sys_wait(&crowd->arrived, arrived);
      }
      wf_u32_store_relaxed(&crowd->arrived, 0);
      wf_u32_store_release(&crowd->round, round + 1);
      wf_sys_wake_all(&crowd->round);
    } else {
      wf_u32_fetch_add_seq_cst(&crowd->arrived, 1);
      wf_sys_wake_one(&crowd->arrived);
      while (wf_u32_load_acquire(&crowd->round) == round) {
        wf_sys_wait(&crowd->round, round);
      }
    }
  }
}

TEST(wake_all_reaches_everybody) {
  struct crowd crowd = {{0}, {0}};
  harness_run_threads(WAITERS + 1, crowd_wait, &crowd);
  CHECK_EQ(wf_u32_load_relaxed(&crowd.round), CROWD_ROUNDS);
}

/* As many tickets as waiters, each followed by one wake: everybody must get away, though
 * a wake may go to a thread that finds the ticket gone. */
struct tickets {
  wf_u32 free;
  wf_u32 taken;
};

static void tickets_play(unsigned index, void *arg) {
  struct tickets *tickets = arg;
  if (index == WAITERS) {
    for (int i = 0; i < WAITERS * CROWD_ROUNDS; i++) {
      wf_u32_fetch_add_seq_cst(&tickets->free, 1);
      wf_sys_wake_one(&tickets->free);
    }
    return;
  }
  for (int i = 0; i < CROWD_ROUNDS; i++) {
    uint32_t seen = wf_u32_load_relaxed(&tickets->free);
    for (;;) {
      if (seen == 0) {
        wf_sys_wait(&tickets->free, 0);
        seen = wf_u32_load_relaxed(&tickets->free);
      } else if (wf_u32_cas_acquire(&tickets->free, &seen, seen - 1)) {
        break;
      }
    }
    wf_u32_fetch_add_relaxed(&tickets->taken, 1);
  }
}

TEST(as_many_wakes_as_waiters_are_enough) {
  struct tickets tickets = {{0}, {0}};
  harness_run_threads(WAITERS + 1, tickets_play, &tickets);
  CHECK_EQ(wf_u32_load_relaxed(&tickets.free), 0);
  CHECK_EQ(wf_u32_load_relaxed(&tickets.taken), WAITERS * CROWD_ROUNDS);
}

/* ---- addresses nobody waits on ---- */

TEST(waking_unmapped_memory_is_harmless) {
  /* Valgrind reports the address of a wake as if the kernel read the memory there. */
  const char *preload = getenv("LD_PRELOAD");
  if (preload != NULL && strstr(preload, "vgpreload") != NULL) {
    printf("skipped: valgrind objects to what is tested here\n");
    return;
  }
  const size_t size = 1 << 16;
  char *memory = wf_sys_map(size);
  REQUIRE(memory != NULL);
  wf_sys_unmap(memory, size);
  for (size_t at = 0; at < size; at += 64) {
    wf_sys_wake_one((wf_u32 *)(void *)(memory + at));
    wf_sys_wake_all((wf_u32 *)(void *)(memory + at));
  }
  wf_sys_wake_all(NULL);
}

/* ---- fork ---- */

enum { FORKS = 20 };

struct fork_scene {
  wf_u32 gate;
  wf_u32 waiting;
};

/* The child inherits the traces of waiters that it does not have; its wakes must return
 * all the same. */
static int wake_in_child(void *arg) {
  struct fork_scene *scene = arg;
  for (int i = 0; i < 10; i++) {
    wf_sys_wake_one(&scene->gate);
    wf_sys_wake_all(&scene->gate);
    wf_sys_wait(&scene->gate, 1);
  }
  return 0;
}

static void fork_scene_play(unsigned index, void *arg) {
  struct fork_scene *scene = arg;
  if (index > 0) {
    wf_u32_fetch_add_seq_cst(&scene->waiting, 1);
    while (wf_u32_load_acquire(&scene->gate) == 0) wf_sys_wait(&scene->gate, 0);
    return;
  }
  while (wf_u32_load_acquire(&scene->waiting) != 4) wf_sys_thread_yield();
  for (int i = 0; i < FORKS; i++) {
    CHECK_EQ(child_run(wake_in_child, scene), 0);
    wf_sys_wake_all(&scene->gate); /* stirs them up: the next fork finds another state */
  }
  wf_u32_store_release(&scene->gate, 1);
  wf_sys_wake_all(&scene->gate);
}

TEST(waking_works_in_a_forked_child) {
  struct fork_scene scene = {{0}, {0}};
  harness_run_threads(5, fork_scene_play, &scene);
  CHECK_EQ(wf_u32_load_relaxed(&scene.gate), 1);
}
