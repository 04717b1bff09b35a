/* What the examples of weft.hpp and weft/hpp/ use; see tools/check-examples.
 *
 * SPDX-License-Identifier: MIT */
#include <cassert>
#include <functional>
#include <optional>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>
#include <weft.hpp>

static std::vector<double> v{3, 1, 2};
static const auto f = [](double &x) { x += 0; };

struct picture {
  int pixels;
};
static picture image;
static void read(picture &p) {
  p.pixels = 1;
}
static void soften(picture &p) {
  p.pixels *= 2;
}

struct order {
  double price;
  bool is_paid;
};
static std::vector<order> orders{{1, true}, {2, false}};

static const auto area_below = [](const auto &i) { return i.to - i.from; };

static std::vector<std::string> words{"one", "two", "one"};

struct block {
  int number;
};
static int blocks;
static int read(block &b) {
  b.number = blocks++;
  return b.number < 20 ? 0 : WEFT_END;
}
static void compress(block &b) {
  b.number *= 2;
}
static void write(block &b) {
  assert(b.number % 2 == 0);
}

static void work_on_part(unsigned node, unsigned count) {
  assert(node < count);
}

static std::stringstream file("text");
static char buffer[4];
static const std::streamsize size = 4;

static std::vector<std::string> files{"a", "b"};
static void parse(std::string &name) {
  name += "!";
}
static void scan(const std::string &of) {
  assert(!of.empty());
}
static const std::string name = "level";
static int load(const std::string &of) {
  return static_cast<int>(of.size());
}
static void show(int level) {
  assert(level == 5);
}

struct person {
  std::string name;
  int age;
};
static std::vector<person> people{{"b", 2}, {"a", 1}};

#define AT_END assert(image.pixels == 2 && files[1] == "b!" && people[0].age == 1)
