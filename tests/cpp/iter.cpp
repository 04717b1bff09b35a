/* Tests of weft::iter: every source, stage and sink against loops written by hand.
 *
 * SPDX-License-Identifier: MIT */
#include "support.hpp"

#include <algorithm>
#include <deque>
#include <numeric>

static bool is_even(int x) {
  return x % 2 == 0;
}

TEST(sources_against_loops) {
  for_lengths([](std::size_t n) {
    std::vector<int> v = random_ints(n, 1000);
    CHECK(weft::iter(v).collect() == v);
    CHECK(weft::iter(v.begin(), v.end()).collect() == v);
    std::vector<std::size_t> numbers(n);
    std::iota(numbers.begin(), numbers.end(), std::size_t(0));
    CHECK(weft::iter(n).collect() == numbers);
    CHECK(weft::iter(std::size_t(5), n + 5)
              .map([](std::size_t i) { return i - 5; })
              .collect() == numbers);
    CHECK(weft::repeat(7, n).collect() == std::vector<int>(n, 7));
    std::deque<int> d(v.begin(), v.end());
    CHECK(weft::iter(d).collect() == v);
    std::size_t chunks = 0, covered = 0;
    for (auto count : weft::chunks(v, 7).map([](auto s) { return s.size(); }).collect()) {
      chunks++;
      covered += count;
    }
    CHECK(chunks == (n + 6) / 7 && covered == n);
    auto rises = weft::windows(v, 2).filter([](auto w) { return w[0] < w[1]; }).count();
    std::size_t expected = 0;
    for (std::size_t i = 1; i < n; i++) expected += v[i - 1] < v[i];
    CHECK_EQ(rises, expected);
  });
}

TEST(stages_that_keep_positions) {
  for_lengths([](std::size_t n) {
    std::vector<int> v = random_ints(n, 1000), w = random_ints(n + 3, 50);
    const auto at = [](std::size_t i) { return static_cast<long>(i); };
    std::vector<int> reversed(v.rbegin(), v.rend());
    CHECK(weft::iter(v).rev().collect() == reversed);
    CHECK(weft::iter(v).reverse().collect() == reversed);
    for (std::size_t k : {std::size_t(0), n / 3, n, n + 1}) {
      std::size_t m = std::min(k, n);
      CHECK(weft::iter(v).take(k).collect() ==
            std::vector<int>(v.begin(), v.begin() + at(m)));
      CHECK(weft::iter(v).skip(k).collect() ==
            std::vector<int>(v.begin() + at(m), v.end()));
    }
    std::vector<int> thirds;
    for (std::size_t i = 0; i < n; i += 3) thirds.push_back(v[i]);
    CHECK(weft::iter(v).step_by(3).collect() == thirds);
    CHECK(weft::iter(v).step(3).collect() == thirds);
    long dot = 0, weighted = 0;
    for (std::size_t i = 0; i < n; i++)
      dot += long(v[i]) * w[i], weighted += at(i) * v[i];
    CHECK_EQ(weft::iter(v).zip(w).map([](int a, int b) { return long(a) * b; }).sum(),
             dot);
    CHECK_EQ(weft::iter(v)
                 .enumerate()
                 .map([&](std::size_t i, int x) { return at(i) * x; })
                 .sum(),
             weighted);
    std::vector<int> both = v;
    both.insert(both.end(), w.begin(), w.end());
    CHECK(weft::iter(v).chain(w).collect() == both);
    std::vector<int> mixed;
    for (std::size_t i = 0; i < w.size(); i++) {
      if (i < n) mixed.push_back(v[i]);
      mixed.push_back(w[i]);
    }
    CHECK(weft::iter(v).interleave(w).collect() == mixed);
    std::atomic<std::size_t> seen{0};
    CHECK(weft::iter(v).inspect([&](int) { seen++; }).collect() == v);
    CHECK_EQ(seen.load(), n);
  });
}

