/* weft/hpp/iter_sink.hpp - how weft::iter pipelines are run: loops, folds and searches
 * over a producer. Not API; see weft/hpp/iter.hpp.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WEFT_HPP_ITER_SINK_HPP
#define WEFT_HPP_ITER_SINK_HPP

#include <weft/hpp/iter_stage.hpp>
#include <weft/hpp/reduce.hpp>

WEFT_HPP_BEGIN

namespace detail {

template <class P, class F> void run_for_each(const weft_opts *o, const P &from, F &f) {
  auto body = [&](std::size_t begin, std::size_t end) {
    auto sink = [&](typename P::item &&x) WEFT_HPP_LAMBDA {
      call(f, static_cast<typename P::item &&>(x));
      return false;
    };
    from.each(begin, end, sink);
  };
  for_blocks(o, from.size(), body);
}

/* Each leaf folds into a copy of identity, which stays in a register if it can. */
template <class A, class P, class Step, class Merge>
std::optional<A> run_fold(const weft_opts *o, const P &from, const A &identity,
                          Step &step, Merge &merge) {
  auto leaf = [&](std::optional<A> &to, std::size_t begin, std::size_t end) {
    A acc = to ? std::move(*to) : A(identity);
    auto sink = [&](typename P::item &&x) WEFT_HPP_LAMBDA {
      step(acc, static_cast<typename P::item &&>(x));
      return false;
    };
    from.each(begin, end, sink);
    to.emplace(std::move(acc));
  };
  return reduce_objects<A>(o, from.size(), leaf, merge);
}

/* For operations that have no identity: A is made of the first item. */
template <class A, class P, class Op>
std::optional<A> run_reduce(const weft_opts *o, const P &from, Op &op) {
  auto leaf = [&](std::optional<A> &to, std::size_t begin, std::size_t end) {
    std::optional<A> acc = std::move(to);
    auto sink = [&](typename P::item &&x) WEFT_HPP_LAMBDA {
      if (acc)
        *acc = op(std::move(*acc), A(static_cast<typename P::item &&>(x)));
      else
        acc.emplace(static_cast<typename P::item &&>(x));
      return false;
    };
    from.each(begin, end, sink);
    to = std::move(acc);
  };
  auto merge = [&](A &to, A &&right) { to = op(std::move(to), std::move(right)); };
  return reduce_objects<A>(o, from.size(), leaf, merge);
}

/* The first item, in the order of positions, that the predicate holds for, and (if
 * indexed) where. Stops all others soon. T is what is kept of the item: `nothing` where
 * it is not wanted, so that it need not be copied. */
template <class T> struct match {
  std::size_t position;
  T item;
};

template <class T, class P, class Pred>
std::optional<match<T>> run_find(const weft_opts *o, const P &from, Pred &pred) {
  struct frame {
    const P &from;
    Pred &pred;
    earliest first;
    std::optional<match<T>> result;

    static void run(std::size_t begin, std::size_t end, void *ctx) {
      frame &here = from_ctx<frame>(ctx);
      here.first.run(begin, [&] {
        std::size_t passed = 0;
        auto sink = [&](typename P::item &&x) WEFT_HPP_LAMBDA {
          const plain<typename P::item> &seen = x;
          if (!call(here.pred, seen)) {
            passed++;
            return false;
          }
          here.first.settle(begin, [&] {
            if constexpr (std::is_same_v<T, nothing>)
              here.result.emplace(match<T>{begin + passed, {}});
            else
              here.result.emplace(
                  match<T>{begin + passed, static_cast<typename P::item &&>(x)});
          });
          return true;
        };
        here.from.each(begin, end, sink);
      });
    }
  } in{from, pred, {}, {}};
  weft_for_with(o, from.size(), frame::run, &in);
  in.first.rethrow_if_caught();
  return std::move(in.result);
}

/* ---- vectors ---- */

/* Vectors of what the leaves gave, in their order. */
template <class T> using pieces = std::vector<std::vector<T>>;

template <class T> void append_pieces(pieces<T> &to, pieces<T> &&right) {
  to.reserve(to.size() + right.size());
  for (std::vector<T> &piece : right) to.push_back(std::move(piece));
}

template <class T> std::vector<T> concatenate(pieces<T> &&all) {
  std::vector<T> result;
  std::size_t count = 0;
  for (const std::vector<T> &piece : all) count += piece.size();
  result.reserve(count);
  for (std::vector<T> &piece : all) {
    result.insert(result.end(), std::make_move_iterator(piece.begin()),
                  std::make_move_iterator(piece.end()));
    std::vector<T>().swap(piece);
  }
  return result;
}

template <class P> auto run_collect(const weft_opts *o, const P &from) {
  using T = stored<typename P::item>;
  if constexpr (P::indexed) {
    gathered<T> to(from.size());
    auto body = [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; i++)
        to.make(i, [&]() -> T { return from.at(i); });
    };
    for_blocks(o, from.size(), body);
    return to.take();
  } else {
    auto leaf = [&](std::optional<pieces<T>> &to, std::size_t begin, std::size_t end) {
      std::vector<T> piece;
      auto sink = [&](typename P::item &&x) WEFT_HPP_LAMBDA {
        piece.emplace_back(static_cast<typename P::item &&>(x));
        return false;
      };
      from.each(begin, end, sink);
      if (!to) to.emplace();
      to->push_back(std::move(piece));
    };
    auto all = reduce_objects<pieces<T>>(o, from.size(), leaf, append_pieces<T>);
    return all ? concatenate(std::move(*all)) : std::vector<T>();
  }
}

/* Those that the predicate holds for, and the others. */
template <class P, class Pred>
auto run_partition(const weft_opts *o, const P &from, Pred &pred) {
  using T = stored<typename P::item>;
  using sides = std::pair<pieces<T>, pieces<T>>;
  auto leaf = [&](std::optional<sides> &to, std::size_t begin, std::size_t end) {
    std::vector<T> yes, no;
    auto sink = [&](typename P::item &&x) WEFT_HPP_LAMBDA {
      const plain<typename P::item> &seen = x;
      (call(pred, seen) ? yes : no).emplace_back(static_cast<typename P::item &&>(x));
      return false;
    };
    from.each(begin, end, sink);
    if (!to) to.emplace();
    to->first.push_back(std::move(yes));
    to->second.push_back(std::move(no));
  };
  auto merge = [](sides &to, sides &&right) {
    append_pieces(to.first, std::move(right.first));
    append_pieces(to.second, std::move(right.second));
  };
  auto all = reduce_objects<sides>(o, from.size(), leaf, merge);
  if (!all) all.emplace();
  return std::pair(concatenate(std::move(all->first)),
                   concatenate(std::move(all->second)));
}

/* ---- sums ---- */

/* As in C: sums of integers have 64 bits, those of floats are double. */
template <class T> struct sum_type {
  using type = std::conditional_t<
      std::is_floating_point_v<T> && sizeof(T) <= sizeof(double), double,
      std::conditional_t<
          std::is_integral_v<T>,
          std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>, T>>;
};

} // namespace detail

WEFT_HPP_END

#endif
