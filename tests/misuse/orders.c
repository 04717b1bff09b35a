/* Two calls in an order that makes no sense: ends without a begin, begins without an end,
 * calls of what has ended, of what is in use, and from callbacks that may not make them.
 * Each pair is a process of its own; see run.h. What concerns several threads is in
 * tests/sched/misuse.c, typed tasks are in tests/sched/typed_task.c.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "misuse/run.h"

/* ---- scopes that are not open ---- */

static weft_scope *zeroed_scope(void) {
  memset(&made.fresh, 0, sizeof made.fresh);
  return &made.fresh;
}

static weft_scope *scope_of_rubbish(void) {
  memset(&made.fresh, 0x5a, sizeof made.fresh);
  return &made.fresh;
}

#define SCOPE_ORDERS(which, scope)                                                       \
  static bool which##_spawn(void) {                                                      \
    weft_spawn(scope, nothing, NULL);                                                    \
    return true;                                                                         \
  }                                                                                      \
  static bool which##_spawn_copy(void) {                                                 \
    weft_spawn_copy(scope, numbers, 4, nothing);                                         \
    return true;                                                                         \
  }                                                                                      \
  static bool which##_cancel(void) {                                                     \
    weft_scope_cancel(scope, 1);                                                         \
    return true;                                                                         \
  }                                                                                      \
  static bool which##_end(void) {                                                        \
    return weft_scope_end(scope) == 0;                                                   \
  }
SCOPE_ORDERS(zeroed, zeroed_scope())
SCOPE_ORDERS(rubbish, scope_of_rubbish())
SCOPE_ORDERS(ended, an_ended_scope())

