/* reference/cpp_task.cpp - examples of weft/hpp: tasks, pools, iterators, graphs,
 * pipelines.
 *
 * SPDX-License-Identifier: MIT */
#include <atomic>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>
#include <weft.hpp>

#include "example.h"

/* example: weft::join, weft::nothing */
static long fib(long n) {
  if (n < 2) return n;
  auto [a, b] = weft::join([&] { return fib(n - 1); }, [&] { return fib(n - 2); });
  return a + b;
}

EXAMPLE(cpp_join) {
  assert(fib(20) == 6765);
}

/* example: weft::invoke */
EXAMPLE(cpp_invoke) {
  int table = 0, server = 0;
  weft::invoke([&] { table = 1; }, [&] { server = 2; });
  assert(table == 1 && server == 2);
}

/* example: weft::scope */
EXAMPLE(cpp_scope) {
  std::atomic<int> sum{0};
  weft::scope scope;
  for (int i = 1; i <= 10; i++) scope.spawn([&sum, i] { sum += i; });
  int status = scope.wait(); // or at the end of the block
  assert(status == 0 && sum == 55);
}

/* example: weft::in_scope, weft::scope_current */
EXAMPLE(cpp_in_scope) {
  std::atomic<int> tasks{0};
  int result = weft::in_scope([&](weft::scope &scope) {
    assert(weft::scope_current() == scope.get());
    scope.spawn([&] { tasks++; });
    return 7;
  }); // all tasks have ended
  assert(result == 7 && tasks == 1);
}

/* example: weft::async, weft::task */
EXAMPLE(cpp_async) {
  weft::task<int> answer = weft::async([] { return 42; });
  assert(answer.get() == 42); // or throws what the function has thrown
}

/* example: weft::wait_any, weft::wait_any_for, weft::wait_all */
EXAMPLE(cpp_wait_any) {
  std::vector<weft::task<int>> tasks;
  for (int i = 0; i < 3; i++) tasks.push_back(weft::async([i] { return i * i; }));
  std::size_t first = weft::wait_any(tasks);
  assert(first < 3);
  std::size_t some = weft::wait_any_for(tasks, std::chrono::milliseconds(50));
  assert(some < 3 || some == SIZE_MAX);
  weft::wait_all(tasks);
  assert(tasks[2].get() == 4);
}

/* example: weft::node_pools, weft::node_count, weft::topology_print */
EXAMPLE(cpp_node_pools) {
  weft::topology_print(stdout);
  weft::node_pools pools;
  std::atomic<unsigned> calls{0};
  pools.run([&](unsigned, unsigned count) {
    assert(count == pools.size());
    calls++;
  });
  assert(calls == weft::node_count());
}

/* example: weft::config_check */
EXAMPLE(cpp_config_check) {
  assert(weft::config_check(weft::config().with_threads(3)).empty());
  std::string why = weft::config_check(weft::config().with_cpus("all"));
  assert(why.find("weft_config.cpus") == 0); /* ... "all" is no list of CPUs such as */
}

/* example: weft::pool, weft::config */
EXAMPLE(cpp_pool) {
  std::vector<double> v(1000, 0.5);
  weft::pool pool(weft::config().with_threads(3).with_name("render"));
  double sum = pool.run([&] { return weft::reduce(v, 0.0, std::plus<>()); });
  assert(sum == 500);
} // ends the pool

/* example: weft::pool_current, weft::pool_wait_idle, weft::pool_stats, weft::thread_count
 */
EXAMPLE(cpp_current_pool) {
  assert(weft::pool_current() != nullptr && weft::thread_count() >= 1);
  assert(weft::worker_index() == -1 && weft::worker_limit() >= 1);
  weft::pool_wait_idle();
  weft_stats stats = weft::pool_stats();
  assert(stats.struct_size == sizeof stats);
}

