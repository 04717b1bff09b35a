/* Graphs: the last of several nodes that arrive at another one, nodes that are offered
 * and taken, the end of a run, cancelling, choices that meet, a limit of workers, the
 * scope that is used for one node after the other.
 *
 * SPDX-License-Identifier: MIT */
#include "sched_kit.h"

#include <stdlib.h>

static weft_graph *graph;
static unsigned *cells; /* on the heap: its plain accesses are checked for races */

enum { CELLS = 8 };

static weft_node *add(weft_fn *fn, unsigned cell) {
  weft_node *node = weft_graph_add(graph, NULL, fn, &cells[cell]);
  XP_CHECK(node != NULL);
  return node;
}

static void edge(weft_node *before, weft_node *after) {
  XP_CHECK(weft_graph_edge(graph, before, after) == 0);
}

static void begin_graph(void) {
  one_worker();
  XP_CHECK(weft_graph_create(&graph) == 0);
  cells = (unsigned *)calloc(CELLS, sizeof *cells);
  XP_CHECK(cells != NULL);
}

static void end_graph(void) {
  weft_graph_destroy(graph);
  free(cells);
  free_pool();
}

static weft_opts in_pool(void) {
  weft_opts opts = WEFT_OPTS_INIT;
  opts.pool = pool;
  return opts;
}

static void run_once(void) {
  weft_opts opts = in_pool();
  XP_CHECK(weft_graph_run_with(&opts, graph) == 0);
  done_with_pool();
}

/* A node that only marks its own cell. */
static void set_cell(void *ctx) {
  ++*(unsigned *)ctx;
}

/* ---- two nodes, and one after both ---- */

/* The last one reads what the two wrote. */
static void add_up(void *ctx) {
  unsigned *cell = (unsigned *)ctx;
  XP_CHECK(cell[-1] == cell[-2]);
  *cell += cell[-1];
}

static void meeting_of_two(void) {
  begin_graph();
  weft_node *a = add(set_cell, 0), *b = add(set_cell, 1), *last = add(add_up, 2);
  edge(a, last);
  edge(b, last);
}
static void check_meeting(void) {
  XP_CHECK(cells[0] == 1 && cells[1] == 1 && cells[2] == 1);
  end_graph();
}
LARGE_SCENARIO(graph_two_arrive, .setup = meeting_of_two, .threads = {worker_1, run_once},
               .check = check_meeting)
LARGE_SCENARIO(graph_two_arrive_taken_over, .setup = meeting_of_two,
               .threads = {worker_1, run_once}, .check = check_meeting, .tick_ns = 3100)
SCENARIO(graph_two_arrive_no_barrier, .setup = meeting_of_two,
         .threads = {worker_1, run_once}, .check = check_meeting, .no_barrier = true,
         .bound = 1, .quick_bound = -2)
SCENARIO(graph_two_arrive_without_memory, .setup = meeting_of_two,
         .threads = {worker_1, run_once}, .check = check_meeting,
         .failing_allocations = 2, .modes = XP_SC, .bound = 1)

/* The second run starts from what the first has left. */
static void run_twice(void) {
  weft_opts opts = in_pool();
  XP_CHECK(weft_graph_run_with(&opts, graph) == 0);
  XP_CHECK(cells[2] == 1);
  XP_CHECK(weft_graph_run_with(&opts, graph) == 0);
  done_with_pool();
}
static void check_second(void) {
  XP_CHECK(cells[0] == 2 && cells[1] == 2 && cells[2] == 3);
  end_graph();
}
SCENARIO(graph_runs_again, .setup = meeting_of_two, .threads = {worker_1, run_twice},
         .check = check_second, .modes = XP_SC, .bound = 1)
SCENARIO(graph_runs_again_ra, .setup = meeting_of_two, .threads = {worker_1, run_twice},
         .check = check_second, .modes = XP_RA, .bound = 1, .quick_bound = -2)

/* ---- a node before four others: they are offered as trees ---- */

static void fan_of_four(void) {
  begin_graph();
  weft_node *first = add(set_cell, 0);
  for (unsigned i = 1; i <= 4; i++) edge(first, add(set_cell, i));
}
static void check_fan(void) {
  for (unsigned i = 0; i <= 4; i++) XP_CHECK(cells[i] == 1);
  end_graph();
}
LARGE_SCENARIO(graph_fan, .setup = fan_of_four, .threads = {worker_1, run_once},
               .check = check_fan)

/* At most one node at a time: what the worker takes is left to the first thread. */
static wf_u32 x_inside;

static void enter_alone(void *ctx) {
  XP_CHECK(wf_u32_fetch_add_seq_cst(&x_inside, 1) == 0);
  set_cell(ctx);
  wf_u32_fetch_sub_seq_cst(&x_inside, 1);
}
static void three_alone(void) {
  begin_graph();
  wf_u32_init(&x_inside, 0);
  for (unsigned i = 0; i < 3; i++) add(enter_alone, i);
}
static void run_one_by_one(void) {
  weft_opts opts = in_pool();
  opts.max_workers = 1;
  XP_CHECK(weft_graph_run_with(&opts, graph) == 0);
  done_with_pool();
}
static void check_alone(void) {
  for (unsigned i = 0; i < 3; i++) XP_CHECK(cells[i] == 1);
  end_graph();
}
LARGE_SCENARIO(graph_max_workers, .setup = three_alone,
               .threads = {worker_1, run_one_by_one}, .check = check_alone)

