/* Corner cases of weft::reduce, transform_reduce, fold, fold_local, try_fold, local, and
 * of the folds of weft::iter: every copy, move and callable throws once, in turn;
 * accumulators that must not be used after they were moved from or have failed; lengths
 * around those of blocks.
 *
 * SPDX-License-Identifier: MIT */
#include "support.hpp"

/* ---- an accumulator that looks after itself ---- */

/* The call that throws, counted down to 0 by all threads; below that none does. */
static std::atomic<long> calls_left{-1};

static void may_throw() {
  if (calls_left.fetch_sub(1) == 0) throw oops{0};
}

/* The elements [first, end) that it stands for; none at first. Any copy and any move may
 * throw. One that was moved from owns nothing, and must not be used again. */
class stretch {
public:
  stretch() : own_(0) {}
  explicit stretch(std::size_t element) : own_(0), first_(element), end_(element + 1) {
    may_throw();
  }
  stretch(const stretch &other)
      : own_((may_throw(), other.own_)), first_(other.first_), end_(other.end_) {}
  stretch(stretch &&other)
      : own_((may_throw(), std::move(other.own_))), first_(other.first_),
        end_(other.end_), is_whole_(std::exchange(other.is_whole_, false)) {}
  stretch &operator=(stretch &&other) {
    is_whole_ = false;
    may_throw();
    own_ = std::move(other.own_);
    first_ = other.first_;
    end_ = other.end_;
    is_whole_ = std::exchange(other.is_whole_, false);
    return *this;
  }
  stretch &operator=(const stretch &other) = delete;

  std::size_t first() const {
    return first_;
  }
  std::size_t end() const {
    return end_;
  }
  std::size_t size() const {
    return end_ - first_;
  }

  /* Adds what follows. While it does so, it cannot be used. */
  void append(const stretch &right) {
    CHECK(is_whole_ && right.is_whole_);
    is_whole_ = false;
    may_throw();
    if (right.size() > 0) {
      if (size() > 0)
        CHECK_EQ(end_, right.first_);
      else
        first_ = right.first_;
      end_ = right.end_;
    }
    is_whole_ = true;
  }
  /* Adds any others: counts them alone. */
  void add(const stretch &other) {
    CHECK(is_whole_ && other.is_whole_);
    is_whole_ = false;
    may_throw();
    end_ += other.size();
    is_whole_ = true;
  }

private:
  counted own_;
  std::size_t first_ = 0, end_ = 0;
  bool is_whole_ = true;
};

static stretch joined(stretch left, const stretch &right) {
  left.append(right);
  return left;
}

/* Blocks of 8 to 16 elements: enough merges, few enough calls. */
static weft::options small_blocks() {
  return weft::options().with_min_len(8).with_max_len(16);
}

/* Calls body() with the first call that can throw throwing, then the second, until none
 * is left: then body() returns the number of elements. What is thrown reaches the caller,
 * and nothing is left behind. */
template <class F> static void throw_in_turn(std::size_t n, F &&body) {
  for (unsigned threads : {1u, 3u}) {
    weft::pool pool(threads);
    pool.run([&] {
      const long step = threads == 1 ? 1 : 7;
      for (long k = 0, done = 0; !done; k += step) {
        calls_left = k;
        std::size_t found = 0;
        bool thrown = false;
        try {
          found = body();
        } catch (const oops &) {
          thrown = true;
        }
        done = calls_left >= 0;
        calls_left = -1;
        CHECK_EQ(thrown, !done);
        if (done) CHECK_EQ(found, n);
        CHECK_EQ(counted::live().load(), 0);
      }
    });
  }
}

/* ---- every call throws ---- */

static const std::size_t N = 100;

TEST(reductions_where_each_call_throws_in_turn) {
  throw_in_turn(N, [] {
    return weft::transform_reduce(
               small_blocks(), N, stretch(),
               [](stretch a, const stretch &b) { return joined(std::move(a), b); },
               [](std::size_t i) { return stretch(i); })
        .size();
  });
  throw_in_turn(N, [] {
    return weft::reduce(small_blocks(), N, std::size_t(0),
                        [](std::size_t a, std::size_t b) {
                          may_throw();
                          return a + b;
                        }) /
           (N - 1) * 2;
  });
}

TEST(folds_where_each_call_throws_in_turn) {
  auto step = [](stretch &to, std::size_t i) { to.append(stretch(i)); };
  auto merge = [](stretch &to, stretch &&right) { to.append(right); };
  throw_in_turn(
      N, [&] { return weft::fold(small_blocks(), N, stretch(), step, merge).size(); });
  throw_in_turn(N, [&] {
    return weft::iter(N).with(small_blocks()).fold(stretch(), step, merge).size();
  });
  throw_in_turn(N, [&] {
    auto all = weft::iter(N)
                   .with(small_blocks())
                   .map([](std::size_t i) { return stretch(i); })
                   .reduce(stretch(), [](stretch a, const stretch &b) {
                     return joined(std::move(a), b);
                   });
    return all.size();
  });
}

