/* weft/hpp/reduce.hpp - weft::reduce, transform_reduce, fold.
 *
 *     double sum = weft::reduce(v, 0.0, std::plus<>());
 *
 * SPDX-License-Identifier: MIT */
#ifndef WEFT_HPP_REDUCE_HPP
#define WEFT_HPP_REDUCE_HPP

#include <cstddef>
#include <optional>
#include <weft/hpp/loop.hpp>

WEFT_HPP_BEGIN

namespace detail {

/* weft_reduce with objects as accumulators. `leaf(optional<T> &, begin, end)` adds
 * elements to an accumulator that may still be empty; `merge(T &, T &&)` adds the
 * accumulator of what follows. Each accumulator that weft makes is either merged, which
 * ends it, or the result. The result is empty if there was no element. */
template <class T, class Leaf, class Merge>
std::optional<T> reduce_objects(const weft_opts *o, std::size_t n, Leaf &leaf,
                                Merge &merge) {
  static_assert(alignof(T) <= alignof(std::max_align_t),
                "weft: the type of a reduction must not need more alignment than malloc "
                "gives");
  struct accumulator {
    std::optional<T> value;
    std::size_t first = 0; /* index */
  };
  struct frame {
    Leaf &leaf;
    Merge &merge;
    earliest failure;

    static void init(void *acc, void *) {
      ::new (acc) accumulator;
    }
    WF_SIMD static void fold(void *acc, std::size_t begin, std::size_t end, void *ctx) {
      frame &here = from_ctx<frame>(ctx);
      accumulator &to = *std::launder(static_cast<accumulator *>(acc));
      to.first = begin;
      here.failure.run(begin, [&] { here.leaf(to.value, begin, end); });
    }
    static void join(void *acc, const void *right, void *ctx) {
      frame &here = from_ctx<frame>(ctx);
      accumulator &to = *std::launder(static_cast<accumulator *>(acc));
      accumulator &from =
          *std::launder(static_cast<accumulator *>(const_cast<void *>(right)));
      if (from.value)
        here.failure.run(from.first, [&] {
          if (to.value)
            here.merge(*to.value, std::move(*from.value));
          else
            to.value.emplace(std::move(*from.value));
        });
      from.~accumulator();
    }
  } in{leaf, merge, {}};
  const weft_reducer r = {sizeof(accumulator), frame::init, frame::fold, frame::join};
  slot<accumulator> result;
  weft_reduce_with(o, &result.get(), n, &r, &in);
  accumulator all = result.take();
  in.failure.rethrow_if_caught();
  return std::move(all.value);
}

/* The reduction of map(element) by op, without a start. */
template <class T, class V, class Op, class Map>
std::optional<T> reduce_view(const weft_opts *o, V view, const Op &op, const Map &map) {
  auto leaf = [view, &op, &map](std::optional<T> &to, std::size_t i, std::size_t end) {
    const V v = view;
    T acc = to ? T(op(std::move(*to), map(v[i]))) : T(map(v[i]));
    for (i++; i < end; i++) acc = op(std::move(acc), map(v[i]));
    to.emplace(std::move(acc));
  };
  auto merge = [&op](T &to, T &&right) { to = op(std::move(to), std::move(right)); };
  return reduce_objects<T>(o, view.size(), leaf, merge);
}

struct identity {
  template <class T> WEFT_HPP_INLINE T &&operator()(T &&x) const noexcept {
    return static_cast<T &&>(x);
  }
};

template <class T, class V, class Op, class Map>
T reduce_from(const weft_opts *o, V view, T &&start, const Op &op, const Map &map) {
  constexpr bool can_map = std::is_invocable_v<Map &, element_of<V>>;
  static_assert(can_map, "weft::transform_reduce: map must be callable as map(element)");
  if constexpr (can_map && expect_shared<Map, element_of<V>>()) {
    constexpr bool right =
        std::is_constructible_v<T, std::invoke_result_t<Map &, element_of<V>>> &&
        std::is_invocable_r_v<T, Op &, T, T> &&
        std::is_invocable_r_v<T, Op &, T, std::invoke_result_t<Map &, element_of<V>>>;
    static_assert(right, "weft::reduce: the operation must be callable as op(T, T) and "
                         "op(T, element), and give T, the type of the start value");
    if constexpr (right && expect_shared<Op, T, T>()) {
      std::optional<T> all = reduce_view<T>(o, view, op, map);
      return all ? T(op(std::move(start), std::move(*all))) : std::move(start);
    }
  }
  return std::move(start);
}

} // namespace detail

