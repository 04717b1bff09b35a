/* reference/cpp_loop.cpp - examples of weft/hpp: loops, reductions, arrays, sorting,
 * numbers.
 *
 * SPDX-License-Identifier: MIT */
#include <map>
#include <numeric>
#include <string>
#include <vector>
#include <weft.hpp>

#include "example.h"

/* example: weft::for_each, weft::options */
EXAMPLE(cpp_for_each) {
  std::vector<double> v(1000, 1.0);
  weft::for_each(v, [](double &x) { x *= 2; });                        // elements
  weft::for_each(v.size(), [&](std::size_t i) { v[i] += 1; });         // indices
  weft::for_each(v.begin(), v.begin() + 10, [](double &x) { x = 0; }); // iterators
  weft::for_each(weft::options().with_max_workers(2), v, [](double &x) { x += 1; });
  assert(v[0] == 1 && v[999] == 4);
}

/* example: weft::for_blocks */
EXAMPLE(cpp_for_blocks) {
  std::vector<int> v(1000);
  weft::for_blocks(v.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; i++) v[i] = static_cast<int>(i);
  });
  assert(v[999] == 999);
}

/* example: weft::try_for, weft::try_for_each */
EXAMPLE(cpp_try_for) {
  std::vector<int> codes(1000);
  codes[700] = 7, codes[300] = 3;
  int error = weft::try_for(codes.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; i++)
      if (codes[i] != 0) return codes[i];
    return 0;
  });
  assert(error == 3); // of the lowest index
  assert(weft::try_for_each(codes, [](int code) { return code; }) == 3);
}

/* example: weft::for_step */
EXAMPLE(cpp_for_step) {
  std::vector<int> v(10);
  weft::for_step(0, 10, 3, [&](std::size_t i) { v[i] = 1; }); // 0 3 6 9
  assert(std::accumulate(v.begin(), v.end(), 0) == 4);
}

/* example: weft::for_2d */
EXAMPLE(cpp_for_2d) {
  const std::size_t rows = 50, cols = 40;
  std::vector<std::size_t> table(rows * cols);
  weft::for_2d(rows, cols, 16, 16,
               [&](std::size_t r0, std::size_t r1, std::size_t c0, std::size_t c1) {
                 for (std::size_t r = r0; r < r1; r++)
                   for (std::size_t c = c0; c < c1; c++) table[r * cols + c] = r * c;
               });
  assert(table.back() == 49 * 39);
}

/* example: weft::for_chunks */
EXAMPLE(cpp_for_chunks) {
  std::vector<int> v(10, 1), sums(3);
  weft::for_chunks(v, 4, [&](int *first, std::size_t count, std::size_t k) {
    sums[k] = std::accumulate(first, first + count, 0);
  });
  assert(sums[0] == 4 && sums[2] == 2);
}

/* example: weft::transform, weft::try_transform, weft::map */
EXAMPLE(cpp_transform) {
  std::vector<int> ids{1, 2, 3}, twice(3);
  weft::transform(ids, twice, [](int id) { return 2 * id; });
  assert(twice[2] == 6);
  std::vector<std::string> names =
      weft::map(ids, [](int id) { return "user " + std::to_string(id); });
  assert(names[2] == "user 3");
  int error = weft::try_transform(ids, twice, [](int id, int &to) {
    to = 6 / id;
    return id == 0 ? WEFT_EINVAL : 0;
  });
  assert(error == 0 && twice[2] == 2);
}

/* example: weft::reduce, weft::transform_reduce */
EXAMPLE(cpp_reduce) {
  std::vector<double> v{1, 2, 3};
  assert(weft::reduce(v, 0.0, std::plus<>()) == 6);
  assert(weft::transform_reduce(v, 0.0, std::plus<>(), [](double x) { return x * x; }) ==
         14);
}

/* example: weft::fold */
EXAMPLE(cpp_fold) {
  std::vector<std::string> words{"warp", "and", "weft"};
  std::string all = weft::fold(
      words, std::string(), [](std::string &to, const std::string &word) { to += word; },
      [](std::string &to, std::string &&right) { to += right; });
  assert(all == "warpandweft"); // in order, on any number of threads
}

/* example: weft::fold_local */
EXAMPLE(cpp_fold_local) {
  using counts = std::map<std::string, int>;
  std::vector<std::string> words{"a", "b", "a"};
  counts total = weft::fold_local( // one map for each thread
      words, counts(), [](counts &to, const std::string &word) { to[word]++; },
      [](counts &to, counts &&other) {
        for (auto &[word, count] : other) to[word] += count;
      });
  assert(total["a"] == 2);
}

