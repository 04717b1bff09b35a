/* weft/hpp/pool.hpp - weft::pool, and what runs a callable in some special way.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WEFT_HPP_POOL_HPP
#define WEFT_HPP_POOL_HPP

#include <weft/hpp/base.hpp>

WEFT_HPP_BEGIN

/* weft_config (weft/pool.h), with its defaults. */
struct config : weft_config {
  config() noexcept : weft_config(WEFT_CONFIG_INIT) {}

  config &with_threads(unsigned count) noexcept {
    threads = count;
    return *this;
  }
};

/* A pool of threads, ended by its destructor; movable. Most programs need none: the
 * global pool starts by itself.
 *
 *     weft::pool pool(4);
 *     double sum = pool.run([&] { return weft::reduce(v, 0.0, std::plus<>()); });
 *
 * Exceptions: the constructors throw weft::error if the pool cannot be made; without
 * exceptions get() is then NULL, which stands for the global pool. */
class pool {
public:
  explicit pool(unsigned threads = 0) : pool(config().with_threads(threads)) {}
  explicit pool(const weft_config &c) {
    detail::check(weft_pool_create(&pool_, &c));
  }
  pool(pool &&other) noexcept : pool_(std::exchange(other.pool_, nullptr)) {}
  pool &operator=(pool &&other) noexcept {
    std::swap(pool_, other.pool_);
    return *this;
  }
  /* As weft_pool_destroy: what was detached is run first; the pool must not be in use. */
  ~pool() {
    weft_pool_destroy(pool_);
  }

  weft_pool *get() const noexcept {
    return pool_;
  }
  operator weft_pool *() const noexcept {
    return pool_;
  }

  /* Replaces
   *
   *     return f();
   *
   * Meaning: weft_pool_run: f runs in the pool, and so does all parallel work in it. The
   * result is that of f; what f throws is thrown here. */
  template <class F> decltype(auto) run(F &&f) const {
    static_assert(std::is_invocable_v<F &>, "weft::pool::run: the function must be "
                                            "callable as f()");
    if constexpr (std::is_invocable_v<F &>)
      return detail::carried(
          f, [this](weft_fn *fn, void *ctx) { weft_pool_run(pool_, fn, ctx); });
  }

private:
  weft_pool *pool_ = nullptr;
};

/* Replaces
 *
 *     return f();
 *
 * Meaning: weft_isolate: while f waits for its own tasks, this thread runs no others, so
 * that f may hold a lock that they take. */
template <class F> decltype(auto) isolate(F &&f) {
  static_assert(std::is_invocable_v<F &>,
                "weft::isolate: the function must be callable as "
                "f()");
  if constexpr (std::is_invocable_v<F &>)
    return detail::carried(f, [](weft_fn *fn, void *ctx) { weft_isolate(fn, ctx); });
}

/* A blocking section: another thread of the pool takes over while this object lives.
 *
 *     weft::blocking section;
 *     file.read(buffer, size); */
class blocking {
public:
  blocking() noexcept {
    weft_blocking_begin();
  }
  blocking(const blocking &) = delete;
  blocking &operator=(const blocking &) = delete;
  ~blocking() {
    weft_blocking_end();
  }
};

/* Replaces
 *
 *     for (unsigned index = 0; index < count; index++) f(index, count);
 *
 * Meaning: weft_broadcast: one call on each thread of the current pool. All are made also
 * if some throw; then the exception of the lowest index is thrown. */
template <class F> void broadcast(F &&f) {
  constexpr bool right = std::is_invocable_v<F &, unsigned, unsigned>;
  static_assert(right,
                "weft::broadcast: the function must be callable as f(index, count)");
  if constexpr (right) {
    struct frame {
      std::remove_reference_t<F> &f;
      detail::earliest failure;
    } in{f, {}};
    weft_broadcast(
        [](unsigned index, unsigned count, void *ctx) {
          frame &here = detail::from_ctx<frame>(ctx);
          detail::guarded([&] { here.f(index, count); },
                          [&] { here.failure.caught_at(index); });
        },
        &in);
    in.failure.rethrow_if_caught();
  }
}

WEFT_HPP_END

#endif
