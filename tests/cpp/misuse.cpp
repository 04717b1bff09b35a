/* Mistakes in C++: what C reports with a message comes as one here too, what C returns as
 * a status is thrown, and a task that is none says so. Mistakes that end the program are
 * programs of their own.
 *
 * SPDX-License-Identifier: MIT */
#include "support.hpp"

#include <csignal>
#include <cstring>
#include <functional>
#include <stdexcept>

/* ---- what is thrown ---- */

template <class F> int status_thrown_by(F &&f) {
  try {
    f();
  } catch (const weft::error &e) {
    return e.status();
  }
  return 0;
}

template <class E, class F> bool throws(F &&f) {
  try {
    f();
  } catch (const E &) {
    return true;
  }
  return false;
}

TEST(refusals_are_thrown) {
  CHECK_EQ(status_thrown_by([] { weft::pool pool(WEFT_MAX_THREADS + 1); }), WEFT_EINVAL);
  weft_config config = WEFT_CONFIG_INIT;
  config.struct_size = 3;
  CHECK_EQ(status_thrown_by([&] { weft::pool pool(config); }), WEFT_EINVAL);
  config = WEFT_CONFIG_INIT;
  weft::init(config);
  CHECK_EQ(status_thrown_by([&] { weft::init(config); }), WEFT_EBUSY);
  auto task = weft::async([] { return 1; });
  CHECK_EQ(status_thrown_by([&] { task.notify(-1); }), WEFT_EINVAL);
  CHECK_EQ(task.get(), 1);
  weft::shutdown();
}

/* As std::future, which has no state then. */
template <class Task> void check_is_none(Task &task) {
  CHECK(!task.valid() && !task.done() && task.handle() == nullptr);
  CHECK_EQ(status_thrown_by([&] { (void)task.get(); }), WEFT_EINVAL);
  CHECK_EQ(status_thrown_by([&] { task.then([] {}); }), WEFT_EINVAL);
  CHECK_EQ(status_thrown_by([&] { task.on_done([] {}); }), WEFT_EINVAL);
  CHECK_EQ(status_thrown_by([&] { task.notify(1); }), WEFT_EINVAL);
  CHECK_EQ(status_thrown_by([&] { task.wait_for(std::chrono::seconds(1)); }),
           WEFT_EINVAL);
  task.wait();
  task.drop();
}

TEST(tasks_that_are_none) {
  weft::task<int> none;
  check_is_none(none);
  auto moved = weft::async([] { return 1; });
  auto task = std::move(moved);
  check_is_none(moved);
  CHECK_EQ(task.get(), 1);
  check_is_none(task);
  auto dropped = weft::async([] { return 1; });
  dropped.drop();
  check_is_none(dropped);
  weft::shutdown();
}

TEST(functions_and_keys_that_are_none) {
  std::vector<int> v(1000, 7);
  const std::function<void(int &)> none;
  CHECK(throws<std::bad_function_call>([&] { weft::for_each(v, none); }));
  CHECK(throws<std::out_of_range>(
      [&] { (void)weft::histogram(v, 7, [](int x) { return std::size_t(x); }); }));
  weft::shutdown();
}

/* ---- corners of try_fold and local ---- */

TEST(try_fold_of_nothing_and_with_errors) {
  const std::vector<int> none;
  int sum = 0;
  const auto step = [](int &a, int x) { return a += x, x == 13 ? 13 : 0; };
  const auto merge = [](int &a, int b) { return a += b, 0; };
  CHECK_EQ(weft::try_fold(none, sum, step, merge), 0);
  CHECK_EQ(sum, 0);
  std::vector<int> v(70000, 1);
  CHECK_EQ(weft::try_fold(v, sum, step, merge), 0);
  CHECK_EQ(sum, 70000);
  v[69999] = v[3] = 13;
  sum = 0;
  CHECK_EQ(weft::try_fold(v, sum, step, merge), 13);
  CHECK_EQ(sum, 0); /* unchanged */
  const auto throwing = [](int &, int x) -> int { throw oops{std::size_t(x)}; };
  CHECK_EQ(thrown_by([&] { (void)weft::try_fold(v, sum, throwing, merge); }), 1);
  CHECK_EQ(sum, 0);
  const auto refusing = [](int &, int) { return 21; };
  for (int &x : v) x = 1;
  CHECK_EQ(weft::try_fold(v, sum, step, refusing), 21);
  CHECK_EQ(sum, 0);
  weft::shutdown();
}

TEST(what_makes_a_local_may_throw_and_be_tried_again) {
  int calls = 0;
  weft::local<int> slots([&]() -> int {
    if (calls++ == 0) throw std::runtime_error("not yet");
    return 42;
  });
  CHECK(throws<std::runtime_error>([&] { (void)slots.get(); }));
  CHECK_EQ(slots.size(), 0);
  CHECK_EQ(slots.get(), 42);
  CHECK_EQ(calls, 2);
  CHECK(throws<oops>([&] { slots.each([](int &) { throw oops{1}; }); }));
  CHECK_EQ(slots.size(), 1);
  weft::local<int> empty{std::function<int()>()};
  CHECK(throws<std::bad_function_call>([&] { (void)empty.get(); }));
}

/* ---- what ends the program ---- */

TEST_BY_NAME(no_options) {
  std::vector<int> v(100);
  weft::options o;
  o.struct_size = 0;
  weft::for_each(o, v, [](int &) {});
}
TEST_BY_NAME(shutdown_inside) {
  weft::for_each(1, [](int) { weft::shutdown(); });
}
TEST_BY_NAME(throw_in_detached) {
  weft::detach([] { throw oops{1}; });
  weft::shutdown();
}

static void check_death(const char *program, const char *message) {
  static char output[65536];
  int status = harness_run_self("ulimit -c 0;", program, output, sizeof output);
  CHECK_MSG(status == 128 + SIGABRT, "%s: status %d: %s", program, status, output);
  CHECK_MSG(std::strstr(output, message) != nullptr, "%s said: %s", program, output);
}

TEST(mistakes_are_named) {
  check_death("no_options", "weft: weft_for: the options are not valid");
  check_death("shutdown_inside", "weft: weft_shutdown: called from inside the pool");
  check_death("throw_in_detached", "terminate");
}
