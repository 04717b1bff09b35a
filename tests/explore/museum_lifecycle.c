/* museum/lifecycle.c - defects at the start and the end of a pool.
 *
 * SPDX-License-Identifier: MIT */
#include "museum.h"

#include <stdlib.h>

static wf_u32 x_stop, x_ready, x_key, x_sleepers;

static void pool_runs(void) {
  wf_u32_init(&x_stop, 0);
  wf_u32_init(&x_ready, 0);
  wf_u32_init(&x_key, 0);
  wf_u32_init(&x_sleepers, 0);
}

/* ---- the end ---- */

enum { NOBODY_WOKEN = 1, STOP_LOOKED_AT_EARLY };

static void sleeper(void) {
  while (wf_u32_load_acquire(&x_stop) == 0) {
    uint32_t key = 0;
    if (defect != STOP_LOOKED_AT_EARLY) key = wf_u32_load_acquire(&x_key);
    wf_u32_fetch_add_seq_cst(&x_sleepers, 1);
    wf_fence_seq_cst();
    if (defect == STOP_LOOKED_AT_EARLY) key = wf_u32_load_acquire(&x_key);
    if (defect == STOP_LOOKED_AT_EARLY || wf_u32_load_acquire(&x_stop) == 0)
      while (wf_u32_load_acquire(&x_key) == key) wf_sys_wait(&x_key, key);
    wf_u32_fetch_sub_seq_cst(&x_sleepers, 1);
  }
}

static void ender(void) {
  wf_u32_store_release(&x_stop, 1);
  wf_fence_seq_cst();
  if (defect == NOBODY_WOKEN || wf_u32_load_relaxed(&x_sleepers) == 0) return;
  wf_u32_fetch_add_release(&x_key, 1);
  wf_sys_wake_all(&x_key);
}

EXHIBIT(end_wakes_nobody, NOBODY_WOKEN, XP_DEADLOCK, XP_ALL_MODES, pool_runs,
        .threads = {sleeper, ender})
EXHIBIT(end_looked_at_too_early, STOP_LOOKED_AT_EARLY, XP_DEADLOCK, XP_ALL_MODES,
        pool_runs, .threads = {sleeper, ender})

/* ---- what is submitted while the pool ends ---- */

enum { PUSHED_COUNT_FIRST = 1 };

/* Nothing is left if as many functions have returned as were submitted. A function that
 * submits another one makes the first count grow while the counts are compared: the
 * finished ones have to be read first. */
static wf_u32 x_pushed, x_finished, x_second_ran;

static void one_submitted(void) {
  pool_runs();
  wf_u32_init(&x_pushed, 1);
  wf_u32_init(&x_finished, 0);
  wf_u32_init(&x_second_ran, 0);
}

static void runs_submitted(void) {
  wf_u32_fetch_add_seq_cst(&x_pushed, 1); /* the first one submits the second */
  wf_u32_fetch_add_seq_cst(&x_finished, 1);
  wf_u32_store_relaxed(&x_second_ran, 1);
  wf_u32_fetch_add_seq_cst(&x_finished, 1);
}

static void drains(void) {
  uint32_t pushed, finished;
  for (;;) {
    if (defect == PUSHED_COUNT_FIRST) {
      pushed = wf_u32_load_seq_cst(&x_pushed);
      finished = wf_u32_load_seq_cst(&x_finished);
    } else {
      finished = wf_u32_load_seq_cst(&x_finished);
      pushed = wf_u32_load_seq_cst(&x_pushed);
    }
    if (pushed == finished) break;
    wf_sys_relax();
  }
  XP_CHECK(wf_u32_load_relaxed(&x_second_ran) == 1);
}

EXHIBIT(end_counts_in_wrong_order, PUSHED_COUNT_FIRST, XP_ASSERTION, XP_ALL_MODES,
        one_submitted, .threads = {runs_submitted, drains})

/* ---- threads that are not joined, or not there ---- */

enum { NOT_JOINED = 1, WAITS_FOR_ALL_PLANNED };

typedef struct pool {
  wf_u32 x_stop;
} pool;

static void pool_thread(void *arg) {
  pool *its = arg;
  while (wf_u32_load_acquire(&its->x_stop) == 0) wf_sys_wait(&its->x_stop, 0);
}

/* The pool is freed when it was told to end, not when its thread has ended. */
static void makes_and_ends_pool(void) {
  pool *made = malloc(sizeof *made);
  wf_thread thread;
  wf_u32_init(&made->x_stop, 0);
  XP_CHECK(wf_sys_thread_start(&thread, NULL, 0, pool_thread, made) == 0);
  wf_u32_store_release(&made->x_stop, 1);
  wf_sys_wake_all(&made->x_stop);
  if (defect != NOT_JOINED) wf_sys_thread_join(thread);
  free(made);
  if (defect == NOT_JOINED) wf_sys_thread_join(thread);
}

