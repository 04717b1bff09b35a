/* Blocking sections: a stand-in takes over, and finds the work that is there, however its
 * way to sleep meets sections that begin and end, and work that comes.
 *
 * Where no thread plays the pool's worker it is busy for the whole scenario: then only
 * the stand-in can run what is queued, and a stand-in that is not woken is a deadlock.
 *
 * SPDX-License-Identifier: MIT */
#include "sched_kit.h"

static void one_stand_in(void) {
  make_pool_with_stand_ins(2, 1, 1, 1);
}
static void one_stand_in_two_users(void) {
  make_pool_with_stand_ins(2, 2, 1, 2);
}

static void stand_in_1(void) {
  wf_stand_in_main(&pool->workers[pool->stand_in_first]);
}

/* ---- what the section waits for ---- */

static void inject_one(void) {
  XP_CHECK(wf_pool_inject(pool, WEFT_LANE_NORMAL, count_run, NULL, NULL) == 0);
}

static void await_runs(uint32_t runs) {
  while (wf_u32_load_acquire(&x_ran) < runs) wf_sys_relax();
}

/* Work, then a section that lasts until it is done. */
static void inject_then_block(void *ctx) {
  (void)ctx;
  inject_one();
  weft_blocking_begin();
  await_runs(1);
  weft_blocking_end();
}

/* The work comes when the stand-in has perhaps gone back to sleep. */
static void block_then_inject(void *ctx) {
  (void)ctx;
  weft_blocking_begin();
  inject_one();
  await_runs(1);
  weft_blocking_end();
}

/* The stand-in may still be at work for the first section, or on its way to sleep. */
static void block_twice(void *ctx) {
  inject_then_block(ctx);
  inject_one();
  weft_blocking_begin();
  await_runs(2);
  weft_blocking_end();
}

static void run_and_leave(weft_fn *fn) {
  weft_pool_run(pool, fn, NULL);
  done_with_pool();
}
static void run_inject_then_block(void) {
  run_and_leave(inject_then_block);
}
static void run_block_then_inject(void) {
  run_and_leave(block_then_inject);
}
static void run_block_twice(void) {
  run_and_leave(block_twice);
}

SCENARIO(stand_in_against_section, .setup = one_stand_in,
         .threads = {stand_in_1, run_inject_then_block}, .check = check_ran_1, .bound = 3,
         .ra_bound = 2, .quick_bound = 1)
SCENARIO(stand_in_against_section_spurious, .setup = one_stand_in,
         .threads = {stand_in_1, run_inject_then_block}, .check = check_ran_1,
         .spurious = 1, .quick_bound = 1)
SCENARIO(stand_in_against_inject, .setup = one_stand_in,
         .threads = {stand_in_1, run_block_then_inject}, .check = check_ran_1, .bound = 3,
         .ra_bound = 2, .quick_bound = 1)
SCENARIO(stand_in_against_two_sections, .setup = one_stand_in,
         .threads = {stand_in_1, run_block_twice}, .check = check_ran_2, .quick_bound = 1)

/* ---- others ---- */

/* Injected by a thread that is in no section. */
static void block_until_run(void *ctx) {
  (void)ctx;
  weft_blocking_begin();
  await_runs(1);
  weft_blocking_end();
}
static void run_block_until_run(void) {
  run_and_leave(block_until_run);
}
static void inject_from_outside(void) {
  inject_one();
  done_with_pool();
}
LARGE_SCENARIO(stand_in_against_both, .setup = one_stand_in_two_users,
               .threads = {stand_in_1, run_block_until_run, inject_from_outside},
               .check = check_ran_1)

/* A section that nobody waits for, against the end of the pool. */
static void block_briefly(void *ctx) {
  (void)ctx;
  weft_blocking_begin();
  weft_blocking_end();
}
static void run_block_briefly(void) {
  run_and_leave(block_briefly);
}
SCENARIO(stand_in_against_end, .setup = one_stand_in,
         .threads = {stand_in_1, run_block_briefly}, .check = free_pool, .bound = 3,
         .ra_bound = 2, .quick_bound = 2)

