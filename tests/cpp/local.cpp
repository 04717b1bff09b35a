/* Tests of weft::local, bag, invoke, fold_local, and of the calls that can fail:
 * try_for_each, try_transform, try_fold.
 *
 * SPDX-License-Identifier: MIT */
#include "support.hpp"

#include <algorithm>
#include <map>
#include <numeric>

/* ---- local ---- */

TEST(objects_of_each_thread_add_up) {
  for_lengths([](std::size_t n) {
    weft::local<std::map<int, long>> counts;
    std::vector<int> v = random_ints(n < 5000 ? n : 5000, 16);
    weft::for_each(v, [&](int x) { counts.get()[x]++; });
    std::map<int, long> all, expected;
    for (int x : v) expected[x]++;
    counts.each([&](std::map<int, long> &one) {
      for (auto [x, count] : one) all[x] += count;
    });
    CHECK(all == expected);
    CHECK(counts.size() <= 64);
  });
}

TEST(objects_are_made_and_destroyed) {
  in_each_pool([] {
    weft::local<counted> numbers([] { return counted(7); });
    weft::for_each(10000, [&](int) { CHECK_EQ(numbers->get(), 7); });
    CHECK_EQ(static_cast<long>(numbers.size()), counted::live().load());
    long sum = numbers.combine(0L, [](long a, counted &c) { return a + c.get(); });
    CHECK_EQ(sum, 7 * static_cast<long>(numbers.size()));
  });
  CHECK_EQ(counted::live().load(), 0);
}

TEST(objects_that_cannot_be_moved) {
  weft::local<std::atomic<int>> numbers;
  numbers.reserve(4);
  weft::for_each(1000, [&](int) { ++*numbers; });
  int sum = 0;
  numbers.each([&](std::atomic<int> &x) { sum += x; });
  CHECK_EQ(sum, 1000);
}

/* make calls weft: another block on the same thread may be first. */
TEST(make_may_call_weft) {
  in_each_pool([] {
    weft::local<counted> numbers([] {
      weft::for_each(500, [](int) {});
      return counted(1);
    });
    weft::for_each(2000, [&](int) { CHECK_EQ(numbers.get().get(), 1); });
  });
  CHECK_EQ(counted::live().load(), 0);
}

TEST(make_may_throw) {
  std::atomic<int> tries{0};
  weft::local<counted> numbers([&]() -> counted {
    if (tries++ == 0) throw oops{5};
    return counted(3);
  });
  CHECK_EQ(thrown_by([&] { numbers.get(); }), 5u);
  CHECK_EQ(numbers.size(), 0u);
  CHECK_EQ(numbers.get().get(), 3);
  CHECK_EQ(thrown_by([&] { numbers.each([](counted &) { throw oops{6}; }); }), 6u);
}

/* ---- bag ---- */

TEST(bags_hold_what_was_added) {
  for_lengths([](std::size_t n) {
    if (n > 70000) return;
    weft::bag<long> all;
    weft::for_each(n, [&](std::size_t i) {
      const long twice[2] = {static_cast<long>(i), -1};
      all.add(static_cast<long>(i));
      all.add(twice, 2);
    });
    CHECK_EQ(all.size(), 3 * n);
    std::vector<long> v = all.collect();
    std::sort(v.begin(), v.end());
    for (std::size_t i = 0; i < n; i++) {
      CHECK_EQ(v[i], -1);
      CHECK_EQ(v[n + 2 * i] + v[n + 2 * i + 1], 2 * static_cast<long>(i));
    }
    long sum = 0;
    all.each([&](long &x) { sum += x; });
    CHECK_EQ(sum, std::accumulate(v.begin(), v.end(), 0L));
    all.clear();
    CHECK_EQ(all.size(), 0u);
  });
}

/* ---- invoke ---- */

TEST(any_number_of_callables) {
  in_each_pool([] {
    int done[4] = {};
    weft::invoke();
    weft::invoke([&] { done[0]++; });
    weft::invoke([&] { done[0]++; }, [&] { return done[1]++; });
    weft::invoke([&] { done[0]++; }, [&] { done[1]++; }, [&] { done[2]++; },
                 [&] { done[3]++; });
    CHECK(done[0] == 3 && done[1] == 2 && done[2] == 1 && done[3] == 1);
    CHECK_EQ(thrown_by([&] {
               weft::invoke([] {}, [] { throw oops{2}; }, [&] { done[0]++; },
                            [] { throw oops{4}; });
             }),
             2u);
    CHECK_EQ(done[0], 4);
  });
}

/* ---- fold_local ---- */

