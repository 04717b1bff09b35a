/* Typed loops (weft/typed_loop.h) in C++: the macros of C compile without a warning, also
 * with -Wold-style-cast, and give the results of serial loops; arguments may be
 * references, and results types of C++.
 *
 * SPDX-License-Identifier: MIT */
extern "C" { /* as programs do with headers of C */
#include <weft/typed_loop.h>
}
#include "support.hpp"

#include <complex>
#include <limits>
#include <numeric>

#pragma GCC diagnostic error "-Wold-style-cast"
#pragma GCC diagnostic error "-Wconversion"

WEFT_LOOP(saxpy, i, float, a, const float *, x, float *, y) {
  y[i] += a * x[i];
}
WEFT_LOOP(by_reference, i, std::vector<int> &, v, const int &, add) {
  v[i] += add + static_cast<int>(i);
}
WEFT_LOOP_2D(mark, r, c, unsigned char *, marks, std::size_t, cols) {
  marks[r * cols + c]++;
}
WEFT_TRY_LOOP(check, i, const std::vector<int> &, v) {
  return v[i] > 50 ? v[i] : 0;
}
WEFT_SUM_LOOP(sum_int, int, i, const std::vector<int> &, v) {
  return v[i];
}
WEFT_SUM_LOOP(sum_short, short, i) {
  return static_cast<short>(i % 3);
}
WEFT_SUM_LOOP(sum_complex, std::complex<double>, i) {
  return std::complex<double>(static_cast<double>(i), 1);
}
WEFT_MIN_LOOP(least, double, i, const double *, x) {
  return x[i];
}
WEFT_MAX_LOOP(most, int, i, const int *, x) {
  return x[i];
}

namespace inside {

static std::size_t longer(std::size_t a, std::size_t b) {
  return a > b ? a : b;
}
WEFT_REDUCE_LOOP(longest, std::size_t, 0, longer, i, const std::vector<std::string> &,
                 words) {
  return words[i].size();
}

} // namespace inside

TEST(loops) {
  for_lengths([](std::size_t n) {
    std::vector<float> x(n, 1), y(n, 2);
    saxpy(n, 3, x.data(), y.data());
    saxpy_range(n / 2, n, 3, x.data(), y.data());
    std::vector<int> v(n);
    by_reference(n, v, 5);
    for (std::size_t i = 0; i < n; i++) {
      float expected = i < n / 2 ? 5.0f : 8.0f;
      if (!CHECK(y[i] == expected && v[i] == 5 + static_cast<int>(i))) break;
    }
    v.assign(n, 7);
    CHECK_EQ(sum_int(n, v), 7 * static_cast<int>(n));
  });
}

TEST(cells_errors_and_reductions) {
  in_each_pool([] {
    std::vector<unsigned char> marks(70 * 300);
    mark(70, 300, marks.data(), 300);
    CHECK(std::all_of(marks.begin(), marks.end(), [](auto m) { return m == 1; }));
    std::vector<int> v(1000);
    std::iota(v.begin(), v.end(), 0);
    CHECK_EQ(check(1000, v), 51);
    CHECK_EQ(check_range(100, 1000, v), 100);
    CHECK_EQ(check(50, v), 0);
    CHECK_EQ(sum_short(1000), 999);
    CHECK(sum_complex(1000) == std::complex<double>(499500, 1000));
    CHECK(least(0, nullptr) == std::numeric_limits<double>::infinity());
    CHECK_EQ(most(0, nullptr), std::numeric_limits<int>::lowest());
    CHECK_EQ(most(1000, v.data()), 999);
    std::vector<std::string> words = {"a", "weft", "is"};
    CHECK_EQ(inside::longest(3, words), 4);
    weft::options o;
    CHECK_EQ(sum_int_with(&o, 1000, v), 499500);
  });
}
