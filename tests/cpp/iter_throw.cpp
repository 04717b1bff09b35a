/* Tests of exceptions in weft::iter: every stage and every sink, at every position.
 *
 * SPDX-License-Identifier: MIT */
#include "support.hpp"

static const std::size_t N = 20000;

static std::size_t check_at(std::size_t i, std::size_t bad) {
  if (i >= bad) throw oops{i};
  return i;
}

/* Runs a pipeline by several sinks. */
template <class It> static void sinks_throw(const It &it, std::size_t bad) {
  CHECK_EQ(thrown_by([&] { it.for_each([](const auto &) {}); }), bad);
  CHECK_EQ(thrown_by([&] { it.collect(); }), bad);
  CHECK_EQ(thrown_by([&] { it.partition([](const auto &) { return true; }); }), bad);
  CHECK_EQ(thrown_by([&] { it.any([](const auto &) { return false; }); }), bad);
  CHECK_EQ(thrown_by([&] {
             it.fold(
                 counted(0), [](counted &, const auto &) {},
                 [](counted &, counted &&) {});
           }),
           bad);
  CHECK_EQ(counted::live().load(), 0);
}

TEST(every_stage_may_throw) {
  in_each_pool([] {
    for (std::size_t bad : {std::size_t(0), std::size_t(1), N / 2, N - 1}) {
      auto numbers = weft::iter(N);
      auto f = [bad](std::size_t i) { return check_at(i, bad); };
      sinks_throw(numbers.map(f), bad);
      sinks_throw(
          numbers.map([f](std::size_t i) { return counted(static_cast<int>(f(i))); }),
          bad);
      sinks_throw(numbers.inspect([f](std::size_t i) { f(i); }), bad);
      sinks_throw(numbers.filter([f](std::size_t i) { return f(i) % 2 == 0; }), bad);
      sinks_throw(numbers.filter_map([f](std::size_t i) { return std::optional(f(i)); }),
                  bad);
      sinks_throw(
          numbers.flat_map([f](std::size_t i) { return std::vector<counted>(f(i) % 3); }),
          bad);
      sinks_throw(numbers.map(f).zip(numbers), bad);
      sinks_throw(numbers.map(f).enumerate(), bad);
      sinks_throw(numbers.map(f).chain(numbers), bad);
      sinks_throw(weft::iter(std::size_t(0)).chain(numbers.map(f)), bad);
    }
  });
}

TEST(every_sink_may_throw) {
  in_each_pool([] {
    for (std::size_t bad : {std::size_t(0), N / 3, N - 1}) {
      auto it = weft::iter(N);
      auto pred = [bad](std::size_t i) { return check_at(i, bad) == N; };
      CHECK_EQ(thrown_by([&] { it.for_each([&](std::size_t i) { check_at(i, bad); }); }),
               bad);
      CHECK_EQ(thrown_by([&] { it.find_first(pred); }), bad);
      CHECK_EQ(thrown_by([&] { it.position(pred); }), bad);
      CHECK_EQ(thrown_by([&] { it.any(pred); }), bad);
      CHECK_EQ(thrown_by([&] { it.partition(pred); }), bad);
      auto throwing = [](auto, auto) -> std::size_t { throw oops{1}; };
      CHECK_EQ(thrown_by([&] { it.reduce(std::size_t(0), throwing); }), 1u);
      CHECK_EQ(thrown_by([&] { it.min([](auto, auto) -> bool { throw oops{1}; }); }), 1u);
    }
  });
}

/* A search meets what the serial loop would have met first: the match, or the throw. */
TEST(a_match_in_front_of_a_throw_is_found) {
  in_each_pool([] {
    for (std::size_t match : {std::size_t(0), N / 4, N - 1})
      for (std::size_t bad : {std::size_t(1), N / 3, N - 2}) {
        auto pred = [&](std::size_t i) {
          if (i == bad) throw oops{i};
          return i == match;
        };
        auto find = [&] { return weft::iter(N).position(pred); };
        if (match < bad)
          CHECK_EQ(find(), match);
        else
          CHECK_EQ(thrown_by(find), bad);
      }
  });
}
