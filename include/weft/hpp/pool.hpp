/* weft/hpp/pool.hpp - weft::pool, and calls that run a callable in a special way: detach,
 * isolate, broadcast, blocking sections.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WEFT_HPP_POOL_HPP
#define WEFT_HPP_POOL_HPP

#include <memory>
#include <weft/hpp/base.hpp>

WEFT_HPP_BEGIN

/* What all calls of this header share.
 *
 * Serial: none: a serial program has no pool, unless the call says otherwise. Threads:
 * any, unless the call says otherwise. Exceptions: none, unless the call says otherwise.
 * Cost: that of the call of C that it stands for, unless the call says otherwise. */

namespace detail {

/* A callable on the heap that runs once and is destroyed then. Nobody waits for it, so
 * nobody could catch what it throws: noexcept ends the program, as std::thread does. */
template <class F> struct detached {
  F f;

  static void run(void *ctx) noexcept {
    std::unique_ptr<detached> here(static_cast<detached *>(ctx));
    here->f();
  }
};

/* Gives f to a C call that takes fn and ctx and returns a status. Where that is
 * impossible, for want of memory or room in the queue, `otherwise` gets the task and the
 * status. */
template <class F, class Give, class Otherwise>
void give_to(F &&f, Give &&give, Otherwise &&otherwise) {
  using task = detached<std::decay_t<F>>;
  static_assert(std::is_invocable_v<std::decay_t<F> &>,
                "weft::detach: the function must be callable as f()");
  if constexpr (std::is_invocable_v<std::decay_t<F> &>) {
    auto *made = new task{std::forward<F>(f)};
    const int status = give(task::run, static_cast<void *>(made));
    if (status != 0) otherwise(made, status);
  }
}

/* As above; f runs here instead. */
template <class F, class Give> void detach_by(F &&f, Give &&give) {
  give_to(std::forward<F>(f), std::forward<Give>(give),
          [](auto *made, int) { std::decay_t<decltype(*made)>::run(made); });
}

/* As above; f is destroyed instead, and the result is false. */
template <class F, class Give> bool try_detach_by(F &&f, Give &&give) {
  bool given = true;
  give_to(std::forward<F>(f), std::forward<Give>(give), [&](auto *made, int) {
    given = false;
    delete made;
  });
  return given;
}

} // namespace detail

/* How a pool is made: weft_config, with its defaults. */
struct config : weft_config {
  config() noexcept : weft_config(WEFT_CONFIG_INIT) {}

  /* Setters: each sets the member of weft_config after which it is named. They return the
   * configuration, so that several can stand in a row. */
  config &with_threads(unsigned count) noexcept {
    threads = count;
    return *this;
  }
  config &with_stack_size(std::size_t bytes) noexcept {
    stack_size = bytes;
    return *this;
  }
  config &with_idle(weft_idle mode) noexcept {
    idle = mode;
    return *this;
  }
  config &with_name(const char *prefix) noexcept {
    name = prefix;
    return *this;
  }
  config &with_hooks(void (*start)(unsigned worker, void *ctx),
                     void (*exit)(unsigned worker, void *ctx),
                     void *ctx = nullptr) noexcept {
    on_start = start;
    on_exit = exit;
    hook_ctx = ctx;
    return *this;
  }
  config &with_guests(unsigned count) noexcept {
    guests = count;
    return *this;
  }
  config &with_deque_capacity(std::size_t tasks) noexcept {
    deque_capacity = tasks;
    return *this;
  }
  config &with_blocking(unsigned count) noexcept {
    blocking = count;
    return *this;
  }
  config &with_queue_limit(std::size_t functions) noexcept {
    queue_limit = functions;
    return *this;
  }
  config &with_steer(weft_steer when) noexcept {
    steer = when;
    return *this;
  }
  config &with_cpus(const char *list) noexcept {
    cpus = list;
    return *this;
  }
  config &with_bind(weft_bind what) noexcept {
    bind = what;
    return *this;
  }
};

/* A pool of threads; its destructor ends it. Movable. Most programs need none: the global
 * pool starts by itself.
 *
 *     weft::pool pool(4);
 *     double sum = pool.run([&] { return weft::reduce(v, 0.0, std::plus<>()); });
 *
 * Exceptions: the constructors throw weft::error if the pool cannot be created; with
 * -fno-exceptions get() is then NULL, which stands for the current pool. */
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
  /* weft_pool_destroy: runs the work that was detached first; nobody may use the pool. */
  ~pool() {
    weft_pool_destroy(pool_);
  }

  /* The pool for the calls of C. */
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
   * Meaning: weft_pool_run: f runs in the pool, and so does all parallel work that f
   * starts. Returns the result of f; throws what f throws. */
  template <class F> decltype(auto) run(F &&f) const {
    static_assert(std::is_invocable_v<F &>, "weft::pool::run: the function must be "
                                            "callable as f()");
    if constexpr (std::is_invocable_v<F &>)
      return detail::carried(
          f, [this](weft_fn *fn, void *ctx) { weft_pool_run(pool_, fn, ctx); });
  }

  /* Replaces
   *
   *     f();      // though nobody needs to wait for it
   *
   * Meaning: weft_pool_detach; see weft::detach. */
  template <class F> void detach(F &&f) const {
    detail::detach_by(std::forward<F>(f), [this](weft_fn *fn, void *ctx) {
      return weft_pool_detach(pool_, fn, ctx);
    });
  }

  /* The same, but false if there is no room in the queue (weft_config.queue_limit), or no
   * memory; then f does not run. */
  template <class F> bool try_detach(F &&f) const {
    return detail::try_detach_by(std::forward<F>(f), [this](weft_fn *fn, void *ctx) {
      return weft_pool_detach(pool_, fn, ctx);
    });
  }

  /* Until everything that was submitted has run: weft_pool_wait_idle. */
  void wait_idle() const noexcept {
    weft_pool_wait_idle(pool_);
  }

  /* Totals since the pool started: weft_pool_stats. */
  weft_stats stats() const noexcept {
    weft_stats total = WEFT_STATS_INIT;
    weft_pool_stats(pool_, &total);
    return total;
  }
  /* Those of one worker: weft_pool_worker_stats. All 0 if there is no such worker. */
  weft_stats worker_stats(unsigned worker) const noexcept {
    weft_stats one = WEFT_STATS_INIT;
    static_cast<void>(weft_pool_worker_stats(pool_, worker, &one));
    return one;
  }

