/* graph/serial.c - task graphs: the nodes one after the other, in an order that is known.
 *
 * Usage: graph_serial chain|tree|wavefront|random [side]
 *
 * SPDX-License-Identifier: MIT */
#include "graph.h"

static graph_cell *cells;

static BENCH_NOINLINE void work(graph_cell *cell) {
  graph_work(cell);
}

static void (*volatile node)(graph_cell *cell) = work;

static long run(long n) {
  for (long i = 0; i < n; i++) node(&cells[i]);
  return n;
}

int main(int argc, char **argv) {
  int which = bench_choose(argc, argv, 1, graph_shapes, GRAPH_SHAPES);
  graph_shape s = graph_make(which, bench_arg(argc, argv, 2, 256));
  cells = graph_cells(&s);
  bench_measure_tasks("serial", run, s.nodes);
  bench_check("serial", (uint64_t)graph_count(&s, cells), (uint64_t)s.nodes);
  return 0;
}
