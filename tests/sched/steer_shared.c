/* link: -Wl,--wrap=wf_sys_cpu_now,--wrap=wf_sys_thread_self,--wrap=wf_sys_ticks */
/* link: -Wl,--wrap=wf_sys_ticks_per_us,--wrap=wf_sys_mask_read,--wrap=wf_sys_mask_set */
/* link: -Wl,--wrap=wf_sys_mask_origin,--wrap=wf_sys_thread_yield */
/* Workers that are awake on the CPU of another one: when they move away, and when not, on
 * the machine that the test plays.
 *
 * SPDX-License-Identifier: MIT */
#include "steer_machine.h"

/* As many threads as CPUs, or fewer. Worker 0 is awake on CPU 3, worker 1 searches there
 * and gets its CPU back a millisecond after it has given way. */
static weft_pool *pool_that_shares(weft_steer steer) {
  weft_pool *pool = pool_that(steer, 4);
  pool->exceeds_cpus = false;
  CHECK(wf_bitset_add(pool->x_present, 0));
  machine.cpu = 3;
  wf_steer_note_cpu(&pool->workers[0]);
  machine.thread = 1;
  machine.yield_us = 1000;
  return pool;
}

static void free_pool(weft_pool *pool) {
  wf_bitset_remove(pool->x_present, 0);
  wf_pool_free(pool);
}

TEST(a_worker_that_shares_its_cpu_moves_away) {
  weft_pool *pool = pool_that_shares(WEFT_STEER_AUTO);
  machine.asked[1] = 0xF0 | 1 << 3; /* the user's */
  wf_steer_yield(&pool->workers[1]);
  CHECK_EQ(misplaced(pool), 1);
  CHECK_EQ(calls(), 0); /* once is chance */
  wf_steer_yield(&pool->workers[1]);
  CHECK_EQ(misplaced(pool), 2);
  CHECK_EQ(steered(pool), 1);
  CHECK_EQ(machine.cpu, 4);
  CHECK_EQ(cpus_of(1), 0xF0u | 1 << 3);
  unsigned before = calls();
  wf_steer_yield(&pool->workers[1]); /* it has a CPU of its own: another program's work */
  CHECK_EQ(calls(), before);
  CHECK_EQ(misplaced(pool), 2);
  free_pool(pool);
}

TEST(a_worker_that_moves_keeps_to_its_cpuset) {
  weft_pool *pool = pool_that_shares(WEFT_STEER_ON);
  wf_steer_yield(&pool->workers[1]);
  CHECK_EQ(machine.cpu, 0);
  CHECK_EQ(machine.asked[1], ~0u); /* it still follows */
  machine.cpuset = 1 << 3;
  machine.cpu = 3;
  wf_steer_yield(&pool->workers[1]);
  CHECK_EQ(machine.cpu, 3);
  CHECK_EQ(cpus_of(1), 1u << 3);
  machine.cpuset = ALL;
  CHECK_EQ(cpus_of(1), ALL);
  free_pool(pool);
}

/* Each of these is no reason to move. */
TEST(a_worker_stays_where_it_may_be) {
  weft_pool *pool = pool_that_shares(WEFT_STEER_AUTO);
  wf_worker *worker = &pool->workers[1];
  machine.yield_us = 100; /* it has its CPU back in time */
  for (int i = 0; i < 10; i++) wf_steer_yield(worker);
  machine.yield_us = 1000;
  machine.cpu = 2; /* worker 0 is elsewhere */
  for (int i = 0; i < 10; i++) wf_steer_yield(worker);
  machine.cpu = -1; /* not known */
  for (int i = 0; i < 10; i++) wf_steer_yield(worker);
  machine.cpu = 3;
  wf_u32_store_relaxed(&pool->workers[0].x_park, 1); /* worker 0 sleeps */
  for (int i = 0; i < 10; i++) wf_steer_yield(worker);
  wf_u32_store_relaxed(&pool->workers[0].x_park, 0);
  wf_bitset_remove(pool->x_present, 0); /* nobody is in place 0 */
  for (int i = 0; i < 10; i++) wf_steer_yield(worker);
  wf_bitset_add(pool->x_present, 0);
  pool->exceeds_cpus = true; /* threads have to share CPUs */
  for (int i = 0; i < 10; i++) wf_steer_yield(worker);
  CHECK_EQ(machine.yields, 60);
  CHECK_EQ(misplaced(pool), 0);
  CHECK_EQ(calls(), 0);
  free_pool(pool);
  pool = pool_that_shares(WEFT_STEER_OFF);
  for (int i = 0; i < 10; i++) wf_steer_yield(&pool->workers[1]);
  CHECK_EQ(machine.yields, 10);
  CHECK_EQ(misplaced(pool), 0);
  CHECK_EQ(calls(), 0);
  free_pool(pool);
}

TEST(a_worker_that_may_not_move_stays) {
  for (int refusal = 0; refusal < 2; refusal++) {
    weft_pool *pool = pool_that_shares(WEFT_STEER_ON);
    machine.refuses_reads = refusal == 0;
    machine.refuses_sets = refusal == 1;
    wf_steer_yield(&pool->workers[1]);
    CHECK(!steers(pool));
    CHECK_EQ(machine.cpu, 3);
    unsigned before = calls();
    for (int i = 0; i < 10; i++) wf_steer_yield(&pool->workers[1]);
    CHECK_EQ(calls(), before);
    free_pool(pool);
  }
}
