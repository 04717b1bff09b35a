/* Tests of weft::graph.
 *
 * SPDX-License-Identifier: MIT */
#include "support.hpp"

#include <atomic>
#include <cstdio>
#include <thread>
#include <vector>

TEST(nodes_run_in_order) {
  in_each_pool([] {
    weft::graph g;
    int value = 0, left = 0, right = 0, sum = 0;
    auto start = g.add("start", [&] { value++; });
    auto a = g.add("a", [&] { left = value * 2; });
    auto b = g.add([&, keep = std::make_unique<int>(3)] { right = value * *keep; });
    auto end = g.add("end", [&] { sum = left + right; });
    g.edge(start, a);
    g.edge(start, b);
    g.edge(a, end);
    g.edge(b, end);
    for (int run = 1; run <= 100; run++) {
      CHECK_EQ(g.run(), 0);
      CHECK_EQ(sum, 5 * run);
    }
  });
}

TEST(choices_make_loops) {
  in_each_pool([] {
    weft::graph g;
    int rounds = 0, done = 0;
    auto start = g.add("start", [&] { rounds = 0; });
    auto step = g.add("step", [&] { rounds++; });
    auto again = g.choice("again?", [&] { return rounds < 10 ? 0 : 1; });
    auto end = g.add("end", [&] { done += rounds; });
    g.edge(start, step);
    g.edge(step, again);
    g.edge(again, step);
    g.edge(again, end);
    CHECK_EQ(g.run(), 0);
    CHECK_EQ(g.run(weft::options().with_max_workers(1)), 0);
    CHECK_EQ(done, 20);
  });
}

TEST(errors_have_texts) {
  weft::graph g, other;
  auto a = g.add("a", [] {}), b = g.add("b", [] {}), c = other.add("c", [] {});
  g.edge(a, b);
  std::string text;
  int status = 0;
  try {
    g.edge(a, c);
  } catch (const weft::graph_error &e) {
    text = e.what();
    status = e.status();
  }
  CHECK_EQ(status, WEFT_EINVAL);
  CHECK(text == "edge a -> c: the second node belongs to another graph");
  g.edge(b, a);
  CHECK_EQ(g.run(), WEFT_EINVAL);
  CHECK(std::string(g.text()) == "cycle: a -> b -> a");
}

/* What a node throws is thrown by the run; nodes behind it are skipped, and the next run
 * is whole. */
TEST(exceptions_of_nodes) {
  const long before = counted::live().load();
  in_each_pool([] {
    weft::graph g;
    int fails = 0, ran = 0;
    std::vector<weft::graph::node> nodes;
    for (int i = 1; i <= 10; i++) {
      nodes.push_back(g.add([&, i, keep = counted(i)] {
        ran++;
        CHECK_EQ(keep.get(), i);
        if (i == fails) throw oops{static_cast<std::size_t>(i)};
      }));
      if (i > 1) g.edge(nodes[nodes.size() - 2], nodes.back());
    }
    for (fails = 1; fails <= 10; fails++) {
      ran = 0;
      CHECK_EQ(thrown_by([&] { g.run(); }), static_cast<std::size_t>(fails));
      CHECK_EQ(ran, fails);
    }
    ran = 0;
    CHECK_EQ(g.run(), 0);
    CHECK_EQ(ran, 10);
  });
  CHECK_EQ(counted::live().load(), before);
}

TEST(a_node_cancels_with_a_number) {
  weft::graph g;
  bool ran = false;
  auto a = g.add("a", [] { weft_scope_cancel(weft::scope_current(), 17); });
  g.edge(a, g.add("b", [&] { ran = true; }));
  CHECK_EQ(g.run(), 17);
  CHECK(!ran);
}

/* An exception belongs to the run in which it was thrown, whatever the status says. */
TEST(no_exception_is_left_for_the_next_run) {
  in_each_pool([] {
    weft::graph g;
    bool fails = true;
    g.add("a", [&] {
      if (!fails) return;
      weft_scope_cancel(weft::scope_current(), WEFT_EBUSY);
      throw oops{3};
    });
    CHECK_EQ(thrown_by([&] { g.run(); }), 3);
    fails = false;
    CHECK_EQ(g.run(), 0);
  });
}

TEST(a_running_graph_is_busy) {
  in_each_pool([] {
    weft::graph g;
    int status = 0, refused = 0;
    g.add("a", [&] {
      status = g.run();
      try {
        g.add("b", [] {});
      } catch (const weft::error &e) {
        refused = e.status();
      }
    });
    CHECK_EQ(g.run(), 0);
    CHECK_EQ(status, WEFT_EBUSY);
    CHECK_EQ(refused, WEFT_EBUSY);
  });
}

/* Runs of several threads, of which one at a time goes through, throw their own. */
TEST(runs_at_once_throw_their_own) {
  weft::graph g;
  std::atomic<std::size_t> round{0}, seen{0};
  g.add([&] { throw oops{round.fetch_add(1) + 1}; });
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; i++)
    threads.emplace_back([&] {
      for (int k = 0; k < 200; k++) {
        try {
          CHECK_EQ(g.run(), WEFT_EBUSY);
        } catch (const oops &) {
          seen.fetch_add(1);
        }
      }
    });
  for (auto &thread : threads) thread.join();
  CHECK_EQ(seen.load(), round.load());
}

TEST(a_graph_is_moved) {
  int ran = 0;
  weft::graph g;
  g.add("a", [&] { ran++; });
  weft::graph moved = std::move(g);
  CHECK_EQ(moved.run(), 0);
  CHECK_EQ(ran, 1);
  FILE *out = std::tmpfile();
  if (out != nullptr) {
    moved.dot(out);
    std::fclose(out);
  }
  CHECK(moved.get() != nullptr);
}
