/* weft/hpp/scope.hpp - weft::scope: any number of tasks, and a place where all have
 * ended; weft::async: one task, and a handle for its result.
 *
 *     weft::scope scope;
 *     for (auto &file : files) scope.spawn([&file] { parse(file); });
 *     scope.wait();
 *
 * SPDX-License-Identifier: MIT */
#ifndef WEFT_HPP_SCOPE_HPP
#define WEFT_HPP_SCOPE_HPP

#include <chrono>
#include <memory>
#include <vector>
#include <weft/hpp/base.hpp>
#include <weft/hpp/pool.hpp>

WEFT_HPP_BEGIN

/* What all calls of this header share.
 *
 * Serial: none: the callable was called already, unless the call says otherwise. Threads:
 * any, unless the call says otherwise. Exceptions: none, unless the call says otherwise.
 * Cost: that of the call of C that it stands for, unless the call says otherwise. */

namespace detail {

/* A task that has to be destroyed, also if it is skipped. */
struct owned_task {
  owned_task *previous = nullptr;
  owned_task *next = nullptr;
  virtual ~owned_task() = default;
};

/* The tasks of a scope that have not run yet. Several lists, so that threads seldom wait
 * for a lock. */
class task_lists {
public:
  task_lists() = default;
  task_lists(const task_lists &) = delete;
  task_lists &operator=(const task_lists &) = delete;
  ~task_lists() {
    clear();
  }
  void clear() noexcept {
    for (list &each : lists_)
      while (each.first != nullptr) delete std::exchange(each.first, each.first->next);
  }

  unsigned add(owned_task *task) {
    const unsigned which = static_cast<unsigned>(weft_worker_index()) % COUNT;
    list &to = lists_[which];
    std::lock_guard<std::mutex> hold(to.lock);
    task->next = to.first;
    if (task->next != nullptr) task->next->previous = task;
    to.first = task;
    return which;
  }
  void remove(owned_task *task, unsigned which) {
    list &from = lists_[which];
    std::lock_guard<std::mutex> hold(from.lock);
    (task->previous != nullptr ? task->previous->next : from.first) = task->next;
    if (task->next != nullptr) task->next->previous = task->previous;
  }

private:
  static constexpr unsigned COUNT = 8;
  struct list {
    std::mutex lock;
    owned_task *first = nullptr;
  };
  list lists_[COUNT];
};

} // namespace detail

/* A group of tasks, and a place where all of them have ended. It lives on the stack of
 * the thread that made it, which is in the current pool from the constructor (or that of
 * the options) until wait() or the destructor. Scopes of a thread end in the reverse
 * order of their beginnings. See weft/scope.h.
 *
 * Exceptions: when a task throws, the scope is cancelled: tasks that have not started are
 * skipped (what they have captured is destroyed), running ones go on to their end, and
 * wait(), or the destructor, throws. The first exception, in time, wins; others are
 * dropped. If the scope is left by an exception of its own thread, the scope is cancelled
 * and its destructor waits for the running tasks; that exception goes on, and those of
 * tasks are dropped. */
class scope {
public:
  scope() : scope(options()) {}
  explicit scope(const options &o) : unwinding_(std::uncaught_exceptions()) {
    weft_scope_begin_with(&o, &scope_);
  }
  scope(const scope &) = delete;
  scope &operator=(const scope &) = delete;

  /* Does what wait() does, if that has not been called. So it may throw. */
  ~scope() noexcept(false) {
    if (!open_) return;
    const bool is_left = std::uncaught_exceptions() > unwinding_;
    if (is_left) cancel();
    end();
    if (!is_left) failure_.rethrow_if_caught();
  }

