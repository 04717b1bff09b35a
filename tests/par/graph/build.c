/* Building graphs: what is refused, with which words, and that it leaves no trace; edges
 * of nodes with any number of them; what weft_graph_dot writes.
 *
 * SPDX-License-Identifier: MIT */
#include "support.h"

#include <stdio.h>

static weft_graph *new_graph(void) {
  weft_graph *g = NULL;
  REQUIRE(weft_graph_create(&g) == 0);
  REQUIRE(g != NULL);
  return g;
}

static weft_node *add(weft_graph *g, const char *name) {
  weft_node *node = weft_graph_add(g, name, do_nothing, NULL);
  REQUIRE(node != NULL);
  return node;
}

static size_t choose_first(void *ctx) {
  (void)ctx;
  return 0;
}

TEST(create_and_destroy) {
  CHECK_EQ(weft_graph_create(NULL), WEFT_EINVAL);
  weft_graph_destroy(NULL);
  weft_graph *g = new_graph();
  CHECK_STR_EQ(weft_graph_error(g), "");
  CHECK_EQ(weft_graph_run(g), 0);
  weft_graph_destroy(g);
}

/* ---- edges ---- */

TEST(wrong_edges_are_refused_by_name) {
  weft_graph *g = new_graph(), *other = new_graph();
  weft_node *a = add(g, "a"), *b = add(g, "b"), *unnamed = add(g, NULL);
  weft_node *far_away = add(other, "far away");
  CHECK_EQ(weft_graph_edge(g, a, b), 0);
  CHECK_EQ(weft_graph_edge(g, a, b), WEFT_EINVAL);
  CHECK_STR_EQ(weft_graph_error(g), "edge a -> b: there is such an edge already");
  CHECK_EQ(weft_graph_edge(g, a, far_away), WEFT_EINVAL);
  CHECK_STR_EQ(weft_graph_error(g),
               "edge a -> far away: the second node belongs to another graph");
  CHECK_EQ(weft_graph_edge(g, far_away, unnamed), WEFT_EINVAL);
  CHECK_STR_EQ(weft_graph_error(g),
               "edge far away -> node 2: the first node belongs to another graph");
  CHECK_EQ(weft_graph_edge(g, NULL, b), WEFT_EINVAL);
  CHECK_STR_EQ(weft_graph_error(g), "edge NULL -> b: a node is NULL");
  CHECK_EQ(weft_graph_edge(g, a, NULL), WEFT_EINVAL);
  CHECK_EQ(weft_graph_edge(g, b, b), WEFT_EINVAL);
  CHECK_STR_EQ(weft_graph_error(g), "edge b -> b: a node cannot wait for itself");
  CHECK_STR_EQ(weft_graph_error(other), "");
  CHECK_EQ(weft_graph_run(g), 0); /* as if nothing had been asked for */
  weft_graph_destroy(g);
  weft_graph_destroy(other);
}

/* Nodes with few edges are searched, those with many have a table. */
TEST(an_edge_is_refused_the_second_time_however_many_there_are) {
  enum { MOST = 300 };
  weft_graph *g = new_graph();
  weft_node *from = add(g, "from"), *to[MOST];
  for (int i = 0; i < MOST; i++) to[i] = add(g, NULL);
  for (int i = 0; i < MOST; i++) {
    int at = (i * 7) % MOST;
    CHECK_EQ(weft_graph_edge(g, from, to[at]), 0);
    for (int k = 0; k <= i; k++)
      CHECK_EQ(weft_graph_edge(g, from, to[(k * 7) % MOST]), WEFT_EINVAL);
  }
  CHECK_EQ(weft_graph_run(g), 0);
  weft_graph_destroy(g);
}

/* ---- cycles ---- */

static void expect_cycle(weft_graph *g, const char *message) {
  for (int i = 0; i < 2; i++) {
    CHECK_EQ(weft_graph_run(g), WEFT_EINVAL);
    CHECK_STR_EQ(weft_graph_error(g), message);
  }
}

TEST(cycles_are_named) {
  weft_graph *g = new_graph();
  unsigned char ran = 0;
  weft_node *start = weft_graph_add(g, "start", mark, &ran);
  weft_node *a = add(g, "a"), *b = add(g, "b"), *c = add(g, NULL), *end = add(g, "end");
  CHECK_EQ(weft_graph_edge(g, start, b), 0);
  CHECK_EQ(weft_graph_edge(g, a, b), 0);
  CHECK_EQ(weft_graph_edge(g, b, c), 0);
  CHECK_EQ(weft_graph_edge(g, b, end), 0);
  CHECK_EQ(weft_graph_edge(g, c, end), 0);
  CHECK_EQ(weft_graph_run(g), 0);
  CHECK_EQ(ran, 1);
  CHECK_EQ(weft_graph_edge(g, c, a), 0);
  expect_cycle(g, "cycle: a -> b -> node 3 -> a");
  CHECK_EQ(ran, 1); /* nothing has run */
  weft_graph_destroy(g);
}

TEST(a_cycle_of_two_and_one_of_all) {
  weft_graph *g = new_graph();
  weft_node *a = add(g, "a"), *b = add(g, "b");
  CHECK_EQ(weft_graph_edge(g, b, a), 0);
  CHECK_EQ(weft_graph_edge(g, a, b), 0);
  expect_cycle(g, "cycle: a -> b -> a");
  weft_graph_destroy(g);

  enum { LONG = 1000 };
  g = new_graph();
  weft_node *node[LONG];
  for (int i = 0; i < LONG; i++) node[i] = add(g, "a name of some length");
  for (int i = 0; i < LONG; i++)
    CHECK_EQ(weft_graph_edge(g, node[i], node[(i + 1) % LONG]), 0);
  CHECK_EQ(weft_graph_run(g), WEFT_EINVAL);
  const char *message = weft_graph_error(g);
  CHECK(strlen(message) > 300 && strlen(message) < 1000);
  CHECK(strncmp(message, "cycle: a name of some length -> a name", 38) == 0);
  CHECK_STR_EQ(message + strlen(message) - 3, "...");
  weft_graph_destroy(g);
}

