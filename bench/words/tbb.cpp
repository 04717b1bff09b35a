// words/tbb.cpp - counts words by oneTBB: parallel_for with an enumerable_thread_specific
// (tbb), and parallel_reduce (tbb-reduce).
//
// Usage: words_tbb [threads [bytes [reduce]]]
//
// SPDX-License-Identifier: MIT
#include "../common/tbb_start.h"
#include "words.h"
#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/enumerable_thread_specific.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/parallel_reduce.h>

using range = tbb::blocked_range<size_t>;

static long answer_of(words *w) {
  long answer = words_answer(w);
  words_free(w);
  return answer;
}

static long by_specific(long) {
  tbb::enumerable_thread_specific<words> slots(words{nullptr, 0, 0});
  tbb::parallel_for(range(0, text_length), [&](const range &r) {
    words_add(&slots.local(), text, text_length, r.begin(), r.end());
  });
  words all = {nullptr, 0, 0};
  tables_made = static_cast<long>(slots.size());
  for (words &w : slots) words_merge(&all, &w);
  return answer_of(&all);
}

struct body {
  words own = {nullptr, 0, 0};
  body() {
    __atomic_fetch_add(&tables_made, 1, __ATOMIC_RELAXED);
  }
  body(body &, tbb::split) : body() {}
  void operator()(const range &r) {
    words_add(&own, text, text_length, r.begin(), r.end());
  }
  void join(body &right) {
    words_merge(&own, &right.own);
  }
};

static long by_reduce(long) {
  tables_made = 0;
  body all;
  tbb::parallel_reduce(range(0, text_length), all);
  return answer_of(&all.own);
}

int main(int argc, char **argv) {
  words_start(argc, argv);
  bool reduce = argc > 3 && strcmp(argv[3], "reduce") == 0;
  bench_tbb_run(bench_arg(argc, argv, 1, 2), [=] {
    words_measure(reduce ? "tbb-reduce" : "tbb", reduce ? by_reduce : by_specific);
  });
  return 0;
}