EXHIBIT(end_without_join, NOT_JOINED, XP_DEAD, XP_ALL_MODES, pool_runs,
        .threads = {makes_and_ends_pool})

/* A thread cannot be started: a thread that waits for the planned number of threads waits
 * for ever. */
static void reports_ready(void *arg) {
  (void)arg;
  wf_u32_fetch_add_release(&x_ready, 1);
  wf_sys_wake_all(&x_ready);
}

static void starts_two(void) {
  wf_thread threads[2];
  uint32_t started = 0, ready;
  for (int i = 0; i < 2; i++)
    if (wf_sys_thread_start(&threads[started], NULL, 0, reports_ready, NULL) == 0)
      started++;
  uint32_t awaited = defect == WAITS_FOR_ALL_PLANNED ? 2 : started;
  while ((ready = wf_u32_load_acquire(&x_ready)) < awaited) wf_sys_wait(&x_ready, ready);
  for (uint32_t i = 0; i < started; i++) wf_sys_thread_join(threads[i]);
}

EXHIBIT(start_waits_for_all_planned, WAITS_FOR_ALL_PLANNED, XP_DEADLOCK, XP_ALL_MODES,
        pool_runs, .threads = {starts_two}, .failing_threads = 1)

/* ---- the first use ---- */

enum { LOOK_THEN_MAKE = 1 };

/* Two threads that use the library for the first time make a pool each. */
static wf_ptr x_global;

static void no_pool_yet(void) {
  pool_runs();
  wf_ptr_init(&x_global, NULL);
}

static void uses_global(void) {
  if (wf_ptr_load_acquire(&x_global) != NULL) return;
  pool *made = malloc(sizeof *made);
  if (defect == LOOK_THEN_MAKE) {
    wf_ptr_store_release(&x_global, made);
    return;
  }
  void *none = NULL;
  if (!wf_ptr_cas_acq_rel(&x_global, &none, made)) free(made);
}

static void frees_global(void) {
  free(wf_ptr_load_relaxed(&x_global));
}

EXHIBIT(start_made_twice, LOOK_THEN_MAKE, XP_LEAK, XP_ALL_MODES, no_pool_yet,
        .threads = {uses_global, uses_global}, .check = frees_global)

/* The pointer to the pool is seen before what it points to. */
enum { RELAXED_GLOBAL = 1 };

static int pool_size;

static void publishes_pool(void) {
  xp_plain_write(&pool_size, sizeof pool_size);
  pool_size = 4;
  if (defect == RELAXED_GLOBAL)
    wf_ptr_store_relaxed(&x_global, &pool_size);
  else
    wf_ptr_store_release(&x_global, &pool_size);
}

static void reads_pool(void) {
  int *seen = wf_ptr_load_acquire(&x_global);
  if (seen == NULL) return;
  xp_plain_read(seen, sizeof *seen);
  XP_CHECK(*seen == 4);
}

static void pool_of_no_size(void) {
  no_pool_yet();
  pool_size = 0;
}

EXHIBIT(start_published_too_early, RELAXED_GLOBAL, XP_RACE, XP_RA, pool_of_no_size,
        .threads = {publishes_pool, reads_pool})

/* ---- counts that drift ---- */

enum { RESIZED_TWICE = 1 };

/* A thread that leaves and one that takes its place both correct the count: it drifts by
 * one each time, and some months later there is no room for anybody. */
static wf_u32 x_active, x_wanted;

static void one_active(void) {
  pool_runs();
  wf_u32_init(&x_active, 1);
  wf_u32_init(&x_wanted, 1);
}

static void leaves(void) {
  uint32_t wanted = 1;
  bool gives_up = wf_u32_cas_seq_cst(&x_wanted, &wanted, 0);
  if (gives_up || defect == RESIZED_TWICE) wf_u32_fetch_sub_seq_cst(&x_active, 1);
}

static void shrinks(void) {
  uint32_t wanted = 1;
  if (wf_u32_cas_seq_cst(&x_wanted, &wanted, 0)) wf_u32_fetch_sub_seq_cst(&x_active, 1);
}

static void nobody_active(void) {
  XP_CHECK(wf_u32_load_relaxed(&x_active) == 0);
}

EXHIBIT(count_drifts, RESIZED_TWICE, XP_ASSERTION, XP_ALL_MODES, one_active,
        .threads = {leaves, shrinks}, .check = nobody_active)
