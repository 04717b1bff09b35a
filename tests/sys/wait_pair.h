/* wait_pair.h - two threads that hand a number to and fro through wf_sys_wait, or through
 * wf_sys_wait_for, whose time may be over long before or never: one lost
 * wake and the test hangs. Used with the plain system and with one that lies.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_SYS_WAIT_PAIR_H
#define TESTS_SYS_WAIT_PAIR_H

#include "core/atomic.h"
#include "harness/harness.h"
#include "sys/sys.h"

struct wait_pair {
  wf_u32 turn; /* even: the turn of thread 0; odd: of thread 1 */
  uint32_t rounds;
  uint64_t timeout_ns; /* 0: waits are not timed */
  uint64_t sum;        /* plain: handed over with the turn */
};

static void wait_pair_play(unsigned index, void *arg) {
  struct wait_pair *pair = arg;
  for (uint32_t i = 0; i < pair->rounds; i++) {
    const uint32_t mine = 2 * i + index;
    uint32_t now;
    /* Pairs with the other thread's store_release below. */
    while ((now = wf_u32_load_acquire(&pair->turn)) != mine) {
      if (pair->timeout_ns == 0)
        wf_sys_wait(&pair->turn, now);
      else
        (void)wf_sys_wait_for(&pair->turn, now, pair->timeout_ns);
    }
    pair->sum += mine;
    wf_u32_store_release(&pair->turn, mine + 1);
    wf_sys_wake_one(&pair->turn);
  }
}

static void wait_pair_run(uint32_t rounds, uint64_t timeout_ns) {
  struct wait_pair pair = {.rounds = rounds, .timeout_ns = timeout_ns};
  harness_run_threads(2, wait_pair_play, &pair);
  const uint64_t turns = 2 * (uint64_t)rounds;
  CHECK_EQ(wf_u32_load_relaxed(&pair.turn), turns);
  CHECK_EQ(pair.sum, turns * (turns - 1) / 2);
}

#endif
