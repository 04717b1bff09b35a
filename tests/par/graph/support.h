/* support.h - graphs for tests: every node computes a number from those of the nodes
 * before it, in plain memory. So a node that runs too early, twice or not at all gives a
 * wrong number, and ThreadSanitizer sees it.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_PAR_GRAPH_SUPPORT_H
#define TESTS_PAR_GRAPH_SUPPORT_H

#include "par/support.h"

typedef struct cell {
  uint64_t value, runs;
  struct net *net;
  uint32_t before; /* how many */
  uint32_t first;  /* of them, in net->ends */
  void (*extra)(struct cell *cell);
} cell;

/* A graph as plain arrays; edges lead from smaller numbers to larger ones. */
typedef struct net {
  size_t nodes, edges, capacity;
  uint32_t (*pair)[2]; /* the edges, by their second node */
  cell *cells;
  weft_graph *graph;
  weft_node **handles;
} net;

static inline uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 33)) * UINT64_C(0xff51afd7ed558ccd);
  return x ^ (x >> 29);
}

static inline net *net_of(size_t nodes) {
  net *n = calloc(1, sizeof *n);
  REQUIRE(n != NULL);
  n->nodes = nodes;
  n->cells = calloc(nodes + 1, sizeof *n->cells);
  n->handles = calloc(nodes + 1, sizeof(weft_node *));
  REQUIRE(n->cells != NULL && n->handles != NULL);
  for (size_t i = 0; i < nodes; i++) n->cells[i].net = n;
  return n;
}

/* Edges are added by their second node, which never becomes smaller. */
static inline void net_edge(net *n, size_t before, size_t after) {
  if (n->edges == n->capacity) {
    n->capacity = 2 * n->capacity + 16;
    n->pair = realloc(n->pair, n->capacity * sizeof *n->pair);
    REQUIRE(n->pair != NULL);
  }
  REQUIRE(before < after && after < n->nodes);
  cell *c = &n->cells[after];
  if (c->before++ == 0) c->first = (uint32_t)n->edges;
  REQUIRE(c->first + c->before == n->edges + 1);
  n->pair[n->edges][0] = (uint32_t)before;
  n->pair[n->edges][1] = (uint32_t)after;
  n->edges++;
}

static inline void compute_cell(void *ctx) {
  cell *c = ctx;
  const net *n = c->net;
  uint64_t value = mix((uint64_t)(c - n->cells) + c->runs * 1000003);
  for (uint32_t i = 0; i < c->before; i++)
    value += mix(n->cells[n->pair[c->first + i][0]].value + i);
  c->value = value;
  c->runs++;
  if (c->extra != NULL) c->extra(c);
}

/* Makes the graph. Nodes are added from the last to the first where `backwards`: the
 * order of adding must not matter. */
static inline void net_build(net *n, bool backwards) {
  REQUIRE(weft_graph_create(&n->graph) == 0);
  for (size_t i = 0; i < n->nodes; i++) {
    size_t at = backwards ? n->nodes - 1 - i : i;
    n->handles[at] = weft_graph_add(n->graph, NULL, compute_cell, &n->cells[at]);
    REQUIRE(n->handles[at] != NULL);
  }
  for (size_t i = 0; i < n->edges; i++)
    REQUIRE(weft_graph_edge(n->graph, n->handles[n->pair[i][0]],
                            n->handles[n->pair[i][1]]) == 0);
}

static inline void net_free(net *n) {
  weft_graph_destroy(n->graph);
  free(n->pair);
  free(n->cells);
  free(n->handles);
  free(n);
}

/* The sum of all values after `runs` runs, by the serial loop. */
static inline uint64_t net_expected(const net *n, uint64_t runs) {
  uint64_t *values = calloc(n->nodes + 1, sizeof *values), sum = 0;
  REQUIRE(values != NULL);
  for (size_t i = 0; i < n->nodes; i++) {
    uint64_t value = mix((uint64_t)i + (runs - 1) * 1000003);
    for (uint32_t k = 0; k < n->cells[i].before; k++)
      value += mix(values[n->pair[n->cells[i].first + k][0]] + k);
    values[i] = value;
    sum = mix(sum + value);
  }
  free(values);
  return sum;
}

