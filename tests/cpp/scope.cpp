/* Tests of weft::scope, in_scope, async, pool, isolate, broadcast.
 *
 * SPDX-License-Identifier: MIT */
#include "support.hpp"

TEST(every_task_runs_once) {
  in_each_pool([] {
    std::vector<int> plain(1000), owned(1000);
    weft::scope scope;
    for (std::size_t i = 0; i < 1000; i++) {
      scope.spawn([&plain, i] { plain[i]++; });
      scope.spawn([&owned, p = std::make_unique<std::size_t>(i)] { owned[*p]++; });
    }
    CHECK_EQ(scope.wait(), 0);
    CHECK(plain == std::vector<int>(1000, 1));
    CHECK(owned == std::vector<int>(1000, 1));
  });
}

static void visit(weft::scope &scope, std::atomic<int> &count, int depth) {
  count++;
  for (int i = 0; i < 3 && depth > 0; i++)
    scope.spawn([&scope, &count, depth, keep = std::make_shared<int>(i)] {
      visit(scope, count, depth - 1);
    });
}

TEST(tasks_spawn_tasks) {
  std::atomic<int> count{0};
  { /* from outside; the destructor waits */
    weft::scope scope;
    visit(scope, count, 5);
  }
  CHECK_EQ(count.load(), 364);
  in_each_pool([&] {
    count = 0;
    int result = weft::in_scope([&](weft::scope &scope) {
      visit(scope, count, 6);
      return 7;
    });
    CHECK_EQ(result, 7);
    CHECK_EQ(count.load(), 1093);
  });
}

/* The first exception of a task is thrown by wait; what was captured is destroyed, also
 * of tasks that are skipped. */
TEST(exceptions_of_tasks) {
  in_each_pool([] {
    for (int bad : {0, 1, 500, 999}) {
      std::size_t where = thrown_by([&] {
        weft::scope scope;
        for (int i = 0; i < 1000; i++) {
          scope.spawn([i, bad, keep = counted(i)] {
            if (i == bad) throw oops{static_cast<std::size_t>(i)};
            CHECK_EQ(keep.get(), i);
          });
        }
        scope.wait();
      });
      CHECK_EQ(where, static_cast<std::size_t>(bad));
      CHECK_EQ(counted::live().load(), 0);
    }
  });
}

TEST(exceptions_leave_by_the_destructor) {
  in_each_pool([] {
    CHECK_EQ(thrown_by([] {
               weft::scope scope;
               scope.spawn([] { throw oops{5}; });
             }),
             5u);
    /* That of the body wins, and the tasks have ended when it arrives. */
    std::atomic<int> running{0};
    CHECK_EQ(thrown_by([&] {
               weft::in_scope([&](weft::scope &scope) {
                 for (int i = 0; i < 100; i++)
                   scope.spawn([&running, keep = counted(i)] {
                     running++;
                     std::atomic_signal_fence(std::memory_order_seq_cst);
                     running--;
                     throw oops{1};
                   });
                 throw oops{2};
               });
             }),
             2u);
    CHECK_EQ(running.load(), 0);
    CHECK_EQ(counted::live().load(), 0);
  });
}

TEST(cancelled_scopes) {
  in_each_pool([] {
    weft::scope outer;
    std::atomic<int> ran{0};
    outer.cancel(7);
    CHECK(outer.cancelled());
    {
      weft::scope inner; /* inside a cancelled one */
      for (int i = 0; i < 10; i++) inner.spawn([&ran, keep = counted(i)] { ran++; });
      inner.spawn([&ran] { ran++; });
      CHECK_EQ(inner.wait(), 7);
    }
    CHECK_EQ(counted::live().load(), 0);
    CHECK_EQ(ran.load(), 0);
    CHECK_EQ(outer.wait(), 7);
  });
}

TEST(nested_scopes_carry_exceptions) {
  in_each_pool([] {
    CHECK_EQ(thrown_by([] {
               weft::in_scope([](weft::scope &outer) {
                 outer.spawn([] {
                   weft::in_scope([](weft::scope &inner) {
                     inner.spawn([] { weft::join([] {}, [] { throw oops{9}; }); });
                   });
                 });
               });
             }),
             9u);
  });
}

TEST(fifo_scopes_and_pools_in_options) {
  weft::pool pool(1);
  std::vector<int> order;
  pool.run([&] {
    weft::scope scope(weft::options().with_order(WEFT_ORDER_FIFO));
    for (int i = 0; i < 10; i++) scope.spawn([&order, i] { order.push_back(i); });
    scope.wait();
  });
  for (int i = 0; i < 10; i++) CHECK_EQ(order[static_cast<std::size_t>(i)], i);
}

/* ---- async ---- */

TEST(async_gives_results) {
  in_each_pool([] {
    auto number = weft::async([] { return 5; });
    auto nothing = weft::async([] {});
    auto owned = weft::async(
        [p = std::make_unique<int>(6)] { return std::make_unique<int>(*p + 1); });
    CHECK_EQ(number.get(), 5);
    nothing.get();
    CHECK_EQ(*owned.get(), 7);
    CHECK(!owned.valid());
    auto bad = weft::async([keep = counted(1)]() -> counted { throw oops{3}; });
    CHECK_EQ(thrown_by([&] { bad.get(); }), 3u);
    {
      auto dropped = weft::async([keep = counted(1)] { return counted(2); });
      auto dropped_bad = weft::async([] { throw oops{4}; });
      auto moved = std::move(dropped);
      CHECK(!dropped.valid() && moved.valid());
    }
    CHECK_EQ(counted::live().load(), 0);
  });
}

/* ---- pools ---- */

TEST(pools_carry_results_and_exceptions) {
  weft::pool pool(3);
  CHECK_EQ(pool.run([] { return weft_thread_count(); }), 3u);
  CHECK_EQ(*pool.run([] { return std::make_unique<int>(2); }), 2);
  int x = 1;
  pool.run([&]() -> int & { return x; }) = 5;
  CHECK_EQ(x, 5);
  CHECK_EQ(thrown_by([&] { pool.run([] { throw oops{8}; }); }), 8u);
  weft::pool moved = std::move(pool);
  CHECK(pool.get() == nullptr && moved.get() != nullptr);
  int status = 0;
  try {
    weft::pool impossible(WEFT_MAX_THREADS + 1);
  } catch (const weft::error &e) {
    status = e.status();
    CHECK_STR_EQ(e.what(), weft_strerror(WEFT_EINVAL));
  }
  CHECK_EQ(status, WEFT_EINVAL);
}

TEST(isolate_broadcast_blocking) {
  in_each_pool([] {
    CHECK_EQ(weft::isolate([] { return 3; }), 3);
    CHECK_EQ(thrown_by([] { weft::isolate([] { throw oops{1}; }); }), 1u);
    std::atomic<unsigned> calls{0}, of{0};
    weft::broadcast([&](unsigned, unsigned count) {
      calls++;
      of = count;
    });
    CHECK_EQ(calls.load(), of.load());
    CHECK_EQ(
        thrown_by([&] { weft::broadcast([](unsigned i, unsigned) { throw oops{i}; }); }),
        0u);
    weft::blocking section;
  });
}