/* ---- a node that spawns ---- */

static void spawn_one(void *ctx) {
  weft_spawn(weft_scope_current(), set_cell, ctx);
}
static void expect_one(void *ctx) {
  unsigned *cell = (unsigned *)ctx;
  XP_CHECK(cell[-1] == 1);
  ++*cell;
}
static void spawning(void) {
  begin_graph();
  edge(add(spawn_one, 0), add(expect_one, 1));
  edge(add(spawn_one, 2), add(expect_one, 3));
}
static void check_spawning(void) {
  for (unsigned i = 0; i < 4; i++) XP_CHECK(cells[i] == 1);
  end_graph();
}
SCENARIO(graph_nodes_spawn, .setup = spawning, .threads = {worker_1, run_once},
         .check = check_spawning, .modes = XP_SC | XP_TSO, .bound = 1)
SCENARIO(graph_nodes_spawn_ra, .setup = spawning, .threads = {worker_1, run_once},
         .check = check_spawning, .modes = XP_RA, .bound = 1, .quick_bound = -2)

/* A node that has yielded holds no credits: when it ends, the count alone says that its
 * task has ended on the other thread. All that the two say to each other is relaxed. */
static wf_u32 x_begun, x_settled;

static void set_cell_late(void *ctx) {
  wf_u32_store_relaxed(&x_begun, 1);
  while (wf_u32_load_relaxed(&x_settled) == 0) wf_sys_relax();
  set_cell(ctx);
}
static void spawn_and_yield(void *ctx) {
  weft_spawn(weft_scope_current(), set_cell_late, ctx);
  while (wf_u32_load_relaxed(&x_begun) == 0) wf_sys_relax();
  weft_yield();
  wf_u32_store_relaxed(&x_settled, 1);
  while (wf_word_load_relaxed(&weft_scope_current()->x_pending) != 1) wf_sys_relax();
}
static void spawning_and_yielding(void) {
  begin_graph();
  wf_u32_init(&x_begun, 0);
  wf_u32_init(&x_settled, 0);
  edge(add(spawn_and_yield, 0), add(expect_one, 1));
}
static void check_yielding(void) {
  XP_CHECK(cells[0] == 1 && cells[1] == 1);
  end_graph();
}
LARGE_SCENARIO(graph_node_yields, .setup = spawning_and_yielding,
               .threads = {worker_1, run_once}, .check = check_yielding)

/* ---- cancelling ---- */

static void cancel_run(void *ctx) {
  set_cell(ctx);
  weft_scope_cancel(weft_scope_current(), 7);
}
static void cancelling(void) {
  begin_graph();
  edge(add(cancel_run, 0), add(set_cell, 1));
  edge(add(set_cell, 2), add(set_cell, 3));
}
static void run_cancelled(void) {
  weft_opts opts = in_pool();
  XP_CHECK(weft_graph_run_with(&opts, graph) == 7);
  done_with_pool();
}
static void check_cancelled(void) {
  XP_CHECK(cells[0] == 1 && cells[1] == 0 && cells[3] <= cells[2]);
  end_graph();
}
LARGE_SCENARIO(graph_cancel, .setup = cancelling, .threads = {worker_1, run_cancelled},
               .check = check_cancelled)

/* ---- two choices of one node: the second is refused, unless the node has ended ---- */

static size_t choose_first(void *ctx) {
  set_cell(ctx);
  return 0;
}
static void two_choices(void) {
  begin_graph();
  weft_node *chosen = add(set_cell, 2);
  for (unsigned i = 0; i < 2; i++) {
    weft_node *choice = weft_graph_choice(graph, NULL, choose_first, &cells[i]);
    XP_CHECK(choice != NULL);
    edge(choice, chosen);
  }
}
static void run_choices(void) {
  weft_opts opts = in_pool();
  int status = weft_graph_run_with(&opts, graph);
  XP_CHECK(status == WEFT_EBUSY ? cells[2] <= 1 : status == 0 && cells[2] == 2);
  done_with_pool();
}
LARGE_SCENARIO(graph_choices_meet, .setup = two_choices,
               .threads = {worker_1, run_choices}, .check = end_graph)

/* ---- two threads run the same graph ---- */

static wf_u32 x_refused;

static void two_users(void) {
  make_pool(2, 2, 2);
  XP_CHECK(weft_graph_create(&graph) == 0);
  cells = (unsigned *)calloc(CELLS, sizeof *cells);
  XP_CHECK(cells != NULL);
  add(set_cell, 0);
  wf_u32_init(&x_refused, 0);
}
static void run_or_not(void) {
  weft_opts opts = in_pool();
  int status = weft_graph_run_with(&opts, graph);
  XP_CHECK(status == 0 || status == WEFT_EBUSY);
  if (status != 0) wf_u32_fetch_add_relaxed(&x_refused, 1);
  done_with_pool();
}
static void check_refused(void) {
  uint32_t refused = wf_u32_load_relaxed(&x_refused);
  XP_CHECK(refused <= 1 && cells[0] == 2 - refused);
  end_graph();
}
LARGE_SCENARIO(graph_run_by_two, .setup = two_users,
               .threads = {worker_1, run_or_not, run_or_not}, .check = check_refused)
