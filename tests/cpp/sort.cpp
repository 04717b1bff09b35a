/* Tests of weft::sort and stable_sort against std, and of orders that throw.
 *
 * SPDX-License-Identifier: MIT */
#include "support.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <limits>

/* While weft compares: others may hold copies that are not aligned as their type asks
 * for, as std::stable_sort of libstdc++ does. */
static bool in_weft;

template <class T, class Less = std::less<>>
static void compare_with_std(std::vector<T> v, Less less = Less()) {
  std::vector<T> expected = v, stable = v;
  if constexpr (alignof(T) > alignof(std::max_align_t))
    std::sort(expected.begin(), expected.end(), less); /* equal ones are the same here */
  else
    std::stable_sort(expected.begin(), expected.end(), less);
  in_weft = true;
  weft::stable_sort(stable, less);
  in_weft = false;
  CHECK(stable == expected);
  in_weft = true;
  weft::sort(v, less);
  in_weft = false;
  CHECK(std::is_sorted(v.begin(), v.end(), less));
  std::sort(v.begin(), v.end());
  std::sort(expected.begin(), expected.end());
  CHECK(v == expected);
}

template <class T> static void numbers(std::size_t n) {
  std::vector<int> seeds = random_ints(n, 1u << 30);
  std::vector<T> v(n);
  for (std::size_t i = 0; i < n; i++)
    v[i] = static_cast<T>(seeds[i]) - static_cast<T>(1 << 29);
  compare_with_std(v);
  compare_with_std(v, std::greater<>());
  compare_with_std(v, [](T a, T b) { return a > b; });
}

TEST(numbers_against_std) {
  for_lengths([](std::size_t n) {
    numbers<int>(n);
    if (n > 70000) return;
    numbers<unsigned>(n);
    numbers<long>(n);
    numbers<unsigned long>(n);
    numbers<long long>(n);
    numbers<unsigned long long>(n);
    numbers<float>(n);
    numbers<double>(n);
    numbers<short>(n);
    numbers<unsigned char>(n);
  });
}

TEST(floats_keep_their_zeros_and_nans) {
  in_each_pool([] {
    std::vector<double> v(5000);
    for (std::size_t i = 0; i < v.size(); i++) v[i] = i % 2 == 0 ? 0.0 : -0.0;
    std::vector<double> before = v;
    weft::stable_sort(v); /* all equal: nothing moves */
    for (std::size_t i = 0; i < v.size(); i++)
      CHECK(std::signbit(v[i]) == std::signbit(before[i]));
    v[17] = std::numeric_limits<double>::quiet_NaN();
    weft::sort(v);
    CHECK(std::isnan(v.back()));
  });
}

struct item {
  unsigned key;
  unsigned index;
  bool operator==(const item &other) const {
    return key == other.key && index == other.index;
  }
  bool operator<(const item &other) const {
    return key < other.key || (key == other.key && index < other.index);
  }
};

template <std::size_t SIZE> struct wide {
  unsigned key;
  std::array<unsigned char, SIZE> rest;
  bool operator==(const wide &other) const {
    return key == other.key && rest == other.rest;
  }
  bool operator<(const wide &other) const {
    return key < other.key || (key == other.key && rest < other.rest);
  }
};

struct alignas(64) aligned {
  unsigned key;
  bool operator==(const aligned &other) const {
    return key == other.key;
  }
  bool operator<(const aligned &other) const {
    if (in_weft) CHECK_EQ(reinterpret_cast<uintptr_t>(this) % 64, 0u);
    return key < other.key;
  }
};

template <class T> static std::vector<T> by_key(std::size_t n, unsigned below) {
  std::vector<int> keys = random_ints(n, below);
  std::vector<T> v(n);
  for (std::size_t i = 0; i < n; i++) v[i].key = static_cast<unsigned>(keys[i]);
  return v;
}

