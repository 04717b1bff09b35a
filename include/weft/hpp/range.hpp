/* weft/hpp/range.hpp - what calls accept as a range: containers, arrays, pairs of
 * iterators and numbers. Each becomes a view, which has a length and an element for each
 * index. Not API.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WEFT_HPP_RANGE_HPP
#define WEFT_HPP_RANGE_HPP

#include <cstddef>
#include <iterator>
#include <weft/hpp/base.hpp>

WEFT_HPP_BEGIN

namespace detail {

/* ---- views: trivially copyable, size() and operator[] ---- */

/* Elements behind a pointer or another random access iterator. */
template <class It> struct elements {
  It first;
  std::size_t count;

  std::size_t size() const noexcept {
    return count;
  }
  WEFT_HPP_INLINE decltype(auto) operator[](std::size_t i) const {
    return first[static_cast<typename std::iterator_traits<It>::difference_type>(i)];
  }
};

/* The numbers from first on. */
template <class N> struct numbers {
  N first;
  std::size_t count;

  std::size_t size() const noexcept {
    return count;
  }
  WEFT_HPP_INLINE N operator[](std::size_t i) const noexcept {
    return static_cast<N>(first + static_cast<N>(i));
  }
};

template <class It>
constexpr bool is_random_access_of =
    std::is_base_of_v<std::random_access_iterator_tag,
                      typename std::iterator_traits<It>::iterator_category>;
template <class It, class = void> constexpr bool is_random_access = false;
template <class It>
constexpr bool is_random_access<
    It, std::void_t<typename std::iterator_traits<It>::iterator_category>> =
    is_random_access_of<It>;

template <class R> using begin_of = decltype(std::begin(std::declval<R &>()));

template <class R, class = void> constexpr bool is_contiguous = false;
template <class R>
constexpr bool is_contiguous<R, std::void_t<decltype(std::data(std::declval<R &>())),
                                            decltype(std::size(std::declval<R &>()))>> =
    std::is_pointer_v<decltype(std::data(std::declval<R &>()))>;

template <class R, class = void> constexpr bool is_container = false;
template <class R>
constexpr bool is_container<R, std::void_t<begin_of<R>>> =
    is_contiguous<R> || is_random_access<begin_of<R>>;

template <class R> constexpr bool is_range = is_index<R> || is_container<R>;

/* The view of an argument; with a pointer where there is one, because compilers optimise
 * pointers best. */
template <class R> WEFT_HPP_INLINE auto view_of(R &range) {
  if constexpr (is_index<R>) {
    return numbers<plain<R>>{0, range > 0 ? static_cast<std::size_t>(range) : 0};
  } else if constexpr (is_contiguous<R>) {
    return elements<decltype(std::data(range))>{std::data(range), std::size(range)};
  } else {
    return elements<begin_of<R>>{
        std::begin(range), static_cast<std::size_t>(std::end(range) - std::begin(range))};
  }
}

/* Two iterators, or two numbers. */
template <class It> constexpr bool is_bound = is_index<It> || is_random_access<It>;

template <class It> WEFT_HPP_INLINE auto view_between(It first, It last) {
  if constexpr (is_index<It>)
    return numbers<It>{first, last > first ? static_cast<std::size_t>(last) -
                                                 static_cast<std::size_t>(first)
                                           : 0};
  else
    return elements<It>{first, static_cast<std::size_t>(last - first)};
}

/* The common type of the two bounds of a loop. Iterators must have the same type. Two
 * numbers have their common type in arithmetic, so that 0 and v.size() go together. */
template <class A, class B, bool = is_index<A> &&is_index<B>> struct bound_of {
  using type = std::common_type_t<A, B>;
};
template <class A> struct bound_of<A, A, false> { using type = A; };
template <class A, class B> struct bound_of<A, B, false> { using type = void; };

/* Are the elements no objects, as the bits of std::vector<bool>? Then neighbours share
 * memory, and two threads must not write them. */
template <class V> constexpr bool has_proxies = false;
template <class It>
constexpr bool has_proxies<elements<It>> =
    !std::is_reference_v<decltype(*std::declval<It &>())>;

/* What indexing a view gives. */
template <class V> using element_of = decltype(std::declval<const V &>()[0]);

/* Is the view an array of elements that C may copy, also to memory of malloc? */
template <class V>
constexpr bool is_bytes = std::is_pointer_v<decltype(std::declval<V &>().first)> &&
                              std::is_trivially_copyable_v<plain<element_of<V>>> &&
                          alignof(plain<element_of<V>>) <= alignof(std::max_align_t);

template <class V> constexpr bool expect_writable() {
  static_assert(!std::is_const_v<std::remove_reference_t<element_of<V>>>,
                "weft: the elements are const");
  static_assert(!has_proxies<V>, "weft: not std::vector<bool>, whose elements share "
                                 "bytes");
  return !has_proxies<V> && !std::is_const_v<std::remove_reference_t<element_of<V>>>;
}

/* Are both arrays of the same trivially copyable elements? */
template <class V, class W>
constexpr bool same_bytes = is_bytes<V> &&is_bytes<W>
    &&std::is_same_v<plain<element_of<V>>, plain<element_of<W>>>;

template <class V, class W> std::size_t shorter(const V &v, const W &w) {
  return v.size() < w.size() ? v.size() : w.size();
}

/* ---- loops over a view, which the compiler inlines and vectorises ---- */

/* Calls body(begin, end) for blocks that cover [0, n): weft_for. */
template <class Body>
WEFT_HPP_INLINE void for_blocks(const weft_opts *o, std::size_t n, Body &body) {
  struct frame {
    Body &body;
    earliest failure;

    WF_SIMD static void run(std::size_t begin, std::size_t end, void *ctx) {
      frame &here = from_ctx<frame>(ctx);
      here.failure.run(begin, [&] { here.body(begin, end); });
    }
  } in{body, {}};
  weft_for_with(o, n, frame::run, &in);
  in.failure.rethrow_if_caught();
}

} // namespace detail

WEFT_HPP_END

#endif
