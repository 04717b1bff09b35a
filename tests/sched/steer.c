/* link: -Wl,--wrap=wf_sys_cpu_now,--wrap=wf_sys_thread_self,--wrap=wf_sys_ticks */
/* link: -Wl,--wrap=wf_sys_ticks_per_us,--wrap=wf_sys_mask_read,--wrap=wf_sys_mask_set */
/* link: -Wl,--wrap=wf_sys_mask_origin,--wrap=wf_sys_thread_yield */
/* Steered wake-ups: every decision of src/sched/steer.c about sleepers, on a machine that
 * the test plays. tests/sched/steer_shared.c has workers that are awake,
 * tests/sched/steer_masks.c the real machine.
 *
 * SPDX-License-Identifier: MIT */
#include "steer_machine.h"

/* Thread i of the machine is in place i. It falls asleep on a CPU ... */
static void sleep_on(weft_pool *pool, unsigned i, int cpu) {
  machine.thread = i;
  machine.cpu = cpu;
  wf_steer_before_sleep(&pool->workers[i]);
  wf_u32_store_relaxed(&pool->workers[i].x_park, 1);
}
/* ... is claimed by another one, and runs some time later. */
static bool narrowed; /* the waker has to set its mask back */
static void wake_from(weft_pool *pool, unsigned i, int cpu) {
  machine.thread = 0;
  machine.cpu = cpu;
  narrowed = wf_steer_before_wake(pool, &pool->workers[i]);
  wf_u32_store_relaxed(&pool->workers[i].x_park, 0);
}
/* The kernel has chosen a CPU; the waker goes on. */
static void finish_wake(weft_pool *pool, unsigned i) {
  machine.thread = 0;
  if (wf_u32_load_relaxed(&pool->workers[i].steered.x_state) == WF_STEER_NARROWED)
    wf_steer_after_wake(pool, &pool->workers[i]);
}
static void run_on(weft_pool *pool, unsigned i, int cpu, uint64_t late_us) {
  finish_wake(pool, i);
  machine.thread = i;
  machine.cpu = cpu;
  machine.ticks += 1000 * late_us;
  wf_steer_after_sleep(&pool->workers[i]);
}
/* It finds nothing to do. */
static void pause_on(weft_pool *pool, unsigned i) {
  wf_steer_give_way(&pool->workers[i]);
}

static void cycle(weft_pool *pool, int waker, int cpu, uint64_t late_us) {
  sleep_on(pool, 1, cpu);
  wake_from(pool, 1, waker);
  run_on(pool, 1, cpu, late_us);
}

/* Late and on the waker's CPU, as often as it takes. */
static void start_steering(weft_pool *pool) {
  while (!steers(pool)) cycle(pool, 3, 3, 1000);
  machine.reads = machine.sets = 0;
}

/* ---- when it starts ---- */

TEST(where_the_kernel_places_well_there_is_no_call) {
  weft_pool *pool = pool_that(WEFT_STEER_AUTO, 4);
  for (int i = 0; i < 10000; i++) {
    cycle(pool, i % CPUS, (i + 1) % CPUS, 2000); /* late, but elsewhere */
    cycle(pool, i % CPUS, i % CPUS, 30);         /* the waker's CPU, but at once */
    pause_on(pool, 1);
    cycle(pool, -1, 1, 5000); /* nobody knows which CPU */
    cycle(pool, 1, -1, 5000);
  }
  CHECK(!steers(pool));
  CHECK_EQ(misplaced(pool), 0);
  CHECK_EQ(calls(), 0);
  CHECK_EQ(steered(pool), 0);
  wf_pool_free(pool);
}

TEST(a_few_misplaced_wake_ups_start_it) {
  weft_pool *pool = pool_that(WEFT_STEER_AUTO, 4);
  unsigned needed = 0;
  for (; !steers(pool); needed++) {
    REQUIRE(needed < 4);
    CHECK_EQ(calls(), 0);
    cycle(pool, 2, 2, 500);
  }
  CHECK(needed >= 2);
  CHECK_EQ(misplaced(pool), needed);
  wf_pool_free(pool);
}