/* example: weft::try_fold */
EXAMPLE(cpp_try_fold) {
  std::vector<int> v{1, 2, -3, 4};
  long sum = 0;
  int error = weft::try_fold(
      v, sum,
      [](long &to, int x) {
        to += x;
        return x < 0 ? WEFT_EINVAL : 0;
      },
      [](long &to, long &&right) { to += right; });
  assert(error == WEFT_EINVAL);
}

/* example: weft::sum, weft::product, weft::min, weft::max, weft::mean, weft::variance,
 * weft::dot */
EXAMPLE(cpp_numbers) {
  std::vector<double> v{1, 1, 3, 3};
  assert(weft::sum(v) == 8 && weft::product(v) == 9);
  assert(weft::min(v) == 1 && weft::max(v) == 3);
  assert(weft::mean(v) == 2 && weft::variance(v) == 1 && weft::dot(v, v) == 20);
}

/* example: weft::fill, weft::copy, weft::reverse, weft::rotate */
EXAMPLE(cpp_moves) {
  std::vector<int> v(5), w(5);
  weft::fill(v, 7);
  std::iota(w.begin(), w.end(), 0);
  weft::copy(w, v);   // to v
  weft::reverse(v);   // 4 3 2 1 0
  weft::rotate(v, 2); // 2 1 0 4 3
  assert(v[0] == 2 && v[4] == 3);
}

/* example: weft::gather, weft::scatter */
EXAMPLE(cpp_gather) {
  std::vector<char> from{'a', 'b', 'c'}, to(3), back(3);
  std::vector<std::size_t> index{2, 0, 1};
  weft::gather(from, index, to); // to[i] = from[index[i]]
  assert(to[0] == 'c');
  weft::scatter(to, index, back); // back[index[i]] = to[i]
  assert(back == from);
}

/* example: weft::stable_partition, weft::unique, weft::histogram */
EXAMPLE(cpp_partition) {
  std::vector<int> v{1, 2, 2, 3, 4};
  v.resize(weft::unique(v)); // 1 2 3 4
  std::size_t even = weft::stable_partition(v, [](int x) { return x % 2 == 0; });
  assert(even == 2 && v[0] == 2 && v[2] == 1);
  std::vector<std::size_t> counts =
      weft::histogram(v, 5, [](int x) { return static_cast<std::size_t>(x); });
  assert(counts[0] == 0 && counts[4] == 1);
}

/* example: weft::inclusive_scan, weft::exclusive_scan */
EXAMPLE(cpp_scan) {
  std::vector<int> v{1, 2, 3}, to(3);
  weft::inclusive_scan(v, to, 0); // 1 3 6
  assert(to[2] == 6);
  weft::exclusive_scan(v, to, 0); // 0 1 3
  assert(to[2] == 3);
}

/* example: weft::min_index, weft::max_index, weft::equal, weft::compare */
EXAMPLE(cpp_comparisons) {
  std::vector<int> v{3, 1, 2}, w{3, 1, 5};
  assert(weft::min_index(v) == 1 && weft::max_index(v) == 0);
  assert(!weft::equal(v, w) && weft::compare(v, w) < 0);
}

/* example: weft::sort, weft::stable_sort, weft::is_sorted */
EXAMPLE(cpp_sort) {
  std::vector<double> v{2, 3, 1};
  weft::sort(v);
  assert(v[0] == 1 && weft::is_sorted(v));
  weft::sort(v, std::greater<>());
  assert(v[0] == 3);
  std::vector<std::string> words{"shuttle", "weft", "loom"};
  weft::stable_sort(words, [](auto &a, auto &b) { return a.size() < b.size(); });
  assert(words[0] == "weft" && words[2] == "shuttle");
}

/* example: weft::nth_element, weft::partial_sort, weft::merge */
EXAMPLE(cpp_select) {
  std::vector<int> v{5, 1, 4, 2, 3};
  weft::nth_element(v, 2);
  assert(v[2] == 3); // the median
  weft::partial_sort(v, 2);
  assert(v[0] == 1 && v[1] == 2);
  std::vector<int> odd{1, 3}, even{2, 4}, all(4);
  weft::merge(odd, even, all);
  assert(all[1] == 2 && all[3] == 4);
}

/* example: weft::argsort, weft::sort_by_key */
EXAMPLE(cpp_sort_by_key) {
  std::vector<int> ages{70, 20, 50};
  std::vector<std::string> names{"Ada", "Grace", "Barbara"};
  assert(weft::argsort(ages)[0] == 1);
  weft::sort_by_key(ages, names);
  assert(names[0] == "Grace");
}
