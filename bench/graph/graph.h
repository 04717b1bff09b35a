/* graph/graph.h - task graphs: what a node costs, in four shapes.
 *
 * A graph is built once and run again and again, from outside of the pool. A node adds 1
 * to a number of its own, so that next to all of the time is that of the library. Before
 * the clock starts, the same graph is run with nodes that also check that all nodes
 * before them have run.
 *
 *     chain      65,536 nodes, one after the other
 *     tree       65,535 nodes, each before two others
 *     wavefront  256 x 256 nodes, each after its upper and its left neighbour
 *     random     100,000 nodes, each after one to four of all nodes before it
 *
 * SPDX-License-Identifier: MIT */
#ifndef BENCH_GRAPH_GRAPH_H
#define BENCH_GRAPH_GRAPH_H

#include "../common/bench.h"

/* The edges, sorted by their second node: those of node i begin at first[i]. */
typedef struct graph_shape {
  long nodes, edges;
  long *first;
  long *before;
} graph_shape;

/* What a node works on. */
typedef struct graph_cell {
  long runs;
  const graph_shape *shape;
  const struct graph_cell *cells;
} graph_cell;

static const char *const graph_shapes[] = {"chain", "tree", "wavefront", "random"};
enum { GRAPH_CHAIN, GRAPH_TREE, GRAPH_WAVEFRONT, GRAPH_RANDOM, GRAPH_SHAPES };

/* The nodes before node i, each once; returns how many. `side` is that of the wavefront.
 */
BENCH_HELPER int graph_before(int shape, long side, long i, long before[4]) {
  int count = 0;
  switch (shape) {
  case GRAPH_CHAIN:
    if (i > 0) before[count++] = i - 1;
    break;
  case GRAPH_TREE:
    if (i > 0) before[count++] = (i - 1) / 2;
    break;
  case GRAPH_WAVEFRONT:
    if (i >= side) before[count++] = i - side;
    if (i % side != 0) before[count++] = i - 1;
    break;
  default:
    for (int k = 0; i > 0 && k <= (int)(bench_mix((uint64_t)i) % 4); k++) {
      long other = (long)(bench_mix((uint64_t)(8 * i + k)) % (uint64_t)i);
      int seen = 0;
      for (int j = 0; j < count; j++) seen |= before[j] == other;
      if (!seen) before[count++] = other;
    }
  }
  return count;
}

/* `side` is 256 for the sizes above; other sizes are for trials. */
BENCH_HELPER graph_shape graph_make(int shape, long side) {
  graph_shape s;
  s.nodes = shape == GRAPH_TREE ? side * side - 1 : side * side;
  if (shape == GRAPH_RANDOM) s.nodes = side == 256 ? 100000 : side * side;
  s.edges = 0;
  s.first = (long *)bench_array((size_t)s.nodes + 1, sizeof(long));
  s.before = (long *)bench_array(4 * (size_t)s.nodes, sizeof(long));
  for (long i = 0; i < s.nodes; i++) {
    s.first[i] = s.edges;
    s.edges += graph_before(shape, side, i, s.before + s.edges);
  }
  s.first[s.nodes] = s.edges;
  return s;
}

BENCH_HELPER graph_cell *graph_cells(const graph_shape *s) {
  graph_cell *cells = (graph_cell *)bench_array((size_t)s->nodes, sizeof *cells);
  for (long i = 0; i < s->nodes; i++) {
    cells[i].runs = 0;
    cells[i].shape = s;
    cells[i].cells = cells;
  }
  return cells;
}

/* What a node does. */
BENCH_HELPER void graph_work(graph_cell *cell) {
  cell->runs++;
}

/* The same, and checks that it is its turn. */
BENCH_HELPER void graph_work_checked(graph_cell *cell) {
  long i = (long)(cell - cell->cells);
  for (long k = cell->shape->first[i]; k < cell->shape->first[i + 1]; k++)
    bench_check("node", (uint64_t)cell->cells[cell->shape->before[k]].runs,
                (uint64_t)cell->runs + 1);
  cell->runs++;
}

/* Every node has run as often as the first one; returns how many there are. */
BENCH_HELPER long graph_count(const graph_shape *s, const graph_cell *cells) {
  long right = 0;
  for (long i = 0; i < s->nodes; i++) right += cells[i].runs == cells[0].runs;
  return right;
}

#endif