  /* Replaces
   *
   *     f();
   *
   * Meaning: weft_spawn: f() runs once, at the latest in wait(), on any thread of the
   * pool, unless the scope is cancelled before. f is moved into the task, so it may have
   * captured things that can only be moved. Tasks may spawn into the same scope.
   *
   * Cost: callables that are trivially copyable, such as lambdas with references, are
   * copied and nothing is allocated; others cost a `new` and a lock that is mostly free.
   */
  template <class F> void spawn(F &&f) {
    using task = std::decay_t<F>;
    static_assert(std::is_invocable_v<task &>, "weft::scope::spawn: the function must be "
                                               "callable as f()");
    if constexpr (std::is_invocable_v<task &>) {
      if constexpr (std::is_trivially_copyable_v<task> &&
                    alignof(task) <= alignof(std::max_align_t)) {
        copied<task> in{this, std::forward<F>(f)};
        weft_spawn_copy(&scope_, &in, sizeof in, copied<task>::run);
      } else {
        std::unique_ptr<owned<task>> in(new owned<task>(this, std::forward<F>(f)));
        in->list = tasks_.add(in.get());
        weft_spawn(&scope_, owned<task>::run, in.release());
      }
    }
  }

  /* Tasks that have not started are skipped. wait() returns the number; 0 stands for
   * WEFT_ECANCELED. Any thread. */
  void cancel(int error = WEFT_ECANCELED) noexcept {
    weft_scope_cancel(&scope_, error);
  }
  bool cancelled() const noexcept {
    return weft_scope_cancelled(&scope_);
  }

  /* Returns when all tasks have ended or were skipped; throws what a task has thrown. The
   * result is 0, or the error that the scope, or one around it, was cancelled with. The
   * scope has ended then: once only. */
  int wait() {
    const int status = end();
    failure_.rethrow_if_caught();
    return status;
  }

  /* For options::with_cancel and the calls of C. */
  weft_scope *get() noexcept {
    return &scope_;
  }

private:
  template <class F> struct copied {
    scope *in;
    F f;
    static void run(void *ctx) {
      copied &task = detail::from_ctx<copied>(ctx);
      detail::guarded([&] { task.f(); }, [&] { task.in->caught(); });
    }
  };

  template <class F> struct owned : detail::owned_task {
    scope *in;
    F f;
    unsigned list = 0;
    template <class G> owned(scope *s, G &&g) : in(s), f(std::forward<G>(g)) {}
    static void run(void *ctx) {
      std::unique_ptr<owned> task(static_cast<owned *>(ctx));
      task->in->tasks_.remove(task.get(), task->list);
      detail::guarded([&] { task->f(); }, [&] { task->in->caught(); });
    }
  };

  WEFT_HPP_COLD void caught() noexcept {
    failure_.caught_at(0);
    cancel();
  }

  int end() {
    open_ = false;
    const int status = weft_scope_end(&scope_);
    tasks_.clear();
    return status;
  }

  weft_scope scope_;
  detail::task_lists tasks_;
  detail::earliest failure_;
  int unwinding_;
  bool open_ = true;
};

/* Runs a callable with a scope around it.
 *
 * Replaces
 *
 *     return body(scope);      // where scope.spawn(f) is f()
 *
 * Meaning: body(scope &) runs on the calling thread; the call returns its result when all
 * tasks have ended. An exception of body wins over those of tasks. */
template <class F> auto in_scope(const options &o, F &&body) {
  constexpr bool right = std::is_invocable_v<F &, scope &>;
  static_assert(right,
                "weft::in_scope: the function must be callable as f(weft::scope &)");
  if constexpr (right) {
    scope s(o);
    if constexpr (std::is_void_v<std::invoke_result_t<F &, scope &>>) {
      body(s);
      s.wait();
    } else {
      auto result = body(s);
      s.wait();
      return result;
    }
  }
}

template <class F> auto in_scope(F &&body) {
  return in_scope(options(), std::forward<F>(body));
}

/* The innermost scope around the calling code, or NULL: weft_scope_current. */
inline weft_scope *scope_current() noexcept {
  return weft_scope_current();
}

/* ---- one task ---- */

namespace detail {

/* A time in whole nanoseconds, rounded up; a negative one is 0, one that is too long for
 * ever. */
template <class Rep, class Period>
std::uint64_t in_ns(std::chrono::duration<Rep, Period> time) {
  using seconds = std::chrono::duration<long double>;
  const long double ns = std::chrono::duration_cast<seconds>(time).count() * 1e9L;
  if (!(ns > 0)) return 0;
  if (ns >= 1e19L) return UINT64_MAX;
  const auto whole = static_cast<std::uint64_t>(ns);
  return whole < ns ? whole + 1 : whole;
}

} // namespace detail

