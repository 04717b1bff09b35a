/* Everything of weft.hpp once, compiled without exceptions.
 *
 * SPDX-License-Identifier: MIT */
/* compile: -fno-exceptions */
#include "support.hpp"

#include <algorithm>

#if defined(__cpp_exceptions)
#error "this test is compiled without exceptions"
#endif

TEST(calls_work_without_exceptions) {
  in_each_pool([] {
    auto [a, b] = weft::join([] { return 1; }, [] { return std::string("two"); });
    CHECK(a == 1 && b == "two");
    auto three = weft::join([] { return 1; }, [] {}, [] { return 3; });
    CHECK_EQ(std::get<2>(three), 3);
    std::vector<int> v = random_ints(10000, 1000), sorted = v;
    std::sort(sorted.begin(), sorted.end());
    long sum = 0;
    for (int x : v) sum += x;
    CHECK_EQ(weft::reduce(v, 0L, std::plus<>()), sum);
    CHECK_EQ(weft::iter(v).map([](int x) { return 2 * x; }).sum(), 2 * sum);
    CHECK_EQ(weft::map(v, [](int x) { return std::to_string(x); }).size(), v.size());
    CHECK(weft::iter(v).position([&](int x) { return x == v[77]; }) <= 77);
    weft::sort(v, [](int x, int y) { return x < y; });
    CHECK(v == sorted);
    std::atomic<int> ran{0};
    weft::in_scope([&](weft::scope &scope) {
      scope.spawn([&] { ran++; });
      scope.spawn([&ran, keep = counted(1)] { ran += keep.get(); });
    });
    CHECK_EQ(ran.load(), 2);
    CHECK_EQ(weft::async([] { return 4; }).get(), 4);
    CHECK(weft::argsort(v)[0] == 0 && weft::is_sorted(v) && weft::sum(v) == sum);
    weft::nth_element(v, 5);
    std::vector<std::string> texts =
        weft::map(v, [](int x) { return std::to_string(x); });
    weft::sort_by_key(v, texts, std::greater<>());
    CHECK(std::to_string(v[0]) == texts[0] && weft::max(v) == v[0]);
    CHECK(weft::unique(v) <= sorted.size());
    CHECK_EQ(weft::histogram(sorted, 1000, [](int x) { return x; }).size(), 1000u);
    CHECK_EQ(weft::try_for(5, [](std::size_t, std::size_t) { return 7; }), 7);
    std::vector<int> to(2 * sorted.size());
    weft::merge(sorted, sorted, to);
    weft::inclusive_scan(to, to, 0);
    weft::for_2d(3, 3, 0, 0, [](auto, auto, auto, auto) {});
    weft::detach([] {});
    weft::yield();
  });
  CHECK_EQ(counted::live().load(), 0);
}