/* An accumulator of a thread gets other blocks after one that has failed. */
TEST(local_folds_where_each_call_throws_in_turn) {
  throw_in_turn(N, [] {
    return weft::fold_local(
               small_blocks(), N, stretch(),
               [](stretch &to, std::size_t i) { to.add(stretch(i)); },
               [](stretch &to, stretch &&other) { to.add(other); })
        .size();
  });
}

TEST(folds_that_can_fail_where_each_call_throws_in_turn) {
  throw_in_turn(N, [] {
    stretch all;
    int status = 1;
    try {
      status = weft::try_fold(
          small_blocks(), N, all,
          [](stretch &to, std::size_t i) {
            to.append(stretch(i));
            return 0;
          },
          [](stretch &to, stretch &&right) { to.append(right); });
    } catch (const oops &) {
      /* The last assignment may have failed; else the result is as before. */
      CHECK(all.size() == 0);
      throw;
    }
    CHECK_EQ(status, 0);
    return all.size();
  });
}

/* ---- the lowest index decides ---- */

/* Each element may fail; merges see nothing but whole stretches that follow each other,
 * and fail if there is an element in them that should have. */
TEST(merges_do_not_see_what_has_failed) {
  in_each_pool([] {
    for (std::size_t bad : {0u, 1u, 15u, 16u, 17u, 50u, 98u, 99u}) {
      auto fails = [bad](std::size_t i) { return i == bad || i == 99; };
      auto merge = [&](stretch &to, stretch &&right) {
        to.append(right);
        if (to.first() <= bad && bad < to.end()) throw oops{1000};
      };
      stretch all;
      CHECK_EQ(weft::try_fold(
                   small_blocks(), N, all,
                   [&](stretch &to, std::size_t i) {
                     to.append(stretch(i));
                     return fails(i) ? static_cast<int>(i) + 1 : 0;
                   },
                   merge),
               static_cast<int>(bad) + 1);
      CHECK_EQ(all.size(), 0u);
      auto step = [&](stretch &to, std::size_t i) {
        if (fails(i)) throw oops{i};
        to.append(stretch(i));
      };
      CHECK_EQ(thrown_by([&] { weft::fold(small_blocks(), N, stretch(), step, merge); }),
               bad);
      CHECK_EQ(thrown_by([&] {
                 weft::iter(N).with(small_blocks()).fold(stretch(), step, merge);
               }),
               bad);
    }
  });
}

/* The error of a merge counts for the first index of its right side: what throws behind
 * it is not met. */
TEST(errors_of_merges_in_front_of_exceptions) {
  in_each_pool([] {
    stretch all;
    int status = 0;
    bool thrown = false;
    try {
      status = weft::try_fold(
          small_blocks(), N, all,
          [](stretch &to, std::size_t i) {
            if (i == N - 1) throw oops{i};
            to.append(stretch(i));
            return 0;
          },
          [](stretch &to, stretch &&right) {
            to.append(right);
            return 7;
          });
    } catch (const oops &) {
      thrown = true;
    }
    CHECK(!thrown);
    CHECK_EQ(status, 7);
    CHECK_EQ(all.size(), 0u);
  });
}

/* A merge that throws is not reported where an element throws, too: as in serial code,
 * which has no merges. */
TEST(elements_come_before_merges_of_local_folds) {
  in_each_pool([] {
    auto at_last = [](std::size_t bad) {
      return thrown_by([&] {
        weft::fold_local(
            small_blocks(), N, stretch(),
            [&](stretch &to, std::size_t i) {
              if (i == bad) throw oops{i};
              to.add(stretch(i));
            },
            [](stretch &, stretch &&) { throw oops{1000}; });
      });
    };
    for (std::size_t bad : {0u, 16u, 50u, 99u}) CHECK_EQ(at_last(bad), bad);
  });
}

/* ---- lengths around those of blocks ---- */