/* example: weft::init, weft::shutdown */
EXAMPLE(cpp_init) {
  weft::shutdown();
  weft::init(weft::config().with_threads(2));
  assert(weft::thread_count() <= 2);
  weft::shutdown(); // the next call starts it again
}

/* example: weft::detach, weft::try_detach, weft::yield */
EXAMPLE(cpp_detach) {
  auto lines = std::make_shared<std::atomic<int>>(0);
  weft::detach([lines] { ++*lines; });
  if (!weft::try_detach([lines] { ++*lines; })) ++*lines; // the queue is full
  while (weft::yield()) continue; // runs what waits, if anything does
  weft::pool_wait_idle();
  assert(*lines == 2);
}

/* example: weft::isolate */
EXAMPLE(cpp_isolate) {
  std::vector<int> v(1000, 1);
  // While this waits, its thread runs no other task: a lock may be held.
  long sum = weft::isolate([&] { return weft::reduce(v, 0L, std::plus<>()); });
  assert(sum == 1000);
}

/* example: weft::blocking */
EXAMPLE(cpp_blocking) {
  char first = 1;
  {
    weft::blocking section; // another thread stands in
    if (FILE *file = std::fopen("/dev/zero", "r")) {
      if (std::fread(&first, 1, 1, file) != 1) first = 1;
      std::fclose(file);
    }
  }
  assert(first == 0);
}

/* example: weft::broadcast */
EXAMPLE(cpp_broadcast) {
  std::atomic<unsigned> calls{0};
  weft::broadcast([&](unsigned index, unsigned count) {
    assert(index < count);
    calls++;
  });
  assert(calls >= 1);
}

/* example: weft::strerror, weft::version, weft::set_fatal_handler, weft::error */
EXAMPLE(cpp_base) {
  assert(std::string(weft::strerror(WEFT_EINVAL)) == "invalid argument");
  std::printf("weft %s\n", weft::version());
  weft::set_fatal_handler(nullptr); // misuse is reported on standard error
  try {
    throw weft::error(WEFT_ENOMEM); // what a constructor throws that cannot make a pool
  } catch (const weft::error &e) {
    assert(e.status() == WEFT_ENOMEM);
  }
}

/* example: weft::trace, weft::name, weft::frame_mark */
EXAMPLE(cpp_trace) {
  {
    weft::trace recording("/tmp/weft-example-cpp-%p.json"); // %p: the process
    weft::for_each(100, [](int) { weft::name("draw"); });
    weft::frame_mark();
  } // open the file with `weft view`
  std::string path = "/tmp/weft-example-cpp-" + std::to_string(getpid()) + ".json";
  assert(std::remove(path.c_str()) == 0);
}

/* example: weft::local */
EXAMPLE(cpp_local) {
  weft::local<std::vector<int>> found; // a vector for each thread
  weft::for_each(1000, [&](int i) {
    if (i % 100 == 0) found->push_back(i);
  });
  std::size_t total = 0;
  found.each([&](std::vector<int> &part) { total += part.size(); });
  assert(total == 10);
}

/* example: weft::bag */
EXAMPLE(cpp_bag) {
  weft::bag<int> found;
  weft::for_each(1000, [&](int i) {
    if (i % 100 == 0) found.add(i);
  });
  std::vector<int> all = found.collect(); // in no particular order
  weft::sort(all);
  assert(all.size() == 10 && all[9] == 900);
}

/* example: weft::iter, weft::iterator */
EXAMPLE(cpp_iter) {
  std::vector<int> v{1, 2, 3, 4, 5, 6};
  long sum = weft::iter(v)
                 .filter([](int x) { return x % 2 == 0; })
                 .map([](int x) { return long(x) * x; })
                 .sum();
  assert(sum == 56);
  std::vector<int> w{10, 20, 30};
  auto pairs = weft::iter(v).zip(w).map([](int x, int y) { return x * y; });
  assert((pairs.collect() == std::vector<int>{10, 40, 90}));
}

