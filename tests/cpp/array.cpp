/* Tests of the calls of weft/hpp/array.hpp and numbers.hpp against std: moves, unique,
 * stable_partition, histogram, scans, comparisons, sums; exceptions; cancellation.
 *
 * SPDX-License-Identifier: MIT */
#include "support.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <numeric>

static std::vector<std::string> strings_of(const std::vector<int> &v) {
  std::vector<std::string> s;
  for (int x : v) s.push_back("some long prefix " + std::to_string(x));
  return s;
}

template <class R> static auto iterator_at(R &range, std::size_t i) {
  return range.begin() + static_cast<std::ptrdiff_t>(i);
}

template <class R> static void check_moves(const R &v) {
  const std::size_t n = v.size();
  R expected = v, to = v;
  std::reverse(expected.begin(), expected.end());
  weft::reverse(to);
  CHECK(to == expected);
  for (std::size_t middle : {std::size_t(0), n / 3, n}) {
    R turned = v;
    expected = v;
    std::rotate(expected.begin(), iterator_at(expected, middle), expected.end());
    weft::rotate(turned, middle);
    CHECK(turned == expected);
    weft::rotate(turned, n + 1); /* as n */
    CHECK(turned == expected);
  }
  weft::copy(v, to);
  CHECK(to == v);
  std::vector<std::size_t> index(n);
  for (std::size_t i = 0; i < n; i++) index[i] = n - 1 - i;
  weft::gather(v, index, to);
  expected = v;
  std::reverse(expected.begin(), expected.end());
  CHECK(to == expected);
  weft::scatter(expected, index, to);
  CHECK(to == v);
  if (n == 0) return;
  weft::fill(to, v[0]);
  CHECK(std::all_of(to.begin(), to.end(), [&](auto &x) { return x == v[0]; }));
}

TEST(moves_against_std) {
  for_lengths([](std::size_t n) {
    std::vector<int> v = random_ints(n, 1000);
    check_moves(v);
    if (n > 70000) return;
    check_moves(std::deque<int>(v.begin(), v.end()));
    check_moves(strings_of(v));
    check_moves(std::vector<double>(v.begin(), v.end()));
  });
  std::vector<int> v = {1, 2, 3};
  std::vector<long> w(2);
  weft::copy(v, w); /* other types, the shorter one decides */
  CHECK(w == (std::vector<long>{1, 2}));
}

template <class R, class Same, class Pred>
static void check_compaction(const R &v, Same same, Pred pred) {
  R expected = v, to = v;
  expected.erase(std::unique(expected.begin(), expected.end(), same), expected.end());
  std::size_t kept = weft::unique(to, same);
  to.resize(kept);
  CHECK(to == expected);
  to = v, expected = v;
  auto split = std::stable_partition(expected.begin(), expected.end(), pred);
  kept = weft::stable_partition(to, pred);
  CHECK_EQ(kept, static_cast<std::size_t>(split - expected.begin()));
  CHECK(to == expected);
}

TEST(unique_and_partition_against_std) {
  for_lengths([](std::size_t n) {
    for (unsigned below : {1u, 2u, 1000u}) {
      std::vector<int> v = random_ints(n, below);
      check_compaction(v, std::equal_to<>(), [](int x) { return x % 3 == 0; });
      if (n > 5000) continue;
      check_compaction(std::deque<int>(v.begin(), v.end()), std::equal_to<>(),
                       [](int x) { return x % 2 == 0; });
      check_compaction(
          strings_of(v), [](auto &a, auto &b) { return a.size() == b.size(); },
          [](auto &s) { return s.back() == '1'; });
    }
  });
  std::vector<int> v = {1, 1, 2};
  CHECK_EQ(weft::unique(v), 2u);
}

TEST(elements_that_count_themselves) {
  in_each_pool([] {
    {
      std::vector<counted> v;
      for (int x : random_ints(10000, 3)) v.push_back(counted(x));
      auto same = [](const counted &a, const counted &b) { return a.get() == b.get(); };
      std::size_t kept = weft::unique(v, same);
      v.erase(iterator_at(v, kept), v.end());
      CHECK(std::adjacent_find(v.begin(), v.end(), same) == v.end());
      CHECK_EQ(counted::live().load(), static_cast<long>(v.size()));
      weft::stable_partition(v, [](const counted &x) { return x.get() == 1; });
      weft::rotate(v, 5);
      weft::reverse(v);
      CHECK_EQ(counted::live().load(), static_cast<long>(v.size()));
    }
    CHECK_EQ(counted::live().load(), 0);
  });
}