/* What all reductions share.
 *
 * Results: the same bits for every number of threads, also for operations on floats; see
 * weft/reduce.h. T may be any movable type. The lengths in options (min_len, max_len,
 * target_chunks) set the leaves, as in weft_reduce. Callables are shared by threads, as
 * in loops: no mutable lambdas.
 *
 * Exceptions: as in loops, what the serial code would have thrown if the function of an
 * element throws. Partial results are destroyed. */

/* Replaces
 *
 *     T acc = start;
 *     for (auto &x : range) acc = op(acc, x);
 *     return acc;
 *
 * Meaning: as std::reduce: the start value is used once; op must be associative (it need
 * not commute) and accept T and elements on both sides. */
template <class R, class T, class Op>
T reduce(const options &o, R &&range, T start, Op &&op) {
  detail::expect_range<R>();
  detail::identity same;
  if constexpr (detail::is_range<R>)
    return detail::reduce_from<T>(&o, detail::view_of(range), std::move(start), op, same);
  else
    return start;
}

template <class R, class T, class Op, std::enable_if_t<!detail::is_options<R>, int> = 0>
T reduce(R &&range, T start, Op &&op) {
  return weft::reduce(options(), std::forward<R>(range), std::move(start),
                      std::forward<Op>(op));
}

/* Replaces
 *
 *     T acc = start;
 *     for (auto &x : range) acc = op(acc, map(x));
 *     return acc; */
template <class R, class T, class Op, class Map>
T transform_reduce(const options &o, R &&range, T start, Op &&op, Map &&map) {
  detail::expect_range<R>();
  if constexpr (detail::is_range<R>)
    return detail::reduce_from<T>(&o, detail::view_of(range), std::move(start), op, map);
  else
    return start;
}

template <class R, class T, class Op, class Map,
          std::enable_if_t<!detail::is_options<R>, int> = 0>
T transform_reduce(R &&range, T start, Op &&op, Map &&map) {
  return weft::transform_reduce(options(), std::forward<R>(range), std::move(start),
                                std::forward<Op>(op), std::forward<Map>(map));
}

/* Replaces
 *
 *     A acc = identity;
 *     for (auto &x : range) step(acc, x);
 *     return acc;
 *
 * Meaning: for accumulators of another type than the elements. step(A &, element) adds an
 * element; merge(A &, A &&) adds the accumulator of what follows. Each block starts from
 * a copy of identity, which must not change what it is merged with. */
template <class R, class A, class Step, class Merge>
A fold(const options &o, R &&range, const A &identity, Step &&step, Merge &&merge) {
  detail::expect_range<R>();
  if constexpr (detail::is_range<R>) {
    auto view = detail::view_of(range);
    constexpr bool right =
        std::is_invocable_v<Step &, A &, detail::element_of<decltype(view)>> &&
        std::is_invocable_v<Merge &, A &, A>;
    static_assert(right, "weft::fold: needs step(A &, element) and merge(A &, A &&)");
    if constexpr (right &&
                  detail::expect_shared<Step, A &,
                                        detail::element_of<decltype(view)>>() &&
                  detail::expect_shared<Merge, A &, A>()) {
      auto leaf = [view, &step = std::as_const(step),
                   &identity](std::optional<A> &to, std::size_t i, std::size_t end) {
        if (!to) to.emplace(identity);
        for (; i < end; i++) step(*to, view[i]);
      };
      std::optional<A> all =
          detail::reduce_objects<A>(&o, view.size(), leaf, std::as_const(merge));
      if (all) return std::move(*all);
    }
  }
  return identity;
}

template <class R, class A, class Step, class Merge,
          std::enable_if_t<!detail::is_options<R>, int> = 0>
A fold(R &&range, const A &identity, Step &&step, Merge &&merge) {
  return weft::fold(options(), std::forward<R>(range), identity, std::forward<Step>(step),
                    std::forward<Merge>(merge));
}

WEFT_HPP_END

#endif