/* example: weft::range, weft::repeat, weft::tiles */
EXAMPLE(cpp_sources) {
  assert(weft::range(0, 10, 2).sum() == 20);
  assert(weft::range(10, 0, -5).count() == 2); // 10 5
  assert(weft::repeat(0.5, 10).sum() == 5);
  auto area = [](const weft_tile &t) { return (t.r1 - t.r0) * (t.c1 - t.c0); };
  assert(weft::tiles(100, 50, 16, 16).map(area).sum() == 5000);
}

/* example: weft::chunks, weft::windows */
EXAMPLE(cpp_chunks) {
  std::vector<int> v{1, 2, 3, 4, 5};
  auto sum = [](auto part) {
    int total = 0;
    for (int x : part) total += x;
    return total;
  };
  assert((weft::chunks(v, 2).map(sum).collect() == std::vector<int>{3, 7, 5}));
  assert(weft::windows(v, 2).map(sum).max().value() == 9);
}

/* example: weft::lines */
EXAMPLE(cpp_lines) {
  std::string_view text = "ok\nerror: no file\nok";
  auto is_error = [](std::string_view line) { return line.substr(0, 5) == "error"; };
  assert(weft::lines(text).filter(is_error).count() == 1);
}

/* example: weft::split */
struct interval {
  double from, to;
};

EXAMPLE(cpp_split) {
  auto halve = [](interval &i) -> std::optional<interval> {
    if (i.to - i.from < 0.001) return std::nullopt; // a leaf
    interval right{(i.from + i.to) / 2, i.to};
    i.to = right.from;
    return right;
  };
  auto area = [](const interval &i) { return (i.to - i.from) * (i.from + i.to) / 2; };
  double integral = weft::split(interval{0, 1}, halve).map(area).sum();
  assert(integral > 0.4999 && integral < 0.5001);
}

/* example: weft::pull */
EXAMPLE(cpp_pull) {
  int next = 0;
  auto numbers = weft::pull([&]() -> std::optional<int> {
    return next < 1000 ? std::optional<int>(next++) : std::nullopt;
  });
  assert(numbers.sum() == 499500);
}

/* example: weft::graph, weft::graph_error */
EXAMPLE(cpp_graph) {
  int loaded = 0, left = 0, right = 0, saved = 0;
  weft::graph g;
  auto load = g.add("load", [&] { loaded++; });
  auto blur = g.add("blur", [&] { left = loaded; });
  auto sharpen = g.add("sharpen", [&] { right = loaded; });
  auto save = g.add("save", [&] { saved = left + right; });
  g.edge(load, blur);
  g.edge(load, sharpen);
  g.edge(blur, save);
  g.edge(sharpen, save);
  for (int frame = 0; frame < 10; frame++) g.run();
  assert(saved == 20);
}

/* example: weft::pipeline, weft::ordered, weft::parallel, weft::stage */
EXAMPLE(cpp_pipeline) {
  long sum = 0;
  int status = weft::pipeline<long>(
      0, // as many items at a time as is good
      weft::ordered([](long &item, std::size_t number) {
        item = static_cast<long>(number);
        return number < 100 ? 0 : WEFT_END;
      }),
      weft::parallel([](long &item) { item *= item; }),
      weft::ordered([&](long &item) { sum += item; })); // in order: no lock
  assert(status == 0 && sum == 328350);
}

/* example: weft::progress, weft::progress_for, weft::progress_options,
 * weft::progress_state */
EXAMPLE(cpp_progress) {
  weft::progress_for("rendering", 100, [](std::size_t, std::size_t) {});

  weft::progress shown("reading", 100, "files");
  weft::for_each(100, [&](int) { shown.add(); });
  assert(shown.get().done == 100);
}

/* example: weft::progress_print, weft::progress_draw */
EXAMPLE(cpp_progress_lines) {
  weft::progress shown("copying", 3);
  weft::progress_print("a line above the bar");
  ++shown;
  weft::progress_draw(); // now, not only ten times a second
}