TEST(single_misplaced_wake_ups_among_good_ones_do_not) {
  weft_pool *pool = pool_that(WEFT_STEER_AUTO, 4);
  for (int i = 0; i < 1000; i++) {
    cycle(pool, 2, 2, 500);
    for (int k = 0; k < WF_STEER_MISPLACED; k++) cycle(pool, 2, 5, 40);
  }
  CHECK(!steers(pool));
  CHECK_EQ(misplaced(pool), 1000);
  CHECK_EQ(calls(), 0);
  wf_pool_free(pool);
}

/* Late, but elsewhere: the balancing of the kernel has moved it in the end. */
TEST(wake_ups_that_say_nothing_leave_the_evidence_alone) {
  weft_pool *pool = pool_that(WEFT_STEER_AUTO, 4);
  cycle(pool, 2, 2, 500);
  for (int i = 0; i < 100; i++) cycle(pool, 2, 5, 1000);
  CHECK(!steers(pool));
  cycle(pool, 2, 2, 500);
  CHECK(steers(pool));
  wf_pool_free(pool);
}

/* It runs at once, because the kernel has stopped its waker. It gives way, once; what
 * happens then decides. */
TEST(beside_its_waker_it_gives_way_and_is_judged_then) {
  weft_pool *pool = pool_that(WEFT_STEER_AUTO, 4);
  cycle(pool, 2, 5, 30);
  pause_on(pool, 1);
  CHECK_EQ(machine.yields, 0); /* elsewhere: there is nobody to give way to */
  machine.yield_us = 20;
  for (unsigned i = 1; i <= 100; i++) {
    cycle(pool, 2, 2, 30);
    pause_on(pool, 1);
    pause_on(pool, 1);
    CHECK_EQ(machine.yields, i);
  }
  CHECK_EQ(misplaced(pool), 0);
  machine.yield_us = 1000; /* the waker computes */
  for (unsigned i = 1; i <= 2; i++) {
    CHECK(!steers(pool));
    cycle(pool, 2, 2, 30);
    CHECK_EQ(misplaced(pool), i - 1);
    pause_on(pool, 1);
    CHECK_EQ(misplaced(pool), i);
  }
  CHECK(steers(pool));
  sleep_on(pool, 1, 2); /* a steered one has nothing to give way to */
  wake_from(pool, 1, 2);
  run_on(pool, 1, 3, 30);
  unsigned yields = machine.yields;
  pause_on(pool, 1);
  CHECK_EQ(machine.yields, yields);
  wf_pool_free(pool);
}

/* It has found work at once, and shares the CPU with its waker: neither good nor late. */
TEST(a_worker_that_finds_work_beside_its_waker_says_nothing) {
  weft_pool *pool = pool_that(WEFT_STEER_AUTO, 4);
  machine.yield_us = 1000;
  cycle(pool, 2, 2, 500);
  for (int i = 0; i < 100; i++) cycle(pool, 2, 2, 30);
  CHECK_EQ(misplaced(pool), 1);
  CHECK(!steers(pool));
  cycle(pool, 2, 2, 500);
  CHECK(steers(pool));
  wf_pool_free(pool);
}

TEST(forced_on_and_off) {
  weft_pool *pool = pool_that(WEFT_STEER_OFF, 4);
  for (int i = 0; i < 100; i++) cycle(pool, 2, 2, 5000);
  CHECK_EQ(calls(), 0);
  CHECK_EQ(misplaced(pool), 0);
  wf_pool_free(pool);
  pool = pool_that(WEFT_STEER_ON, 4);
  for (int i = 0; i < 100; i++)
    cycle(pool, 2, 3, 10); /* each of them, without evidence */
  CHECK_EQ(steered(pool), 100);
  wf_pool_free(pool);
}

/* ---- what is done ---- */

TEST(the_wakers_cpu_is_taken_out_and_given_back) {
  weft_pool *pool = pool_that(WEFT_STEER_AUTO, 4);
  start_steering(pool);
  sleep_on(pool, 1, 5);
  CHECK_EQ(cpus_of(1), ALL);
  wake_from(pool, 1, 3);
  CHECK_EQ(cpus_of(1), ALL & ~(1 << 3));
  run_on(pool, 1, 5, 50);
  CHECK_EQ(cpus_of(1), ALL);
  CHECK_EQ(machine.asked[1] & ALL, ALL);
  CHECK_EQ(steered(pool), 1);
  /* It followed its cpuset and does so still. */
  machine.cpuset = 0x0f;
  CHECK_EQ(cpus_of(1), 0x0f);
  machine.cpuset = ALL;
  CHECK_EQ(cpus_of(1), ALL);
  wf_pool_free(pool);
}

