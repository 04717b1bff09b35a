/* Tests of weft::for_each and the other loops: every range, every element once,
 * exceptions.
 *
 * SPDX-License-Identifier: MIT */
#include "support.hpp"

#include <array>
#include <deque>
#include <numeric>

TEST(every_element_once) {
  for_lengths([](std::size_t n) {
    std::vector<unsigned char> seen(n);
    weft::for_each(n, [&](std::size_t i) { seen[i]++; });
    weft::for_each(seen, [](unsigned char &x) { x++; });
    weft::for_each(seen.begin(), seen.end(), [](unsigned char &x) { x++; });
    weft::for_each(weft::options().with_max_workers(2), seen, [](auto &x) { x++; });
    weft::for_each(weft::options(), std::size_t(0), n, [&](std::size_t i) { seen[i]++; });
    weft::for_blocks(n, [&](std::size_t begin, std::size_t end) {
      CHECK(begin < end);
      for (std::size_t i = begin; i < end; i++) seen[i]++;
    });
    weft::for_each(0, seen.size(), [&](auto i) {
      static_assert(std::is_same_v<decltype(i), std::size_t>);
      seen[i]++;
    });
    weft::for_each(weft::options(), n, 0, [&](std::size_t i) { seen[i]++; }); /* none */
    CHECK(std::all_of(seen.begin(), seen.end(), [](auto x) { return x == 7; }));
  });
}

TEST(ranges_of_all_kinds) {
  in_each_pool([] {
    std::deque<int> d(1000, 1);
    weft::for_each(d, [](int &x) { x += 1; });
    CHECK_EQ(std::accumulate(d.begin(), d.end(), 0), 2000);
    std::array<int, 5> a = {1, 2, 3, 4, 5};
    int c[3] = {1, 2, 3};
    const std::string s = "weft";
    std::atomic<int> sum{0};
    auto add = [&](int x) { sum += x; };
    weft::for_each(a, add);
    weft::for_each(c, add);
    weft::for_each(s, add);
    weft::for_each(-3, 4, add);
    weft::for_each(4, -3, add);
    weft::for_each(-5, add);
    CHECK_EQ(sum.load(), 15 + 6 + 'w' + 'e' + 'f' + 't');
    std::vector<std::string> strings = {"a", "b"}; /* temporaries are fine here */
    weft::for_each(std::vector<int>{1, 2, 3}, [](int) {});
    weft::for_each(strings.rbegin(), strings.rend(), [](std::string &x) { x += "!"; });
    CHECK_STR_EQ(strings[1].c_str(), "b!");
  });
}

TEST(chunks_cover_the_range) {
  for_lengths([](std::size_t n) {
    std::vector<int> v(n, 0);
    for (std::size_t chunk : {std::size_t(1), std::size_t(7), std::size_t(1000), n + 1}) {
      if (chunk == 1 && n > 100000) continue;
      std::atomic<std::size_t> shorter{0};
      weft::for_chunks(v, chunk, [&](int *first, std::size_t count) {
        CHECK(count > 0 && count <= chunk);
        if (count < chunk) shorter++;
        for (std::size_t i = 0; i < count; i++) first[i]++;
      });
      CHECK(shorter <= 1);
    }
    int expected = n > 100000 ? 3 : 4;
    CHECK(std::all_of(v.begin(), v.end(), [&](int x) { return x == expected; }));
  });
}

TEST(transform_and_map) {
  for_lengths([](std::size_t n) {
    std::vector<int> from = random_ints(n, 1000);
    std::vector<double> to(n), expected(n);
    std::transform(from.begin(), from.end(), expected.begin(),
                   [](int x) { return x / 4.0; });
    weft::transform(from, to, [](int x) { return x / 4.0; });
    CHECK(to == expected);
    CHECK((weft::map(from, [](int x) { return x / 4.0; }) == expected));
    if (n > 100000) return;
    auto strings = weft::map(from, [](int x) { return std::to_string(x); });
    auto bools = weft::map(n, [](std::size_t i) { return i % 3 == 0; });
    auto owned = weft::map(from, [](int x) { return std::make_unique<int>(x); });
    CHECK(strings.size() == n && bools.size() == n && owned.size() == n);
    for (std::size_t i = 0; i < n; i++)
      CHECK(strings[i] == std::to_string(from[i]) && bools[i] == (i % 3 == 0) &&
            *owned[i] == from[i]);
  });
}