private:
  weft_pool *pool_ = nullptr;
};

/* ---- the current pool, which outside of pools is the global one: weft/pool.h ---- */

/* What the current pool is, what it does, and which thread calls. As weft_pool_current,
 * weft_pool_wait_idle, weft_pool_stats, weft_thread_count, weft_worker_index,
 * weft_worker_limit. */
inline weft_pool *pool_current() noexcept {
  return weft_pool_current();
}
inline void pool_wait_idle() noexcept {
  weft_pool_wait_idle(nullptr);
}
inline weft_stats pool_stats() noexcept {
  weft_stats total = WEFT_STATS_INIT;
  weft_pool_stats(nullptr, &total);
  return total;
}
inline unsigned thread_count() noexcept {
  return weft_thread_count();
}
inline int worker_index() noexcept {
  return weft_worker_index();
}
inline unsigned worker_limit() noexcept {
  return weft_worker_limit();
}

/* Starts and ends the global pool: weft_init, weft_shutdown. Both are optional.
 * Exceptions: weft::error if it runs already or cannot be started. */
inline void init(const weft_config &c) {
  detail::check(weft_init(&c));
}
inline void shutdown() noexcept {
  weft_shutdown();
}

/* Starts a callable; nobody waits for it.
 *
 * Replaces
 *
 *     f();      // though nobody needs to wait for it
 *
 * Meaning: weft_detach: hands f to the started threads of the current pool (or that of
 * the options, which also choose the lane) and returns at once. f is moved and must own
 * what it uses. Without memory for the task, and where as many functions wait as the
 * pool's queue_limit allows, f runs in the call: a producer that is too fast is slowed
 * down. try_detach returns false instead, and f does not run.
 *
 * Exceptions: nobody waits for f, so an exception that leaves it calls std::terminate,
 * as in a std::thread. */
template <class F> void detach(const options &o, F &&f) {
  detail::detach_by(std::forward<F>(f), [&o](weft_fn *fn, void *ctx) {
    return weft_detach_with(&o, fn, ctx);
  });
}

template <class F> void detach(F &&f) {
  weft::detach(options(), std::forward<F>(f));
}

/* Starts a callable if the queue has room.
 *
 * Serial: f(); Meaning: as detach; the result is false, and f does not run, where there
 * is no memory, or as many functions wait as the queue_limit of the pool allows. */
template <class F> bool try_detach(const options &o, F &&f) {
  return detail::try_detach_by(std::forward<F>(f), [&o](weft_fn *fn, void *ctx) {
    return weft_detach_with(&o, fn, ctx);
  });
}

template <class F> bool try_detach(F &&f) {
  return weft::try_detach(options(), std::forward<F>(f));
}

/* Runs one waiting task, if there is one: weft_yield. Returns whether it ran one. Tasks
 * of scopes and calls keep their exceptions, so it throws nothing. */
inline bool yield() noexcept {
  return weft_yield();
}

/* Runs a callable; while it waits, its thread runs no other work.
 *
 * Replaces
 *
 *     return f();
 *
 * Meaning: weft_isolate: while f waits for its own tasks, this thread runs no others, so
 * the caller may hold a lock that they take. */
template <class F> decltype(auto) isolate(F &&f) {
  static_assert(std::is_invocable_v<F &>,
                "weft::isolate: the function must be callable as "
                "f()");
  if constexpr (std::is_invocable_v<F &>)
    return detail::carried(f, [](weft_fn *fn, void *ctx) { weft_isolate(fn, ctx); });
}

/* A blocking section, while the object lives: weft_blocking_begin. Another thread stands
 * in for this one while the object lives.
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

/* Calls a callable once on every thread of a pool.
 *
 * Replaces
 *
 *     for (unsigned index = 0; index < count; index++) f(index, count);
 *
 * Meaning: weft_broadcast: one call on each thread of the current pool, or of that of the
 * options. If some throw, the others are still made; then the exception of the lowest
 * index is thrown. */
template <class F> void broadcast(const options &o, F &&f) {
  constexpr bool right = std::is_invocable_v<F &, unsigned, unsigned>;
  static_assert(right,
                "weft::broadcast: the function must be callable as f(index, count)");
  if constexpr (right && detail::expect_shared<F, unsigned, unsigned>()) {
    struct frame {
      const std::remove_reference_t<F> &f;
      detail::earliest failure;
    } in{f, {}};
    weft_broadcast_with(
        &o,
        [](unsigned index, unsigned count, void *ctx) {
          frame &here = detail::from_ctx<frame>(ctx);
          detail::guarded([&] { here.f(index, count); },
                          [&] { here.failure.caught_at(index); });
        },
        &in);
    in.failure.rethrow_if_caught();
  }
}

template <class F> void broadcast(F &&f) {
  weft::broadcast(options(), std::forward<F>(f));
}

WEFT_HPP_END

#endif