TEST(masks_of_the_user_are_kept) {
  weft_pool *pool = pool_that(WEFT_STEER_AUTO, 4);
  start_steering(pool);
  machine.asked[1] = 0x2c; /* 2, 3, 5 */
  sleep_on(pool, 1, 5);
  wake_from(pool, 1, 3);
  CHECK_EQ(cpus_of(1), 0x24);
  run_on(pool, 1, 5, 50);
  CHECK_EQ(machine.asked[1], 0x2c);
  /* A second thread in the same place, as guests are, with another mask. */
  machine.asked[7] = 0x30;
  machine.thread = 7;
  wf_steer_before_sleep(&pool->workers[1]);
  wake_from(pool, 1, 4);
  CHECK_EQ(cpus_of(7), 0x20);
  CHECK_EQ(machine.asked[1], 0x2c);
  CHECK(narrowed);
  finish_wake(pool, 1);
  CHECK_EQ(machine.asked[7], 0x30);
  wf_pool_free(pool);
}

TEST(a_thread_with_one_cpu_is_never_touched) {
  weft_pool *pool = pool_that(WEFT_STEER_AUTO, 4);
  start_steering(pool);
  machine.asked[1] = 1 << 3;
  sleep_on(pool, 1, 3);
  machine.sets = 0;
  wake_from(pool, 1, 3);
  run_on(pool, 1, 3, 3000);
  CHECK_EQ(machine.sets, 0);
  CHECK_EQ(machine.asked[1], 1 << 3);
  wf_pool_free(pool);
}

TEST(a_thread_that_cannot_come_here_is_not_touched) {
  weft_pool *pool = pool_that(WEFT_STEER_AUTO, 4);
  start_steering(pool);
  machine.asked[1] = 0x30;
  sleep_on(pool, 1, 5);
  machine.sets = 0;
  wake_from(pool, 1, 3);
  CHECK_EQ(machine.sets, 0);
  CHECK_EQ(machine.asked[1], 0x30);
  run_on(pool, 1, 5, 50);
  wf_pool_free(pool);
}

/* Threads that the pool has given their CPUs: nobody asks for others, not even for a
 * moment to learn where the mask comes from, and they get exactly their own back. */
TEST(bound_threads_stay_within_their_cpus) {
  weft_pool *pool = pool_that(WEFT_STEER_AUTO, 4);
  pool->options.topology.count = 2; /* as with weft_config.cpus */
  start_steering(pool);
  machine.asked[1] = 0x0c; /* 2, 3 */
  machine.sets = 0;
  sleep_on(pool, 1, 3);
  CHECK_EQ(machine.sets, 0);
  wake_from(pool, 1, 3);
  CHECK_EQ(machine.asked[1], 0x04);
  run_on(pool, 1, 2, 50);
  CHECK_EQ(machine.asked[1], 0x0c);
  CHECK_EQ(machine.sets, 2);
  /* All CPUs of the cpuset by name: not "whatever the cpuset has". */
  machine.asked[1] = ALL;
  sleep_on(pool, 1, 3);
  wake_from(pool, 1, 3);
  run_on(pool, 1, 2, 50);
  CHECK_EQ(machine.asked[1], ALL);
  wf_pool_free(pool);
}

/* ---- others change masks meanwhile ---- */

TEST(a_mask_that_is_set_during_the_sleep_counts) {
  weft_pool *pool = pool_that(WEFT_STEER_AUTO, 4);
  start_steering(pool);
  sleep_on(pool, 1, 5);
  machine.asked[1] = 0x18;
  machine.sets = 0;
  wake_from(pool, 1, 3);
  run_on(pool, 1, 4, 50);
  CHECK_EQ(machine.sets, 0);
  CHECK_EQ(machine.asked[1], 0x18);
  /* The next time it is steered within that. */
  sleep_on(pool, 1, 4);
  wake_from(pool, 1, 3);
  CHECK_EQ(cpus_of(1), 0x10);
  run_on(pool, 1, 4, 50);
  CHECK_EQ(machine.asked[1], 0x18);
  wf_pool_free(pool);
}

