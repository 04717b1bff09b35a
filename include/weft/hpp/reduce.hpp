/* weft/hpp/reduce.hpp - weft::reduce, transform_reduce, fold, fold_local, try_fold.
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

/* An accumulator that is an object, or nothing yet, and the elements that it stands for.
 */
template <class T> struct accumulator {
  std::optional<T> value;
  std::size_t first = 0, end = 0;

  static void init(void *memory, void *) {
    ::new (memory) accumulator;
  }
  static accumulator &at(const void *memory) noexcept {
    return *std::launder(static_cast<accumulator *>(const_cast<void *>(memory)));
  }

  /* Merges what follows; merge(T &, T &&) returns 0 or an error. */
  template <class Merge> int add(accumulator &right, Merge &merge) {
    if (value) return merge(*value, std::move(*right.value));
    value.emplace(std::move(*right.value));
    return 0;
  }
};

/* weft_reduce, or weft_reduce_local, with objects as accumulators. `leaf(optional<T> &,
 * begin, end)` adds elements to an accumulator that may still be empty; `merge(T &, T
 * &&)` adds the accumulator of what follows. Each accumulator that weft makes is either
 * merged, which ends it, or the result. The result is empty if there was no element.
 *
 * What leaf or merge have left behind when they threw, which may be half moved from, is
 * not used again: the accumulator is empty then. Nor are accumulators merged of which an
 * element has failed. Those of weft_reduce_local have elements of all positions: a
 * failure of their merges counts behind all elements. */
template <class T, class Leaf, class Merge>
std::optional<T> reduce_objects(const weft_opts *o, std::size_t n, Leaf &leaf,
                                Merge &merge,
                                decltype(&weft_reduce_with) how = weft_reduce_with) {
  static_assert(alignof(T) <= alignof(std::max_align_t),
                "weft: the type of a reduction must not need more alignment than malloc "
                "gives");
  using part = accumulator<T>;
  struct frame {
    Leaf &leaf;
    Merge &merge;
    const bool is_local;
    earliest failure;

    void caught(part &in, std::size_t position) noexcept {
      failure.caught_at(position);
      in.value.reset();
    }
    WF_SIMD static void fold(void *acc, std::size_t begin, std::size_t end, void *ctx) {
      frame &here = from_ctx<frame>(ctx);
      part &to = part::at(acc);
      to.first = here.is_local ? SIZE_MAX - 1 : begin;
      to.end = here.is_local ? SIZE_MAX - 1 : end;
      if (here.failure.is_behind(begin)) return;
      guarded([&] { here.leaf(to.value, begin, end); }, [&] { here.caught(to, begin); });
    }
    static void join(void *acc, const void *right, void *ctx) {
      frame &here = from_ctx<frame>(ctx);
      part &to = part::at(acc), &from = part::at(right);
      auto merge = [&here](T &left, T &&more) {
        here.merge(left, std::move(more));
        return 0;
      };
      if (from.value && !here.failure.is_behind(from.end))
        guarded([&] { to.add(from, merge); }, [&] { here.caught(to, from.first); });
      if (to.end < from.end) to.end = from.end;
      from.~part();
    }
  } in{leaf, merge, how == weft_reduce_local_with, {}};
  const weft_reducer r = {sizeof(part), part::init, frame::fold, frame::join};
  slot<part> result;
  how(o, &result.get(), n, &r, &in);
  part all = result.take();
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
 * Threads and cost: those of weft_reduce, with the callables inlined into the loop over a
 * leaf.
 *
 * Exceptions: as in loops, what the serial code would have thrown if the function of an
 * element throws. Partial results are destroyed; after an exception none is merged of
 * whose elements one has failed. */

/* Combines all elements by an operation.
 *
 * Replaces
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

/* Combines what a callable makes of each element.
 *
 * Replaces
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

namespace detail {

template <class Step, class Merge, class A, class Element> constexpr bool expect_fold() {
  constexpr bool right =
      std::is_invocable_v<Step &, A &, Element> && std::is_invocable_v<Merge &, A &, A>;
  constexpr bool copyable = std::is_copy_constructible_v<A>;
  static_assert(right, "weft::fold: needs step(A &, element) and merge(A &, A &&)");
  static_assert(copyable, "weft::fold: each block starts from a copy of the identity, so "
                          "A must be copyable; transform_reduce only moves");
  if constexpr (right && copyable)
    return expect_shared<Step, A &, Element>() && expect_shared<Merge, A &, A>();
  else
    return false;
}

template <class R, class A, class Step, class Merge>
A fold_by(decltype(&weft_reduce_with) how, const weft_opts *o, R &range,
          const A &identity, Step &step, Merge &merge) {
  expect_range<R>();
  if constexpr (is_range<R>) {
    auto view = view_of(range);
    if constexpr (expect_fold<Step, Merge, A, element_of<decltype(view)>>()) {
      auto leaf = [view, &step = std::as_const(step),
                   &identity](std::optional<A> &to, std::size_t i, std::size_t end) {
        if (!to) to.emplace(identity);
        for (; i < end; i++) step(*to, view[i]);
      };
      std::optional<A> all =
          reduce_objects<A>(o, view.size(), leaf, std::as_const(merge), how);
      if (all) return std::move(*all);
    }
  }
  if constexpr (std::is_copy_constructible_v<A>)
    return identity;
  else
    std::terminate(); /* does not compile, see expect_fold */
}

} // namespace detail

