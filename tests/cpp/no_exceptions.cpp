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
  });
  CHECK_EQ(counted::live().load(), 0);
}
