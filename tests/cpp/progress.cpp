/* Tests of weft::progress and progress_for.
 *
 * SPDX-License-Identifier: MIT */
#include "support.hpp"

TEST(objects_count) {
  for_lengths([](std::size_t n) {
    weft::progress p("counting", n, "numbers");
    weft::for_each(n, [&](std::size_t) { p.add(); });
    CHECK_EQ(p.get().done, n);
    CHECK_EQ(p.get().total, n);
    ++(p += 4);
    CHECK_EQ(p.get().done, n + 5);
  });
}

TEST(what_is_known_may_change) {
  weft::progress p(weft::progress_options().quiet().vanish().with_interval_ms(10), "one");
  CHECK_EQ(p.get().total, 0);
  CHECK_EQ(p.get().left_ns, UINT64_MAX);
  p.set_total(10);
  p.set_title("two");
  p.set_left(0);
  weft::progress_draw();
  CHECK_EQ(p.get().total, 10);
  CHECK_EQ(p.get().left_ns, 0);
}

TEST(loops_with_progress) {
  in_each_pool([] {
    std::vector<int> seen(10000);
    weft::progress_for("covering", seen.size(), [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; i++) seen[i]++;
    });
    for (int times : seen) CHECK_EQ(times, 1);
    weft::progress_for("nothing", 0, [](std::size_t, std::size_t) { CHECK(false); });
  });
}

TEST(exceptions_pass_through) {
  bool caught = false;
  try {
    weft::progress_for("throwing", 1000, [](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; i++)
        if (i >= 500) throw std::runtime_error(std::to_string(i));
    });
  } catch (const std::runtime_error &e) {
    caught = std::string(e.what()) == "500";
  }
  CHECK(caught);
}