TEST(a_mask_that_is_set_while_it_is_narrowed_counts) {
  weft_pool *pool = pool_that(WEFT_STEER_AUTO, 4);
  start_steering(pool);
  sleep_on(pool, 1, 5);
  wake_from(pool, 1, 3);
  machine.asked[1] = 0x0e; /* with the CPU that was taken out */
  run_on(pool, 1, 1, 50);
  CHECK_EQ(machine.asked[1], 0x0e);
  wf_pool_free(pool);
}

TEST(a_cpuset_that_shrinks_meanwhile_leaves_nobody_narrowed) {
  for (int has_mask = 0; has_mask <= 1; has_mask++) {
    weft_pool *pool = pool_that(WEFT_STEER_AUTO, 4);
    start_steering(pool);
    if (has_mask) machine.asked[1] = 0x3f;
    sleep_on(pool, 1, 5);
    wake_from(pool, 1, 3);
    machine.cpuset = 0x1c;
    run_on(pool, 1, 4, 50);
    CHECK_EQ(cpus_of(1), 0x1c);
    machine.cpuset = ALL;
    CHECK_EQ(cpus_of(1), has_mask ? 0x3f : ALL);
    wf_pool_free(pool);
  }
}

/* ---- a waker that is held up between the wake-up and setting the mask back ---- */

TEST(a_sleeper_sets_its_mask_back_if_its_waker_is_held_up) {
  weft_pool *pool = pool_that(WEFT_STEER_AUTO, 4);
  wf_worker *worker = &pool->workers[1];
  start_steering(pool);
  sleep_on(pool, 1, 5);
  wake_from(pool, 1, 3);
  REQUIRE(narrowed);
  CHECK_EQ(wf_u32_load_relaxed(&pool->steering.x_wakers), 1);
  machine.thread = 1;
  machine.cpu = 5;
  wf_steer_after_sleep(worker);
  CHECK_EQ(cpus_of(1), ALL);
  CHECK_EQ(wf_u32_load_relaxed(&worker->steered.x_state), WF_STEER_NONE);
  machine.asked[1] = 0x03; /* and now the waker goes on: too late */
  machine.sets = 0;
  machine.thread = 0;
  wf_steer_after_wake(pool, worker);
  CHECK_EQ(machine.sets, 0);
  CHECK_EQ(machine.asked[1], 0x03);
  CHECK_EQ(wf_u32_load_relaxed(&pool->steering.x_wakers), 0);
  wf_pool_free(pool);
}

/* The first waker comes back when the sleeper is narrowed for the second time: it sets
 * that back, and the second one finds nothing to do. */
TEST(a_waker_may_undo_the_narrowing_of_the_next_one) {
  weft_pool *pool = pool_that(WEFT_STEER_AUTO, 4);
  wf_worker *worker = &pool->workers[1];
  start_steering(pool);
  sleep_on(pool, 1, 5);
  wake_from(pool, 1, 3);
  machine.thread = 1;
  wf_steer_after_sleep(worker);
  sleep_on(pool, 1, 5);
  wake_from(pool, 1, 4);
  CHECK_EQ(cpus_of(1), ALL & ~(1 << 4));
  machine.thread = 0;
  wf_steer_after_wake(pool, worker); /* the first */
  CHECK_EQ(cpus_of(1), ALL);
  machine.sets = 0;
  wf_steer_after_wake(pool, worker); /* the second */
  CHECK_EQ(machine.sets, 0);
  CHECK_EQ(wf_u32_load_relaxed(&pool->steering.x_wakers), 0);
  run_on(pool, 1, 5, 50);
  CHECK_EQ(cpus_of(1), ALL);
  wf_pool_free(pool);
}

/* ---- refusals ---- */

