/* weft/hpp/loop.hpp - weft::for_each, for_blocks, for_chunks, for_step, for_2d, try_for,
 * try_for_each, transform, try_transform, map.
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
 * also at -O2). Several threads call it at the same time through one object, so it is
 * called as const, and mutable lambdas do not compile. What it changes by reference is up
 * to you. Options come first, if there are any; see weft::options.
 *
 * Exceptions: if the callable throws, blocks behind that element are not started any
 * more, but blocks in front of it are. When all blocks that have begun have ended, the
 * call throws what the serial loop would have thrown, the exception of the lowest
 * index. */

namespace detail {

template <class V, class F> void for_each_in(const weft_opts *o, V view, const F &f) {
  constexpr bool right = std::is_invocable_v<F &, element_of<V>>;
  static_assert(right, "weft::for_each: the function must be callable as f(element)");
  if constexpr (right && expect_shared<F, element_of<V>>()) {
    auto body = [view, &f](std::size_t begin, std::size_t end) {
      const V v = view; /* so that it stays in registers, whatever f writes */
      for (std::size_t i = begin; i < end; i++) f(v[i]);
    };
    for_blocks(o, view.size(), body);
  }
}

template <class A, class B, class F>
void for_each_between(const weft_opts *o, A first, B last, const F &f) {
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

/* Where a number is no range. */
template <class R> constexpr bool expect_container() {
  expect_range<R>();
  static_assert(!is_index<R>, "weft: a number is no range here: give a container");
  return is_container<R>;
}

} // namespace detail

/* A parallel loop over elements or indices.
 *
 * Replaces
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

/* A parallel loop over blocks of a range of indices.
 *
 * Replaces
 *
 *     f(0, n);
 *
 * Meaning: f(begin, end) is called for blocks that are disjoint, not empty and cover
 * [0, n): weft_for. For bodies that do something once for each block. */
template <class F> void for_blocks(const options &o, std::size_t n, F &&f) {
  constexpr bool right = std::is_invocable_v<F &, std::size_t, std::size_t>;
  static_assert(right,
                "weft::for_blocks: the function must be callable as f(begin, end)");
  if constexpr (right && detail::expect_shared<F, std::size_t, std::size_t>())
    detail::for_blocks(&o, n, std::as_const(f));
}

template <class F> void for_blocks(std::size_t n, F &&f) {
  weft::for_blocks(options(), n, std::forward<F>(f));
}

/* A parallel loop whose body can fail.
 *
 * Replaces
 *
 *     for (std::size_t i = 0; i < n; i++)
 *       if (int error = f(i, i + 1)) return error;
 *     return 0;
 *
 * Meaning: weft_try_for: f(begin, end) goes through a block in order and returns at its
 * first error, a number that is not 0. The result is the error of the lowest failing
 * index, or 0; WEFT_ECANCELED after a cancellation without an error. f may also throw:
 * then try_for throws, unless a lower index has failed with a number. */
template <class F> int try_for(const options &o, std::size_t n, F &&f) {
  constexpr bool right = std::is_invocable_r_v<int, F &, std::size_t, std::size_t>;
  static_assert(right,
                "weft::try_for: the function must be callable as f(begin, end), an int");
  if constexpr (right && detail::expect_shared<F, std::size_t, std::size_t>()) {
    struct frame {
      const std::remove_reference_t<F> &f;
      detail::earliest failure;
      int error;

      WF_SIMD static int run(std::size_t begin, std::size_t end, void *ctx) {
        frame &here = detail::from_ctx<frame>(ctx);
        int error = WEFT_ECANCELED; /* of a block that throws: only not 0 matters */
        if (detail::guarded([&] { error = here.f(begin, end); },
                            [&] { here.failure.caught_at(begin); }) &&
            error != 0)
          here.failure.settle(begin, [&] { here.error = error; });
        return error;
      }
    } in{f, {}, 0};
    const int status = weft_try_for_with(&o, n, frame::run, &in);
    in.failure.rethrow_if_caught();
    return in.failure.happened() ? in.error : status;
  } else {
    return 0;
  }
}

template <class F> int try_for(std::size_t n, F &&f) {
  return weft::try_for(options(), n, std::forward<F>(f));
}

/* A parallel loop over elements whose body can fail.
 *
 * Replaces
 *
 *     for (auto &x : range)
 *       if (int error = f(x)) return error;
 *     return 0;
 *
 * Meaning: weft_try_for_each: for_each with a function that returns 0 or an error. The
 * result is the error of the lowest failing index, or 0; see try_for, also for functions
 * that throw. */
template <class R, class F> int try_for_each(const options &o, R &&range, F &&f) {
  detail::expect_range<R>();
  if constexpr (detail::is_range<R>) {
    auto view = detail::view_of(range);
    using element = detail::element_of<decltype(view)>;
    constexpr bool right = std::is_invocable_r_v<int, F &, element>;
    static_assert(right,
                  "weft::try_for_each: the function must be callable as f(element), an "
                  "int");
    if constexpr (right && detail::expect_shared<F, element>())
      return weft::try_for(o, view.size(),
                           [view, &f = std::as_const(f)](std::size_t i, std::size_t end) {
                             for (; i < end; i++)
                               if (int error = f(view[i])) return error;
                             return 0;
                           });
  }
  return 0;
}

template <class R, class F, std::enable_if_t<!detail::is_options<R>, int> = 0>
int try_for_each(R &&range, F &&f) {
  return weft::try_for_each(options(), std::forward<R>(range), std::forward<F>(f));
}

/* A parallel loop over every step-th index.
 *
 * Replaces
 *
 *     for (std::size_t i = begin; i < end; i += step) f(i);
 *
 * Meaning: weft_for_step, without overflow near SIZE_MAX. The lengths in options count
 * steps. A step of 0 counts as 1. */
template <class F>
void for_step(const options &o, std::size_t begin, std::size_t end, std::size_t step,
              F &&f) {
  constexpr bool right = std::is_invocable_v<F &, std::size_t>;
  static_assert(right, "weft::for_step: the function must be callable as f(index)");
  if constexpr (right && detail::expect_shared<F, std::size_t>()) {
    const std::size_t by = step == 0 ? 1 : step, span = end > begin ? end - begin : 0;
    auto body = [begin, by, &f = std::as_const(f)](std::size_t k, std::size_t last) {
      for (; k < last; k++) f(begin + k * by);
    };
    detail::for_blocks(&o, span / by + (span % by != 0), body);
  }
}

template <class F>
void for_step(std::size_t begin, std::size_t end, std::size_t step, F &&f) {
  weft::for_step(options(), begin, end, step, std::forward<F>(f));
}

/* A parallel loop over the tiles of a table of rows and columns.
 *
 * Replaces
 *
 *     for (std::size_t r = 0; r < rows; r += tile_rows)
 *       for (std::size_t c = 0; c < cols; c += tile_cols)
 *         f(r, std::min(r + tile_rows, rows), c, std::min(c + tile_cols, cols));
 *
 * Meaning: weft_for_2d: f(r0, r1, c0, c1) for each tile. tile_rows of 0 means 32 rows,
 * tile_cols of 0 means all columns. The lengths in options count tiles. */
template <class F>
void for_2d(const options &o, std::size_t rows, std::size_t cols, std::size_t tile_rows,
            std::size_t tile_cols, F &&f) {
  constexpr bool right =
      std::is_invocable_v<F &, std::size_t, std::size_t, std::size_t, std::size_t>;
  static_assert(right,
                "weft::for_2d: the function must be callable as f(r0, r1, c0, c1)");
  if constexpr (right && detail::expect_shared<F, std::size_t, std::size_t, std::size_t,
                                               std::size_t>()) {
    struct frame {
      const std::remove_reference_t<F> &f;
      std::size_t cols;
      detail::earliest failure;

      static void run(std::size_t r0, std::size_t r1, std::size_t c0, std::size_t c1,
                      void *ctx) {
        frame &here = detail::from_ctx<frame>(ctx);
        /* The order of tiles in the serial loop, as long as rows * cols fits. */
        std::size_t position;
        if (__builtin_mul_overflow(r0, here.cols, &position) ||
            __builtin_add_overflow(position, c0, &position))
          position = SIZE_MAX - 1;
        here.failure.run(position, [&] { here.f(r0, r1, c0, c1); });
      }
    } in{f, cols, {}};
    weft_for_2d_with(&o, rows, cols, tile_rows, tile_cols, frame::run, &in);
    in.failure.rethrow_if_caught();
  }
}

template <class F>
void for_2d(std::size_t rows, std::size_t cols, std::size_t tile_rows,
            std::size_t tile_cols, F &&f) {
  weft::for_2d(options(), rows, cols, tile_rows, tile_cols, std::forward<F>(f));
}

/* A parallel loop over chunks of one length.
 *
 * Replaces
 *
 *     for (std::size_t i = 0, k = 0; i < range.size(); i += chunk, k++)
 *       f(range.begin() + i, std::min(chunk, range.size() - i), k);
 *
 * Meaning: weft_chunks: f(first, count, k), or f(first, count), for chunks of `chunk`
 * elements (the last may be shorter); first is a pointer, or an iterator where there is
 * no pointer. The lengths in options count chunks. A chunk of 0 counts as 1. */
template <class R, class F>
void for_chunks(const options &o, R &&range, std::size_t chunk, F &&f) {
  detail::expect_range<R>();
  if constexpr (detail::is_range<R>) {
    static_assert(!detail::is_index<R>, "weft::for_chunks: give a container");
    auto view = detail::view_of(range);
    using first = decltype(view.first);
    constexpr bool of_two = std::is_invocable_v<F &, first, std::size_t>;
    constexpr bool right =
        of_two || std::is_invocable_v<F &, first, std::size_t, std::size_t>;
    static_assert(right, "weft::for_chunks: the function must be callable as f(first, "
                         "count) or f(first, count, index)");
    if constexpr (right &&
                  (of_two
                       ? detail::expect_shared<F, first, std::size_t>()
                       : detail::expect_shared<F, first, std::size_t, std::size_t>())) {
      const std::size_t n = view.size(), len = chunk == 0 ? 1 : chunk;
      auto body = [&, &call = std::as_const(f)](std::size_t begin, std::size_t end) {
        for (std::size_t k = begin; k < end; k++) {
          const std::size_t i = k * len, count = n - i < len ? n - i : len;
          const first at =
              view.first +
              static_cast<typename std::iterator_traits<first>::difference_type>(i);
          if constexpr (of_two)
            call(at, count);
          else
            call(at, count, k);
        }
      };
      detail::for_blocks(&o, n / len + (n % len != 0), body);
    }
  }
}

template <class R, class F> void for_chunks(R &&range, std::size_t chunk, F &&f) {
  weft::for_chunks(options(), std::forward<R>(range), chunk, std::forward<F>(f));
}

/* ---- transform, map ---- */

namespace detail {

template <class From, class To, class F>
void transform_views(const weft_opts *o, From from, To to, const F &f) {
  constexpr bool right = std::is_invocable_v<F &, element_of<From>>;
  static_assert(right, "weft::transform: the function must be callable as f(element)");
  static_assert(
      !has_proxies<To>,
      "weft::transform: not into std::vector<bool>, whose elements share bytes");
  if constexpr (right && !has_proxies<To> && expect_shared<F, element_of<From>>()) {
    auto body = [from, to, &f](std::size_t begin, std::size_t end) {
      const From x = from;
      const To y = to;
      WF_INDEPENDENT for (std::size_t i = begin; i < end; i++) y[i] = f(x[i]);
    };
    for_blocks(o, from.size() < to.size() ? from.size() : to.size(), body);
  }
}

} // namespace detail

/* Makes one element from each, in a container that is there already.
 *
 * Replaces
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
  weft::transform(options(), std::forward<R>(from), std::forward<To>(to),
                  std::forward<F>(f));
}

/* Makes one element from each, by a callable that can fail.
 *
 * Replaces
 *
 *     for (std::size_t i = 0; i < from.size(); i++)
 *       if (int error = f(from[i], to[i])) return error;
 *     return 0;
 *
 * Meaning: weft_try_map: f(element, result &) sets the result and returns 0, or returns
 * an error. The result of the call is the error of the lowest failing index, or 0; see
 * try_for, also for functions that throw. The shorter of the two containers decides. */
template <class R, class To, class F>
int try_transform(const options &o, R &&from, To &&to, F &&f) {
  if constexpr (detail::expect_container<To>()) {
    detail::expect_range<R>();
    if constexpr (detail::is_range<R>) {
      auto in = detail::view_of(from);
      auto out = detail::view_of(to);
      using element = detail::element_of<decltype(in)>;
      using result = detail::element_of<decltype(out)>;
      constexpr bool right = std::is_invocable_r_v<int, F &, element, result>;
      static_assert(right, "weft::try_transform: the function must be callable as "
                           "f(element, result &), an int");
      if constexpr (right && detail::expect_writable<decltype(out)>() &&
                    detail::expect_shared<F, element, result>())
        return weft::try_for(
            o, detail::shorter(in, out),
            [in, out, &f = std::as_const(f)](std::size_t i, std::size_t end) {
              for (; i < end; i++)
                if (int error = f(in[i], out[i])) return error;
              return 0;
            });
    }
  }
  return 0;
}

template <class R, class To, class F, std::enable_if_t<!detail::is_options<R>, int> = 0>
int try_transform(R &&from, To &&to, F &&f) {
  return weft::try_transform(options(), std::forward<R>(from), std::forward<To>(to),
                             std::forward<F>(f));
}

namespace detail {

/* Room for n objects, each of which any thread makes once; becomes a vector. A
 * std::vector constructs its elements one after the other, and only if they have a
 * default constructor; so elements other than plain numbers and structs go to a buffer
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

  /* When all are made; after a cancellation only those that were. */
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

/* Makes a vector with one element from each.
 *
 * Replaces
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
    if constexpr (right && detail::expect_shared<F, element>()) {
      using value = detail::plain<
          std::invoke_result_t<const std::remove_reference_t<F> &, element>>;
      detail::gathered<value> to(view.size());
      auto body = [view, &to, &f = std::as_const(f)](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; i++)
          to.make(i, [&]() -> decltype(auto) { return f(view[i]); });
      };
      detail::for_blocks(&o, view.size(), body);
      return to.take();
    }
  }
}

template <class R, class F> auto map(R &&range, F &&f) {
  return weft::map(options(), std::forward<R>(range), std::forward<F>(f));
}

WEFT_HPP_END

#endif
