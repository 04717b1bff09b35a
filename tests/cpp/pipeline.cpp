/* Tests of weft::pipeline: objects as items, callables with and without results, numbers
 * and state, exceptions.
 *
 * SPDX-License-Identifier: MIT */
#include "support.hpp"

#include <string>

struct letter {
  std::string text;
  std::vector<std::size_t> stamps;
};

TEST(objects_go_through_stages) {
  in_each_pool([] {
    std::vector<std::string> out;
    std::size_t made = 0;
    int status = weft::pipeline<letter>(
        0, weft::ordered([&](letter &l) {
          if (made == 300) return WEFT_END;
          l.text =
              "item " + std::to_string(made++) + ", which is too long to be in place";
          l.stamps.clear();
          return 0;
        }),
        weft::parallel([](letter &l, std::size_t number) { l.stamps.push_back(number); }),
        weft::serial(
            [count = std::size_t{0}](letter &l) mutable { l.stamps.push_back(count++); }),
        weft::ordered_blocking([&](letter &l, std::size_t number) {
          CHECK_EQ(l.stamps.size(), 2);
          CHECK_EQ(l.stamps[0], number);
          out.push_back(l.text);
        }));
    CHECK_EQ(status, 0);
    CHECK_EQ(out.size(), 300);
    for (std::size_t i = 0; i < out.size(); i++)
      CHECK(out[i].rfind("item " + std::to_string(i) + ",", 0) == 0);
  });
}

TEST(objects_are_destroyed) {
  static std::atomic<int> alive{0};
  struct tracked {
    tracked() {
      alive++;
    }
    tracked(const tracked &) = delete;
    ~tracked() {
      alive--;
    }
  };
  in_each_pool([] {
    std::atomic<std::size_t> most{0};
    int status = weft::pipeline<tracked>(
        5,
        weft::parallel([](tracked &, std::size_t n) { return n < 500 ? 0 : WEFT_END; }),
        weft::serial([&](tracked &) {
          most = std::max(most.load(), static_cast<std::size_t>(alive.load()));
        }));
    CHECK_EQ(status, 0);
    CHECK(most.load() >= 1 && most.load() <= 5);
    CHECK_EQ(alive.load(), 0);
  });
}

TEST(the_exception_of_the_lowest_item) {
  in_each_pool([] {
    for (std::size_t bad : {std::size_t{0}, std::size_t{3}, std::size_t{50}}) {
      std::size_t written = 0;
      std::size_t where = thrown_by([&] {
        weft::pipeline<int>(
            8, weft::ordered([](int &, std::size_t n) { return n < 100 ? 0 : WEFT_END; }),
            weft::parallel([bad](int &, std::size_t n) {
              if (n >= bad) throw oops{n};
            }),
            weft::ordered([&](int &) { written++; }));
      });
      CHECK_EQ(where, bad);
      CHECK_EQ(written, bad);
    }
  });
}

TEST(a_lower_error_wins_over_an_exception) {
  in_each_pool([] {
    int status = weft::pipeline<int>(
        8, weft::ordered([](int &, std::size_t n) { return n < 100 ? 0 : WEFT_END; }),
        weft::parallel([](int &, std::size_t n) {
          if (n > 20) throw oops{n};
          return n == 20 ? -77 : 0;
        }));
    CHECK_EQ(status, -77);
  });
}

TEST(options_come_first) {
  weft::pool pool(2);
  std::size_t seen = 0;
  auto o = weft::options().with_pool(pool.get()).with_max_workers(1);
  CHECK_EQ(weft::pipeline<int>(o, 4, weft::serial([](int &, std::size_t n) {
                                 return n < 10 ? 0 : WEFT_END;
                               }),
                               weft::serial_blocking([&](int &) { seen++; }),
                               weft::parallel_blocking([](int &) {})),
           0);
  CHECK_EQ(seen, 10);
}