TEST(a_refusal_switches_it_off) {
  for (int kind = 0; kind < 4; kind++) {
    weft_pool *pool = pool_that(WEFT_STEER_AUTO, 4);
    start_steering(pool);
    if (kind == 0) machine.refuses_reads = true;
    if (kind == 1) machine.refuses_sets = true;
    sleep_on(pool, 1, 5);
    if (kind == 2) machine.refuses_reads = true;
    if (kind == 3) machine.refuses_sets = true;
    wake_from(pool, 1, 3);
    run_on(pool, 1, 5, 50);
    CHECK_EQ(steered(pool), 0);
    CHECK_EQ(cpus_of(1), ALL);
    machine.reads = machine.sets = 0;
    for (int i = 0; i < 100; i++) cycle(pool, 2, 2, 5000);
    CHECK_EQ(calls(), 0);
    wf_pool_free(pool);
  }
}

/* ---- several at once ---- */

TEST(one_waker_sends_its_sleepers_to_different_cpus) {
  weft_pool *pool = pool_that(WEFT_STEER_AUTO, 9);
  start_steering(pool);
  for (unsigned i = 1; i <= 7; i++) sleep_on(pool, i, 0); /* all were on the same one */
  unsigned expected = 0;
  for (unsigned i = 1; i <= 7; i++) {
    wake_from(pool, i, 3);
    CHECK((cpus_of(i) & 1 << 3) == 0);
    unsigned cpu = wf_u32_load_relaxed(&pool->workers[i].steered.x_cpu) - 1;
    CHECK((cpus_of(i) & 1u << cpu) != 0);
    CHECK_MSG((expected & 1u << cpu) == 0, "worker %u goes to CPU %u too", i, cpu);
    expected |= 1u << cpu;
  }
  CHECK_EQ(expected, ALL & ~(1 << 3));
  for (unsigned i = 1; i <= 7; i++) {
    run_on(pool, i, (int)i, 50);
    CHECK_EQ(cpus_of(i), ALL);
  }
  wf_pool_free(pool);
}

TEST(more_sleepers_than_cpus) {
  weft_pool *pool = pool_that(WEFT_STEER_AUTO, 15);
  start_steering(pool);
  for (unsigned i = 1; i <= 14; i++) sleep_on(pool, i, (int)i % CPUS);
  for (unsigned i = 1; i <= 14; i++) {
    wake_from(pool, i, 3);
    CHECK(cpus_of(i) != 0 && (cpus_of(i) & 1 << 3) == 0);
  }
  for (unsigned i = 1; i <= 14; i++) {
    run_on(pool, i, 4, 50);
    CHECK_EQ(cpus_of(i), ALL);
  }
  wf_pool_free(pool);
}

/* ---- when it stops ---- */

TEST(it_stops_when_the_kernel_places_well_again) {
  weft_pool *pool = pool_that(WEFT_STEER_AUTO, 4);
  start_steering(pool);
  unsigned cycles = 0;
  for (; steers(pool); cycles++) {
    REQUIRE(cycles < 1000);
    cycle(pool, 3, 5, 50);
  }
  CHECK(cycles > WF_STEER_FIRST_INTERVAL);
  sleep_on(pool, 1, 5);
  machine.reads = machine.sets = 0;
  wake_from(pool, 1, 3);
  run_on(pool, 1, 5, 50);
  CHECK_EQ(calls(), 0);
  CHECK_EQ(cpus_of(1), ALL);
  wf_pool_free(pool);
}

/* The few that are left to the kernel are misplaced: it goes on, and they get fewer. */
TEST(it_goes_on_where_the_kernel_does_not_learn) {
  weft_pool *pool = pool_that(WEFT_STEER_AUTO, 4);
  start_steering(pool);
  uint64_t before = misplaced(pool);
  for (int i = 0; i < 10000; i++) {
    sleep_on(pool, 1, 5);
    wake_from(pool, 1, 3);
    bool is_narrowed = cpus_of(1) != ALL;
    run_on(pool, 1, is_narrowed ? 5 : 3, is_narrowed ? 50 : 2000);
    CHECK(steers(pool));
  }
  CHECK(misplaced(pool) - before < 10000 / WF_STEER_LAST_INTERVAL + 10);
  CHECK(steered(pool) > 9900);
  wf_pool_free(pool);
}