TEST(structs_of_all_sizes_against_std) {
  for_lengths([](std::size_t n) {
    if (n > 70000) return;
    auto less = [](const auto &a, const auto &b) { return a.key < b.key; };
    std::vector<item> items = by_key<item>(n, 100);
    for (std::size_t i = 0; i < n; i++) items[i].index = static_cast<unsigned>(i);
    compare_with_std(items, less);
    compare_with_std(by_key<wide<1>>(n, 1000), less);
    compare_with_std(by_key<wide<25>>(n, 1000), less);
    if (n > 5000) return;
    compare_with_std(by_key<wide<300>>(n, 1000), less);
    compare_with_std(by_key<aligned>(n, 1000));
  });
}

TEST(strings_and_deques_against_std) {
  for_lengths([](std::size_t n) {
    if (n > 70000) return;
    std::vector<std::string> strings;
    for (int x : random_ints(n, 100000))
      strings.push_back("some long prefix " + std::to_string(x));
    compare_with_std(strings);
    compare_with_std(strings, [](const std::string &a, const std::string &b) {
      return a.size() < b.size(); /* many are equal */
    });
    std::deque<int> d;
    for (int x : random_ints(n, 1000)) d.push_back(x);
    std::deque<int> expected = d;
    std::sort(expected.begin(), expected.end());
    weft::sort(d);
    CHECK(d == expected);
  });
}

TEST(elements_that_can_only_be_moved) {
  in_each_pool([] {
    std::vector<std::unique_ptr<int>> v;
    for (int x : random_ints(10000, 5000)) v.push_back(std::make_unique<int>(x));
    weft::sort(v, [](const auto &a, const auto &b) { return *a < *b; });
    CHECK(std::is_sorted(v.begin(), v.end(), [](auto &a, auto &b) { return *a < *b; }));
  });
}

/* An order that throws at its k-th call. */
template <class T> struct faulty {
  std::atomic<long> *calls;
  long bad;
  bool operator()(const T &a, const T &b) const {
    if (++*calls >= bad) throw oops{1};
    return a < b;
  }
};

TEST(orders_that_throw) {
  in_each_pool([] {
    for (std::size_t n :
         {std::size_t(2), std::size_t(100), std::size_t(5000), std::size_t(100000)})
      for (long bad : {1L, 50L, 4000L}) {
        if (bad > static_cast<long>(n)) continue;
        for (bool stable : {false, true}) {
          std::atomic<long> calls{0};
          std::vector<int> v = random_ints(n, 1000), before = v;
          faulty<int> order{&calls, bad};
          CHECK_EQ(thrown_by([&] {
                     stable ? weft::stable_sort(v, order) : weft::sort(v, order);
                   }),
                   1u);
          std::sort(v.begin(), v.end());
          std::sort(before.begin(), before.end());
          CHECK(v == before); /* nothing is lost */
        }
      }
  });
}

TEST(orders_of_objects_that_throw) {
  in_each_pool([] {
    for (long bad : {1L, 100L, 20000L}) {
      std::atomic<long> calls{0};
      std::vector<std::string> v;
      for (int x : random_ints(5000, 1000))
        v.push_back("some long prefix " + std::to_string(x));
      std::vector<std::string> before = v;
      CHECK_EQ(thrown_by([&] { weft::sort(v, faulty<std::string>{&calls, bad}); }), 1u);
      CHECK(v == before);
    }
  });
}

TEST(cancelled_sorts_keep_their_elements) {
  in_each_pool([] {
    weft::scope scope;
    scope.cancel();
    std::vector<int> v = random_ints(100000, 1000), before = v;
    std::vector<std::string> s = {"c", "b", "a"};
    weft::sort(weft::options().with_cancel(scope.get()), v);
    weft::sort(weft::options().with_cancel(scope.get()), s);
    std::sort(v.begin(), v.end());
    std::sort(before.begin(), before.end());
    std::sort(s.begin(), s.end());
    CHECK(v == before && s == (std::vector<std::string>{"a", "b", "c"}));
    scope.wait();
  });
}
