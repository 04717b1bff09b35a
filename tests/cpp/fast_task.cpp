/* Fast tasks (WEFT_TASK_FAST) in C++: arguments and results that are objects, copies of
 * them that fork and join on their own, and calls that throw.
 *
 * SPDX-License-Identifier: MIT */
#define WF_FAST_PROMISE(condition) CHECK(condition)
#include "support.hpp"

#include <atomic>
#include <stdexcept>
#include <weft/typed_task.h>

/* ---- objects as arguments and results ---- */

WEFT_TASK_FAST(std::string, spell, std::string, text, std::size_t, begin, std::size_t,
               end) {
  std::string left, right;
  if (end - begin == 1) return text.substr(begin, 1);
  std::size_t middle = begin + (end - begin) / 2;
  WEFT_BOTH(left, (spell, text, begin, middle), right, (spell, text, middle, end));
  return left + right;
}

WEFT_TASK_FAST(std::string, spell_by_three, std::string, text, std::size_t, depth) {
  if (depth == 0) return text;
  spell_by_three_task t;
  WEFT_FORK(spell_by_three, &t, text + "b", depth - 1);
  std::string first = WEFT_CALL(spell_by_three, text + "a", depth - 1);
  return first + WEFT_JOIN(spell_by_three, &t);
}

TEST(strings) {
  const std::string text = "the quick brown fox jumps over the lazy dog";
  auto check = [&] {
    for (int i = 0; i < 50; i++) {
      CHECK(spell(text, 0, text.size()) == text);
      CHECK(spell_by_three("", 2) == "aaabbabb");
    }
  };
  check(); /* outside */
  in_each_pool(check);
  weft::shutdown();
}

/* ---- copies that fork and join ---- */

/* Gives the other half some time to be stolen, which leaves bottom above its task. */
static void meet(void *ctx) {
  auto *arrived = static_cast<std::atomic<unsigned> *>(ctx);
  arrived->fetch_add(1);
  for (int i = 0; i < 5000 && arrived->load() < 2; i++) {
  }
}

/* Every copy is a join of its own. */
class busy {
public:
  explicit busy(unsigned number = 0) : number_(number) {}
  busy(const busy &other) : number_(other.number_) {
    work();
  }
  busy &operator=(const busy &other) {
    number_ = other.number_;
    work();
    return *this;
  }
  ~busy() {
    work();
  }
  unsigned number() const {
    return number_;
  }

private:
  static void work() {
    std::atomic<unsigned> arrived{0};
    weft_join(meet, &arrived, meet, &arrived);
    CHECK_EQ(arrived.load(), 2u);
  }
  unsigned number_;
};

WEFT_TASK_FAST(unsigned, leaves, busy, depth) {
  unsigned a, b;
  if (depth.number() == 0) return 1;
  WEFT_BOTH(a, (leaves, busy(depth.number() - 1)), b, (leaves, busy(depth.number() - 1)));
  return a + b;
}

/* The copies are those of one side alone: of the forked call, or of the other. */
WEFT_TASK_FAST(unsigned, one_leaf, int, unused) {
  return unused == 0;
}

WEFT_TASK_FAST(unsigned, one_sided, busy, depth) {
  unsigned a, b, c, d;
  if (depth.number() == 0) return 1;
  WEFT_BOTH(a, (one_leaf, 0), b, (one_sided, busy(depth.number() - 1)));
  WEFT_BOTH(c, (one_sided, busy(depth.number() - 1)), d, (one_leaf, 0));
  return a + b + c + d;
}

WEFT_TASK_FAST(unsigned, leaves_by_three, busy, depth) {
  if (depth.number() == 0) return 1;
  leaves_by_three_task t;
  WEFT_FORK(leaves_by_three, &t, busy(depth.number() - 1));
  unsigned a = WEFT_CALL(leaves_by_three, busy(depth.number() - 1));
  return a + WEFT_JOIN(leaves_by_three, &t);
}

TEST(copies_that_fork_and_join) {
  unsigned rounds = harness_slowdown() > 1 ? 2 : 20;
  in_each_pool([&] {
    for (unsigned i = 0; i < rounds; i++) {
      CHECK_EQ(leaves(busy(6)), 64u);
      CHECK_EQ(leaves_by_three(busy(6)), 64u);
      CHECK_EQ(one_sided(busy(5)), 94u);
    }
  });
  CHECK_EQ(leaves(busy(5)), 32u);
  CHECK_EQ(leaves_by_three(busy(5)), 32u);
  CHECK_EQ(one_sided(busy(4)), 46u);
  weft::shutdown();
}

/* ---- exceptions ---- */

WEFT_TASK_FAST(int, refuse, int, value) {
  if (value < 0) throw std::invalid_argument("negative");
  return value;
}

/* No fork is open while it throws. */
WEFT_TASK_FAST(int, tried, int, value) {
  int a = 0, b = 0;
  WEFT_BOTH(a, (refuse, 1), b, (refuse, 2));
  try {
    a += WEFT_CALL(refuse, value);
  } catch (const std::invalid_argument &) {
    a = -1;
  }
  int c, d;
  WEFT_BOTH(c, (refuse, a + 1), d, (refuse, 3));
  return b + c + d;
}

TEST(exceptions_between_forks) {
  auto check = [] {
    for (int i = 0; i < 100; i++) {
      CHECK_EQ(tried(5), 12);
      CHECK_EQ(tried(-5), 5);
    }
  };
  check();
  in_each_pool(check);
  weft::shutdown();
}
