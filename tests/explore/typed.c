/* Typed tasks and typed handles (weft/typed_task.h, typed_async.h) under the explorer:
 * forks that are taken or not, a ring that grows while forks are open, threads that are
 * in no pool, and results in a handle.
 *
 * SPDX-License-Identifier: MIT */
#include "sched_kit.h"

#include <stdlib.h>

enum { CELLS = 8 };

static unsigned *cells; /* on the heap, where plain accesses are checked for races */

static void make_cells(void) {
  cells = (unsigned *)calloc(CELLS, sizeof *cells);
  XP_CHECK(cells != NULL);
}
static void set_up(void) {
  one_worker();
  make_cells();
}
static void clean_up(void) {
  free(cells);
  free_pool();
}

/* What the task has written is visible after the join, and its arguments to the task. */
WEFT_TASK(unsigned, set_cell, unsigned, i, unsigned, value) {
  cells[i] = value;
  return value + 1;
}
WEFT_TASK(void, meet_other, unsigned, i) {
  meet(NULL);
  cells[i] = 1;
}

static void run_inside(weft_fn *fn) {
  weft_pool_run(pool, fn, NULL);
  done_with_pool();
}

/* ---- one fork ---- */

static void fork_one(void *ctx) {
  (void)ctx;
  set_cell_task task;
  set_cell_fork(&task, 0, 7);
  cells[1] = 3;
  unsigned result = set_cell_join(&task);
  XP_CHECK(result == 8 && cells[0] == 7);
}
static void typed_fork_one(void) {
  run_inside(fork_one);
}
SCENARIO(typed_fork, .setup = set_up, .threads = {worker_1, typed_fork_one},
         .check = clean_up, .invariant = counts_hold, .quick_bound = 1)
SCENARIO(typed_fork_no_barrier, .setup = set_up, .threads = {worker_1, typed_fork_one},
         .check = clean_up, .no_barrier = true, .quick_bound = 1)
LARGE_SCENARIO(typed_fork_taken_over, .setup = set_up,
               .threads = {worker_1, typed_fork_one}, .check = clean_up, .tick_ns = 3100)

/* ---- halves that must overlap ---- */

static void fork_meeting_typed(void *ctx) {
  (void)ctx;
  meet_other_task task;
  meet_other_fork(&task, 0);
  meet(NULL);
  meet_other_join(&task);
  XP_CHECK(cells[0] == 1);
}
static void typed_meeting(void) {
  run_inside(fork_meeting_typed);
}
SCENARIO(typed_halves_overlap, .setup = set_up, .threads = {worker_1, typed_meeting},
         .check = clean_up, .quick_bound = 1)
LARGE_SCENARIO(typed_halves_overlap_taken_over, .setup = set_up,
               .threads = {worker_1, typed_meeting}, .check = clean_up, .tick_ns = 3100)

/* ---- one open while its owner waits for something else ---- */

/* The owner sleeps with a task in its deque, which its own last look leaves out: somebody
 * else must take that, also a worker for which the owner would have looked. What the
 * owner waits for comes from a thread outside, which returns when the task has begun. */
static wf_latch awaited;
static unsigned waiter;

static void set_up_wait(void) {
  set_up();
  wf_latch_init(&awaited);
}
static void wait_beside_a_fork(void *ctx) {
  wf_worker *worker = wf_worker_now();
  meet_other_task task;
  waiter = worker->index;
  fork_two(ctx); /* after that the pins are open */
  meet_other_fork(&task, 0);
  wf_worker_wait(worker, &awaited, NULL, "wait");
  meet_other_join(&task);
  XP_CHECK(cells[0] == 1);
}
static void typed_open_while_waiting(void) {
  run_inside(wait_beside_a_fork);
}
static void meet_and_set(void) {
  meet(NULL);
  if (wf_latch_set(&awaited)) wf_sleep_wake_worker(pool, waiter);
}
LARGE_SCENARIO(typed_open_while_its_owner_sleeps, .setup = set_up_wait,
               .threads = {worker_1, typed_open_while_waiting, meet_and_set},
               .check = clean_up)

/* ---- several open: the ring has four places and grows ---- */

static void fork_six(void *ctx) {
  (void)ctx;
  set_cell_task tasks[6];
  for (unsigned i = 0; i < 6; i++) set_cell_fork(&tasks[i], i, i + 1);
  for (unsigned i = 6; i-- > 0;) {
    unsigned result = set_cell_join(&tasks[i]);
    XP_CHECK(result == i + 2 && cells[i] == i + 1);
  }
}
static void typed_fork_six(void) {
  run_inside(fork_six);
}
LARGE_SCENARIO(typed_forks_grow, .setup = set_up, .threads = {worker_1, typed_fork_six},
               .check = clean_up)

/* ---- a thread that is in no pool ---- */

static void uses_global_pool(void) {
  weft_config config = WEFT_CONFIG_INIT;
  config.threads = 2;
  config.guests = 1;
  config.blocking = WEFT_NO_BLOCKING;
  config.deque_capacity = 4;
  config.idle = WEFT_IDLE_POWER_SAVING;
  XP_CHECK(weft_init(&config) == 0);
  fork_one(NULL);
  weft_shutdown();
}
static void free_cells(void) {
  free(cells);
}
SCENARIO(typed_outside, .setup = make_cells, .threads = {uses_global_pool},
         .check = free_cells, .modes = XP_SC | XP_TSO, .quick_bound = 1)
SCENARIO(typed_outside_ra, .setup = make_cells, .threads = {uses_global_pool},
         .check = free_cells, .modes = XP_RA, .bound = 1, .quick_bound = -2)

/* ---- typed handles ---- */

WEFT_ASYNC_DECLARE(unsigned, add_cell, unsigned, i, unsigned, value)
unsigned add_cell(unsigned i, unsigned value) {
  cells[i] += value;
  return cells[i];
}

static void start_and_wait(void) {
  weft_opts opts = WEFT_OPTS_INIT;
  opts.pool = pool;
  add_cell_handle handle;
  XP_CHECK(add_cell_async_with(&opts, &handle, 2, 5) == 0);
  unsigned result = add_cell_wait(handle);
  XP_CHECK(result == 5 && cells[2] == 5);
  done_with_pool();
}
static void start_or_not(void) {
  weft_opts opts = WEFT_OPTS_INIT;
  opts.pool = pool;
  add_cell_handle handle;
  int status = add_cell_async_with(&opts, &handle, 2, 5);
  XP_CHECK(status == 0 || status == WEFT_ENOMEM);
  XP_CHECK((handle.handle == NULL) == (status != 0));
  if (status == 0) {
    unsigned result = add_cell_wait(handle);
    XP_CHECK(result == 5);
  }
  done_with_pool();
}
SCENARIO(typed_handle, .setup = set_up, .threads = {worker_1, start_and_wait},
         .check = clean_up, .quick_bound = 1)
SCENARIO(typed_handle_spurious, .setup = set_up, .threads = {worker_1, start_and_wait},
         .check = clean_up, .spurious = 1, .quick_bound = -2)
LARGE_SCENARIO(typed_handle_without_memory, .setup = set_up,
               .threads = {worker_1, start_or_not}, .check = clean_up,
               .failing_allocations = 1)
