/* Tests of weft::pool and its configuration, detach, yield, broadcast, isolate, blocking
 * sections, statistics, dropped tasks.
 *
 * SPDX-License-Identifier: MIT */
#include "support.hpp"

#include <set>
#include <thread>

template <class F> static void wait_until(F &&holds) {
  while (!holds()) std::this_thread::yield();
}

TEST(detached_functions_run_once) {
  std::atomic<int> ran{0};
  {
    weft::pool pool(3);
    for (int i = 0; i < 100; i++) {
      pool.detach([&ran, owned = std::make_unique<int>(i)] { ran += 1 + 0 * *owned; });
      weft::detach(weft::options().with_pool(pool).with_lane(WEFT_LANE_BACKGROUND),
                   [&ran] { ran++; });
      pool.run([&] { weft::detach([&ran] { ran++; }); });
    }
  } /* the destructor runs what is left */
  CHECK_EQ(ran.load(), 300);
}

TEST(what_was_detached_is_destroyed) {
  {
    weft::pool pool(2);
    for (int i = 0; i < 100; i++) pool.detach([c = counted(i)] { (void)c.get(); });
  }
  CHECK_EQ(counted::live().load(), 0);
}

TEST(yield_runs_a_task) {
  weft::pool pool(1);
  pool.run([] {
    weft::scope scope;
    std::atomic<bool> ran{false};
    scope.spawn([&] { ran = true; });
    wait_until([&] { return weft::yield() || ran.load(); });
    wait_until([&] { return ran.load(); });
    scope.wait();
  });
}

TEST(broadcasts_reach_each_thread_once) {
  for (unsigned threads : {1u, 2u, 4u}) {
    weft::pool pool(threads);
    std::atomic<unsigned> calls{0}, sum{0};
    auto count = [&](unsigned index, unsigned all) {
      calls++;
      sum += index + 1;
      CHECK(index < all);
    };
    weft::broadcast(weft::options().with_pool(pool), count);
    const unsigned n = calls;
    CHECK(n >= threads && sum == n * (n + 1) / 2);
    CHECK_EQ(thrown_by([&] {
               pool.run([&] {
                 weft::broadcast([](unsigned index, unsigned) { throw oops{index}; });
               });
             }),
             0u);
  }
}

static std::atomic<unsigned> started, ended;

TEST(configurations_reach_the_pool) {
  std::atomic<unsigned> called{0}; /* by several threads at once */
  started = ended = 0;
  {
    weft::pool pool(weft::config()
                        .with_threads(3)
                        .with_stack_size(256 * 1024 * harness_slowdown())
                        .with_idle(WEFT_IDLE_POWER_SAVING)
                        .with_name("named")
                        .with_hooks(
                            [](unsigned, void *ctx) {
                              ++*static_cast<std::atomic<unsigned> *>(ctx);
                              started++;
                            },
                            [](unsigned, void *) { ended++; }, &called)
                        .with_guests(2)
                        .with_deque_capacity(64)
                        .with_blocking(WEFT_NO_BLOCKING));
    pool.run([] {
      CHECK_EQ(weft::thread_count(), 3u);
      CHECK(weft::worker_index() >= 0);
      CHECK(static_cast<unsigned>(weft::worker_index()) < weft::worker_limit());
      CHECK(weft::pool_current() != nullptr);
    });
    wait_until([] { return started.load() == 2; });
  }
  CHECK_EQ(called.load(), 2u);
  CHECK_EQ(ended.load(), 2u);
}

TEST(statistics_count) {
  weft::pool pool(2);
  for (int i = 0; i < 10; i++) pool.detach([] {});
  wait_until([&] { return pool.stats().tasks >= 10; });
  CHECK(pool.stats().injected >= 10);
  pool.run([] { CHECK(weft::pool_stats().injected >= 10); });
  CHECK(pool.worker_stats(1).injected >= 10);
  CHECK(pool.worker_stats(100000).injected == 0);
}

