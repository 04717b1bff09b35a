/* The process-wide barrier: with it on one side and the light barrier on the other, both
 * sides cannot miss each other's store.
 *
 *     light side            heavy side
 *     x = 1                 y = 1
 *     light barrier         wf_sys_barrier
 *     r1 = y                r2 = x            never: r1 == 0 and r2 == 0
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "core/atomic.h"
#include "harness/harness.h"
#include "sys/sys.h"

#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { ROUNDS = 100 * 1000, JITTER = 64 }; /* rounds are fewer in slow builds */

struct litmus {
  _Alignas(64) wf_u32 x;
  _Alignas(64) wf_u32 y;
  _Alignas(64) wf_u32 at_start;
  _Alignas(64) wf_u32 at_end;
  _Alignas(64) uint32_t r1; /* written by the light side, read by the heavy one */
  uint32_t forbidden;
  uint32_t rounds;
  bool heavy; /* false: light barriers on both sides, to see what happens without */
};

/* Both threads leave together: 2 * (round + 1) arrivals open the gate. The threads may
 * share one CPU, so they do not only spin. */
static void meet(wf_u32 *gate, uint32_t round) {
  wf_u32_fetch_add_seq_cst(gate, 1);
  for (unsigned spins = 0; wf_u32_load_acquire(gate) < 2 * (round + 1); spins++) {
    if (spins < 1000) {
      wf_sys_relax();
    } else {
      wf_sys_thread_yield();
    }
  }
}

/* Shifts the two sides against each other, differently in every round. */
static void jitter(uint32_t round, unsigned index) {
  const uint32_t mixed = (2 * round + index) * 2654435769u;
  for (uint32_t i = mixed >> 26; i < JITTER; i++) wf_light_barrier();
}

static void litmus_play(unsigned index, void *arg) {
  struct litmus *litmus = arg;
  for (uint32_t round = 0; round < litmus->rounds; round++) {
    meet(&litmus->at_start, round);
    jitter(round, index);
    uint32_t r2 = 1;
    if (index == 0) {
      wf_u32_store_relaxed(&litmus->x, 1);
      wf_light_barrier();
      litmus->r1 = wf_u32_load_relaxed(&litmus->y);
    } else {
      wf_u32_store_relaxed(&litmus->y, 1);
      if (litmus->heavy) {
        wf_sys_barrier();
      } else {
        wf_light_barrier();
      }
      r2 = wf_u32_load_relaxed(&litmus->x);
    }
    meet(&litmus->at_end, round);
    if (index == 1) {
      if (litmus->r1 == 0 && r2 == 0) litmus->forbidden++;
      wf_u32_store_relaxed(&litmus->x, 0);
      wf_u32_store_relaxed(&litmus->y, 0);
    }
  }
}

static uint32_t litmus_run(bool heavy, uint32_t rounds) {
  static struct litmus litmus;
  litmus = (struct litmus){.heavy = heavy, .rounds = rounds};
  harness_run_threads(2, litmus_play, &litmus);
  return litmus.forbidden;
}

TEST(store_buffering_is_forbidden) {
  if (!wf_sys_barrier_prepare()) {
    printf("skipped: no process-wide barrier on this system\n");
    return;
  }
  const uint32_t rounds = ROUNDS / harness_slowdown();
  CHECK_EQ(litmus_run(true, rounds), 0);
  /* Not a check: how often the barrier is needed depends on the machine. */
  const uint32_t seen = litmus_run(false, rounds / 10);
  printf("without the barrier: %u of %u rounds\n", (unsigned)seen, (unsigned)rounds / 10);
}

/* ---- preparing ---- */

static void prepare(unsigned index, void *arg) {
  wf_u32 *answers = arg;
  wf_u32_store_relaxed(&answers[index], wf_sys_barrier_prepare() ? 1 : 0);
}

TEST(prepare_gives_everybody_the_same_answer) {
  wf_u32 answers[8] = {{0}};
  harness_run_threads(8, prepare, answers);
  for (int i = 0; i < 8; i++) {
    CHECK_EQ(wf_u32_load_relaxed(&answers[i]), wf_sys_barrier_prepare() ? 1 : 0);
  }
}

/* A preparation that always says no would pass every other test here. */
TEST(prepare_is_true_where_the_kernel_offers_the_barrier) {
  const bool prepared = wf_sys_barrier_prepare();
#if defined(SYS_membarrier) && !defined(WF_SYS_POSIX)
  const long query = 0, expedited = 1 << 3, register_expedited = 1 << 4;
  const long offered = syscall(SYS_membarrier, query, 0, 0);
  const bool works = offered > 0 && (offered & expedited) != 0 &&
                     syscall(SYS_membarrier, register_expedited, 0, 0) == 0 &&
                     syscall(SYS_membarrier, expedited, 0, 0) == 0;
  CHECK_EQ(prepared, works);
#else
  CHECK(!prepared);
#endif
}
