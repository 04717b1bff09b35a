/* Nodes of graphs and stages of pipelines in traces: what they are called there, also if
 * the graph is gone before its last records are written.
 *
 * SPDX-License-Identifier: MIT */
#include "check.h"
#include "sched/support.h"
#include "trace/trace.h"

#include <weft.h>

/* How many slices have this name, exactly; a long one may be there in two halves. */
static size_t count_tasks(const trace *t, const char *name) {
  size_t count = 0;
  if (t->whole == NULL) return 0;
  for (const json *e = t->events->first; e != NULL; e = e->next)
    count += strcmp(json_get_string(e, "cat"), "task") == 0 &&
             strcmp(json_get_string(e, "name"), name) == 0 &&
             strchr("XB", json_get_string(e, "ph")[0]) != NULL;
  return count;
}

/* ---- graphs ---- */

static void count_up(void *ctx) {
  wf_u32_fetch_add_relaxed((wf_u32 *)ctx, 1);
}

/* Twice in all, then on. */
static size_t choose_again(void *ctx) {
  wf_u32 *x_count = (wf_u32 *)ctx;
  return wf_u32_fetch_add_relaxed(x_count, 1) == 0 ? 0 : 1;
}

typedef struct graph_case {
  wf_u32 x_ran, x_chosen;
} graph_case;

/* Built, run and freed while the trace goes on. The names are in memory that is written
 * over at once. */
static void run_a_named_graph(void *ctx) {
  graph_case *c = (graph_case *)ctx;
  weft_graph *g;
  REQUIRE(weft_graph_create(&g) == 0);
  char name[32];
  weft_node *start = weft_graph_add(g, "start", count_up, &c->x_ran);
  weft_node *again = weft_graph_add(g, "again", count_up, &c->x_ran);
  weft_node *choice = weft_graph_choice(g, "once more?", choose_again, &c->x_chosen);
  weft_node *last = weft_graph_add(g, NULL, count_up, &c->x_ran);
  CHECK_EQ(weft_graph_edge(g, again, choice), 0);
  CHECK_EQ(weft_graph_edge(g, choice, again), 0);
  CHECK_EQ(weft_graph_edge(g, choice, last), 0);
  for (int i = 0; i < 50; i++) {
    snprintf(name, sizeof name, "middle %d", i);
    weft_node *node = weft_graph_add(g, name, count_up, &c->x_ran);
    CHECK_EQ(weft_graph_edge(g, start, node), 0);
    if (i == 0) CHECK_EQ(weft_graph_edge(g, node, again), 0);
  }
  memset(name, '#', sizeof name - 1);
  int status = weft_graph_run(g);
  CHECK_MSG(status == 0, "%d: %s", status, weft_graph_error(g));
  weft_graph_destroy(g);
}

TEST(nodes_have_their_names) {
  static const unsigned threads[] = {1, 2, 3, 8};
  for (size_t i = 0; i < sizeof threads / sizeof threads[0]; i++) {
    char path[256], name[32];
    graph_case c = {0};
    trace_path(path, "nodes");
    weft_pool *pool = pool_of(threads[i]);
    REQUIRE(weft_trace_start(path) == 0);
    weft_pool_run(pool, run_a_named_graph, &c);
    weft_trace_stop();
    trace t = read_trace(path);
    CHECK_EQ(count_events(&t, "call", "weft_graph_run [0, 54)"), 1);
    CHECK_EQ(count_tasks(&t, "start"), 1);
    CHECK_EQ(count_tasks(&t, "once more?"), 2);
    CHECK_EQ(count_tasks(&t, "again"), 2);
    CHECK_EQ(count_tasks(&t, "graph node"), 1);
    for (int k = 0; k < 50; k++) {
      snprintf(name, sizeof name, "middle %d", k);
      CHECK_EQ(count_tasks(&t, name), 1);
    }
    drop_trace(&t, path);
    weft_pool_destroy(pool);
  }
}

static void rename_itself(void *ctx) {
  (void)ctx;
  weft_name("by weft_name");
}