/* What weft::async returns: a function that was started, and its result. Movable.
 *
 * Exceptions: get() throws what the function has thrown. A task that was moved from, got,
 * dropped or never made is none, which valid() tells: its calls throw weft::error, and
 * done, wait, handle and drop find nothing. Cost: an allocation, and about
 * 100 ns for the handle. */
template <class R> class task {
public:
  task() = default;
  task(task &&other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
  task &operator=(task &&other) noexcept {
    std::swap(state_, other.state_);
    return *this;
  }
  /* Waits, so that what the function has captured by reference can be destroyed; what it
   * has thrown is dropped. */
  ~task() {
    if (state_ == nullptr) return;
    finish();
    state_->drop();
    delete state_;
  }

  /* Whether there is a task, and whether its function has returned. */
  bool valid() const noexcept {
    return state_ != nullptr;
  }
  bool done() const noexcept {
    return state_ != nullptr &&
           (state_->handle == nullptr || weft_handle_done(state_->handle));
  }

  /* Waits for at most this long; whether the function has returned: weft_handle_wait_for.
   * get() gives the result then. */
  template <class Rep, class Period>
  bool wait_for(std::chrono::duration<Rep, Period> limit) {
    expect_one();
    if (state_->handle == nullptr) return true;
    if (weft_handle_wait_for(state_->handle, detail::in_ns(limit)) != 0) return false;
    state_->handle = nullptr;
    return true;
  }
  void wait() noexcept {
    finish();
  }

  /* f() runs in the pool once the function has returned: weft_handle_then. f is moved,
   * and must own what it uses; what it throws ends the program, as in weft::detach.
   * Without memory the call waits, and f runs in it. */
  template <class F> void then(F &&f) {
    expect_one();
    weft_handle *handle = state_->handle;
    if (handle == nullptr) {
      weft::detach(std::forward<F>(f));
      return;
    }
    detail::give_to(
        std::forward<F>(f),
        [handle](weft_fn *fn, void *ctx) { return weft_handle_then(handle, fn, ctx); },
        [this](auto *made, int) {
          finish();
          std::decay_t<decltype(*made)>::run(made);
        });
  }

  /* Calls f() on the thread that was at the function, when it has returned, or here if it
   * has: weft_handle_on_done. Short, does not wait, throws nothing. */
  template <class F> void on_done(F &&f) {
    expect_one();
    weft_handle *handle = state_->handle;
    auto call = [handle](weft_fn *fn, void *ctx) {
      return handle != nullptr ? weft_handle_on_done(handle, fn, ctx) : WEFT_EINVAL;
    };
    detail::give_to(std::forward<F>(f), call, [this](auto *made, int) {
      finish();
      std::decay_t<decltype(*made)>::run(made);
    });
  }

  /* Writes to an eventfd or a pipe when the function has returned: weft_handle_notify.
   * Exceptions: weft::error for a descriptor that cannot be written to, or without
   * memory. */
  void notify(int fd) {
    expect_one();
    if (state_->handle != nullptr) {
      detail::check(weft_handle_notify(state_->handle, fd));
      return;
    }
    auto nothing_more = [](void *) {};
    weft_handle *done = nullptr;
    detail::check(weft_async(&done, nothing_more, nullptr));
    const int status = weft_handle_notify(done, fd);
    weft_handle_wait(done);
    detail::check(status);
  }

  /* For the calls of C; NULL if the function has returned and was waited for, or ran in
   * the call of async. */
  weft_handle *handle() const noexcept {
    return state_ != nullptr ? state_->handle : nullptr;
  }

  /* Waits, helping the pool; returns the result, or throws what the function has thrown.
   * Once only. */
  R get() {
    expect_one();
    finish();
    std::unique_ptr<state> last(std::exchange(state_, nullptr));
    if (last->what) detail::rethrow(last->what);
    return static_cast<R>(last->value.take());
  }

  /* Gives the task up without waiting: weft_handle_drop. The function still runs; its
   * result, or what it throws, is dropped. It must own what it uses. */
  void drop() noexcept {
    if (state_ == nullptr) return;
    state *last = std::exchange(state_, nullptr);
    weft_handle_drop(std::exchange(last->handle, nullptr));
    last->leave();
  }

private:
  template <class F> friend auto async(const options &o, F &&f);

  struct state {
    weft_handle *handle = nullptr;
    std::exception_ptr what;
    std::atomic<bool> left{false};
    detail::slot<std::conditional_t<std::is_void_v<R>, nothing, std::remove_cv_t<R>>>
        value;
    virtual ~state() = default;
    void drop() noexcept {
      if (!what) value.clear();
    }
    /* Called by the thread that ran the function, when it has, and by one that drops the
     * task: the second of the two destroys it. acq_rel: pairs with itself, so that the
     * second sees what the first has written. */
    void leave() noexcept {
      if (!left.exchange(true, std::memory_order_acq_rel)) return;
      drop();
      delete this;
    }
  };

  template <class F> struct state_of : state {
    F f;
    template <class G> explicit state_of(G &&g) : f(std::forward<G>(g)) {}
    static void run(void *ctx) {
      state_of &here = detail::from_ctx<state_of>(ctx);
      detail::guarded([&] { here.value.fill(here.f); },
                      [&] { here.what = std::current_exception(); });
      here.leave();
    }
  };

  void expect_one() const {
    detail::check(state_ != nullptr ? 0 : WEFT_EINVAL);
  }
  void finish() noexcept {
    if (state_ != nullptr && state_->handle != nullptr)
      weft_handle_wait(std::exchange(state_->handle, nullptr));
  }

  state *state_ = nullptr;
};

/* Starts a callable and gives a task to wait for its result.
 *
 * Replaces
 *
 *     auto result = f();      // now, though it is needed later
 *
 * Meaning: weft_async: hands f to the started threads of the current pool and returns at
 * once. If that is impossible for want of memory, or of room in the queue
 * (weft_config.queue_limit), f runs in the call. f is moved.
 *
 *     auto level = weft::async([&] { return load(name); });
 *     ...
 *     show(level.get()); */
template <class F> auto async(const options &o, F &&f) {
  using function = std::decay_t<F>;
  constexpr bool right = std::is_invocable_v<function &>;
  static_assert(right, "weft::async: the function must be callable as f()");
  if constexpr (right) {
    using made = task<std::invoke_result_t<function &>>;
    using state = typename made::template state_of<function>;
    made result;
    state *s = new state(std::forward<F>(f));
    result.state_ = s;
    if (weft_async_with(&o, &s->handle, state::run, s) != 0) {
      s->handle = nullptr;
      state::run(s);
    }
    return result;
  }
}

template <class F> auto async(F &&f) {
  return async(options(), std::forward<F>(f));
}

/* ---- several tasks: a container of weft::task ---- */

/* Waits for one of several tasks for a limited time: weft_handle_wait_any_for. The result
 * is the index of the first one whose function has returned, or SIZE_MAX when the time is
 * over. */
template <class Tasks, class Rep, class Period>
std::size_t wait_any_for(const Tasks &tasks, std::chrono::duration<Rep, Period> limit) {
  std::vector<weft_handle *> handles;
  for (const auto &each : tasks) {
    if (each.handle() == nullptr) return handles.size(); /* it has returned */
    handles.push_back(each.handle());
  }
  return weft_handle_wait_any_for(handles.data(), handles.size(), detail::in_ns(limit));
}

/* Waits for one of several tasks: weft_handle_wait_any. The result is its index. */
template <class Tasks> std::size_t wait_any(const Tasks &tasks) {
  std::vector<weft_handle *> handles;
  for (const auto &each : tasks) {
    if (each.handle() == nullptr) return handles.size();
    handles.push_back(each.handle());
  }
  return weft_handle_wait_any(handles.data(), handles.size());
}

/* Waits for all of several tasks: weft_handle_wait_all. get() then returns at once. */
template <class Tasks> void wait_all(Tasks &tasks) {
  for (auto &each : tasks) each.wait();
}

WEFT_HPP_END

#endif
