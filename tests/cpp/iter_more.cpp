/* Tests of weft::iter: texts, tiles, steps and pulls; the ends of sequences; searches
 * from the back; what sinks make of pairs, prefixes and batches. Against loops written by
 * hand.
 *
 * SPDX-License-Identifier: MIT */
#include "support.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>
#include <stdexcept>

static bool is_even(int x) {
  return x % 2 == 0;
}

/* ---- sources ---- */

template <class N, class Step>
static void check_range(N first, N last, Step step, std::size_t expected) {
  auto numbers = weft::range(first, last, static_cast<std::make_signed_t<N>>(step));
  CHECK_EQ(numbers.size(), expected);
  auto got = numbers.collect();
  CHECK_EQ(got.size(), expected);
  /* In a type that has more bits, where nothing wraps. */
  for (std::size_t i = 0; i < got.size(); i++)
    CHECK(static_cast<long double>(got[i]) ==
          static_cast<long double>(first) + static_cast<long double>(i) * step);
}

TEST(ranges_with_a_step) {
  check_range(0, 10, 3, 4);
  check_range(0, 9, 3, 3);
  check_range(10, 0, -3, 4);
  check_range(10, 10, -1, 0);
  check_range(0, 10, -1, 0);
  check_range(5, 1, 2, 0);
  check_range<std::int8_t>(-128, 127, 100, 3);
  check_range<std::int8_t>(127, -128, -128, 2);
  check_range<std::uint8_t>(250, 3, -100, 3);
  check_range<std::int64_t>(std::numeric_limits<std::int64_t>::min(),
                            std::numeric_limits<std::int64_t>::max(),
                            std::numeric_limits<std::int64_t>::max(), 3);
  check_range<std::uint64_t>(std::numeric_limits<std::uint64_t>::max(), 7,
                             std::numeric_limits<std::int64_t>::min(), 2);
  CHECK_EQ(weft::range(0, 1000).sum(), 499500);
}

TEST(tiles_cover_a_table) {
  for (std::size_t rows : {0u, 1u, 7u, 30u})
    for (std::size_t cols : {0u, 1u, 5u, 40u})
      for (std::size_t size : {0u, 1u, 3u, 50u}) {
        std::vector<std::atomic<int>> seen(rows * cols);
        weft::tiles(rows, cols, size, 4).for_each([&](weft_tile t) {
          for (std::size_t r = t.r0; r < t.r1; r++)
            for (std::size_t c = t.c0; c < t.c1; c++) seen[r * cols + c]++;
        });
        CHECK(std::all_of(seen.begin(), seen.end(), [](auto &x) { return x == 1; }));
      }
}

TEST(lines_of_a_text) {
  for_lengths([](std::size_t n) {
    std::vector<int> v = random_ints(n, 9);
    std::string text;
    std::vector<std::string> expected;
    for (int x : v) {
      expected.emplace_back(static_cast<std::size_t>(x), static_cast<char>('a' + x));
      text += expected.back() + '\n';
    }
    CHECK(weft::lines(text).map([](auto l) { return std::string(l); }).collect() ==
          expected);
    CHECK_EQ(weft::lines(text).count(), n);
    if (n > 0 && v.back() > 0) { /* the last line needs no end */
      text.pop_back();
      CHECK_EQ(weft::lines(text).count(), n);
      CHECK(weft::lines(text).find_last([](auto) { return true; }) == expected.back());
    }
  });
}

/* A function that gives the numbers of v one by one. */
static auto puller(const std::vector<int> &v) {
  return weft::pull([&v, i = std::size_t(0)]() mutable {
    return i < v.size() ? std::optional<int>(v[i++]) : std::nullopt;
  });
}

TEST(pulls_come_in_order) {
  for_lengths([](std::size_t n) {
    std::vector<int> v = random_ints(n, 1000), even;
    for (int x : v)
      if (is_even(x)) even.push_back(x);
    CHECK(puller(v).collect() == v);
    CHECK(puller(v).filter(is_even).collect() == even);
    CHECK_EQ(puller(v).sum(), std::accumulate(v.begin(), v.end(), 0L));
    CHECK_EQ(puller(v).count(), n);
    CHECK(puller(v).filter(is_even).find_first([](int) { return true; }) ==
          (even.empty() ? std::nullopt : std::optional<int>(even.front())));
    CHECK(puller(v).find_last(is_even) ==
          (even.empty() ? std::nullopt : std::optional<int>(even.back())));
    auto [yes, no] = puller(v).partition(is_even);
    CHECK(yes == even && yes.size() + no.size() == n);
    std::atomic<long> sum{0};
    puller(v).for_each([&](int x) { sum += x; });
    CHECK_EQ(sum.load(), std::accumulate(v.begin(), v.end(), 0L));
  });
}