TEST(a_node_may_name_itself) {
  char path[256];
  trace_path(path, "renamed");
  weft_graph *g;
  REQUIRE(weft_graph_create(&g) == 0);
  weft_graph_add(g, "as it was added", rename_itself, NULL);
  REQUIRE(weft_trace_start(path) == 0);
  CHECK_EQ(weft_graph_run(g), 0);
  weft_trace_stop();
  weft_graph_destroy(g);
  trace t = read_trace(path);
  CHECK_EQ(count_tasks(&t, "by weft_name"), 1);
  CHECK_EQ(count_tasks(&t, "as it was added"), 0);
  drop_trace(&t, path);
}

/* ---- pipelines ---- */

enum { ITEMS = 40 };

static int make_some(void *item, size_t number, void *ctx) {
  (void)item, (void)ctx;
  return number < ITEMS ? 0 : WEFT_END;
}

static int pass_on(void *item, size_t number, void *ctx) {
  (void)item, (void)number, (void)ctx;
  return 0;
}

static void run_a_pipeline(void *ctx) {
  static const weft_stage stages[] = {{WEFT_STAGE_ORDERED, make_some, NULL},
                                      {WEFT_STAGE_PARALLEL, pass_on, NULL},
                                      {WEFT_STAGE_SERIAL_BLOCKING, pass_on, NULL},
                                      {WEFT_STAGE_ORDERED, pass_on, NULL}};
  weft_opts opts = WEFT_OPTS_INIT;
  opts.name = (const char *)ctx;
  CHECK_EQ(weft_pipeline_with(&opts, sizeof(int), 0, stages, 4), 0);
}

TEST(stages_have_the_name_of_the_call) {
  static const unsigned threads[] = {1, 2, 3, 8};
  for (size_t i = 0; i < sizeof threads / sizeof threads[0]; i++) {
    char path[256], name[64];
    trace_path(path, "stages");
    weft_pool *pool = pool_of(threads[i]);
    REQUIRE(weft_trace_start(path) == 0);
    weft_pool_run(pool, run_a_pipeline, NULL);
    weft_pool_run(pool, run_a_pipeline, (void *)(uintptr_t) "decode");
    weft_trace_stop();
    trace t = read_trace(path);
    for (int k = 0; k < 4; k++) {
      size_t times = k == 0 ? ITEMS + 1 : ITEMS; /* the first one says that it was all */
      snprintf(name, sizeof name, "weft_pipeline, stages[%d]", k);
      CHECK_EQ(count_tasks(&t, name), times);
      snprintf(name, sizeof name, "decode, stages[%d]", k);
      CHECK_EQ(count_tasks(&t, name), times);
    }
    CHECK_EQ(count_events(&t, "blocking", NULL), 2 * ITEMS);
    drop_trace(&t, path);
    weft_pool_destroy(pool);
  }
}

/* ---- copies of names ---- */

TEST(equal_names_share_a_copy) {
  char name[] = "a name", same[] = "a name", longer[] = "a name and more";
  const char *kept = wf_trace_keep(name);
  REQUIRE(kept != NULL);
  CHECK(kept != name && strcmp(kept, "a name") == 0);
  CHECK(wf_trace_keep(same) == kept);
  CHECK(wf_trace_keep(longer) != kept);
  CHECK(wf_trace_keep(NULL) == NULL);
  CHECK_STR_EQ(wf_trace_keep(""), "");
}

TEST(a_long_name_is_cut) {
  char name[1000];
  memset(name, 'x', sizeof name - 1);
  name[sizeof name - 1] = '\0';
  const char *kept = wf_trace_keep(name);
  REQUIRE(kept != NULL);
  CHECK(strlen(kept) >= 200 && strlen(kept) < 300);
  CHECK(wf_trace_keep(name) == kept);
}

static void keep_many(unsigned index, void *ctx) {
  (void)index;
  wf_u32 *x_kept = (wf_u32 *)ctx;
  for (int i = 0; i < 30000; i++) {
    char name[32];
    snprintf(name, sizeof name, "many %d", i);
    const char *kept = wf_trace_keep(name);
    if (kept == NULL) continue;
    wf_u32_fetch_add_relaxed(x_kept, 1);
    if (strcmp(kept, name) != 0) CHECK_STR_EQ(kept, name);
  }
}

/* By several threads at once; then there is no room for all of them. */
TEST(memory_for_names_is_limited) {
  wf_u32 x_kept = {0};
  harness_run_threads(4, keep_many, &x_kept);
  uint32_t kept = wf_u32_load_relaxed(&x_kept) / 4;
  CHECK_MSG(kept > 10000 && kept <= 16384, "%u names", kept);
}
