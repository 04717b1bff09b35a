/* graph/weft.c - task graphs: weft_graph.
 *
 * Usage: graph_weft chain|tree|wavefront|random [threads [side]]
 *
 * needs: weft_graph_run
 *
 * SPDX-License-Identifier: MIT */
#include "../common/weft_start.h"
#include "graph.h"

static weft_graph *graph;

static void work(void *ctx) {
  graph_work((graph_cell *)ctx);
}

static void work_checked(void *ctx) {
  graph_work_checked((graph_cell *)ctx);
}

static weft_graph *build(const graph_shape *s, graph_cell *cells, weft_fn *fn) {
  weft_graph *g;
  weft_node **nodes = (weft_node **)bench_array((size_t)s->nodes, sizeof(weft_node *));
  bench_check("weft", (uint64_t)weft_graph_create(&g), 0);
  for (long i = 0; i < s->nodes; i++) nodes[i] = weft_graph_add(g, NULL, fn, &cells[i]);
  for (long i = 0; i < s->nodes; i++)
    for (long k = s->first[i]; k < s->first[i + 1]; k++)
      bench_check("weft", (uint64_t)weft_graph_edge(g, nodes[s->before[k]], nodes[i]), 0);
  free(nodes);
  return g;
}

static long run(long n) {
  bench_check("weft", (uint64_t)weft_graph_run(graph), 0);
  return n;
}

int main(int argc, char **argv) {
  int which = bench_choose(argc, argv, 1, graph_shapes, GRAPH_SHAPES);
  bench_weft_start(bench_arg(argc, argv, 2, 2));
  graph_shape s = graph_make(which, bench_arg(argc, argv, 3, 256));
  graph_cell *cells = graph_cells(&s);
  graph = build(&s, cells, work_checked);
  for (int i = 0; i < 3; i++) run(0);
  bench_check("weft", (uint64_t)graph_count(&s, cells), (uint64_t)s.nodes);
  weft_graph_destroy(graph);
  graph = build(&s, cells, work);
  bench_measure_tasks("weft", run, s.nodes);
  bench_check("weft", (uint64_t)graph_count(&s, cells), (uint64_t)s.nodes);
  weft_graph_destroy(graph);
  weft_shutdown();
  return 0;
}