TEST(folds_with_one_accumulator_for_each_thread) {
  for_lengths([](std::size_t n) {
    std::vector<int> v = random_ints(n, 16);
    std::vector<std::size_t> expected(16);
    std::atomic<unsigned> merges{0};
    for (int x : v) expected[static_cast<std::size_t>(x)]++;
    auto counts = weft::fold_local(
        v, std::vector<std::size_t>(16),
        [](std::vector<std::size_t> &to, int x) { to[static_cast<std::size_t>(x)]++; },
        [&](std::vector<std::size_t> &to, std::vector<std::size_t> &&right) {
          merges++;
          for (std::size_t i = 0; i < 16; i++) to[i] += right[i];
        });
    CHECK(counts == expected);
    CHECK(merges < weft::thread_count());
  });
}

TEST(folds_that_throw_leave_nothing) {
  in_each_pool([] {
    for (int bad : {0, 500, 4999}) {
      CHECK_EQ(thrown_by([&] {
                 weft::fold_local(
                     5000, counted(0),
                     [&](counted &to, int i) {
                       if (i >= bad) throw oops{static_cast<std::size_t>(i)};
                       to = counted(to.get() + 1);
                     },
                     [](counted &to, counted &&r) { to = counted(to.get() + r.get()); });
               }),
               static_cast<std::size_t>(bad));
      CHECK_EQ(counted::live().load(), 0);
    }
  });
}

/* ---- calls that can fail ---- */

TEST(the_error_of_the_lowest_index) {
  in_each_pool([] {
    for (int bad : {0, 1, 77, 4999, 5000}) {
      const int expected = bad < 5000 ? bad + 1 : 0;
      std::vector<int> v(5000), to(5000);
      std::iota(v.begin(), v.end(), 0);
      auto fails = [=](int x) { return x >= bad ? x + 1 : 0; };
      CHECK_EQ(weft::try_for_each(v, fails), expected);
      CHECK_EQ(weft::try_for_each(5000, fails), expected);
      CHECK_EQ(weft::try_transform(v, to,
                                   [&](int x, int &y) {
                                     y = 2 * x;
                                     return fails(x);
                                   }),
               expected);
      for (int i = 0; i < bad; i++) CHECK_EQ(to[static_cast<std::size_t>(i)], 2 * i);
      long sum = 0;
      CHECK_EQ(weft::try_fold(
                   v, sum,
                   [&](long &acc, int x) {
                     acc += x;
                     return fails(x);
                   },
                   [](long &acc, long right) { acc += right; }),
               expected);
      CHECK_EQ(sum, expected == 0 ? 4999L * 2500 : 0L);
    }
  });
}

/* An exception and an error: the lower index decides. */
TEST(errors_and_exceptions) {
  in_each_pool([] {
    std::vector<int> to(5000);
    auto fails = [](int error, int throws) {
      return [=](int x) {
        if (x == throws) throw oops{static_cast<std::size_t>(x)};
        return x == error ? 9 : 0;
      };
    };
    auto merge = [](counted &a, counted &&b) { a = counted(a.get() + b.get()); };
    auto fold = [&](int error, int throws) {
      counted sum(0);
      int status = weft::try_fold(
          5000, sum,
          [f = fails(error, throws)](counted &acc, int x) {
            acc = counted(acc.get() + 1);
            return f(x);
          },
          merge);
      CHECK_EQ(sum.get(), status == 0 ? 5000 : 0);
      return status;
    };
    auto map = [&](int error, int throws) {
      return weft::try_transform(
          5000, to, [f = fails(error, throws)](int x, int &) { return f(x); });
    };
    CHECK_EQ(weft::try_for_each(5000, fails(100, 4000)), 9);
    CHECK_EQ(thrown_by([&] { weft::try_for_each(5000, fails(4000, 100)); }), 100u);
    CHECK_EQ(map(100, 4000), 9);
    CHECK_EQ(thrown_by([&] { map(4000, 100); }), 100u);
    CHECK_EQ(fold(-1, -1), 0);
    CHECK_EQ(fold(100, 4000), 9);
    CHECK_EQ(thrown_by([&] { fold(4000, 100); }), 100u);
    CHECK_EQ(counted::live().load(), 0);
  });
}

TEST(merges_may_fail) {
  in_each_pool([] {
    long sum = 0;
    auto step = [](long &acc, int) {
      acc++;
      return 0;
    };
    CHECK_EQ(weft::try_fold(1000, sum, step, [](long &, long) { return 4; }), 4);
    CHECK_EQ(thrown_by([&] {
               weft::try_fold(1000, sum, step, [](long &, long) { throw oops{1}; });
             }),
             1u);
    CHECK_EQ(sum, 0L);
  });
}
