/* app.cpp - a C++ program as a user of the installed library would write it.
 *
 * SPDX-License-Identifier: MIT */
#include <cstdio>
#include <vector>
#include <weft.hpp>

int main() {
  std::vector<long> v(1000000);
  weft::for_each(v.size(), [&](std::size_t i) { v[i] = static_cast<long>(i); });
  auto [all, even] = weft::join(
      [&] { return weft::reduce(v, 0L, std::plus<>()); },
      [&] { return weft::iter(v).filter([](long x) { return x % 2 == 0; }).sum(); });
  bool caught = false;
  try {
    weft::for_each(v, [](long x) {
      if (x == 77) throw x;
    });
  } catch (long x) {
    caught = x == 77;
  }
  std::printf("all %ld, even %ld\n", all, static_cast<long>(even));
  return all == 499999500000 && even == 249999500000 && caught ? 0 : 1;
}