static inline uint64_t net_result(const net *n) {
  uint64_t sum = 0;
  for (size_t i = 0; i < n->nodes; i++) sum = mix(sum + n->cells[i].value);
  return sum;
}

/* Every node has run this often, and the last time at the right moment. */
static inline void net_check(const net *n, uint64_t runs) {
  for (size_t i = 0; i < n->nodes; i++)
    if (!CHECK_MSG(n->cells[i].runs == runs, "node %zu of %zu: %llu runs", i, n->nodes,
                   (unsigned long long)n->cells[i].runs))
      return;
  CHECK_EQ(net_result(n), net_expected(n, runs));
}

/* ---- shapes ---- */

static inline net *chain_of(size_t nodes) {
  net *n = net_of(nodes);
  for (size_t i = 1; i < nodes; i++) net_edge(n, i - 1, i);
  return n;
}

static inline net *tree_of(size_t nodes) {
  net *n = net_of(nodes);
  for (size_t i = 1; i < nodes; i++) net_edge(n, (i - 1) / 2, i);
  return n;
}

/* Nodes without edges, and one after all of them. */
static inline net *fan_in_of(size_t nodes) {
  net *n = net_of(nodes + 1);
  for (size_t i = 0; i < nodes; i++) net_edge(n, i, nodes);
  return n;
}

/* One node before all others, which come before a last one. */
static inline net *diamond_of(size_t nodes) {
  net *n = net_of(nodes + 2);
  for (size_t i = 1; i <= nodes; i++) net_edge(n, 0, i);
  for (size_t i = 0; i <= nodes; i++) net_edge(n, i, nodes + 1);
  return n;
}

static inline net *wavefront_of(size_t side) {
  net *n = net_of(side * side);
  for (size_t i = 0; i < side * side; i++) {
    if (i >= side) net_edge(n, i - side, i);
    if (i % side != 0) net_edge(n, i - 1, i);
  }
  return n;
}

/* Every node of a layer before every node of the next: the last node of a layer makes
 * all of the next one ready. */
static inline net *layers_of(size_t layers, size_t width) {
  net *n = net_of(layers * width);
  for (size_t i = width; i < layers * width; i++)
    for (size_t k = 0; k < width; k++) net_edge(n, (i / width - 1) * width + k, i);
  return n;
}

/* A chain with a leaf at every node. Where the chain is the first edge of each node, a
 * thread that follows it has one leaf more to run with every step. */
static inline net *comb_of(size_t nodes, bool chain_first) {
  net *n = net_of(2 * nodes + 1);
  for (size_t i = 1; i <= 2 * nodes; i++) {
    size_t pair = (i - 1) / 2;
    size_t before = pair == 0 ? 0 : 2 * pair - (chain_first ? 1 : 0);
    net_edge(n, before, i);
  }
  return n;
}

static inline net *random_of(size_t nodes, unsigned most, uint64_t *random) {
  net *n = net_of(nodes);
  for (size_t i = 1; i < nodes; i++) {
    unsigned before = (unsigned)(harness_random(random) % (most + 1));
    size_t last = SIZE_MAX;
    for (unsigned k = 0; k < before; k++) {
      size_t reach = i < 64 || harness_random(random) % 4 == 0 ? i : 64;
      size_t from = i - 1 - harness_random(random) % reach;
      if (last != SIZE_MAX && from >= last) continue; /* each one once, in order */
      net_edge(n, from, i);
      last = from;
    }
  }
  return n;
}

/* ---- thread counts ---- */

static const unsigned GRAPH_THREADS[] = {1, 2, 3, 8, 64};
enum { GRAPH_THREADS_COUNT = sizeof GRAPH_THREADS / sizeof GRAPH_THREADS[0] };

#endif