TEST(exceptions_are_those_of_the_serial_loop) {
  in_each_pool([] {
    for (std::size_t n : {std::size_t(1), std::size_t(100), std::size_t(100000)})
      for (std::size_t bad : {n - 1, n / 2, n / 3, std::size_t(0)}) {
        std::vector<unsigned char> seen(n);
        auto f = [&](std::size_t i) {
          if (i >= bad && (i - bad) % 7 == 0) throw oops{i};
          seen[i] = 1;
        };
        CHECK_EQ(thrown_by([&] { weft::for_each(n, f); }), bad);
        /* All in front of it were done, as in the serial loop. */
        CHECK(std::all_of(seen.begin(), seen.begin() + static_cast<long>(bad),
                          [](auto x) { return x == 1; }));
        CHECK_EQ(thrown_by([&] {
                   weft::for_each(weft::options().with_split(WEFT_SPLIT_FIXED, 10), n, f);
                 }),
                 bad);
      }
  });
}

TEST(what_was_mapped_is_destroyed) {
  in_each_pool([] {
    CHECK_EQ(thrown_by([] {
               weft::map(std::size_t(20000), [](std::size_t i) {
                 if (i >= 11111) throw oops{i};
                 return counted(static_cast<int>(i));
               });
             }),
             11111u);
    CHECK_EQ(counted::live().load(), 0);
    CHECK_EQ(weft::map(20000, [](int i) { return counted(i); }).size(), 20000u);
    CHECK_EQ(counted::live().load(), 0);
  });
}

TEST(work_behind_an_exception_is_left_out) {
  weft::pool pool(2);
  pool.run([] {
    std::atomic<std::size_t> calls{0};
    const std::size_t n = 50000000;
    thrown_by([&] {
      weft::for_each(n, [&](std::size_t i) {
        calls++;
        if (i == 0) throw oops{0};
      });
    });
    CHECK(calls < n);
  });
}

TEST(cancelled_loops_end) {
  in_each_pool([] {
    weft::scope scope;
    std::atomic<std::size_t> calls{0};
    scope.cancel(42);
    weft::for_each(weft::options().with_cancel(scope.get()), 1000000,
                   [&](int) { calls++; });
    CHECK_EQ(calls.load(), 0u);
    CHECK_EQ(scope.wait(), 42);
  });
}

TEST(pools_inside_pools) {
  weft::pool outer(2), inner(3);
  std::vector<int> v(1000);
  outer.run([&] {
    weft::for_each(10, [&](int k) {
      weft::for_each(weft::options().with_pool(inner), 100, [&](int i) {
        CHECK_EQ(static_cast<void *>(weft_pool_current()),
                 static_cast<void *>(inner.get()));
        v[static_cast<std::size_t>(100 * k + i)]++;
      });
    });
  });
  CHECK(std::all_of(v.begin(), v.end(), [](int x) { return x == 1; }));
  std::size_t where = thrown_by([&] {
    outer.run([&] {
      weft::for_each(10, [&](int k) {
        inner.run([&] {
          weft::for_each(100, [&](int i) {
            if (k >= 3 && i == 50) throw oops{static_cast<std::size_t>(k)};
          });
        });
      });
    });
  });
  CHECK_EQ(where, 3u);
}

