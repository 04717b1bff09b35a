/* weft/hpp/base.hpp - what the C++ headers share: options, errors, results of callables,
 * and how exceptions reach the caller.
 *
 * weft is written in C, and no exception may pass through it. So every function that
 * these headers give to the library catches what the user's callable throws and keeps it
 * until the call is over; then the call throws it. With -fno-exceptions all of this
 * compiles to nothing.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WEFT_HPP_BASE_HPP
#define WEFT_HPP_BASE_HPP

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <new>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <weft.h>

#if !defined(__cplusplus) || __cplusplus < 201703L
#error "weft.hpp needs C++17 (-std=c++17)"
#endif

/* Objects compiled with and without exceptions can be linked together: the templates of
 * the latter are in a namespace of their own. */
#if defined(__cpp_exceptions)
#define WEFT_HPP_BEGIN namespace weft {
#define WEFT_HPP_END   }
#else
#define WEFT_HPP_BEGIN                                                                   \
  namespace weft {                                                                       \
  inline namespace without_exceptions {
#define WEFT_HPP_END                                                                     \
  }                                                                                      \
  }
#endif

#define WEFT_HPP_INLINE inline __attribute__((always_inline))
#define WEFT_HPP_COLD   __attribute__((cold, noinline))
/* Stands behind the parameters of a lambda. */
#define WEFT_HPP_LAMBDA __attribute__((always_inline))

WEFT_HPP_BEGIN

/* What all calls of this header share.
 *
 * Serial: none: they compute nothing. Threads: any. Exceptions: none. Cost: that of the
 * call of C that it stands for. */

/* ---- options ---- */

/* The options of a parallel call: weft_opts, with its defaults. Every parallel call takes
 * them as an optional first argument:
 *
 *     weft::for_each(weft::options().with_max_workers(4), v, f); */
struct options : weft_opts {
  options() noexcept : weft_opts(WEFT_OPTS_INIT) {}
  options(const weft_opts &o) noexcept : weft_opts(o) {}

  /* Setters: each sets the member of weft_opts after which it is named. They return the
   * options, so that several can stand in a row. */
  options &with_pool(weft_pool *where) noexcept {
    pool = where;
    return *this;
  }
  options &with_min_len(std::size_t len) noexcept {
    min_len = len;
    return *this;
  }
  options &with_max_len(std::size_t len) noexcept {
    max_len = len;
    return *this;
  }
  options &with_split(weft_split how, std::size_t chunks = 0) noexcept {
    split = how;
    target_chunks = chunks;
    return *this;
  }
  options &with_max_workers(unsigned workers) noexcept {
    max_workers = workers;
    return *this;
  }
  options &with_cancel(weft_scope *scope) noexcept {
    cancel = scope;
    return *this;
  }
  options &with_lane(weft_lane which) noexcept {
    lane = which;
    return *this;
  }
  options &with_order(weft_order which) noexcept {
    order = which;
    return *this;
  }
};

/* The result of a callable that returns void, among the results of several callables. */
struct nothing {};

/* ---- status, version, misuse: as in weft/base.h ---- */

/* The text of a status, the version, and the handler of misuse. As weft_strerror,
 * weft_version, weft_set_fatal_handler. */
inline const char *strerror(int status) noexcept {
  return weft_strerror(status);
}
inline const char *version() noexcept {
  return weft_version();
}
inline void set_fatal_handler(weft_fatal_fn *fn, void *ctx = nullptr) noexcept {
  weft_set_fatal_handler(fn, ctx);
}

/* Thrown where a C call returns a status, for example if a pool cannot be created. */
class error : public std::runtime_error {
public:
  explicit error(int status)
      : std::runtime_error(weft_strerror(status)), status_(status) {}
  /* The status that the call of C has returned. */
  int status() const noexcept {
    return status_;
  }

private:
  int status_;
};