TEST(stages_that_change_how_many_there_are) {
  for_lengths([](std::size_t n) {
    std::vector<int> v = random_ints(n, 1000), even, halves, repeated;
    for (int x : v) {
      if (is_even(x)) even.push_back(x), halves.push_back(x / 2);
      for (int i = 0; i < x % 4; i++) repeated.push_back(x);
    }
    CHECK(weft::iter(v).filter(is_even).collect() == even);
    auto half = [](int x) {
      return is_even(x) ? std::optional<int>(x / 2) : std::nullopt;
    };
    CHECK(weft::iter(v).filter_map(half).collect() == halves);
    auto lists = weft::iter(v).flat_map(
        [](int x) { return std::vector<int>(static_cast<std::size_t>(x % 4), x); });
    CHECK(lists.collect() == repeated);
    auto inner = weft::iter(v).flat_map(
        [](int x) { return weft::repeat(x, static_cast<std::size_t>(x % 4)); });
    CHECK(inner.collect() == repeated);
    std::vector<int> all = even;
    all.insert(all.end(), v.begin(), v.end());
    CHECK(weft::iter(v).filter(is_even).chain(v).collect() == all);
    CHECK_EQ(weft::iter(v).filter(is_even).count(), even.size());
  });
}

TEST(sinks_against_std) {
  for_lengths([](std::size_t n) {
    std::vector<int> v = random_ints(n, 100000);
    auto it = weft::iter(v).map([](int x) { return x + 1; });
    std::vector<int> u(n);
    std::transform(v.begin(), v.end(), u.begin(), [](int x) { return x + 1; });
    CHECK_EQ(it.sum(), std::accumulate(u.begin(), u.end(), 0L));
    CHECK_EQ(it.count(), n);
    CHECK_EQ(it.size(), n);
    CHECK_EQ(it.reduce(1L, std::plus<>()), std::accumulate(u.begin(), u.end(), 1L));
    CHECK(it.min().has_value() == (n > 0) && it.max().has_value() == (n > 0));
    if (n > 0) {
      CHECK_EQ(*it.min(), *std::min_element(u.begin(), u.end()));
      CHECK_EQ(*it.max(), *std::max_element(u.begin(), u.end()));
    }
    std::vector<int> copy(n), sorted = u;
    it.copy_to(copy);
    CHECK(copy == u);
    std::sort(sorted.begin(), sorted.end());
    CHECK(it.sorted() == sorted);
    auto [yes, no] = it.partition(is_even);
    std::vector<int> even, odd;
    for (int x : u) (is_even(x) ? even : odd).push_back(x);
    CHECK(yes == even && no == odd);
    std::vector<std::atomic<int>> seen(n);
    weft::iter(n).for_each([&](std::size_t i) { seen[i]++; });
    CHECK(std::all_of(seen.begin(), seen.end(), [](auto &x) { return x == 1; }));
    auto digits = it.filter(is_even).fold(
        std::vector<int>(10),
        [](std::vector<int> &to, int x) { to[static_cast<std::size_t>(x % 10)]++; },
        [](std::vector<int> &to, std::vector<int> &&right) {
          for (std::size_t i = 0; i < 10; i++) to[i] += right[i];
        });
    CHECK_EQ(std::accumulate(digits.begin(), digits.end(), 0),
             static_cast<int>(even.size()));
  });
}

TEST(searches_find_the_first) {
  for_lengths([](std::size_t n) {
    std::vector<int> v(n, 1);
    for (std::size_t at : {std::size_t(0), n / 2, n}) {
      for (std::size_t i = at; i < n; i += 5) v[i] = static_cast<int>(2 * i);
      auto wanted = [](int x) { return is_even(x); };
      auto it = weft::iter(v);
      CHECK_EQ(it.position(wanted), at < n ? at : SIZE_MAX);
      CHECK_EQ(it.find_first(wanted).value_or(-1),
               at < n ? static_cast<int>(2 * at) : -1);
      CHECK_EQ(it.filter(wanted).find_first([](int) { return true; }).has_value(),
               at < n);
      CHECK_EQ(it.any(wanted), at < n);
      CHECK_EQ(it.none(wanted), at >= n);
      CHECK_EQ(it.all([](int x) { return !is_even(x); }), at >= n);
      std::fill(v.begin(), v.end(), 1);
    }
  });
}

TEST(objects_go_through_pipelines) {
  in_each_pool([] {
    auto strings =
        weft::iter(10000)
            .map([](int i) { return "a string on the heap " + std::to_string(i); })
            .filter([](const std::string &s) { return s.back() == '7'; })
            .collect();
    CHECK_EQ(strings.size(), 1000u);
    CHECK_STR_EQ(strings[999].c_str(), "a string on the heap 9997");
    auto longest =
        weft::iter(strings).max([](auto &a, auto &b) { return a.size() < b.size(); });
    CHECK_STR_EQ(longest->c_str(), strings[100].c_str()); /* the first of equals */
    auto owned = weft::iter(1000).map([](int i) { return std::make_unique<int>(i); });
    CHECK_EQ(*owned.collect()[999], 999);
    CHECK_EQ(*owned.filter([](auto &p) { return *p % 2 == 1; }).collect()[0], 1);
    auto pairs = weft::iter(strings).zip(strings).collect(); /* copies */
    static_assert(std::is_same_v<decltype(pairs),
                                 std::vector<std::pair<std::string, std::string>>>);
    weft::iter(strings).for_each([](std::string &s) { s += "!"; });
    CHECK_EQ(strings[0].back(), '!');
    CHECK(pairs[0].first.back() == '7');
    auto words = weft::iter(strings).flat_map(
        [](const std::string &s) -> const std::string & { return s; });
    CHECK(words.all([](char c) { return c != '\0'; }));
  });
}

