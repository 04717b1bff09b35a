/* support.hpp - what the tests of weft.hpp share: sizes, pools, objects that count
 * themselves, checks of what is thrown.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_CPP_SUPPORT_HPP
#define TESTS_CPP_SUPPORT_HPP

#include <harness/harness.h>
#include <string>
#include <vector>
#include <weft.hpp>

/* Fewer in slow builds. */
inline std::vector<std::size_t> lengths() {
  std::vector<std::size_t> all = {0,  1,  2,    3,    7,    8,    9,     63,
                                  64, 65, 1000, 4095, 4096, 4097, 65537, 1000003};
  if (harness_slowdown() > 1) all.pop_back();
  return all;
}

/* Calls f() in a pool of each of the thread counts. */
template <class F> void in_each_pool(F &&f) {
  for (unsigned threads : {1u, 2u, 3u, 8u}) {
    weft::pool pool(threads);
    pool.run(f);
  }
}

/* Calls f(n) for each length in each pool. */
template <class F> void for_lengths(F &&f) {
  in_each_pool([&] {
    for (std::size_t n : lengths()) f(n);
  });
}

inline std::vector<int> random_ints(std::size_t n, unsigned below) {
  uint64_t state = harness_seed() + n;
  std::vector<int> v(n);
  for (int &x : v) x = static_cast<int>(harness_random(&state) % below);
  return v;
}

/* An object that knows how many of its kind live. It owns memory, so that one too few or
 * too many is seen by a leak checker as well. */
class counted {
public:
  explicit counted(int number = 0) : value_(std::make_unique<int>(number)) {
    live().fetch_add(1);
  }
  counted(const counted &other) : counted(other.get()) {}
  counted(counted &&other) noexcept : value_(std::move(other.value_)) {
    live().fetch_add(1);
  }
  counted &operator=(const counted &other) {
    value_ = std::make_unique<int>(other.get());
    return *this;
  }
  counted &operator=(counted &&other) noexcept {
    value_ = std::move(other.value_);
    return *this;
  }
  ~counted() {
    live().fetch_sub(1);
  }
  int get() const {
    return *value_;
  }
  static std::atomic<long> &live() {
    static std::atomic<long> count{0};
    return count;
  }

private:
  std::unique_ptr<int> value_;
};

#if defined(__cpp_exceptions)

/* What tests throw. */
struct oops {
  std::size_t where;
};

/* Calls f(), which must throw an oops; gives where it was thrown. */
template <class F> std::size_t thrown_by(F &&f) {
  try {
    f();
  } catch (const oops &o) {
    return o.where;
  }
  CHECK_MSG(false, "nothing was thrown");
  return SIZE_MAX;
}

#endif

#endif