/* A search ends the pulling: what is not needed is not asked for any more. */
TEST(a_search_stops_a_pull) {
  long asked = 0;
  auto numbers = weft::pull([&]() -> std::optional<long> { return asked++; });
  CHECK(numbers.find_first([](long x) { return x == 5000; }) == 5000L);
  CHECK(asked < 20000);
}

/* ---- ends ---- */

static std::vector<int> before(const std::vector<int> &v, int end) {
  return std::vector<int>(v.begin(), std::find(v.begin(), v.end(), end));
}

TEST(take_while_ends_a_sequence) {
  for_lengths([](std::size_t n) {
    for (std::size_t at : {std::size_t(0), n / 2, n - n / 7, n}) {
      std::vector<int> v = random_ints(n, 1000), even, twice;
      if (at < n) v[at] = -2;
      auto goes_on = [](int x) { return x != -2; };
      const std::vector<int> front = before(v, -2);
      for (int x : front) {
        if (is_even(x)) even.push_back(x);
        for (int i = 0; i < x % 3; i++) twice.push_back(x);
      }
      auto it = weft::iter(v).take_while(goes_on);
      CHECK(it.collect() == front);
      CHECK_EQ(it.count(), front.size());
      CHECK(it.filter(is_even).collect() == even);
      CHECK(weft::iter(v).filter(is_even).take_while(goes_on).collect() == even);
      auto spread = [](int x) {
        return std::vector<int>(static_cast<std::size_t>(x < 0 ? 1 : x % 3), x);
      };
      CHECK(weft::iter(v).flat_map(spread).take_while(goes_on).collect() == twice);
      CHECK(it.flat_map(spread).collect() == twice);
      CHECK(puller(v).take_while(goes_on).collect() == front);
      CHECK(puller(v).flat_map(spread).take_while(goes_on).collect() == twice);
      /* The end of one side is not that of the other. */
      std::vector<int> both = front;
      both.insert(both.end(), even.begin(), even.end());
      CHECK(it.chain(it.filter(is_even)).collect() == both);
      both = front;
      both.insert(both.end(), v.begin(), v.end());
      CHECK(it.chain(v).collect() == both);
      auto last = it.find_last([](int) { return true; });
      CHECK(last == (front.empty() ? std::nullopt : std::optional<int>(front.back())));
    }
  });
}

TEST(take_while_in_take_while_and_inside_of_flat_map) {
  std::vector<int> v(1000);
  std::iota(v.begin(), v.end(), 0);
  auto below = [](int end) { return [end](int x) { return x < end; }; };
  CHECK_EQ(weft::iter(v).take_while(below(700)).take_while(below(300)).count(), 300u);
  CHECK_EQ(weft::iter(v).take_while(below(300)).take_while(below(700)).count(), 300u);
  auto inner = [&](int x) { return weft::iter(v).take_while(below(x % 5)); };
  CHECK_EQ(weft::iter(v).flat_map(inner).count(), 200u * (0 + 1 + 2 + 3 + 4));
}

TEST(nothing_is_seen_behind_the_end) {
  std::vector<int> v(10000);
  std::iota(v.begin(), v.end(), 0);
  std::atomic<int> most{-1};
  auto note = [&](int x) {
    int seen = most;
    while (x > seen && !most.compare_exchange_weak(seen, x)) continue;
  };
  weft::iter(v)
      .filter([](int x) { return x % 3 != 0; })
      .take_while([](int x) { return x < 6000; })
      .for_each(note);
  CHECK_EQ(most.load(), 5999);
}

/* ---- chunks and sinks ---- */