/* An edge that closes a cycle at random is found, wherever the cycle is. */
TEST(cycles_in_random_graphs) {
  uint64_t random = harness_seed();
  for (int i = 0; i < 50; i++) {
    net *n = random_of(2 + harness_random(&random) % 200, 3, &random);
    for (size_t k = 1; k < n->nodes; k++)
      if (n->cells[k].before == 0) break;
    net_build(n, i % 2 == 0);
    CHECK_EQ(weft_graph_run(n->graph), 0);
    net_check(n, 1);
    if (n->edges > 0) {
      size_t at = harness_random(&random) % n->edges;
      CHECK_EQ(weft_graph_edge(n->graph, n->handles[n->pair[at][1]],
                               n->handles[n->pair[at][0]]),
               0);
      CHECK_EQ(weft_graph_run(n->graph), WEFT_EINVAL);
      CHECK(strncmp(weft_graph_error(n->graph), "cycle: ", 7) == 0);
      net_check(n, 1);
    }
    net_free(n);
  }
}

TEST(nodes_that_no_run_can_come_to_are_named) {
  weft_graph *g = new_graph();
  weft_node *again = weft_graph_choice(g, "again?", choose_first, NULL);
  CHECK_EQ(weft_graph_edge(g, again, again), 0);
  CHECK_EQ(weft_graph_run(g), WEFT_EINVAL);
  CHECK_STR_EQ(weft_graph_error(g),
               "no run can come to again?: no node to start with leads there");
  add(g, "start");
  CHECK_EQ(weft_graph_run(g), WEFT_EINVAL);
  weft_graph_destroy(g);
}

/* ---- DOT ---- */

static void expect_dot(const weft_graph *g, const char *expected) {
  char text[4096];
  FILE *out = tmpfile();
  REQUIRE(out != NULL);
  CHECK_EQ(weft_graph_dot(g, out), 0);
  rewind(out);
  size_t length = fread(text, 1, sizeof text - 1, out);
  text[length] = '\0';
  fclose(out);
  CHECK_STR_EQ(text, expected);
}

TEST(dot_of_an_empty_graph) {
  weft_graph *g = new_graph();
  expect_dot(g, "digraph weft {\n  node [shape=box];\n}\n");
  weft_graph_destroy(g);
}

TEST(dot_quotes_names) {
  weft_graph *g = new_graph();
  weft_node *quotes = add(g, "say \"hi\"");
  weft_node *slashes = add(g, "C:\\new\\G");
  weft_node *lines = add(g, "two\nlines\x01");
  weft_node *entity = add(g, "a & b &lt; c &d");
  weft_node *utf8 = add(g, "gr\xc3\xb6\xc3\x9f"
                           "er");
  weft_node *none = add(g, NULL), *empty = add(g, "");
  weft_node *choice = weft_graph_choice(g, "which?", choose_first, NULL);
  CHECK_EQ(weft_graph_edge(g, quotes, slashes), 0);
  CHECK_EQ(weft_graph_edge(g, slashes, lines), 0);
  CHECK_EQ(weft_graph_edge(g, slashes, entity), 0);
  CHECK_EQ(weft_graph_edge(g, entity, choice), 0);
  CHECK_EQ(weft_graph_edge(g, choice, utf8), 0);
  CHECK_EQ(weft_graph_edge(g, choice, none), 0);
  CHECK_EQ(weft_graph_edge(g, choice, empty), 0);
  expect_dot(g, "digraph weft {\n"
                "  node [shape=box];\n"
                "  n0 [label=\"say \\\"hi\\\"\"];\n"
                "  n1 [label=\"C:\\\\new\\\\G\"];\n"
                "  n2 [label=\"two\\nlines\\\\x01\"];\n"
                "  n3 [label=\"a & b &amp;lt; c &d\"];\n"
                "  n4 [label=\"gr\xc3\xb6\xc3\x9f"
                "er\"];\n"
                "  n5 [label=\"node 5\"];\n"
                "  n6 [label=\"\"];\n"
                "  n7 [label=\"which?\", shape=diamond];\n"
                "  n0 -> n1;\n"
                "  n1 -> n2;\n"
                "  n1 -> n3;\n"
                "  n3 -> n7;\n"
                "  n7 -> n4 [style=dashed, label=\"0\"];\n"
                "  n7 -> n5 [style=dashed, label=\"1\"];\n"
                "  n7 -> n6 [style=dashed, label=\"2\"];\n"
                "}\n");
  weft_graph_destroy(g);
}

TEST(names_are_copied) {
  char name[] = "first";
  weft_graph *g = new_graph();
  weft_node *a = add(g, name);
  memcpy(name, "other", sizeof name);
  CHECK_EQ(weft_graph_edge(g, a, a), WEFT_EINVAL);
  CHECK_STR_EQ(weft_graph_error(g), "edge first -> first: a node cannot wait for itself");
  weft_graph_destroy(g);
}

TEST(dot_to_nowhere_is_refused) {
  weft_graph *g = new_graph();
  for (int i = 0; i < 1000; i++) add(g, "node");
  CHECK_EQ(weft_graph_dot(g, NULL), WEFT_EINVAL);
  FILE *full = fopen("/dev/full", "w");
  if (full != NULL) {
    CHECK_EQ(weft_graph_dot(g, full), WEFT_EINVAL);
    fclose(full);
  }
  weft_graph_destroy(g);
}