#define SCOPE_ROWS(which, text)                                                          \
  {#which ", weft_spawn", "weft_spawn", text, which##_spawn},                            \
      {#which ", weft_spawn_copy", "weft_spawn_copy", text, which##_spawn_copy},         \
      {#which ", weft_scope_cancel", "weft_scope_cancel", text, which##_cancel},         \
      {#which ", weft_scope_end", "weft_scope_end", text, which##_end},

static bool begin_twice(void) {
  weft_scope_begin(&made.fresh);
  weft_scope_begin(&made.fresh);
  return true;
}
static bool begin_and_shut_down(void) {
  weft_scope_begin(&made.fresh);
  weft_shutdown();
  return true;
}
static bool end_outer_first(void) {
  weft_scope_begin(&made.scope);
  weft_scope_begin(&made.fresh);
  return weft_scope_end(&made.scope) == 0;
}
static bool cancel_twice(void) {
  weft_scope_cancel(a_scope(), 3);
  weft_scope_cancel(&made.scope, 4);
  return weft_scope_end(&made.scope) == 3;
}
static bool spawn_when_cancelled(void) {
  weft_scope_cancel(a_scope(), 3);
  weft_spawn(&made.scope, nothing, NULL);
  return weft_scope_end(&made.scope) == 3;
}
static void cancel_current(void *ctx) {
  weft_scope_cancel(weft_scope_current(), *(const int *)ctx);
}
static bool cancel_in_a_task(void) {
  weft_spawn(a_scope(), cancel_current, &(int){5});
  return weft_scope_end(&made.scope) == 5;
}

static const row SCOPES[] = {
    SCOPE_ROWS(zeroed, "begun") SCOPE_ROWS(rubbish, "begun") SCOPE_ROWS(ended, "ended"){
        "begin, begin", "weft_scope_begin", "open already", begin_twice},
    {"begin, shutdown", "weft_shutdown", "", begin_and_shut_down},
    {"end the outer first", "weft_scope_end", "", end_outer_first},
    {"cancel, cancel", "", NULL, cancel_twice},
    {"cancel, spawn", "", NULL, spawn_when_cancelled},
    {"cancel in a task", "", NULL, cancel_in_a_task},
};

/* ---- the global pool, and pools ---- */

static bool init_twice(void) {
  return weft_init(&plain_config) == 0 && weft_init(&plain_config) == WEFT_EBUSY;
}
static bool use_and_init(void) {
  weft_for(N, range_nothing, NULL);
  return weft_init(&plain_config) == WEFT_EBUSY;
}
static bool init_after_shutdown(void) {
  weft_shutdown();
  weft_shutdown();
  if (weft_init(&plain_config) != 0) return false;
  weft_shutdown();
  weft_for(N, range_nothing, NULL);
  weft_shutdown();
  weft_shutdown();
  return weft_init(&plain_config) == 0;
}
static void shut_down(void *ctx) {
  (void)ctx;
  weft_shutdown();
}
static bool shutdown_inside(void) {
  weft_pool_run(NULL, shut_down, NULL);
  return true;
}
static void destroy(void *ctx) {
  (void)ctx;
  weft_pool_destroy(a_pool());
}
static bool destroy_inside(void) {
  weft_pool_run(a_pool(), destroy, NULL);
  return true;
}
static void shut_down_in_block(size_t begin, size_t end, void *ctx) {
  (void)begin, (void)end, (void)ctx;
  weft_shutdown();
}
static bool shutdown_in_a_loop(void) {
  weft_for(1, shut_down_in_block, NULL);
  return true;
}
static int shut_down_in_comparator(const void *a, const void *b, void *ctx) {
  weft_shutdown();
  return compare(a, b, ctx);
}
/* A short array is sorted by the calling thread, which is in no pool for that. */
static bool shutdown_in_a_comparator(void) {
  weft_sort(numbers, N, 4, shut_down_in_comparator, NULL);
  return true;
}
static void wait_idle(void *ctx) {
  (void)ctx;
  weft_pool_wait_idle(NULL);
}
static bool wait_idle_in_a_run(void) {
  weft_pool_run(NULL, wait_idle, NULL);
  return true;
}
static void wait_idle_and_end(void *ctx) {
  weft_pool_wait_idle(a_pool());
  (void)ctx;
  _exit(WRONG_RESULT);
}
static bool wait_idle_in_detached(void) {
  if (weft_pool_detach(a_pool(), wait_idle_and_end, NULL) != 0) return false;
  for (;;) pause();
}
static void shut_down_in_hook(unsigned worker, void *ctx) {
  (void)worker, (void)ctx;
  weft_shutdown();
}
static bool shutdown_in_a_hook(void) {
  plain_config.on_start = shut_down_in_hook;
  if (weft_init(&plain_config) != 0) return false;
  for (;;) pause();
}

static const row POOLS[] = {
    {"init, init", "", NULL, init_twice},
    {"use, init", "", NULL, use_and_init},
    {"shutdown, init, shutdown, use, shutdown", "", NULL, init_after_shutdown},
    {"shutdown inside", "weft_shutdown", "inside the pool", shutdown_inside},
    {"shutdown in a loop", "weft_shutdown", "inside the pool", shutdown_in_a_loop},
    {"shutdown in a comparator", "", NULL, shutdown_in_a_comparator},
    {"shutdown in a hook", "weft_shutdown", "inside the pool", shutdown_in_a_hook},
    {"destroy inside", "weft_pool_destroy", "inside the pool", destroy_inside},
    {"wait_idle in weft_pool_run", "", NULL, wait_idle_in_a_run},
    {"wait_idle in a detached function", "weft_pool_wait_idle", "",
     wait_idle_in_detached},
};

/* ---- blocking sections ---- */

static void end_section(void *ctx) {
  (void)ctx;
  weft_blocking_end();
}
static void begin_section(void *ctx) {
  (void)ctx;
  weft_blocking_begin();
}
static bool end_without_begin(void) {
  weft_pool_run(a_pool(), end_section, NULL);
  return true;
}
static bool begin_without_end(void) {
  weft_pool_run(a_pool(), begin_section, NULL);
  return true;
}
static bool sections_outside(void) {
  weft_blocking_end();
  weft_blocking_begin();
  weft_blocking_end();
  weft_blocking_end();
  return true;
}
static bool section_left_by_a_task(void) {
  weft_spawn(a_scope(), begin_section, NULL);
  return weft_scope_end(&made.scope) == 0;
}

static const row SECTIONS[] = {
    {"end without begin", "weft_blocking_end", "", end_without_begin},
    {"begin without end", "weft_pool_run", "", begin_without_end},
    {"begin without end in a task", "weft_blocking_begin", "", section_left_by_a_task},
    {"outside", "", NULL, sections_outside},
};

/* ---- handles ---- */

static bool same_handle_twice(void) {
  (void)a_handle();
  weft_handle *twice[2] = {made.handle, made.handle};
  return weft_handle_wait_all(twice, 2) == 0;
}
static bool wait_for_none(void) {
  return weft_handle_wait_any(some_handles(), 0) == 0;
}
static bool wait_for_none_at_all(void) {
  return weft_handle_wait_all(NULL, 0) == 0;
}
static void wait_for_it(void *ctx) {
  weft_handle_wait(*(weft_handle **)ctx);
}
static bool wait_for_itself(void) {
  static weft_handle *own;
  if (weft_async(&own, wait_for_it, &own) != 0) return false;
  return weft_handle_wait(own) == 0;
}
static bool drop_nothing(void) {
  weft_handle_drop(NULL);
  return !weft_handle_done(NULL) && weft_handle_wait(NULL) == WEFT_EINVAL &&
         weft_handle_wait_for(NULL, 1) == WEFT_EINVAL;
}

static const row HANDLES[] = {
    {"wait_all for the same twice", "weft_handle_wait_all", "twice", same_handle_twice},
    {"wait_any for none", "weft_handle_wait_any", "nothing to wait for", wait_for_none},
    {"wait_all for none", "", NULL, wait_for_none_at_all},
    {"wait for itself", "weft_handle_wait", "", wait_for_itself},
    {"NULL", "", NULL, drop_nothing},
};

/* ---- graphs ---- */

static int graph_result;
static void run_graph(void *ctx) {
  (void)ctx;
  graph_result = weft_graph_run(made.graph);
}
static void destroy_graph(void *ctx) {
  (void)ctx;
  weft_graph_destroy(made.graph);
}
static void build_graph(void *ctx) {
  (void)ctx;
  graph_result = weft_graph_add(made.graph, NULL, nothing, NULL) == NULL &&
                         weft_graph_edge(made.graph, a_node(0), a_node(1)) == WEFT_EBUSY
                     ? WEFT_EBUSY
                     : 0;
}
static bool graph_node(weft_fn *fn) {
  (void)weft_graph_add(a_graph(), "node", fn, NULL);
  return weft_graph_run(made.graph) == 0 && graph_result == WEFT_EBUSY;
}
static bool run_in_its_node(void) {
  return graph_node(run_graph);
}
static bool destroy_in_its_node(void) {
  return graph_node(destroy_graph);
}
static bool build_in_its_node(void) {
  return graph_node(build_graph);
}
static bool edge_twice(void) {
  return weft_graph_edge(a_graph(), a_node(0), a_node(1)) == 0 &&
         weft_graph_edge(made.graph, a_node(0), a_node(1)) == WEFT_EINVAL &&
         weft_graph_edge(made.graph, a_node(1), a_node(0)) == 0 &&
         weft_graph_run(made.graph) == WEFT_EINVAL &&
         strstr(weft_graph_error(made.graph), "cycle") != NULL;
}

static const row GRAPHS[] = {
    {"run in its own node", "", NULL, run_in_its_node},
    {"destroy in its own node", "weft_graph_destroy", "", destroy_in_its_node},
    {"build in its own node", "", NULL, build_in_its_node},
    {"edge, edge, and back", "", NULL, edge_twice},
};

/* ---- traces ---- */

static bool stop_without_start(void) {
  weft_trace_stop();
  weft_trace_stop();
  return true;
}
static bool trace_of_no_folder(void) {
  return weft_trace_start("/no/such/folder/trace") != 0;
}
static const row TRACES[] = {
    {"trace_stop without start", "", NULL, stop_without_start},
    {"trace in no folder", "", NULL, trace_of_no_folder},
};

#define CHECK_TABLE(rows) check_table(rows, sizeof rows / sizeof rows[0], OUTSIDE, 0, 1)

TEST_LIMIT(orders_that_make_no_sense, 300) {
  CHECK_TABLE(SCOPES);
  CHECK_TABLE(POOLS);
  CHECK_TABLE(SECTIONS);
  CHECK_TABLE(HANDLES);
  CHECK_TABLE(GRAPHS);
  CHECK_TABLE(TRACES);
}