namespace detail {

template <class T> using plain = std::remove_cv_t<std::remove_reference_t<T>>;
template <class T> constexpr bool is_options = std::is_base_of_v<weft_opts, plain<T>>;
template <class T>
constexpr bool is_index = std::is_integral_v<plain<T>> && !std::is_same_v<plain<T>, bool>;

/* Callables that several threads call at the same time. They share one object, so it is
 * called as const: a `mutable` lambda would be a data race. */
template <class F, class... Args>
constexpr bool is_shared =
    std::is_invocable_v<const std::remove_reference_t<F> &, Args...>;

template <class F, class... Args> constexpr bool expect_shared() {
  static_assert(!std::is_invocable_v<F &, Args...> || is_shared<F, Args...>,
                "weft: several threads call the function at the same time, so it must be "
                "callable as const: no mutable lambdas");
  return is_shared<F, Args...>;
}

/* The result of a call: nothing for void. */
template <class F, class... Args>
using result_of =
    std::conditional_t<std::is_void_v<std::invoke_result_t<F, Args...>>, nothing,
                       std::remove_cv_t<std::invoke_result_t<F, Args...>>>;

/* ---- room for one value; its owner knows whether there is one ---- */

template <class T> class slot {
public:
  slot() noexcept {}
  slot(const slot &) = delete;
  slot &operator=(const slot &) = delete;
  ~slot() {}

  /* The value is what f returns, constructed in place. */
  template <class F> WEFT_HPP_INLINE void fill(F &&f) {
    ::new (static_cast<void *>(std::addressof(value_))) T(std::forward<F>(f)());
  }
  T &get() noexcept {
    return value_;
  }
  T take() {
    emptier after{this};
    return std::move(value_);
  }
  void clear() noexcept {
    value_.~T();
  }

private:
  struct emptier {
    slot *of;
    ~emptier() {
      of->clear();
    }
  };
  union {
    T value_;
  };
};

template <class T> class slot<T &> {
public:
  template <class F> WEFT_HPP_INLINE void fill(F &&f) {
    value_ = std::addressof(std::forward<F>(f)());
  }
  T &take() noexcept {
    return *value_;
  }
  void clear() noexcept {}

private:
  T *value_;
};

template <> class slot<nothing> {
public:
  template <class F> WEFT_HPP_INLINE void fill(F &&f) {
    std::forward<F>(f)();
  }
  nothing take() noexcept {
    return {};
  }
  void clear() noexcept {}
};

/* ---- exceptions ---- */

/* Calls body(). If it throws, calls caught() inside the handler. Returns whether body did
 * not throw. */
template <class Body, class Caught>
WEFT_HPP_INLINE bool guarded(Body &&body, Caught &&caught) noexcept {
#if defined(__cpp_exceptions)
  try {
    body();
    return true;
  } catch (...) {
    caught();
    return false;
  }
#else
  (void)caught;
  body();
  return true;
#endif
}

[[noreturn]] WEFT_HPP_COLD inline void rethrow(const std::exception_ptr &what) {
#if defined(__cpp_exceptions)
  std::rethrow_exception(what);
#else
  (void)what;
  std::terminate(); /* never reached: nothing was caught */
#endif
}

[[noreturn]] WEFT_HPP_COLD inline void no_memory() {
#if defined(__cpp_exceptions)
  throw std::bad_alloc();
#else
  std::terminate();
#endif
}

/* Throws weft::error for a status that is not 0. */
inline void check(int status) {
#if defined(__cpp_exceptions)
  if (status != 0) throw error(status);
#else
  (void)status;
#endif
}

/* Of the exceptions that several threads throw, or of the matches that they find, the one
 * that the serial code would have met first. Each has a position, the beginning of its
 * block; the lowest position wins. Blocks behind a known one need not run, blocks in
 * front of it must. As a block runs in order, the result is that of the serial code. */
class earliest {
public:
  earliest() noexcept {}
  earliest(const earliest &) = delete;
  earliest &operator=(const earliest &) = delete;

  /* Is the position behind the lowest one that is known? Then its block need not run.
   * Relaxed: a late answer only costs time. */
  WEFT_HPP_INLINE bool is_behind(std::size_t position) const noexcept {
    return position > lowest_.load(std::memory_order_relaxed);
  }

  bool happened() const noexcept {
    return lowest_.load(std::memory_order_relaxed) != none;
  }

  /* Inside a handler: keeps the exception. */
  WEFT_HPP_COLD void caught_at(std::size_t position) noexcept {
    settle(position, [&] { what_ = std::current_exception(); });
  }

  /* Calls keep() under the lock if the position is the lowest so far. */
  template <class Keep> void settle(std::size_t position, Keep &&keep) {
    std::lock_guard<std::mutex> hold(lock_);
    if (position >= lowest_.load(std::memory_order_relaxed)) return;
    what_ = nullptr;
    keep();
    lowest_.store(position, std::memory_order_relaxed);
  }

  /* Runs body unless its position is behind a known one. */
  template <class Body>
  WEFT_HPP_INLINE void run(std::size_t position, Body &&body) noexcept {
    if (is_behind(position)) return;
    guarded(std::forward<Body>(body), [&] { caught_at(position); });
  }

  /* After the call, when no other thread uses this object any more. */
  void rethrow_if_caught() {
    if (what_) rethrow(std::exchange(what_, nullptr));
  }

private:
  static constexpr std::size_t none = SIZE_MAX;
  std::atomic<std::size_t> lowest_{none};
  std::mutex lock_;
  std::exception_ptr what_;
};

/* The object behind the pointer that a C callback gets. */
template <class T> WEFT_HPP_INLINE T &from_ctx(void *ctx) noexcept {
  return *static_cast<T *>(ctx);
}

template <class T> WEFT_HPP_INLINE void *to_ctx(T &what) noexcept {
  return const_cast<void *>(static_cast<const void *>(std::addressof(what)));
}

/* Calls f() through a C function that calls its weft_fn once, on any thread, before it
 * returns. Returns the result of f, or throws what f threw. */
template <class F, class Through> decltype(auto) carried(F &f, Through &&through) {
  using result = result_of<F &>;
  struct frame {
    F &f;
    slot<result> value;
    std::exception_ptr what;
  } in{f, {}, {}};
  through(
      [](void *ctx) {
        frame &here = from_ctx<frame>(ctx);
        guarded([&] { here.value.fill(here.f); },
                [&] { here.what = std::current_exception(); });
      },
      static_cast<void *>(&in));
  if (in.what) rethrow(in.what);
  if constexpr (std::is_void_v<std::invoke_result_t<F &>>)
    return;
  else
    return in.value.take();
}

} // namespace detail

WEFT_HPP_END

#endif
