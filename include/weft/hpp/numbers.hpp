/* weft/hpp/numbers.hpp - sums, minima and more of containers of numbers: sum, product,
 * dot, min, max, mean, variance.
 *
 *     double average = weft::mean(v);
 *
 * The calls of weft/numbers.h for std::vector, std::array and other contiguous containers
 * of integers of 4 or 8 bytes, float and double; the header has types and accuracy of the
 * results, which have the same bits for every number of threads. Sums and minima of other
 * types: weft::reduce, weft::iter.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WEFT_HPP_NUMBERS_HPP
#define WEFT_HPP_NUMBERS_HPP

#include <weft/hpp/sort.hpp>

WEFT_HPP_BEGIN

namespace detail {

template <class R> constexpr bool expect_numbers() {
  if constexpr (is_contiguous<R>) {
    constexpr bool right = is_number<plain<decltype(*std::data(std::declval<R &>()))>>;
    static_assert(right, "weft: not numbers: give integers of 4 or 8 bytes, or floats");
    return right;
  } else {
    static_assert(is_contiguous<R>, "weft: give an array or a vector of numbers");
    return false;
  }
}

} // namespace detail

/* The sum, product, minimum, maximum, mean or variance of numbers.
 *
 * Replaces
 *
 *     wide result = 0;
 *     for (auto x : range) result += x;
 *
 * and accordingly for the others: weft_sum, weft_product, weft_min, weft_max, weft_mean,
 * weft_variance. */
#define WEFT_HPP_NUMBERS(name)                                                           \
  template <class R> auto name(const options &o, const R &range) {                       \
    if constexpr (detail::expect_numbers<const R>())                                     \
      return detail::as_numbers(std::data(range), [&](auto *a) {                         \
        return weft_##name##_with(&o, a, std::size(range));                              \
      });                                                                                \
  }                                                                                      \
  template <class R> auto name(const R &range) {                                         \
    return weft::name(options(), range);                                                 \
  }
WEFT_HPP_NUMBERS(sum)
WEFT_HPP_NUMBERS(product)
WEFT_HPP_NUMBERS(min)
WEFT_HPP_NUMBERS(max)
WEFT_HPP_NUMBERS(mean)
WEFT_HPP_NUMBERS(variance)
#undef WEFT_HPP_NUMBERS

/* The sum of the products of two containers of numbers.
 *
 * Replaces
 *
 *     wide result = 0;
 *     for (std::size_t i = 0; i < a.size(); i++) result += wide(a[i]) * b[i];
 *
 * Meaning: weft_dot; both have the same type of numbers. The shorter one decides. */
template <class A, class B> auto dot(const options &o, const A &a, const B &b) {
  if constexpr (detail::expect_numbers<const A>() && detail::expect_numbers<const B>()) {
    constexpr bool same = std::is_same_v<detail::plain<decltype(*std::data(a))>,
                                         detail::plain<decltype(*std::data(b))>>;
    static_assert(same, "weft::dot: the two have different types of numbers");
    const std::size_t n = std::size(a) < std::size(b) ? std::size(a) : std::size(b);
    return detail::as_numbers(std::data(a), [&](auto *x) {
      return detail::as_numbers(std::data(b),
                                [&](auto *y) { return weft_dot_with(&o, x, y, n); });
    });
  }
}

template <class A, class B, std::enable_if_t<!detail::is_options<A>, int> = 0>
auto dot(const A &a, const B &b) {
  return weft::dot(options(), a, b);
}

WEFT_HPP_END

#endif
