/* weft/hpp/loop.hpp - weft::for_each, for_blocks, for_chunks, transform, map.
 *
 *     weft::for_each(v, [](double &x) { x *= 2; });
 *
 * SPDX-License-Identifier: MIT */
#ifndef WEFT_HPP_LOOP_HPP
#define WEFT_HPP_LOOP_HPP

#include <memory>
#include <vector>
#include <weft/hpp/range.hpp>

WEFT_HPP_BEGIN

/* What all loops share.
 *
 * Ranges: a container or array with random access (std::vector, std::array, std::deque,
 * T[n], std::string), a number n for the indices [0, n), or two iterators or numbers.
 *
 * Threads, cost: those of weft_for (weft/loop.h): no grain to choose. The callable is
 * inlined into the loop over a block, which is vectorised where that is possible (by g++
 * also at -O2). It is called on several threads at the same time, through one object: if
 * it changes something it shares, that is up to you. Options come first, if there are
 * any; see weft::options.
 *
 * Exceptions: if the callable throws, blocks behind the element concerned are not started
 * any more, blocks in front of it are; when all that has begun has ended, the call throws
 * what the serial loop would have thrown, the exception of the lowest index. */

namespace detail {

template <class V, class F> void for_each_in(const weft_opts *o, V view, F &f) {
  constexpr bool right = std::is_invocable_v<F &, element_of<V>>;
  static_assert(right, "weft::for_each: the function must be callable as f(element)");
  if constexpr (right) {
    auto body = [view, &f](std::size_t begin, std::size_t end) {
      const V v = view; /* so that it stays in registers, whatever f writes */
      for (std::size_t i = begin; i < end; i++) f(v[i]);
    };
    for_blocks(o, view.size(), body);
  }
}

template <class A, class B, class F>
void for_each_between(const weft_opts *o, A first, B last, F &f) {
  using bound = typename bound_of<A, B>::type;
  static_assert(!std::is_void_v<bound>,
                "weft::for_each: first and last are not of the same type");
  if constexpr (!std::is_void_v<bound>) {
    static_assert(is_bound<bound>, "weft::for_each: the iterators need random access");
    if constexpr (is_bound<bound>)
      for_each_in(
          o, view_between<bound>(static_cast<bound>(first), static_cast<bound>(last)), f);
  }
}

template <class R> constexpr void expect_range() {
  static_assert(is_range<R>, "weft: not a range: give a container with random access, an "
                             "array, a number, or two iterators");
}

} // namespace detail

/* Replaces
 *
 *     for (auto &x : range) f(x);
 *
 * or, for a number, for (N i = 0; i < n; i++) f(i). */
template <class R, class F> void for_each(R &&range, F &&f) {
  detail::expect_range<R>();
  if constexpr (detail::is_range<R>)
    detail::for_each_in(nullptr, detail::view_of(range), f);
}

template <class R, class F> void for_each(const options &o, R &&range, F &&f) {
  detail::expect_range<R>();
  if constexpr (detail::is_range<R>) detail::for_each_in(&o, detail::view_of(range), f);
}

/* Replaces
 *
 *     for (It it = first; it != last; ++it) f(*it);
 *
 * or, for numbers, for (auto i = first; i < last; i++) f(i), with an i of the type in
 * which the two are compared: std::size_t for 0 and v.size(). */
template <class A, class B, class F, std::enable_if_t<!detail::is_options<A>, int> = 0>
void for_each(A first, B last, F &&f) {
  detail::for_each_between(nullptr, first, last, f);
}

template <class A, class B, class F>
void for_each(const options &o, A first, B last, F &&f) {
  detail::for_each_between(&o, first, last, f);
}

/* Replaces
 *
 *     f(0, n);
 *
 * Meaning: f(begin, end) is called for blocks that are disjoint, not empty and cover
 * [0, n): weft_for, for bodies that do something once for each block. */
template <class F> void for_blocks(const options &o, std::size_t n, F &&f) {
  constexpr bool right = std::is_invocable_v<F &, std::size_t, std::size_t>;
  static_assert(right,
                "weft::for_blocks: the function must be callable as f(begin, end)");
  if constexpr (right) detail::for_blocks(&o, n, f);
}

template <class F> void for_blocks(std::size_t n, F &&f) {
  for_blocks(options(), n, std::forward<F>(f));
}

/* Replaces
 *
 *     for (std::size_t i = 0; i < range.size(); i += chunk)
 *       f(range.begin() + i, std::min(chunk, range.size() - i));
 *
 * Meaning: f(first, count) is called for chunks of `chunk` elements (the last may be
 * shorter); first is a pointer, or an iterator where there is no pointer. The lengths in
 * options count chunks. A chunk of 0 counts as 1. */
template <class R, class F>
void for_chunks(const options &o, R &&range, std::size_t chunk, F &&f) {
  detail::expect_range<R>();
  if constexpr (detail::is_range<R>) {
    static_assert(!detail::is_index<R>, "weft::for_chunks: give a container");
    auto view = detail::view_of(range);
    using first = decltype(view.first);
    constexpr bool right = std::is_invocable_v<F &, first, std::size_t>;
    static_assert(right, "weft::for_chunks: the function must be callable as f(first, "
                         "count)");
    if constexpr (right) {
      const std::size_t n = view.size(), len = chunk == 0 ? 1 : chunk;
      auto body = [&](std::size_t begin, std::size_t end) {
        for (std::size_t k = begin; k < end; k++) {
          const std::size_t i = k * len;
          f(view.first +
                static_cast<typename std::iterator_traits<first>::difference_type>(i),
            n - i < len ? n - i : len);
        }
      };
      detail::for_blocks(&o, n / len + (n % len != 0), body);
    }
  }
}

