/* lambdas.cpp - weft from C++17: lambdas in loops, reductions, sorts, pipelines, joins
 * and scopes; exceptions come out where the call returns.
 *
 *     c++ -std=c++17 -O2 lambdas.cpp -o lambdas $(pkg-config --cflags --libs weft)
 *     ./lambdas [stars [threads]]
 *
 * Invents stars, and answers some questions about them; prints the answers, each checked
 * against a plain loop.
 *
 * SPDX-License-Identifier: MIT */
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>
#include <weft.hpp>

struct star {
  std::string name;
  double distance, brightness;
};

static bool all_right = true;

static void report(const char *what, double answer, double expected) {
  bool right = std::fabs(answer - expected) <= 1e-9 * std::fabs(expected);
  std::printf("%-34s %14.3f  %s\n", what, answer, right ? "right" : "WRONG");
  all_right = all_right && right;
}

/* A loop over indices, here one that makes the elements of a vector. */
static std::vector<star> invent(std::size_t n) {
  std::vector<star> stars(n);
  weft::for_each(n, [&](std::size_t i) {
    double x = static_cast<double>(i * 7919 % 100003);
    stars[i] = {"star " + std::to_string(i), 1 + x / 10, 1e6 / (1 + std::fmod(x, 977))};
  });
  return stars;
}

/* A lazy pipeline that runs in one pass: no vector in between. */
static void count_and_add(const std::vector<star> &stars) {
  auto near_light = weft::iter(stars)
                        .filter([](const star &s) { return s.distance < 1000; })
                        .map([](const star &s) { return s.brightness; })
                        .sum();
  double expected = 0;
  for (const star &s : stars)
    if (s.distance < 1000) expected += s.brightness;
  report("brightness of near stars", near_light, expected);

  auto [low, high] = weft::join(
      [&] {
        return weft::iter(stars).map([](const star &s) { return s.distance; }).min();
      },
      [&] {
        return weft::iter(stars).map([](const star &s) { return s.distance; }).max();
      });
  auto by_distance = [](const star &a, const star &b) { return a.distance < b.distance; };
  auto ends = std::minmax_element(stars.begin(), stars.end(), by_distance);
  report("nearest, by two pipelines joined", low.value(), ends.first->distance);
  report("farthest", high.value(), ends.second->distance);
}

/* Sorts objects with strings in them; the order is a lambda. */
static void sort_by_brightness(std::vector<star> stars) {
  auto expected = stars;
  auto brighter = [](const star &a, const star &b) {
    return a.brightness > b.brightness;
  };
  weft::stable_sort(stars, brighter);
  std::stable_sort(expected.begin(), expected.end(), brighter);
  bool same = std::equal(stars.begin(), stars.end(), expected.begin(),
                         [](const star &a, const star &b) { return a.name == b.name; });
  report(("brightest is " + stars[0].name).c_str(), same ? 1 : 0, 1);
}

/* A scope: any number of tasks; the first exception cancels the rest and is thrown again
 * where the scope ends. */
static void look_for(const std::vector<star> &stars, const std::string &name) {
  std::string found;
  try {
    weft::scope scope;
    for (std::size_t begin = 0; begin < stars.size(); begin += 1000)
      scope.spawn([&, begin] {
        for (std::size_t i = begin; i < std::min(begin + 1000, stars.size()); i++)
          if (stars[i].name == name) throw std::runtime_error(stars[i].name);
      });
    scope.wait();
  } catch (const std::runtime_error &e) {
    found = e.what();
  }
  report(("an exception brings " + found).c_str(), found == name ? 1 : 0, 1);
}

int main(int argc, char **argv) {
  std::size_t n = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 200000;
  weft_config config = WEFT_CONFIG_INIT;
  config.threads =
      argc > 2 ? static_cast<unsigned>(std::strtoul(argv[2], nullptr, 10)) : 0;
  if (n == 0 || n > 10000000 || weft_init(&config) != 0) {
    std::fprintf(stderr, "usage: lambdas [stars up to 10^7 [threads]]\n");
    return 2;
  }
  std::vector<star> stars = invent(n);
  std::vector<double> light(n);
  weft::transform(stars, light, [](const star &s) { return s.brightness; });
  report("brightness of all stars", weft::sum(light),
         std::accumulate(light.begin(), light.end(), 0.0));
  count_and_add(stars);
  sort_by_brightness(stars);
  look_for(stars, "star " + std::to_string(n / 2));
  return all_right ? 0 : 1;
}