TEST(lengths_around_those_of_blocks) {
  for (unsigned threads : {1u, 3u}) {
    weft::pool pool(threads);
    pool.run([] {
      for (std::size_t block : {1u, 2u, 7u, 64u})
        for (std::size_t n : {std::size_t(0), std::size_t(1), block - 1, block, block + 1,
                              2 * block - 1, 2 * block, 2 * block + 1, 16 * block + 1}) {
          auto o = weft::options().with_max_len(block);
          auto step = [](stretch &to, std::size_t i) { to.append(stretch(i)); };
          auto merge = [](stretch &to, stretch &&right) { to.append(right); };
          CHECK_EQ(weft::fold(o, n, stretch(), step, merge).size(), n);
          CHECK_EQ(weft::iter(n).with(o).fold(stretch(), step, merge).size(), n);
          CHECK_EQ(
              weft::transform_reduce(
                  o, n, stretch(),
                  [](stretch a, const stretch &b) { return joined(std::move(a), b); },
                  [](std::size_t i) { return stretch(i); })
                  .size(),
              n);
          CHECK_EQ(weft::fold_local(
                       o, n, stretch(),
                       [](stretch &to, std::size_t i) { to.add(stretch(i)); },
                       [](stretch &to, stretch &&other) { to.add(other); })
                       .size(),
                   n);
          for (std::size_t bad : {std::size_t(0), n / 2, n > 0 ? n - 1 : 0, n}) {
            stretch all;
            int status = weft::try_fold(
                o, n, all,
                [&](stretch &to, std::size_t i) {
                  to.append(stretch(i));
                  return i >= bad ? static_cast<int>(i) + 1 : 0;
                },
                merge);
            CHECK_EQ(status, bad < n ? static_cast<int>(bad) + 1 : 0);
            CHECK_EQ(all.size(), bad < n ? 0 : n);
          }
          CHECK_EQ(counted::live().load(), 0);
        }
    });
  }
}

/* The identity is not touched where there are no elements, nor the callables called. */
TEST(nothing_to_fold) {
  auto never = [](long &, std::size_t) -> int { throw oops{1}; };
  auto no_merge = [](long &, long) { throw oops{2}; };
  std::vector<std::size_t> none;
  long seven = 7;
  CHECK_EQ(weft::try_fold(none, seven, never, no_merge), 0);
  CHECK_EQ(seven, 7);
  CHECK_EQ(weft::fold(none, 7L, never, no_merge), 7);
  CHECK_EQ(weft::fold_local(none, 7L, never, no_merge), 7);
  /* One element is merged with nothing. */
  auto add = [](long &to, std::size_t i) {
    to += static_cast<long>(i);
    return 0;
  };
  std::vector<std::size_t> one = {35};
  CHECK_EQ(weft::try_fold(one, seven, add, no_merge), 0);
  CHECK_EQ(seven, 42);
  CHECK_EQ(weft::fold(one, 7L, add, no_merge), 42);
  CHECK_EQ(weft::fold_local(one, 7L, add, no_merge), 42);
}

/* A cancelled fold leaves its result as it was. */
TEST(cancelled_folds) {
  in_each_pool([] {
    weft::scope scope;
    scope.cancel();
    auto o = small_blocks().with_cancel(scope.get());
    stretch all;
    CHECK_EQ(weft::try_fold(
                 o, N, all,
                 [](stretch &to, std::size_t i) {
                   to.append(stretch(i));
                   return 0;
                 },
                 [](stretch &to, stretch &&right) { to.append(right); }),
             static_cast<int>(WEFT_ECANCELED));
    CHECK_EQ(all.size(), 0u);
    CHECK_EQ(scope.wait(), WEFT_ECANCELED);
  });
  CHECK_EQ(counted::live().load(), 0);
}

/* Callables that are functions, and accumulators of one byte and of many. */
static int count_one(unsigned char &to, std::size_t) {
  to = static_cast<unsigned char>(to + 1);
  return 0;
}
static void add_bytes(unsigned char &to, unsigned char right) {
  to = static_cast<unsigned char>(to + right);
}

TEST(functions_and_sizes) {
  struct large {
    std::size_t counts[1000] = {};
  };
  in_each_pool([] {
    unsigned char byte = 0;
    CHECK_EQ(weft::try_fold(small_blocks(), N, byte, count_one, add_bytes), 0);
    CHECK_EQ(byte, N);
    CHECK_EQ(weft::fold(small_blocks(), N, static_cast<unsigned char>(0), count_one,
                        add_bytes),
             N);
    CHECK_EQ(weft::fold_local(small_blocks(), N, static_cast<unsigned char>(0),
                              &count_one, &add_bytes),
             N);
    large all;
    CHECK_EQ(weft::try_fold(
                 small_blocks(), 10 * N, all,
                 [](large &to, std::size_t i) {
                   to.counts[i]++;
                   return false;
                 },
                 [](large &to, const large &right) {
                   for (std::size_t i = 0; i < 1000; i++) to.counts[i] += right.counts[i];
                 }),
             0);
    for (std::size_t count : all.counts) CHECK_EQ(count, 1u);
  });
}

/* ---- local ---- */

TEST(objects_whose_making_throws_in_turn) {
  throw_in_turn(N, [] {
    weft::local<stretch> numbers([] { return stretch(); });
    weft::for_each(small_blocks(), N,
                   [&](std::size_t i) { numbers.get().add(stretch(i)); });
    std::size_t all = 0;
    numbers.each([&](stretch &one) {
      may_throw();
      all += one.size();
    });
    std::size_t again = numbers.combine(std::size_t(0), [](std::size_t a, stretch &one) {
      may_throw();
      return a + one.size();
    });
    CHECK_EQ(again, all);
    return all;
  });
}