TEST(chunks_of_items) {
  for_lengths([](std::size_t n) {
    std::vector<int> v = random_ints(n, 1000);
    for (std::size_t length : {0u, 1u, 7u, 5000u}) {
      const std::size_t by = length == 0 ? 1 : length;
      auto parts = weft::iter(v).map([](int x) { return x + 1; }).chunk(length).collect();
      CHECK_EQ(parts.size(), n / by + (n % by != 0));
      std::size_t at = 0, wrong = 0;
      for (const std::vector<int> &part : parts) {
        CHECK(part.size() == std::min(by, n - at));
        for (int x : part) wrong += x != v[at++] + 1;
      }
      CHECK(at == n && wrong == 0);
    }
  });
}

TEST(searches_from_the_back) {
  for_lengths([](std::size_t n) {
    std::vector<int> v = random_ints(n, 10);
    for (int wanted : {0, 3, 10}) {
      auto found = std::find(v.rbegin(), v.rend(), wanted);
      std::vector<std::size_t> at(n);
      std::iota(at.begin(), at.end(), std::size_t(0));
      auto is_wanted = [&](std::size_t i) { return v[i] == wanted; };
      auto last = weft::iter(at).find_last(is_wanted);
      CHECK_EQ(last.has_value(), found != v.rend());
      if (last) CHECK_EQ(*last, static_cast<std::size_t>(v.rend() - found) - 1);
      auto behind = weft::iter(at).filter(is_wanted).find_last([](auto) { return true; });
      CHECK(behind == last);
      auto any = weft::iter(at).find_any(is_wanted);
      CHECK_EQ(any.has_value(), last.has_value());
      if (any) CHECK(is_wanted(*any));
    }
  });
}

TEST(unzip_is_the_inverse_of_zip) {
  for_lengths([](std::size_t n) {
    std::vector<int> v = random_ints(n, 1000), few;
    std::vector<std::string> w(n), texts;
    for (std::size_t i = 0; i < n; i++) {
      w[i] = std::to_string(i);
      if (is_even(v[i])) few.push_back(v[i]), texts.push_back(w[i]);
    }
    auto [left, right] = weft::iter(v).zip(w).unzip();
    CHECK(left == v && right == w);
    auto kept = [](int x, const std::string &) { return is_even(x); };
    auto [some, names] = weft::iter(v).zip(w).filter(kept).unzip();
    CHECK(some == few && names == texts);
  });
}

TEST(scans) {
  for_lengths([](std::size_t n) {
    std::vector<int> v = random_ints(n, 1000);
    std::vector<long> sums(n), before(n);
    long sum = 0;
    for (std::size_t i = 0; i < n; i++) before[i] = sum, sums[i] = sum += v[i];
    auto it = weft::iter(v).map([](int x) { return long(x); });
    CHECK(it.inclusive_scan(0L, std::plus<>()) == sums);
    CHECK(it.exclusive_scan(0L, std::plus<>()) == before);
    CHECK(it.filter([](long) { return true; }).inclusive_scan(0L, std::plus<>()) == sums);
    if (n > 100) return;
    auto texts = weft::iter(v).map([](int x) { return std::to_string(x); });
    std::string all;
    auto got = texts.inclusive_scan("", std::plus<>()),
         first = texts.exclusive_scan("", std::plus<>());
    for (std::size_t i = 0; i < n; i++) {
      CHECK(first[i] == all);
      all += std::to_string(v[i]);
      CHECK(got[i] == all);
    }
  });
}

TEST(into_what_is_there) {
  for_lengths([](std::size_t n) {
    std::vector<int> v = random_ints(n, 1000), even, to = {1, 2, 3}, room(n / 2);
    for (int x : v)
      if (is_even(x)) even.push_back(x);
    auto it = weft::iter(v).filter(is_even);
    it.append_to(to);
    CHECK(to.size() == even.size() + 3 && to[2] == 3);
    CHECK(std::equal(even.begin(), even.end(), to.begin() + 3));
    CHECK_EQ(it.copy_to(room), even.size());
    CHECK(std::equal(room.begin(), room.begin() + long(std::min(even.size(), n / 2)),
                     even.begin()));
    CHECK_EQ(weft::iter(v).copy_to(room), n);
    CHECK(std::equal(room.begin(), room.end(), v.begin()));
  });
}

