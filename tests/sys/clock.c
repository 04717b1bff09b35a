/* Clock and tick counter.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "core/atomic.h"
#include "harness/harness.h"
#include "sys/sys.h"

TEST(now_never_goes_back) {
  uint64_t before = wf_sys_now_ns();
  CHECK(before > 0);
  for (int i = 0; i < 100 * 1000; i++) {
    const uint64_t now = wf_sys_now_ns();
    CHECK(now >= before);
    before = now;
  }
}

/* Two threads in turns: what one has read is not later than what the other reads next. */
struct relay {
  wf_u32 turn;
  uint64_t latest; /* plain: handed over with the turn */
};

static void relay_play(unsigned index, void *arg) {
  struct relay *relay = arg;
  for (uint32_t mine = index; mine < 2000; mine += 2) {
    uint32_t turn;
    while ((turn = wf_u32_load_acquire(&relay->turn)) != mine) {
      wf_sys_wait(&relay->turn, turn);
    }
    const uint64_t now = wf_sys_now_ns();
    CHECK(now >= relay->latest);
    relay->latest = now;
    wf_u32_store_release(&relay->turn, mine + 1);
    wf_sys_wake_one(&relay->turn);
  }
}

TEST(now_agrees_between_threads) {
  struct relay relay = {{0}, 0};
  harness_run_threads(2, relay_play, &relay);
  CHECK(relay.latest > 0);
}

TEST(clock_and_ticks_advance) {
  const uint64_t ticks = wf_sys_ticks();
  while (wf_sys_ticks() == ticks) wf_sys_relax();
  const uint64_t now = wf_sys_now_ns();
  while (wf_sys_now_ns() == now) wf_sys_relax();
  CHECK(wf_sys_now_ns() > now);
}

/* Ticks per microsecond, if nothing comes in between the looks at the two clocks. */
static uint64_t measured_ticks_per_us(void) {
  const uint64_t start_ns = wf_sys_now_ns(), start = wf_sys_ticks();
  while (wf_sys_now_ns() - start_ns < 2 * 1000 * 1000) wf_sys_relax();
  return (wf_sys_ticks() - start) / ((wf_sys_now_ns() - start_ns) / 1000) + 1;
}

/* Blocks of loops are measured by it, where a factor of four does not matter. A thread
 * that is taken off its CPU at the wrong moment measures nonsense, so once is enough. */
TEST(a_microsecond_has_about_as_many_ticks_as_it_says) {
  const uint64_t said = wf_sys_ticks_per_us();
  bool held = false;
  for (int i = 0; i < 100 && !held; i++) {
    uint64_t measured = measured_ticks_per_us();
    held = measured < 4 * said && said < 4 * measured;
  }
  CHECK(held);
}