TEST(a_trace_is_an_object) {
  weft::pool pool(2);
  {
    weft::trace trace("/dev/null");
    pool.run([] { weft::name("named"); });
    weft::frame_mark();
    CHECK_EQ(weft_trace_start("/dev/null"), WEFT_EBUSY);
  }
  CHECK_EQ(weft_trace_start("/dev/null"), 0);
  weft_trace_stop();
}

TEST(errors_and_texts) {
  CHECK_STR_EQ(weft::strerror(WEFT_ENOMEM), weft_strerror(WEFT_ENOMEM));
  CHECK_STR_EQ(weft::version(), weft_version());
  int status = 0;
  try {
    weft::pool pool(WEFT_MAX_THREADS + 1);
  } catch (const weft::error &e) {
    status = e.status();
  }
  CHECK_EQ(status, static_cast<int>(WEFT_EINVAL));
  status = 0;
  weft::shutdown();
  weft::init(weft::config().with_threads(2));
  CHECK_EQ(weft::thread_count(), 2u);
  try {
    weft::init(weft::config());
  } catch (const weft::error &e) {
    status = e.status();
  }
  CHECK_EQ(status, static_cast<int>(WEFT_EBUSY));
  weft::shutdown();
}

TEST(dropped_tasks_still_run) {
  std::atomic<int> ran{0};
  {
    weft::pool pool(2);
    pool.run([&] {
      for (int i = 0; i < 200; i++) {
        auto task = weft::async([&ran, c = counted(i)] {
          ran++;
          if (c.get() % 3 == 0) throw oops{0};
          return counted(c.get());
        });
        if (i % 4 == 0) wait_until([&] { return task.done() || weft::yield(); });
        task.drop();
        CHECK(!task.valid());
        task.drop(); /* nothing */
      }
    });
  }
  CHECK_EQ(ran.load(), 200);
  CHECK_EQ(counted::live().load(), 0);
}

TEST(scopes_are_found) {
  CHECK(weft::scope_current() == nullptr);
  weft::scope scope;
  CHECK(weft::scope_current() == scope.get());
  scope.spawn([&] { CHECK(weft::scope_current() == scope.get()); });
  scope.wait();
  weft::blocking section;
  CHECK(weft::isolate([] { return weft::scope_current() == nullptr; }));
}

TEST(pools_of_chosen_cpus) {
  CHECK(weft::config_check(weft::config()).empty());
  CHECK(weft::config_check(weft::config().with_cpus("0-")).find("cpus") !=
        std::string::npos);
  int status = 0;
  try {
    weft::pool refused(weft::config().with_cpus("x"));
  } catch (const weft::error &error) {
    status = error.status();
  }
  CHECK_EQ(status, WEFT_EINVAL);
  weft::pool pool(weft::config()
                      .with_threads(2)
                      .with_bind(WEFT_BIND_THREADS)
                      .with_steer(WEFT_STEER_OFF));
  CHECK_EQ(pool.run([] { return weft::thread_count(); }), 2u);
}

TEST(a_pool_for_each_node) {
  weft::node_pools pools(weft::config().with_threads(2));
  CHECK_EQ(pools.size(), weft::node_count());
  std::atomic<unsigned> calls{0};
  pools.run([&](unsigned node, unsigned count) {
    CHECK(node < count && weft::pool_current() == pools[node]);
    calls++;
  });
  CHECK_EQ(calls.load(), pools.size());
  CHECK_EQ(thrown_by(
               [&] { pools.run([](unsigned node, unsigned) { throw oops{node + 5}; }); }),
           5);
  weft::node_pools moved(std::move(pools));
  CHECK_EQ(pools.size(), 0u);
  CHECK_EQ(moved.size(), weft::node_count());
  pools = std::move(moved);
  CHECK_EQ(pools.size(), weft::node_count());
}