template <class R, class F> void for_chunks(R &&range, std::size_t chunk, F &&f) {
  for_chunks(options(), std::forward<R>(range), chunk, std::forward<F>(f));
}

/* ---- transform, map ---- */

namespace detail {

template <class From, class To, class F>
void transform_views(const weft_opts *o, From from, To to, F &f) {
  constexpr bool right = std::is_invocable_v<F &, element_of<From>>;
  static_assert(right, "weft::transform: the function must be callable as f(element)");
  static_assert(
      !has_proxies<To>,
      "weft::transform: not into std::vector<bool>, whose elements share bytes");
  if constexpr (right && !has_proxies<To>) {
    auto body = [from, to, &f](std::size_t begin, std::size_t end) {
      const From x = from;
      const To y = to;
      WF_INDEPENDENT for (std::size_t i = begin; i < end; i++) y[i] = f(x[i]);
    };
    for_blocks(o, from.size() < to.size() ? from.size() : to.size(), body);
  }
}

} // namespace detail

/* Replaces
 *
 *     for (std::size_t i = 0; i < from.size(); i++) to[i] = f(from[i]);
 *
 * Meaning: `to` is a container that is there already; the shorter of the two decides.
 * `to` may be `from`, but not overlap it otherwise. f(element) for each index once. */
template <class R, class To, class F>
void transform(const options &o, R &&from, To &&to, F &&f) {
  detail::expect_range<R>();
  detail::expect_range<To>();
  if constexpr (detail::is_range<R> && detail::is_range<To>)
    detail::transform_views(&o, detail::view_of(from), detail::view_of(to), f);
}

template <class R, class To, class F, std::enable_if_t<!detail::is_options<R>, int> = 0>
void transform(R &&from, To &&to, F &&f) {
  transform(options(), std::forward<R>(from), std::forward<To>(to), std::forward<F>(f));
}

namespace detail {

/* Room for n objects, of which each is made once, by any thread; becomes a vector. A
 * vector of its own would make its elements one after the other, and may not be able to
 * make them from nothing; so of other than plain numbers and structs a buffer is filled
 * first. */
template <class T> class gathered {
public:
  static constexpr bool is_plain = std::is_trivially_copyable_v<T> &&
                                   std::is_default_constructible_v<T> &&
                                   !std::is_same_v<T, bool>;

  explicit gathered(std::size_t n) {
    if constexpr (is_plain) {
      vector_.resize(n);
      place_ = vector_.data();
    } else {
      made_ = std::make_unique<unsigned char[]>(n); /* first: it frees itself */
      place_ = std::allocator<T>().allocate(n);
      count_ = n;
    }
  }
  gathered(const gathered &) = delete;
  gathered &operator=(const gathered &) = delete;
  ~gathered() {
    if constexpr (!is_plain) {
      for (std::size_t i = 0; i < count_; i++)
        if (made_[i]) place_[i].~T();
      std::allocator<T>().deallocate(place_, count_);
    }
  }

  template <class F> WEFT_HPP_INLINE void make(std::size_t i, F &&f) {
    if constexpr (is_plain) {
      place_[i] = std::forward<F>(f)();
    } else {
      ::new (static_cast<void *>(place_ + i)) T(std::forward<F>(f)());
      made_[i] = 1;
    }
  }

  /* When all were made; after a cancellation those that were. */
  std::vector<T> take() {
    if constexpr (!is_plain) {
      vector_.reserve(count_);
      for (std::size_t i = 0; i < count_; i++)
        if (made_[i]) vector_.push_back(std::move(place_[i]));
    }
    return std::move(vector_);
  }

private:
  std::vector<T> vector_;
  T *place_ = nullptr;
  std::unique_ptr<unsigned char[]> made_;
  std::size_t count_ = 0;
};

} // namespace detail

/* Replaces
 *
 *     std::vector<decltype(f(range[0]))> to;
 *     for (auto &x : range) to.push_back(f(x));
 *     return to;
 *
 * Meaning: a vector of what f gives, in the order of the range. The values need not have
 * a default constructor; they are moved once more if they are not trivially copyable.
 * Where the vector exists already, transform is quicker. After an exception everything
 * that was made is destroyed. */
template <class R, class F> auto map(const options &o, R &&range, F &&f) {
  detail::expect_range<R>();
  if constexpr (detail::is_range<R>) {
    auto view = detail::view_of(range);
    using element = detail::element_of<decltype(view)>;
    constexpr bool right = std::is_invocable_v<F &, element>;
    static_assert(right, "weft::map: the function must be callable as f(element)");
    if constexpr (right) {
      using value = detail::plain<std::invoke_result_t<F &, element>>;
      detail::gathered<value> to(view.size());
      auto body = [view, &to, &f](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; i++)
          to.make(i, [&]() -> decltype(auto) { return f(view[i]); });
      };
      detail::for_blocks(&o, view.size(), body);
      return to.take();
    }
  }
}

template <class R, class F> auto map(R &&range, F &&f) {
  return map(options(), std::forward<R>(range), std::forward<F>(f));
}

WEFT_HPP_END

#endif
