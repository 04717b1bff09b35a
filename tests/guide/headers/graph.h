/* What the examples of weft/graph.h use; see tools/check-examples.
 *
 * SPDX-License-Identifier: MIT */
#include <assert.h>
#include <stdio.h>
#include <weft.h>

// skip: weft_graph_error 1: a message

struct job {
  int parts, part[4], left, right;
  double error;
};
static struct job job = {4, {0}, 0, 0, 1};
static weft_graph *g;
static weft_node *step, *save;
static int error = 42;

static void load_file(void *ctx) {
  ((struct job *)ctx)->left = ((struct job *)ctx)->right = 1;
}
static void blur(void *ctx) {
  ++*(int *)ctx;
}
static void save_file(void *ctx) {
  assert(((struct job *)ctx)->left == 2);
}
static void work(void *ctx) {
  ++*(int *)ctx;
}
static void improve(void *ctx) {
  ((struct job *)ctx)->error /= 2;
}
static void nothing(void *ctx) {
  (void)ctx;
}

/* With a graph that has a step, and a place to go to behind it. */
static void in_graph(int (*example)(void)) {
  if (g == NULL) {
    assert(weft_graph_create(&g) == 0);
    weft_node *start = weft_graph_add(g, "start", nothing, NULL);
    step = weft_graph_add(g, "step", improve, &job);
    save = weft_graph_add(g, "save", nothing, NULL);
    weft_graph_edge(g, start, step);
  }
  example();
  assert(weft_graph_run(g) == 0 && job.error <= 1e-9);
}
#define RUN_weft_graph_choice_1 in_graph
#define RUN_weft_graph_dot_1    in_graph

static void in_scope(int (*example)(void)) {
  weft_scope scope;
  weft_scope_begin(&scope);
  example();
  assert(weft_scope_end(&scope) == 42);
}
#define RUN_weft_graph_run_1 in_scope
#define AT_END               weft_graph_destroy(g)
