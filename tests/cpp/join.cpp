/* Tests of weft::join: results of all kinds, exceptions from every position.
 *
 * SPDX-License-Identifier: MIT */
#include "support.hpp"

static long fib(long n) {
  if (n < 2) return n;
  auto [a, b] = weft::join([&] { return fib(n - 1); }, [&] { return fib(n - 2); });
  return a + b;
}

TEST(both_run_and_give_their_results) {
  CHECK_EQ(fib(20), 6765); /* from outside */
  in_each_pool([] { CHECK_EQ(fib(22), 17711); });
}

TEST(results_of_all_kinds) {
  in_each_pool([] {
    int x = 1, y = 2;
    auto refs =
        weft::join([&]() -> int & { return x; }, [&]() -> const int & { return y; });
    CHECK_EQ(static_cast<const void *>(&refs.first), static_cast<const void *>(&x));
    CHECK_EQ(static_cast<const void *>(&refs.second), static_cast<const void *>(&y));
    auto owned = weft::join([] { return std::make_unique<int>(7); },
                            [] { return std::string("a string that is on the heap"); });
    CHECK_EQ(*owned.first, 7);
    CHECK_STR_EQ(owned.second.c_str(), "a string that is on the heap");
    auto half = weft::join([&] { x = 5; }, [] { return 6; });
    static_assert(std::is_same_v<decltype(half), std::pair<weft::nothing, int>>);
    CHECK_EQ(x + half.second, 11);
    weft::join([&] { x = 3; }, [&] { y = 4; });
    CHECK_EQ(x + y, 7);
  });
}

TEST(many_callables) {
  in_each_pool([] {
    auto [a, b, c, d] = weft::join([] { return 1; }, [] { return std::string("two"); },
                                   [] {}, [] { return std::make_unique<int>(4); });
    static_assert(std::is_same_v<decltype(c), weft::nothing>);
    CHECK_EQ(a + *d, 5);
    CHECK_STR_EQ(b.c_str(), "two");
    int done[5] = {0};
    weft::join([&] { done[0] = 1; }, [&] { done[1] = 1; }, [&] { done[2] = 1; },
               [&] { done[3] = 1; }, [&] { done[4] = 1; });
    CHECK_EQ(done[0] + done[1] + done[2] + done[3] + done[4], 5);
  });
}

/* Callables that are not temporaries are called themselves, not as copies. */
TEST(named_callables_keep_their_state) {
  struct counter {
    int calls = 0;
    int operator()() {
      return ++calls;
    }
  } a, b;
  in_each_pool([&] { weft::join(a, b); });
  CHECK_EQ(a.calls, 4);
  CHECK_EQ(b.calls, 4);
  auto moved = [p = std::make_unique<int>(3)] { return *p; };
  CHECK_EQ(weft::join(moved, [p = std::make_unique<int>(4)] { return *p; }).second, 4);
}

static counted throwing(std::size_t where, bool does) {
  if (does) throw oops{where};
  return counted(static_cast<int>(where));
}

/* Each of both halves may throw; both always run; the first one's exception is seen. */
static void both_ways() {
  for (unsigned who = 1; who <= 3; who++) {
    std::atomic<int> ran{0};
    auto half = [&](unsigned me) {
      ran++;
      return throwing(me, (who & me) != 0);
    };
    std::size_t where =
        thrown_by([&] { weft::join([&] { return half(1); }, [&] { return half(2); }); });
    CHECK_EQ(where, who == 2 ? 2u : 1u);
    CHECK_EQ(ran.load(), 2);
  }
}

TEST(exceptions_of_either_half) {
  both_ways(); /* from outside */
  in_each_pool([] {
    for (int i = 0; i < 200; i++) both_ways();
  });
  CHECK_EQ(counted::live().load(), 0);
}

/* A tree in which one leaf throws, or several: the leftmost is seen at the root. */
static std::size_t leaves(std::size_t begin, std::size_t end, std::size_t bad) {
  if (end - begin == 1) {
    if (begin % bad == bad - 1) throw oops{begin};
    return 1;
  }
  std::size_t middle = begin + (end - begin) / 2;
  auto [a, b] = weft::join([=] { return leaves(begin, middle, bad); },
                           [=] { return leaves(middle, end, bad); });
  return a + b;
}

TEST(exceptions_in_nested_joins) {
  in_each_pool([] {
    CHECK_EQ(leaves(0, 1000, 5000), 1000u);
    for (std::size_t bad : {1000u, 77u, 10u, 1u})
      CHECK_EQ(thrown_by([&] { leaves(0, 1000, bad); }), bad - 1);
  });
}

TEST(exceptions_of_many) {
  in_each_pool([] {
    for (unsigned who = 0; who < 4; who++) {
      auto each = [&](unsigned me) { return throwing(me, me >= who); };
      CHECK_EQ(thrown_by([&] {
                 weft::join([&] { return each(0); }, [&] { return each(1); },
                            [&] { return each(2); }, [&] { return each(3); });
               }),
               who);
    }
  });
  CHECK_EQ(counted::live().load(), 0);
}

/* Exceptions that come and go inside a half, and a handler that joins. */
TEST(joins_in_handlers) {
  in_each_pool([] {
    try {
      throw oops{1};
    } catch (const oops &) {
      CHECK_EQ(fib(15), 610);
      CHECK_EQ(thrown_by([] { leaves(0, 100, 10); }), 9u);
    }
    CHECK_EQ(std::uncaught_exceptions(), 0);
  });
}