TEST(histograms_against_std) {
  for_lengths([](std::size_t n) {
    for (unsigned keys : {1u, 100u, 70000u}) {
      if (keys > 100 && n > 70000) continue;
      std::vector<int> v = random_ints(n, keys);
      std::vector<std::size_t> expected(keys);
      for (int x : v) expected[static_cast<std::size_t>(x)]++;
      auto key = [](int x) { return static_cast<std::size_t>(x); };
      CHECK(weft::histogram(v, keys, key) == expected);
      if (n > 5000) continue;
      CHECK(weft::histogram(std::deque<int>(v.begin(), v.end()), keys, key) == expected);
      CHECK(weft::histogram(strings_of(v), keys, [&](const std::string &s) {
              return static_cast<std::size_t>(std::stoi(s.substr(17)));
            }) == expected);
    }
  });
  CHECK(weft::histogram(std::vector<int>(), 0, [](int) { return 0; }).empty());
}

template <class R, class T, class Op>
static void check_scans(const R &v, const T &identity, Op op) {
  R expected = v, to = v;
  T acc = identity;
  for (std::size_t i = 0; i < v.size(); i++) expected[i] = acc = op(acc, v[i]);
  weft::inclusive_scan(v, to, identity, op);
  CHECK(to == expected);
  acc = identity;
  for (std::size_t i = 0; i < v.size(); i++) expected[i] = acc, acc = op(acc, v[i]);
  to = v;
  weft::exclusive_scan(to, to, identity, op); /* in place */
  CHECK(to == expected);
}

TEST(scans_against_std) {
  for_lengths([](std::size_t n) {
    std::vector<int> v = random_ints(n, 1000);
    auto add = [](unsigned a, unsigned b) { return a + b; };
    check_scans(std::vector<unsigned>(v.begin(), v.end()), 0u, add);
    check_scans(v, 0, [](int a, int b) { return a > b ? a : b; });
    if (n > 5000) return;
    check_scans(std::deque<int>(v.begin(), v.end()), 0,
                [](int a, int b) { return a > b ? a : b; });
    if (n > 100) return;
    check_scans(strings_of(v), std::string(),
                [](const std::string &a, const std::string &b) { return a + b; });
  });
}

template <class R> static void check_comparisons(const R &v) {
  const std::size_t n = v.size();
  auto least = std::min_element(v.begin(), v.end());
  auto most = std::max_element(v.begin(), v.end());
  CHECK_EQ(weft::min_index(v),
           n == 0 ? SIZE_MAX : static_cast<std::size_t>(least - v.begin()));
  CHECK_EQ(weft::max_index(v),
           n == 0 ? SIZE_MAX : static_cast<std::size_t>(most - v.begin()));
  R w = v;
  CHECK(weft::equal(v, w) && weft::compare(v, w) == 0);
  if (n == 0) return;
  w.pop_back();
  CHECK(!weft::equal(v, w) && weft::compare(v, w) == 1 && weft::compare(w, v) == -1);
  w = v;
  for (std::size_t i : {n - 1, n / 2, std::size_t(0)}) {
    w[i] = *most;
    const bool same = w == v;
    CHECK_EQ(weft::equal(v, w), same);
    CHECK_EQ(weft::compare(v, w), same ? 0 : -1);
    CHECK_EQ(weft::compare(w, v, std::greater<>()), same ? 0 : -1);
    CHECK(weft::equal(v, w, [](auto &, auto &) { return true; }));
  }
}

TEST(comparisons_against_std) {
  for_lengths([](std::size_t n) {
    std::vector<int> v = random_ints(n, 1000);
    check_comparisons(v);
    if (n > 5000) return;
    check_comparisons(std::deque<int>(v.begin(), v.end()));
    check_comparisons(strings_of(v));
  });
}

