/* Misuse of graphs ends the program with a sentence that names the call.
 *
 * The tests by name are the programs that misbehave; the last one runs them and looks on.
 *
 * SPDX-License-Identifier: MIT */
#include "support.h"

#include <signal.h>
#include <stdio.h>

static weft_graph *kept; /* where a leak checker finds it */

static weft_graph *keep_graph(void) {
  REQUIRE(weft_graph_create(&kept) == 0);
  return kept;
}

static size_t choose_none(void *ctx) {
  (void)ctx;
  return WEFT_CHOOSE_NONE;
}

TEST_BY_NAME(add_without_function) {
  weft_graph_add(keep_graph(), "a", NULL, NULL);
}
TEST_BY_NAME(choice_without_function) {
  weft_graph_choice(keep_graph(), "a", NULL, NULL);
}
TEST_BY_NAME(add_without_graph) {
  weft_graph_add(NULL, "a", do_nothing, NULL);
}
TEST_BY_NAME(choice_without_graph) {
  weft_graph_choice(NULL, "a", choose_none, NULL);
}
TEST_BY_NAME(edge_without_graph) {
  weft_graph_edge(NULL, NULL, NULL);
}
TEST_BY_NAME(run_without_graph) {
  weft_graph_run(NULL);
}
TEST_BY_NAME(error_without_graph) {
  weft_graph_error(NULL);
}
TEST_BY_NAME(dot_without_graph) {
  weft_graph_dot(NULL, stdout);
}
TEST_BY_NAME(run_with_wrong_options) {
  weft_opts opts = WEFT_OPTS_INIT;
  opts.struct_size = 1;
  weft_graph_run_with(&opts, keep_graph());
}

static void destroy_it(void *ctx) {
  weft_graph_destroy(ctx);
}
TEST_BY_NAME(destroy_while_it_runs) {
  keep_graph();
  weft_graph_add(kept, "a", destroy_it, kept);
  weft_graph_run(kept);
}

static void end_scope(void *ctx) {
  (void)ctx;
  weft_scope_end(weft_scope_current());
}
TEST_BY_NAME(a_node_ends_its_scope) {
  weft_graph_add(keep_graph(), "a", end_scope, NULL);
  weft_graph_run(kept);
}

static void leave_scope_open(void *ctx) {
  weft_scope_begin(ctx);
}
TEST_BY_NAME(a_node_leaves_a_scope_open) {
  static weft_scope scope;
  weft_graph_add(keep_graph(), "a", leave_scope_open, &scope);
  weft_graph_run(kept);
}

static void check_death(const char *test, const char *message) {
  char output[8192];
  int status = harness_run_self("ulimit -c 0;", test, output, sizeof output);
  CHECK_MSG(status == 128 + SIGABRT, "%s ended with %d", test, status);
  CHECK_MSG(strstr(output, message) != NULL, "%s printed: %s", test, output);
}

TEST(misuse_of_graphs) {
  check_death("add_without_function", "weft: weft_graph_add: fn is NULL");
  check_death("choice_without_function", "weft: weft_graph_choice: fn is NULL");
  check_death("add_without_graph", "weft: weft_graph_add: the graph is NULL");
  check_death("choice_without_graph", "weft: weft_graph_choice: the graph is NULL");
  check_death("edge_without_graph", "weft: weft_graph_edge: the graph is NULL");
  check_death("run_without_graph", "weft: weft_graph_run: the graph is NULL");
  check_death("error_without_graph", "weft: weft_graph_error: the graph is NULL");
  check_death("dot_without_graph", "weft: weft_graph_dot: the graph is NULL");
  check_death("run_with_wrong_options",
              "weft: weft_graph_run: the options are not valid");
  check_death("destroy_while_it_runs", "weft: weft_graph_destroy: the graph is running");
  check_death("a_node_ends_its_scope", "weft: weft_scope_end: called from a task of the");
  check_death("a_node_leaves_a_scope_open",
              "weft: weft_scope_begin: a function has ended");
}