/* A reduction with an accumulator of your own.
 *
 * Replaces
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
  return detail::fold_by(weft_reduce_with, &o, range, identity, step, merge);
}

template <class R, class A, class Step, class Merge,
          std::enable_if_t<!detail::is_options<R>, int> = 0>
A fold(R &&range, const A &identity, Step &&step, Merge &&merge) {
  return weft::fold(options(), std::forward<R>(range), identity, std::forward<Step>(step),
                    std::forward<Merge>(merge));
}

/* A reduction with one accumulator for each thread.
 *
 * Replaces
 *
 *     A acc = identity;
 *     for (auto &x : range) step(acc, x);
 *     return acc;
 *
 * Meaning: weft_reduce_local: fold with one accumulator for each thread that takes part,
 * for heavy accumulators such as maps and for results that do not depend on the order. So
 * merge adds the accumulator of any other elements. */
template <class R, class A, class Step, class Merge>
A fold_local(const options &o, R &&range, const A &identity, Step &&step, Merge &&merge) {
  return detail::fold_by(weft_reduce_local_with, &o, range, identity, step, merge);
}

template <class R, class A, class Step, class Merge,
          std::enable_if_t<!detail::is_options<R>, int> = 0>
A fold_local(R &&range, const A &identity, Step &&step, Merge &&merge) {
  return weft::fold_local(options(), std::forward<R>(range), identity,
                          std::forward<Step>(step), std::forward<Merge>(merge));
}

namespace detail {

/* What try_fold has in its frame: the accumulators are those of C, so that an error has
 * its position. */
template <class A, class V, class Step, class Merge> struct try_folding {
  const V view;
  const A &identity;
  const Step &step;
  const Merge &merge;
  earliest failure;

  using part = accumulator<A>;

  /* Calls body(), which returns 0 or an error and works on an accumulator; after a
   * failure that is not used again. What C gets for an exception only has to be not 0. */
  template <class Body> int tried(part &in, std::size_t position, Body &&body) noexcept {
    int error = WEFT_ECANCELED;
    guarded(
        [&] {
          error = body();
          if (error != 0) failure.settle(position, [] {});
        },
        [&] { failure.caught_at(position); });
    if (error != 0) in.value.reset();
    return error;
  }
  static int fold(void *acc, std::size_t begin, std::size_t end, void *ctx) {
    try_folding &here = from_ctx<try_folding>(ctx);
    part &to = part::at(acc);
    to.first = begin;
    to.end = end;
    return here.tried(to, begin, [&] {
      if (!to.value) to.value.emplace(here.identity);
      for (std::size_t i = begin; i < end; i++)
        if (int error = here.step(*to.value, here.view[i])) return error;
      return 0;
    });
  }
  int merged(A &to, A &&right) const {
    if constexpr (std::is_void_v<std::invoke_result_t<const Merge &, A &, A>>) {
      merge(to, std::move(right));
      return 0;
    } else {
      return static_cast<int>(merge(to, std::move(right)));
    }
  }
  /* Accumulators of which an element has failed are not merged. */
  static int join(void *acc, const void *right, void *ctx) {
    try_folding &here = from_ctx<try_folding>(ctx);
    part &to = part::at(acc), &from = part::at(right);
    auto merge = [&here](A &left, A &&more) {
      return here.merged(left, std::move(more));
    };
    int error = 0;
    if (from.value && !here.failure.is_behind(from.end))
      error = here.tried(to, from.first, [&] { return to.add(from, merge); });
    if (to.end < from.end) to.end = from.end;
    from.~part();
    return error;
  }
};

} // namespace detail

/* A reduction whose step can fail.
 *
 * Replaces
 *
 *     A acc = identity;
 *     for (auto &x : range)
 *       if (int error = step(acc, x)) return error;
 *     result = acc;
 *     return 0;
 *
 * Meaning: weft_try_reduce: a fold whose step returns 0 or an error, and whose merge may
 * do so, too (or return nothing). The value of the call is the error of the lowest
 * failing index, or 0; see try_for, also for functions that throw. `result` is the
 * identity before the call, and has all elements after it if there was no error;
 * otherwise it is unchanged. */
template <class R, class A, class Step, class Merge>
int try_fold(const options &o, R &&range, A &result, Step &&step, Merge &&merge) {
  detail::expect_range<R>();
  if constexpr (detail::is_range<R>) {
    auto view = detail::view_of(range);
    using element = detail::element_of<decltype(view)>;
    constexpr bool right = std::is_invocable_r_v<int, Step &, A &, element>;
    static_assert(right, "weft::try_fold: needs step(A &, element), an int");
    if constexpr (right && detail::expect_fold<Step, Merge, A, element>()) {
      using frame = detail::try_folding<A, decltype(view), std::remove_reference_t<Step>,
                                        std::remove_reference_t<Merge>>;
      using part = typename frame::part;
      static_assert(alignof(part) <= alignof(std::max_align_t),
                    "weft: the type of a reduction must not need more alignment than "
                    "malloc gives");
      frame in{view, result, step, merge, {}};
      const weft_try_reducer r = {sizeof(part), part::init, frame::fold, frame::join};
      detail::slot<part> all;
      const int status = weft_try_reduce_with(&o, &all.get(), view.size(), &r, &in);
      part whole = all.take();
      in.failure.rethrow_if_caught();
      if (status == 0 && whole.value) result = std::move(*whole.value);
      return status;
    }
  }
  return 0;
}

template <class R, class A, class Step, class Merge,
          std::enable_if_t<!detail::is_options<R>, int> = 0>
int try_fold(R &&range, A &result, Step &&step, Merge &&merge) {
  return weft::try_fold(options(), std::forward<R>(range), result,
                        std::forward<Step>(step), std::forward<Merge>(merge));
}

WEFT_HPP_END

#endif