TEST(a_pipeline_can_be_kept_and_run_again) {
  std::vector<int> v = {1, 2, 3};
  const auto doubled = weft::iter(v).map([](int x) { return 2 * x; });
  CHECK_EQ(doubled.sum(), 12);
  v[0] = 10;
  CHECK_EQ(doubled.sum(), 30);
  weft::pool pool(2);
  CHECK_EQ(doubled.with(weft::options().with_pool(pool)).sum(), 30);
  weft::scope scope;
  scope.cancel();
  CHECK_EQ(doubled.with(weft::options().with_cancel(scope.get())).sum(), 0);
  scope.wait();
}

/* Elements of containers that happen to be pairs are handed on as they are there: a
 * callable of both parts must not empty them. */
TEST(pairs_can_be_taken_apart_everywhere) {
  using named = std::pair<std::string, int>;
  const std::string name = "a name that needs memory of its own";
  std::vector<named> v(1000, named(name, 1));
  long letters =
      weft::iter(v).map([](std::string s, int n) { return long(s.size()) * n; }).sum();
  CHECK_EQ(letters, 1000L * static_cast<long>(name.size()));
  CHECK(weft::iter(v).all([&](const std::string &s, int) { return s == name; }));
  weft::iter(v).for_each([](std::string &, int &n) { n = 2; });
  CHECK_EQ(weft::iter(v).map([](const named &x) { return x.second; }).sum(), 2000);

  auto indexed = weft::iter(v).enumerate();
  std::atomic<std::size_t> sum{0};
  indexed.inspect([&](std::size_t i, const named &) { sum += i; })
      .for_each([](std::size_t, named &) {});
  CHECK_EQ(sum.load(), std::size_t(999 * 500));
  auto is_third = [](std::size_t i, const named &) { return i == 3; };
  CHECK_EQ(indexed.find_first(is_third)->first, 3u);
  CHECK_EQ(indexed.position(is_third), 3u);
  CHECK(indexed.any(is_third) && !indexed.all(is_third) && !indexed.none(is_third));
  CHECK_EQ(indexed.filter(is_third).count(), 1u);
  CHECK_EQ(indexed.partition(is_third).second.size(), 999u);
}

TEST(what_is_referred_to_stays_where_it_is) {
  using maybe = std::optional<std::string>;
  const std::string text = "a text that needs memory of its own";
  std::vector<maybe> v(100, maybe(text));
  v[5].reset();
  auto found = weft::iter(v).filter_map([](maybe &m) -> maybe & { return m; });
  CHECK_EQ(found.collect().size(), 99u);
  CHECK(found.all([&](const std::string &s) { return s == text; }));
  auto same = weft::iter(v).filter_map([](const maybe &m) -> const maybe & { return m; });
  CHECK_EQ(same.count(), 99u);

  std::vector<int> a = {1, 2, 3}, b = {10};
  weft::iter(a).interleave(b).for_each([](int &x) { x++; });
  CHECK(a == std::vector<int>({2, 3, 4}) && b[0] == 11);
}

TEST(objects_that_can_only_be_moved) {
  using owned = std::unique_ptr<int>;
  auto add = [](owned a, owned b) {
    *a += *b;
    return a;
  };
  auto some = weft::iter(100).map([](int i) { return std::make_unique<int>(i); });
  CHECK_EQ(*some.reduce(std::make_unique<int>(50), add), 5000);
  CHECK_EQ(*some.take(0).reduce(std::make_unique<int>(50), add), 50);
  std::vector<owned> v = some.collect();
  auto is_five = [](const owned &p) { return *p == 5; };
  CHECK(weft::iter(v).any(is_five) && !weft::iter(v).all(is_five));
  CHECK_EQ(weft::iter(v).position(is_five), 5u);
}