TEST(steps_and_tiles_cover_their_ranges) {
  in_each_pool([] {
    for (std::size_t step :
         {std::size_t(0), std::size_t(1), std::size_t(3), std::size_t(5000)}) {
      std::vector<int> seen(10000);
      weft::for_step(7, seen.size(), step, [&](std::size_t i) { seen[i]++; });
      for (std::size_t i = 0; i < seen.size(); i++)
        CHECK_EQ(seen[i], i >= 7 && (i - 7) % (step == 0 ? 1 : step) == 0 ? 1 : 0);
    }
    std::atomic<int> last{0};
    weft::for_step(SIZE_MAX - 5, SIZE_MAX, 4, [&](std::size_t) { last++; });
    weft::for_step(5, 5, 1, [&](std::size_t) { last++; });
    CHECK_EQ(last.load(), 2);
    const std::size_t rows = 100, cols = 37;
    for (std::size_t r : {std::size_t(0), std::size_t(1), std::size_t(33)})
      for (std::size_t c : {std::size_t(0), std::size_t(5), std::size_t(1000)}) {
        std::vector<int> seen(rows * cols);
        weft::for_2d(rows, cols, r, c,
                     [&](std::size_t r0, std::size_t r1, std::size_t c0, std::size_t c1) {
                       CHECK(r1 - r0 <= (r == 0 ? 32 : r));
                       CHECK(c != 0 || c1 - c0 == cols);
                       for (std::size_t i = r0; i < r1; i++)
                         for (std::size_t j = c0; j < c1; j++) seen[i * cols + j]++;
                     });
        CHECK(std::all_of(seen.begin(), seen.end(), [](int x) { return x == 1; }));
      }
    CHECK_EQ(thrown_by([&] {
               weft::for_2d(
                   rows, cols, 3, 4,
                   [&](std::size_t r0, std::size_t, std::size_t c0, std::size_t) {
                     if (r0 * cols + c0 >= 30 * cols + 16) throw oops{r0 + c0};
                   });
             }),
             30u + 16u);
  });
}

TEST(chunks_know_their_index) {
  in_each_pool([] {
    std::vector<std::size_t> v(1000, SIZE_MAX);
    weft::for_chunks(v, 7, [](std::size_t *first, std::size_t count, std::size_t k) {
      for (std::size_t i = 0; i < count; i++) first[i] = k;
    });
    for (std::size_t i = 0; i < v.size(); i++) CHECK_EQ(v[i], i / 7);
  });
}

/* The error of the lowest failing index, also where some blocks throw. */
TEST(try_loops_fail_as_the_serial_loop) {
  in_each_pool([] {
    const std::size_t n = 100000;
    CHECK_EQ(weft::try_for(n, [](std::size_t, std::size_t) { return 0; }), 0);
    for (std::size_t bad : {n - 1, n / 2, std::size_t(0)}) {
      for (bool throws : {false, true}) {
        std::vector<unsigned char> seen(n);
        auto body = [&](std::size_t i, std::size_t end) {
          for (; i < end; i++) {
            if (i == bad && throws) throw oops{i};
            if (i >= bad) return static_cast<int>(i % 1000) + 1;
            seen[i] = 1;
          }
          return 0;
        };
        if (throws) {
          CHECK_EQ(thrown_by([&] { weft::try_for(n, body); }), bad);
        } else {
          weft::options o = weft::options().with_split(WEFT_SPLIT_FIXED, 77);
          CHECK_EQ(weft::try_for(n, body), static_cast<int>(bad % 1000) + 1);
          CHECK_EQ(weft::try_for(o, n, body), static_cast<int>(bad % 1000) + 1);
        }
        CHECK(std::all_of(seen.begin(), seen.begin() + static_cast<long>(bad),
                          [](auto x) { return x == 1; }));
      }
    }
    weft::scope scope;
    scope.cancel();
    CHECK_EQ(weft::try_for(weft::options().with_cancel(scope.get()), n,
                           [](std::size_t, std::size_t) { return 0; }),
             static_cast<int>(WEFT_ECANCELED));
    scope.wait();
  });
}
