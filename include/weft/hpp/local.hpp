/* weft/hpp/local.hpp - weft::local: one object for each thread; weft::bag: a growing
 * array that any task adds to.
 *
 *     weft::local<std::unordered_map<std::string, long>> counts;
 *     weft::for_each(words, [&](const std::string &word) { counts.get()[word]++; });
 *     counts.each([&](auto &of_one_thread) { ... });
 *
 * SPDX-License-Identifier: MIT */
#ifndef WEFT_HPP_LOCAL_HPP
#define WEFT_HPP_LOCAL_HPP

#include <cstddef>
#include <functional>
#include <vector>
#include <weft/hpp/base.hpp>

WEFT_HPP_BEGIN

/* What all calls of this header share.
 *
 * Cost: that of the call of C that it stands for: a few nanoseconds for get and add. */

namespace detail {

/* Calls call(fn, ctx), a C function that calls fn(x, ctx) for several x, one after the
 * other, on this thread: with f(x as T &). Once f has thrown, it is not called any more.
 */
template <class T, class F, class Call> void each_by(F &f, Call &&call) {
  struct frame {
    F &f;
    std::exception_ptr what;
  } in{f, {}};
  call(
      [](void *x, void *ctx) {
        frame &here = from_ctx<frame>(ctx);
        if (here.what) return;
        guarded([&] { here.f(*std::launder(static_cast<T *>(x))); },
                [&] { here.what = std::current_exception(); });
      },
      static_cast<void *>(&in));
  if (in.what) rethrow(in.what);
}

} // namespace detail

/* An object for each thread.
 *
 * Replaces
 *
 *     T object;       // or T object = make();
 *
 * Meaning: weft_local: each thread that calls get() has an object of its own, made on its
 * first call by T() or make(), at a cache line of its own. The object is this function's
 * alone until it calls weft or ends: while it waits in a call of weft, its thread may run
 * another block, which gets the same object. weft/local.h has an example of the right and
 * the wrong use.
 *
 * Threads: get() any; each, combine and the destructor while no other thread uses it.
 * Exceptions: what T() or make throws reaches the caller of get(), and the next call
 * tries again; std::bad_alloc without memory. With make, T must be movable; the
 * constructor of a T that is not must not call weft. */
template <class T> class local {
public:
  local() : local(make_default, {}) {
    static_assert(std::is_default_constructible_v<T>,
                  "weft::local: T() does not exist, give a function that makes a T");
  }
  explicit local(std::function<T()> make) : local(make_by_function, std::move(make)) {
    static_assert(std::is_move_constructible_v<T>,
                  "weft::local: what a function makes must be movable");
  }
  local(const local &) = delete;
  local &operator=(const local &) = delete;
  ~local() {
    weft_local_each(
        slots_,
        [](void *slot, void *) {
          cell &here = *std::launder(static_cast<cell *>(slot));
          if (here.made) here.object()->~T();
        },
        nullptr);
    weft_local_destroy(slots_);
  }

  /* The object of the calling thread. */
  T &get() {
    cell *here = static_cast<cell *>(weft_local_get(slots_));
    if (here == nullptr) detail::no_memory();
    if (WF_UNLIKELY(!here->made)) fill_(*here, make_);
    return *here->object();
  }
  T &operator*() {
    return get();
  }
  T *operator->() {
    return std::addressof(get());
  }

  /* Calls f(object) for each object that was made, one after the other. */
  template <class F> void each(F &&f) {
    static_assert(std::is_invocable_v<F &, T &>,
                  "weft::local: each needs a function f(T &)");
    if constexpr (std::is_invocable_v<F &, T &>) {
      auto if_made = [&f](cell &here) {
        if (here.made) f(*here.object());
      };
      detail::each_by<cell>(if_made, [this](void (*fn)(void *, void *), void *ctx) {
        weft_local_each(slots_, fn, ctx);
      });
    }
  }

  /* op(op(start, object), object) ... of all objects, in no particular order. */
  template <class A, class Op> A combine(A start, Op &&op) {
    each([&](T &object) { start = op(std::move(start), object); });
    return start;
  }

  /* How many threads have an object. */
  std::size_t size() {
    std::size_t count = 0;
    each([&](T &) { count++; });
    return count;
  }

  /* Gets the memory for `count` further objects now. */
  void reserve(std::size_t count) {
    if (weft_local_reserve(slots_, count) != 0) detail::no_memory();
  }

private:
  /* A slot, which C has set to zeros. */
  struct cell {
    bool made;
    alignas(T) unsigned char memory[sizeof(T)];
    T *object() noexcept {
      return std::launder(reinterpret_cast<T *>(memory));
    }
  };
  static_assert(alignof(T) <= 64, "weft::local: T may not need more than 64 bytes of "
                                  "alignment");

  using filler = void(cell &, const std::function<T()> &);

  local(filler *fill, std::function<T()> make) : fill_(fill), make_(std::move(make)) {
    if (weft_local_create(&slots_, sizeof(cell), nullptr, nullptr) != 0)
      detail::no_memory();
  }

  /* make may call weft, and code on this thread may fill the slot meanwhile. */
  template <class Make> static void move_in(cell &here, const Make &make) {
    T object = make();
    if (here.made) return;
    ::new (static_cast<void *>(here.memory)) T(std::move(object));
    here.made = true;
  }
  static void make_default(cell &here, const std::function<T()> &) {
    if constexpr (std::is_default_constructible_v<T>) {
      if constexpr (std::is_move_constructible_v<T>)
        move_in(here, [] { return T(); });
      else
        ::new (static_cast<void *>(here.memory)) T(), here.made = true;
    }
  }
  static void make_by_function(cell &here, const std::function<T()> &make) {
    if constexpr (std::is_move_constructible_v<T>) move_in(here, make);
  }

  weft_local *slots_ = nullptr;
  filler *fill_;
  std::function<T()> make_;
};

