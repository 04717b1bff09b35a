// wake/tbb.cpp - P12: from asleep to running: task_arena::enqueue of a task that stamps the
// clock, from outside, after 5 ms of rest; the twin of weft.c. (OpenMP has no call that
// hands one task to sleeping threads and returns.)
//
// Usage: wake_tbb [threads [samples [rest|busy]]]
//
// SPDX-License-Identifier: MIT
#include "../common/bench.h"
#include <atomic>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>

static constexpr long pause_us = 5000, warm_up = 20;

int main(int argc, char **argv) {
  static const char *const words[] = {"rest", "busy"};
  int threads = static_cast<int>(bench_arg(argc, argv, 1, 2));
  long samples = bench_arg(argc, argv, 2, 100);
  bool busy = argc > 3 && bench_choose(argc, argv, 3, words, 2) == 1;
  // oneTBB counts the caller as one of its threads, which is not in the arena here.
  tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                            static_cast<size_t>(threads) + 1);
  tbb::task_arena arena(threads, 0);
  std::atomic<bool> stamped{false};
  double stamp_ns = 0;
  bench_samples times = {nullptr, 0, 0};
  for (long i = -warm_up; i < samples; i++) {
    bench_sleep_us(pause_us);
    stamped.store(false, std::memory_order_relaxed);
    double before = bench_now_ns();
    arena.enqueue([&] {
      stamp_ns = bench_now_ns();
      stamped.store(true, std::memory_order_release);
    });
    uint64_t seed = 1;
    while (busy && !stamped.load(std::memory_order_acquire)) seed = bench_spin(seed, 100);
    do {
      bench_sleep_us(pause_us);
    } while (!stamped.load(std::memory_order_acquire));
    if (i >= 0) bench_add(&times, stamp_ns - before);
  }
  bench_print_latency("tbb", &times);
  bench_passed(static_cast<uint64_t>(samples));
  return 0;
}
