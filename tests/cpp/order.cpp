/* Tests of weft::merge, nth_element, partial_sort, argsort, sort_by_key and is_sorted
 * against std: numbers, structs that are copied as bytes, strings, deques; orders that
 * throw; cancellation.
 *
 * SPDX-License-Identifier: MIT */
#include "support.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <numeric>

struct item {
  int key;
  int index;
};

static bool operator==(const item &a, const item &b) {
  return a.key == b.key && a.index == b.index;
}

static bool by_item(const item &a, const item &b) {
  return a.key < b.key;
}

static std::vector<item> random_items(std::size_t n, unsigned below) {
  std::vector<int> keys = random_ints(n, below);
  std::vector<item> v(n);
  for (std::size_t i = 0; i < n; i++) v[i] = {keys[i], static_cast<int>(i)};
  return v;
}

static std::vector<std::string> random_strings(std::size_t n, unsigned below) {
  std::vector<std::string> v;
  for (int x : random_ints(n, below))
    v.push_back("some long prefix " + std::to_string(x));
  return v;
}

template <class R> static auto iterator_at(R &range, std::size_t i) {
  return range.begin() + static_cast<std::ptrdiff_t>(i);
}

/* A call on v must leave the elements of `before`, and v[nth] as sorting would. */
template <class R, class Less = std::less<>>
static void check_selection(const R &before, Less less = Less()) {
  R sorted = before;
  std::stable_sort(sorted.begin(), sorted.end(), less);
  const std::size_t n = before.size();
  auto equal = [&](const auto &a, const auto &b) { return !less(a, b) && !less(b, a); };
  for (std::size_t k : {std::size_t(0), n / 3, n / 2, n - 1, n, n + 5}) {
    if (k == SIZE_MAX) continue;
    R v = before, w = before;
    weft::nth_element(v, k, less);
    if (k < n) {
      CHECK(equal(v[k], sorted[k]));
      CHECK(std::none_of(v.begin(), iterator_at(v, k),
                         [&](auto &x) { return less(v[k], x); }));
      CHECK(std::none_of(iterator_at(v, k), v.end(),
                         [&](auto &x) { return less(x, v[k]); }));
    } else {
      CHECK(v == before);
    }
    weft::partial_sort(w, k, less);
    CHECK(std::equal(w.begin(), iterator_at(w, k < n ? k : n), sorted.begin(), equal));
    std::stable_sort(v.begin(), v.end(), less);
    std::stable_sort(w.begin(), w.end(), less);
    CHECK(std::equal(v.begin(), v.end(), sorted.begin(), equal));
    CHECK(std::equal(w.begin(), w.end(), sorted.begin(), equal));
  }
}

TEST(selections_against_std) {
  for_lengths([](std::size_t n) {
    if (n > 70000) return;
    std::vector<int> v = random_ints(n, 1000);
    check_selection(v);
    check_selection(random_items(n, 50), by_item);
    if (n > 5000) return;
    check_selection(v, std::greater<>());
    check_selection(std::vector<double>(v.begin(), v.end()));
    check_selection(std::vector<long long>(v.begin(), v.end()));
    check_selection(std::vector<unsigned short>(v.begin(), v.end()));
    check_selection(std::deque<int>(v.begin(), v.end()));
    check_selection(random_strings(n, 500));
  });
}

/* argsort is stable: there is only one right answer. */
template <class R, class Less = std::less<>>
static void check_argsort(const R &v, Less less = Less()) {
  std::vector<std::size_t> expected(v.size());
  std::iota(expected.begin(), expected.end(), std::size_t(0));
  std::stable_sort(expected.begin(), expected.end(),
                   [&](std::size_t i, std::size_t j) { return less(v[i], v[j]); });
  CHECK(weft::argsort(v, less) == expected);
  CHECK(weft::argsort(weft::options().with_max_workers(2), v, less) == expected);
}

TEST(argsort_against_std) {
  for_lengths([](std::size_t n) {
    if (n > 70000) return;
    std::vector<int> v = random_ints(n, 1000);
    check_argsort(v);
    check_argsort(random_items(n, 50), by_item);
    check_argsort(v, std::greater<>());
    if (n > 5000) return;
    check_argsort(std::deque<int>(v.begin(), v.end()));
    check_argsort(random_strings(n, 500));
    std::vector<double> zeros(n, 0.0); /* -0 and +0 are equal, and keep their order */
    for (std::size_t i = 0; i < n; i += 2) zeros[i] = -0.0;
    check_argsort(zeros);
  });
}

template <class K, class P, class Less = std::less<>>
static void check_by_key(K keys, P payload, Less less = Less()) {
  std::vector<std::size_t> order(keys.size());
  std::iota(order.begin(), order.end(), std::size_t(0));
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t i, std::size_t j) { return less(keys[i], keys[j]); });
  K sorted_keys = keys;
  P sorted_payload = payload;
  for (std::size_t i = 0; i < order.size(); i++) {
    sorted_keys[i] = keys[order[i]];
    sorted_payload[i] = payload[order[i]];
  }
  weft::sort_by_key(keys, payload, less);
  CHECK(keys == sorted_keys);
  CHECK(payload == sorted_payload);
}