TEST(batches_cover_all) {
  for_lengths([](std::size_t n) {
    std::vector<int> v = random_ints(n, 1000);
    std::atomic<long> sum{0}, wrong{0};
    auto add = [&](std::vector<int> &batch) {
      wrong += batch.empty() || batch.size() > 50;
      sum += std::accumulate(batch.begin(), batch.end(), 0L);
    };
    weft::iter(v).filter(is_even).each_batch(add, 50);
    long expected = 0;
    for (int x : v) expected += is_even(x) ? x : 0;
    CHECK_EQ(sum.load(), expected);
    CHECK_EQ(wrong.load(), 0);
  });
}

TEST(exceptions_come_through) {
  std::vector<int> v(5000, 1);
  v[4000] = 2;
  auto fail = [](int x) {
    if (x == 2) throw std::runtime_error("two");
    return true;
  };
  int caught = 0;
  auto attempt = [&](auto &&sink) {
    try {
      sink();
    } catch (const std::runtime_error &) {
      caught++;
    }
  };
  attempt([&] { weft::iter(v).take_while(fail).count(); });
  attempt([&] { weft::iter(v).find_last([&](int x) { return !fail(x); }); });
  attempt([&] { puller(v).filter(fail).collect(); });
  attempt([&] {
    weft::iter(v).inclusive_scan(0, [&](int a, int b) { return fail(b) ? a : b; });
  });
  attempt([&] {
    weft::pull([]() -> std::optional<int> { throw std::runtime_error("f"); }).count();
  });
  attempt([&] {
    weft::iter(v).for_each_batch(
        [](std::vector<int> &) { throw std::runtime_error("b"); });
  });
  CHECK_EQ(caught, 6);
}

/* ---- trees ---- */

struct part_of_vector {
  const std::vector<int> *all;
  std::size_t begin, end;
};

static std::optional<part_of_vector> split_in_half(part_of_vector &p) {
  if (p.end - p.begin <= 1) return std::nullopt;
  part_of_vector right{p.all, p.begin + (p.end - p.begin) / 2, p.end};
  p.end = right.begin;
  return right;
}

TEST(splits_against_loops) {
  for_lengths([](std::size_t n) {
    if (n > 20000) return; /* a vector for each item: slow */
    std::vector<int> v = random_ints(n, 1000);
    auto leaves = weft::split(part_of_vector{&v, 0, n}, split_in_half);
    static_assert(!decltype(leaves)::indexed);
    auto items = leaves.flat_map([](const part_of_vector &p) {
      return std::vector<int>(p.all->begin() + static_cast<long>(p.begin),
                              p.all->begin() + static_cast<long>(p.end));
    });
    CHECK(items.collect() == v);
    CHECK(items.collect() == v); /* again */
    CHECK_EQ(leaves.count(), n > 0 ? n : 1);
    std::vector<int> twice = v;
    twice.insert(twice.end(), v.begin(), v.end());
    CHECK(items.chain(v).collect() == twice);
    std::vector<int> front;
    for (int x : v) {
      if (x % 50 == 7) break;
      front.push_back(x);
    }
    CHECK(items.take_while([](int x) { return x % 50 != 7; }).collect() == front);
  });
}

/* Deep, and of a type that owns memory. */
TEST(splits_of_deep_trees) {
  using piece = std::vector<int>;
  const int n = 30000;
  auto cut = [](piece &p) -> std::optional<piece> {
    if (p[0] == p[1]) return std::nullopt;
    piece right{p[1], p[1]};
    p[1]--;
    return right;
  };
  auto found = weft::split(piece{0, n}, cut).map([](const piece &p) { return p[0]; });
  std::vector<int> expected(static_cast<std::size_t>(n) + 1);
  std::iota(expected.begin(), expected.end(), 0);
  CHECK(found.collect() == expected);
}

TEST(splits_that_throw) {
  for (int at = 1; at < 2000; at = at * 3 + 1) {
    auto cut = [at](std::pair<int, int> &p) -> std::optional<std::pair<int, int>> {
      if (p.second - p.first < 2) return std::nullopt;
      if (p.first <= at && at < p.second && p.second - p.first < 8)
        throw std::runtime_error("no");
      std::pair<int, int> right{(p.first + p.second) / 2, p.second};
      p.second = right.first;
      return right;
    };
    bool thrown = false;
    try {
      weft::split(std::pair<int, int>(0, 2000), cut).count();
    } catch (const std::runtime_error &) {
      thrown = true;
    }
    CHECK(thrown);
  }
}
