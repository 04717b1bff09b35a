/* Tests of weft::reduce, transform_reduce and fold against the serial code.
 *
 * SPDX-License-Identifier: MIT */
#include "support.hpp"

#include <numeric>

TEST(sums_and_products_against_std) {
  for_lengths([](std::size_t n) {
    std::vector<int> v = random_ints(n, 1000);
    CHECK_EQ(weft::reduce(v, 5L, std::plus<>()), std::accumulate(v.begin(), v.end(), 5L));
    CHECK_EQ(
        weft::transform_reduce(v, 0L, std::plus<>(), [](int x) { return long(x) * x; }),
        std::inner_product(v.begin(), v.end(), v.begin(), 0L));
    auto larger = [](int a, int b) { return a < b ? b : a; };
    CHECK_EQ(weft::reduce(v, -1, larger),
             std::accumulate(v.begin(), v.end(), -1, larger));
    CHECK_EQ(weft::reduce(n, std::size_t(0), std::plus<>()),
             n == 0 ? 0 : n * (n - 1) / 2);
  });
}

/* An operation that does not commute: order matters. */
TEST(strings_are_put_together_in_order) {
  for_lengths([](std::size_t n) {
    if (n > 70000) return;
    std::string expected = "start";
    for (std::size_t i = 0; i < n; i++) expected += std::to_string(i % 10);
    std::string s = weft::transform_reduce(
        n, std::string("start"),
        [](std::string a, const std::string &b) {
          a += b;
          return a;
        },
        [](std::size_t i) { return std::to_string(i % 10); });
    CHECK(s == expected);
  });
}

TEST(floats_have_the_same_bits_on_any_number_of_threads) {
  std::vector<double> v(100003);
  for (std::size_t i = 0; i < v.size(); i++) v[i] = 1.0 / static_cast<double>(i + 1);
  double first = weft::reduce(v, 0.0, std::plus<>());
  in_each_pool([&] { CHECK_EQ(weft::reduce(v, 0.0, std::plus<>()), first); });
}

TEST(folds_with_an_accumulator_of_another_type) {
  for_lengths([](std::size_t n) {
    std::vector<int> v = random_ints(n, 16);
    std::vector<std::size_t> expected(16);
    for (int x : v) expected[static_cast<std::size_t>(x)]++;
    auto counts = weft::fold(
        v, std::vector<std::size_t>(16),
        [](std::vector<std::size_t> &to, int x) { to[static_cast<std::size_t>(x)]++; },
        [](std::vector<std::size_t> &to, std::vector<std::size_t> &&right) {
          for (std::size_t i = 0; i < 16; i++) to[i] += right[i];
        });
    CHECK(counts == expected);
  });
}

TEST(accumulators_that_can_only_be_moved) {
  in_each_pool([] {
    auto longest = weft::transform_reduce(
        1000, std::make_unique<int>(-1),
        [](std::unique_ptr<int> a, std::unique_ptr<int> b) {
          return *a < *b ? std::move(b) : std::move(a);
        },
        [](int i) { return std::make_unique<int>(i * 37 % 1000); });
    CHECK_EQ(*longest, 999);
  });
}

/* Every call of an operation may throw: the result is that of the serial code if an
 * element throws, and nothing is left in any case. */
TEST(exceptions_and_what_is_left) {
  in_each_pool([] {
    for (std::size_t bad : {std::size_t(0), std::size_t(5000), std::size_t(9999)}) {
      auto sum = [](counted a, counted b) { return counted(a.get() + b.get()); };
      CHECK_EQ(thrown_by([&] {
                 weft::transform_reduce(std::size_t(10000), counted(0), sum,
                                        [&](std::size_t i) {
                                          if (i >= bad) throw oops{i};
                                          return counted(1);
                                        });
               }),
               bad);
      CHECK_EQ(counted::live().load(), 0);
    }
    for (int bad : {1, 100, 5000, 9999}) {
      std::atomic<int> calls{0};
      thrown_by([&] {
        weft::transform_reduce(
            10000, counted(0),
            [&](counted a, counted b) {
              if (++calls >= bad) throw oops{0};
              return counted(a.get() + b.get());
            },
            [](int i) { return counted(i); });
      });
      CHECK_EQ(counted::live().load(), 0);
    }
  });
}

TEST(cancelled_reductions_end) {
  in_each_pool([] {
    weft::scope scope;
    scope.cancel();
    auto o = weft::options().with_cancel(scope.get());
    CHECK_EQ(weft::reduce(o, 1000000, 7L, std::plus<>()), 7L);
    CHECK_EQ(scope.wait(), WEFT_ECANCELED);
  });
}
