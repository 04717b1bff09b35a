// The C++ functions of the shim's pthreadpool.h: every form by a lambda, and the class
// for executors.
//
// SPDX-License-Identifier: MIT
#include "harness/harness.h"

#include <pthreadpool.h>

#include <atomic>
#include <thread>
#include <vector>

namespace {

// Adds up what the functor covers: the product of the lengths of its tile.
struct cover {
  std::atomic<size_t> elements{0};

  template <class... Length> void add(Length... length) {
    size_t product = 1;
    for (size_t each : std::vector<size_t>{length...}) product *= each;
    elements += product;
  }
  void check(size_t expected) {
    CHECK_EQ(elements.exchange(0), expected);
  }
};

using sz = size_t;

} // namespace

TEST(one_and_two_dimensions) {
  pthreadpool_t pool = pthreadpool_create(3);
  cover c;
  pthreadpool_parallelize_1d(
      pool, [&](sz) { c.add(); }, 11);
  c.check(11);
  pthreadpool_parallelize_1d_tile_1d(
      pool, [&](sz, sz a) { c.add(a); }, 11, 3);
  c.check(11);
  pthreadpool_parallelize_1d_tile_1d_dynamic(
      pool, [&](sz, sz a) { c.add(a); }, 11, 3);
  c.check(11);
  pthreadpool_parallelize_2d(
      pool, [&](sz, sz) { c.add(); }, 11, 5);
  c.check(55);
  auto row = [&](sz, sz, sz a) { c.add(a); };
  pthreadpool_parallelize_2d_tile_1d(pool, row, 11, 5, 2);
  c.check(55);
  pthreadpool_parallelize_2d_tile_1d_dynamic(pool, row, 11, 5, 2);
  c.check(55);
  auto tile = [&](sz, sz, sz a, sz b) { c.add(a, b); };
  pthreadpool_parallelize_2d_tile_2d(pool, tile, 11, 5, 3, 2);
  c.check(55);
  pthreadpool_parallelize_2d_tile_2d_dynamic(pool, tile, 11, 5, 3, 2);
  c.check(55);
  pthreadpool_destroy(pool);
}

TEST(three_and_four_dimensions) {
  pthreadpool_t pool = pthreadpool_create(3);
  cover c;
  pthreadpool_parallelize_3d(
      pool, [&](sz, sz, sz) { c.add(); }, 3, 5, 7);
  c.check(105);
  auto row_3 = [&](sz, sz, sz, sz a) { c.add(a); };
  pthreadpool_parallelize_3d_tile_1d(pool, row_3, 3, 5, 7, 2);
  c.check(105);
  pthreadpool_parallelize_3d_tile_1d_dynamic(pool, row_3, 3, 5, 7, 2);
  c.check(105);
  auto tile_3 = [&](sz, sz, sz, sz a, sz b) { c.add(a, b); };
  pthreadpool_parallelize_3d_tile_2d(pool, tile_3, 3, 5, 7, 2, 3);
  c.check(105);
  pthreadpool_parallelize_3d_tile_2d_dynamic(pool, tile_3, 3, 5, 7, 2, 3);
  c.check(105);
  pthreadpool_parallelize_4d(
      pool, [&](sz, sz, sz, sz) { c.add(); }, 3, 5, 7, 2);
  c.check(210);
  auto row_4 = [&](sz, sz, sz, sz, sz a) { c.add(a); };
  pthreadpool_parallelize_4d_tile_1d(pool, row_4, 3, 5, 7, 2, 2);
  c.check(210);
  auto tile_4 = [&](sz, sz, sz, sz, sz a, sz b) { c.add(a, b); };
  pthreadpool_parallelize_4d_tile_2d(pool, tile_4, 3, 5, 7, 2, 3, 2);
  c.check(210);
  pthreadpool_parallelize_4d_tile_2d_dynamic(pool, tile_4, 3, 5, 7, 2, 3, 2);
  c.check(210);
  pthreadpool_destroy(pool);
}

TEST(five_and_six_dimensions) {
  pthreadpool_t pool = pthreadpool_create(3);
  cover c;
  const uint32_t flags = PTHREADPOOL_FLAG_DISABLE_DENORMALS;
  pthreadpool_parallelize_5d(
      pool, [&](sz, sz, sz, sz, sz) { c.add(); }, 3, 2, 4, 5, 2, flags);
  c.check(240);
  auto row_5 = [&](sz, sz, sz, sz, sz, sz a) { c.add(a); };
  pthreadpool_parallelize_5d_tile_1d(pool, row_5, 3, 2, 4, 2, 5, 2, flags);
  c.check(240);
  auto tile_5 = [&](sz, sz, sz, sz, sz, sz a, sz b) { c.add(a, b); };
  pthreadpool_parallelize_5d_tile_2d(pool, tile_5, 3, 2, 4, 2, 5, 2, 2, flags);
  c.check(240);
  auto point = [&](sz, sz, sz, sz, sz, sz) { c.add(); };
  pthreadpool_parallelize_6d(pool, point, 3, 2, 4, 2, 5, 3, flags);
  c.check(720);
  auto row_6 = [&](sz, sz, sz, sz, sz, sz, sz a) { c.add(a); };
  pthreadpool_parallelize_6d_tile_1d(pool, row_6, 3, 2, 4, 2, 5, 3, 2, flags);
  c.check(720);
  auto tile_6 = [&](sz, sz, sz, sz, sz, sz, sz a, sz b) { c.add(a, b); };
  pthreadpool_parallelize_6d_tile_2d(pool, tile_6, 3, 2, 4, 2, 5, 3, 2, 2, flags);
  c.check(720);
  pthreadpool_destroy(pool);
}

namespace {

// A thread for each task.
class threads : public PthreadpoolExecutor {
public:
  ~threads() override {
    for (auto &thread : started) thread.join();
  }
  int NumThreads() override {
    return 2;
  }
  void Schedule(void *context, TaskFunction task) override {
    started.emplace_back(task, context);
  }

private:
  std::vector<std::thread> started;
};

} // namespace

TEST(an_executor_as_a_class) {
  threads executor;
  pthreadpool_t pool = pthreadpool_create_v2(&executor, executor.GetContext(), 8);
  CHECK_EQ(pthreadpool_get_threads_count(pool), 3u);
  cover c;
  for (int i = 0; i < 10; i++) {
    pthreadpool_parallelize_2d(
        pool, [&](sz, sz) { c.add(); }, 100, 3);
    c.check(300);
  }
  pthreadpool_destroy(pool);
}
