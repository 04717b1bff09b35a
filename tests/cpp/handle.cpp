/* Tests of weft::task in programs with an event loop: then, on_done, notify, waits with a
 * limit and for several; of the queue limit and wait_idle.
 *
 * SPDX-License-Identifier: MIT */
#include "support.hpp"

#include <chrono>
#include <thread>
#include <unistd.h>

using namespace std::chrono_literals;

TEST(what_follows_runs_once) {
  in_each_pool([] {
    for (int i = 0; i < 100; i++) {
      auto value = std::make_shared<std::atomic<int>>(0);
      auto task = weft::async([value] { *value = 1; });
      if (i % 3 == 0) task.wait();
      std::atomic<int> calls{0};
      std::atomic<bool> followed{false};
      task.on_done([&calls, value, keep = std::make_unique<int>(1)] { calls += *value; });
      task.then([value, &followed] { followed = *value == 1; });
      if (i % 2 == 0) CHECK(task.wait_for(24h));
      task.get();
      CHECK_EQ(calls.load(), 1);
      while (!followed) weft::yield();
    }
  });
}

TEST(waits_with_a_limit) {
  weft::pool pool(2);
  weft::options o;
  o.with_pool(pool);
  std::atomic<bool> open{false};
  auto task = weft::async(o, [&] {
    while (!open) std::this_thread::yield();
    return 42;
  });
  CHECK(!task.wait_for(0s));
  CHECK(!task.wait_for(-1s));
  CHECK(!task.wait_for(1ns));
  CHECK(!task.wait_for(std::chrono::duration<double>(0.001)));
  CHECK(!task.done());
  open = true;
  CHECK(task.wait_for(std::chrono::hours::max()));
  CHECK(task.done() && task.handle() == nullptr);
  CHECK(task.wait_for(0s));
  CHECK_EQ(task.get(), 42);
}

TEST(several_tasks) {
  weft::pool pool(3);
  weft::options o;
  o.with_pool(pool);
  for (int round = 0; round < 50; round++) {
    std::atomic<bool> open{false};
    std::vector<weft::task<int>> tasks;
    for (int i = 0; i < 2; i++)
      tasks.push_back(weft::async(o, [&open, i] {
        while (!open) std::this_thread::yield();
        return i;
      }));
    CHECK_EQ(weft::wait_any_for(tasks, 10us), SIZE_MAX);
    open = true;
    std::size_t first = weft::wait_any(tasks);
    REQUIRE(first < 2);
    CHECK(tasks[first].done());
    weft::wait_all(tasks);
    CHECK_EQ(weft::wait_any(tasks), 0);
    CHECK_EQ(weft::wait_any_for(tasks, 0s), 0);
    CHECK_EQ(tasks[0].get() + tasks[1].get(), 1);
  }
}

TEST(a_pipe_is_told) {
  weft::pool pool(2);
  weft::options o;
  o.with_pool(pool);
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  auto task = weft::async(o, [] { return 1; });
  task.notify(ends[1]);
  std::uint64_t number = 0;
  CHECK_EQ(read(ends[0], &number, sizeof number), 8);
  CHECK_EQ(number, 1);
  CHECK(task.done());
  task.wait();
  task.notify(ends[1]); /* late */
  CHECK_EQ(read(ends[0], &number, sizeof number), 8);
  int status = 0;
  try {
    task.notify(-1);
  } catch (const weft::error &e) {
    status = e.status();
  }
  CHECK_EQ(status, WEFT_EINVAL);
  close(ends[0]);
  close(ends[1]);
}

/* At the limit detach and async run in the call; try_detach says no. */
TEST(the_limit) {
  weft::pool pool(weft::config().with_threads(2).with_queue_limit(1));
  weft::options o;
  o.with_pool(pool);
  std::atomic<bool> open{false}, inside{false};
  std::atomic<int> ran{0};
  pool.detach([&] {
    inside = true;
    while (!open) std::this_thread::yield();
  });
  while (!inside) std::this_thread::yield();
  CHECK(pool.try_detach([&, p = std::make_unique<int>(1)] { ran += *p; }));
  CHECK(!pool.try_detach([&, p = std::make_unique<int>(1)] { ran += 100 * *p; }));
  CHECK(!weft::try_detach(o, [&] { ran += 100; }));
  CHECK_EQ(ran.load(), 0);
  pool.detach([&] { ran += 2; });
  CHECK_EQ(ran.load(), 2);
  auto task = weft::async(o, [&] { return ran += 4; });
  CHECK(task.done() && task.wait_for(0s));
  task.then([&] { ran += 8; });
  task.on_done([&] { ran += 16; });
  CHECK_EQ(task.get(), 6);
  open = true;
  pool.wait_idle();
  weft::pool_wait_idle();
  CHECK(ran.load() == 31);
  weft::shutdown();
}
