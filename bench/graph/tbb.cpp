// graph/tbb.cpp - task graphs: oneTBB's flow graph, of continue_nodes, inside an arena of the
// given size.
//
// Usage: graph_tbb chain|tree|wavefront|random [threads [side]]
//
// SPDX-License-Identifier: MIT
#include "../common/tbb_start.h"
#include "graph.h"
#include <deque>
#include <memory>
#include <oneapi/tbb/flow_graph.h>
#include <vector>

using message = tbb::flow::continue_msg;
using node = tbb::flow::continue_node<message>;

struct built {
  tbb::flow::graph graph;
  std::deque<node> nodes;
  std::vector<node *> sources;
};

template <typename Work>
static std::unique_ptr<built> build(const graph_shape &s, graph_cell *cells, Work work) {
  auto b = std::make_unique<built>();
  for (long i = 0; i < s.nodes; i++) {
    graph_cell *cell = &cells[i];
    b->nodes.emplace_back(b->graph, [cell, work](const message &) { work(cell); });
  }
  for (long i = 0; i < s.nodes; i++) {
    node &after = b->nodes[static_cast<size_t>(i)];
    if (s.first[i] == s.first[i + 1]) b->sources.push_back(&after);
    for (long k = s.first[i]; k < s.first[i + 1]; k++)
      tbb::flow::make_edge(b->nodes[static_cast<size_t>(s.before[k])], after);
  }
  return b;
}

static built *current;

static long run(long n) {
  for (node *source : current->sources) source->try_put(message());
  current->graph.wait_for_all();
  return n;
}

int main(int argc, char **argv) {
  int which = bench_choose(argc, argv, 1, graph_shapes, GRAPH_SHAPES);
  bench_tbb_run(bench_arg(argc, argv, 2, 2), [=] {
    graph_shape s = graph_make(which, bench_arg(argc, argv, 3, 256));
    graph_cell *cells = graph_cells(&s);
    {
      auto checked = build(s, cells, [](graph_cell *c) { graph_work_checked(c); });
      current = checked.get();
      for (int i = 0; i < 3; i++) run(0);
      bench_check("tbb", static_cast<uint64_t>(graph_count(&s, cells)),
                  static_cast<uint64_t>(s.nodes));
    }
    auto plain = build(s, cells, [](graph_cell *c) { graph_work(c); });
    current = plain.get();
    bench_measure_tasks("tbb", run, s.nodes);
    bench_check("tbb", static_cast<uint64_t>(graph_count(&s, cells)),
                static_cast<uint64_t>(s.nodes));
  });
  return 0;
}