/* The worker takes the function with the section, the stand-in the other one; or the
 * other way round. The pool ends when both have run. */
static void one_stand_in_two_functions(void) {
  make_pool_with_stand_ins(2, 1, 1, 2);
}
static void waits_in_section(void *ctx) {
  block_until_run(ctx);
  count_run(ctx);
  done_with_pool();
}
static void counts_and_leaves(void *ctx) {
  count_run(ctx);
  done_with_pool();
}
static void inject_section_and_work(void) {
  XP_CHECK(wf_pool_inject(pool, WEFT_LANE_NORMAL, waits_in_section, NULL, NULL) == 0);
  XP_CHECK(wf_pool_inject(pool, WEFT_LANE_NORMAL, counts_and_leaves, NULL, NULL) == 0);
}
LARGE_SCENARIO(stand_in_takes_over, .setup = one_stand_in_two_functions,
               .threads = {worker_1, stand_in_1, inject_section_and_work},
               .check = check_ran_2)

/* Two functions are queued for an idle worker when the section begins: the section relies
 * on the worker, which takes the first and has to wake the stand-in for the second. */
static void waits_for_other(void *ctx) {
  await_runs(1);
  count_run(ctx);
}
static void inject_two_then_block(void *ctx) {
  (void)ctx;
  XP_CHECK(wf_pool_inject(pool, WEFT_LANE_NORMAL, waits_for_other, NULL, NULL) == 0);
  inject_one();
  weft_blocking_begin();
  await_runs(2);
  weft_blocking_end();
}
static void run_inject_two_then_block(void) {
  run_and_leave(inject_two_then_block);
}
SCENARIO(section_against_leaving_idle, .setup = one_stand_in,
         .threads = {worker_1, stand_in_1, run_inject_two_then_block},
         .check = check_ran_2, .modes = XP_SC | XP_TSO, .bound = 1, .quick_bound = -2)

/* The same with a stand-in that is asleep and stays there: what the worker runs first
 * ends when somebody has woken it. */
static wf_worker *sleeping_stand_in(void) {
  return &pool->workers[pool->stand_in_first];
}
static void one_stand_in_asleep(void) {
  one_stand_in();
  wf_u32_store_relaxed(&sleeping_stand_in()->x_park, 1);
  wf_set_add(pool->sleep.x_sets[WF_SLEEPER_STAND_IN], pool->stand_in_first);
}
static void waits_for_stand_in(void *ctx) {
  while (wf_u32_load_acquire(&sleeping_stand_in()->x_park) != 0) wf_sys_relax();
  count_run(ctx);
}
static void inject_two_then_need_stand_in(void *ctx) {
  (void)ctx;
  XP_CHECK(wf_pool_inject(pool, WEFT_LANE_NORMAL, waits_for_stand_in, NULL, NULL) == 0);
  inject_one();
  weft_blocking_begin();
  await_runs(2);
  weft_blocking_end();
}
static void run_inject_two_then_need_stand_in(void) {
  run_and_leave(inject_two_then_need_stand_in);
}
SCENARIO(section_wakes_or_is_seen, .setup = one_stand_in_asleep,
         .threads = {worker_1, run_inject_two_then_need_stand_in}, .check = check_ran_2,
         .quick_bound = 1)

/* A whole pool starts the stand-in itself, and ends it. */
static void section_in_a_pool(void) {
  weft_config config = WEFT_CONFIG_INIT;
  weft_pool *own;
  config.threads = 2;
  config.guests = 1;
  config.blocking = 1;
  config.deque_capacity = 4;
  config.idle = WEFT_IDLE_POWER_SAVING;
  wf_u32_init(&x_ran, 0);
  XP_CHECK(weft_pool_create(&own, &config) == 0);
  weft_pool_run(own, block_briefly, NULL);
  weft_pool_destroy(own);
}
SCENARIO(stand_in_of_a_pool, .threads = {section_in_a_pool}, .quick_bound = 1)