TEST(sort_by_key_against_std) {
  for_lengths([](std::size_t n) {
    if (n > 70000) return;
    std::vector<int> keys = random_ints(n, 100);
    std::vector<item> payload = random_items(n, 1000);
    check_by_key(keys, payload);
    check_by_key(keys, payload, std::greater<>());
    check_by_key(payload, keys, by_item);
    if (n > 5000) return;
    check_by_key(std::vector<double>(keys.begin(), keys.end()), payload);
    check_by_key(keys, random_strings(n, 1000));
    check_by_key(random_strings(n, 100), keys);
    check_by_key(std::deque<int>(keys.begin(), keys.end()), random_strings(n, 1000));
  });
  std::vector<int> keys = {3, 1, 2, 0}, payload = {3, 1};
  weft::sort_by_key(keys, payload); /* the shorter one decides */
  CHECK(keys == (std::vector<int>{1, 3, 2, 0}) && payload == (std::vector<int>{1, 3}));
}

template <class A, class B, class Less = std::less<>>
static void check_merge(A a, B b, Less less = Less()) {
  std::stable_sort(a.begin(), a.end(), less);
  std::stable_sort(b.begin(), b.end(), less);
  A expected(a.size() + b.size()), to(a.size() + b.size());
  std::merge(a.begin(), a.end(), b.begin(), b.end(), expected.begin(), less);
  weft::merge(a, b, to, less);
  CHECK(to == expected);
  if (to.empty()) return;
  A part(to.size() - 1);
  weft::merge(weft::options().with_split(WEFT_SPLIT_FIXED, 13), a, b, part, less);
  CHECK(std::equal(part.begin(), part.end(), expected.begin()));
}

TEST(merge_against_std) {
  for_lengths([](std::size_t n) {
    if (n > 70000) return;
    for (std::size_t m : {std::size_t(0), n / 7, n, 3 * n + 1}) {
      check_merge(random_ints(n, 1000), random_ints(m, 1000));
      std::vector<item> a = random_items(n, 20), b = random_items(m, 20);
      for (item &x : b) x.index += 1000000;
      check_merge(a, b, by_item); /* of equal elements those of a come first */
      if (n > 5000) continue;
      std::vector<int> keys = random_ints(m, 100);
      check_merge(random_ints(n, 100), std::deque<int>(keys.begin(), keys.end()));
      check_merge(random_strings(n, 100), random_strings(m, 100));
    }
  });
}

TEST(is_sorted_against_std) {
  for_lengths([](std::size_t n) {
    std::vector<int> v = random_ints(n, 1000);
    CHECK(weft::is_sorted(v) == std::is_sorted(v.begin(), v.end()));
    std::sort(v.begin(), v.end());
    CHECK(weft::is_sorted(v));
    if (n < 2) return;
    for (std::size_t i : {std::size_t(0), (n - 1) / 2, n - 2}) {
      std::vector<int> w = v;
      w[i] = w[i + 1] + 1;
      CHECK(!weft::is_sorted(w));
      CHECK(weft::is_sorted(w, [](int, int) { return false; }));
    }
  });
}

/* An order that throws at its k-th call. */
struct faulty {
  std::atomic<long> *calls;
  long bad;
  template <class T> bool operator()(const T &a, const T &b) const {
    if (++*calls >= bad) throw oops{1};
    return a < b;
  }
};

template <class R, class Call> static void check_throwing(const R &before, Call call) {
  for (long bad : {1L, 50L, 2000L}) {
    std::atomic<long> calls{0};
    R v = before, w = before;
    CHECK_EQ(thrown_by([&] { call(v, faulty{&calls, bad}); }), 1u);
    std::sort(v.begin(), v.end());
    std::sort(w.begin(), w.end());
    CHECK(v == w); /* nothing is lost */
  }
}

TEST(orders_that_throw) {
  in_each_pool([] {
    auto nth = [](auto &v, faulty order) { weft::nth_element(v, v.size() / 2, order); };
    auto part = [](auto &v, faulty order) { weft::partial_sort(v, 3000, order); };
    auto by_key = [](auto &v, faulty order) {
      std::vector<int> payload(v.size());
      weft::sort_by_key(v, payload, order);
    };
    auto index = [](auto &v, faulty order) { weft::argsort(v, order); };
    auto merged = [](auto &v, faulty order) {
      auto to = v;
      to.resize(2 * v.size());
      weft::merge(v, v, to, order);
    };
    std::vector<int> v = random_ints(5000, 100000);
    std::vector<std::string> s = random_strings(5000, 100000);
    check_throwing(v, nth);
    check_throwing(s, nth);
    check_throwing(v, part);
    check_throwing(s, part);
    check_throwing(v, by_key);
    check_throwing(s, by_key);
    check_throwing(v, index);
    check_throwing(s, index);
    check_throwing(v, merged);
    check_throwing(s, merged);
  });
}

TEST(cancelled_calls_keep_their_elements) {
  in_each_pool([] {
    weft::scope scope;
    scope.cancel();
    const weft::options o = weft::options().with_cancel(scope.get());
    std::vector<int> v = random_ints(10000, 1000), before = v;
    std::vector<std::string> s = random_strings(3000, 1000), strings = s;
    weft::nth_element(o, v, 500);
    weft::partial_sort(o, s, 500);
    weft::sort_by_key(o, v, std::vector<int>(v));
    weft::sort_by_key(o, s, std::vector<int>(s.size()));
    std::sort(v.begin(), v.end());
    std::sort(before.begin(), before.end());
    std::sort(s.begin(), s.end());
    std::sort(strings.begin(), strings.end());
    CHECK(v == before && s == strings);
    scope.wait();
  });
}