template <class T, class Wide> static void check_numbers(const std::vector<int> &v) {
  std::vector<T> a(v.begin(), v.end());
  const std::size_t n = a.size();
  Wide sum = 0, dot = 0;
  for (T x : a)
    sum += static_cast<Wide>(x), dot += static_cast<Wide>(x) * static_cast<Wide>(x);
  CHECK(weft::sum(a) == sum && weft::dot(a, a) == dot);
  static_assert(std::is_same_v<decltype(weft::sum(a)), Wide>);
  if (n == 0) return;
  CHECK(weft::min(a) == *std::min_element(a.begin(), a.end()));
  CHECK(weft::max(a) == *std::max_element(a.begin(), a.end()));
  CHECK(weft::product(std::vector<T>(3, T(5))) == Wide(125));
  const double mean = static_cast<double>(sum) / static_cast<double>(n);
  double variance = 0;
  for (T x : a)
    variance += (static_cast<double>(x) - mean) * (static_cast<double>(x) - mean);
  variance /= static_cast<double>(n);
  CHECK(std::fabs(weft::mean(a) - mean) <= 1e-9 * mean);
  CHECK(std::fabs(weft::variance(a) - variance) <= 1e-6 * variance + 1e-9);
  CHECK(weft::sum(weft::options().with_max_workers(1), a) == sum);
}

TEST(numbers_against_std) {
  for_lengths([](std::size_t n) {
    std::vector<int> v = random_ints(n, 1000);
    check_numbers<int, int64_t>(v);
    check_numbers<double, double>(v);
    if (n > 5000) return;
    check_numbers<unsigned, uint64_t>(v);
    check_numbers<long, int64_t>(v);
    check_numbers<float, double>(v);
  });
  std::vector<long long> a = {1, 2, 3}; /* long long is not int64_t here */
  CHECK(weft::sum(a) == 6 && weft::dot(a, a) == 14 && weft::max(a) == 3);
}

/* Functions of elements throw at the lowest index, and the range stays as it is. */
TEST(exceptions_are_those_of_the_serial_code) {
  in_each_pool([] {
    const std::size_t n = 20000;
    std::vector<int> v(n);
    std::iota(v.begin(), v.end(), 0);
    std::vector<std::string> s = strings_of(v);
    const std::vector<int> before = v;
    const std::vector<std::string> strings = s;
    for (std::size_t bad : {n - 1, n / 2, std::size_t(3)}) {
      auto holds = [&](int x) {
        if (static_cast<std::size_t>(x) >= bad) throw oops{static_cast<std::size_t>(x)};
        return x % 2 == 0;
      };
      auto same = [&](int, int x) { return holds(x); };
      auto text = [&](const std::string &x) { return holds(std::stoi(x.substr(17))); };
      auto key = [&](int x) { return holds(x) ? 1 : 0; };
      CHECK_EQ(thrown_by([&] { weft::stable_partition(v, holds); }), bad);
      CHECK_EQ(thrown_by([&] { weft::unique(v, same); }), bad);
      CHECK_EQ(thrown_by([&] { weft::stable_partition(s, text); }), bad);
      CHECK_EQ(thrown_by([&] { weft::histogram(v, 2, key); }), bad);
      CHECK_EQ(thrown_by([&] {
                 weft::equal(v, v, [&](int x, int) { return holds(x), true; });
               }),
               bad);
      CHECK(v == before && s == strings);
    }
    std::vector<int> to(n);
    CHECK_EQ(thrown_by([&] {
               weft::inclusive_scan(v, to, 0, [](int, int) -> int { throw oops{7}; });
             }),
             7u);
    bool was_thrown = false;
    try {
      weft::histogram(v, 5, [](int x) { return x; });
    } catch (const std::out_of_range &) {
      was_thrown = true;
    }
    CHECK(was_thrown);
  });
}

TEST(cancelled_calls_leave_the_range) {
  in_each_pool([] {
    weft::scope scope;
    scope.cancel();
    const weft::options o = weft::options().with_cancel(scope.get());
    std::vector<int> v = random_ints(10000, 3), before = v;
    CHECK_EQ(weft::unique(o, v), v.size());
    CHECK_EQ(weft::stable_partition(o, v, [](int x) { return x == 0; }), v.size());
    CHECK(v == before);
    scope.wait();
  });
}