/* A growing array that any thread adds to.
 *
 * Replaces
 *
 *     std::vector<T> all;       // and a lock around all.push_back(x)
 *
 * Meaning: weft_bag: any number of threads add at the same time, without waiting for each
 * other, in no particular order. Elements stay where they are. T is copied as bytes, so
 * it must be trivially copyable; for other types use weft::local<std::vector<T>>.
 *
 * Threads: add any; collect, each, clear and the destructor while none adds. Exceptions:
 * std::bad_alloc without memory; the bag is as before. */
template <class T> class bag {
  static_assert(std::is_trivially_copyable_v<T>,
                "weft::bag: T must be trivially copyable; for other types there is "
                "weft::local<std::vector<T>>");
  static_assert(alignof(T) <= 64,
                "weft::bag: T may not need more than 64 bytes of alignment");

public:
  bag() {
    if (weft_bag_create(&bag_, sizeof(T)) != 0) detail::no_memory();
  }
  bag(const bag &) = delete;
  bag &operator=(const bag &) = delete;
  ~bag() {
    weft_bag_destroy(bag_);
  }

  /* Adds a copy of an element, or of n elements: weft_bag_add, weft_bag_add_many. */
  void add(const T &element) {
    if (weft_bag_add(bag_, std::addressof(element)) != 0) detail::no_memory();
  }
  void add(const T *first, std::size_t count) {
    if (weft_bag_add_many(bag_, first, count) != 0) detail::no_memory();
  }

  /* The number of elements: weft_bag_count. */
  std::size_t size() const noexcept {
    return weft_bag_count(bag_);
  }

  /* A vector of all elements. */
  std::vector<T> collect() const {
    std::vector<T> all(size());
    weft_bag_copy(all.data(), bag_);
    return all;
  }

  /* Calls f(element) for each element where it is, one after the other. */
  template <class F> void each(F &&f) {
    static_assert(std::is_invocable_v<F &, T &>,
                  "weft::bag: each needs a function f(T &)");
    if constexpr (std::is_invocable_v<F &, T &>)
      detail::each_by<T>(f, [this](void (*fn)(void *, void *), void *ctx) {
        weft_bag_each(bag_, fn, ctx);
      });
  }

  /* Takes all elements out: weft_bag_clear. */
  void clear() noexcept {
    weft_bag_clear(bag_);
  }

private:
  weft_bag *bag_ = nullptr;
};

WEFT_HPP_END

#endif
