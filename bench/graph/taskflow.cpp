// graph/taskflow.cpp - task graphs: Taskflow, by an executor of the given number of threads.
// The thread that asks for a run waits for it, and takes no part in it.
//
// Usage: graph_taskflow chain|tree|wavefront|random [threads [side]]
//
// SPDX-License-Identifier: MIT
#include "graph.h"
#include <memory>
#include <taskflow/taskflow.hpp>
#include <vector>

template <typename Work>
static std::unique_ptr<tf::Taskflow> build(const graph_shape &s, graph_cell *cells,
                                           Work work) {
  auto flow = std::make_unique<tf::Taskflow>();
  std::vector<tf::Task> nodes;
  for (long i = 0; i < s.nodes; i++) {
    graph_cell *cell = &cells[i];
    nodes.push_back(flow->emplace([cell, work] { work(cell); }));
  }
  for (long i = 0; i < s.nodes; i++)
    for (long k = s.first[i]; k < s.first[i + 1]; k++)
      nodes[static_cast<size_t>(s.before[k])].precede(nodes[static_cast<size_t>(i)]);
  return flow;
}

static tf::Executor *executor;
static tf::Taskflow *current;

static long run(long n) {
  executor->run(*current).wait();
  return n;
}

int main(int argc, char **argv) {
  int which = bench_choose(argc, argv, 1, graph_shapes, GRAPH_SHAPES);
  tf::Executor threads(static_cast<size_t>(bench_arg(argc, argv, 2, 2)));
  executor = &threads;
  graph_shape s = graph_make(which, bench_arg(argc, argv, 3, 256));
  graph_cell *cells = graph_cells(&s);
  {
    auto checked = build(s, cells, [](graph_cell *c) { graph_work_checked(c); });
    current = checked.get();
    for (int i = 0; i < 3; i++) run(0);
    bench_check("taskflow", static_cast<uint64_t>(graph_count(&s, cells)),
                static_cast<uint64_t>(s.nodes));
  }
  auto plain = build(s, cells, [](graph_cell *c) { graph_work(c); });
  current = plain.get();
  bench_measure_tasks("taskflow", run, s.nodes);
  bench_check("taskflow", static_cast<uint64_t>(graph_count(&s, cells)),
              static_cast<uint64_t>(s.nodes));
  return 0;
}
