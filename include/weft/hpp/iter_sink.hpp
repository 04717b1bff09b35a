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

/* ---- rounds ---- */

/* Calls round(producer) once; for a producer that pulls its items, once for each refill,
 * until it returns false. */
template <class P, class Round>
void in_rounds(const weft_opts *o, const P &from, Round &&round) {
  if constexpr (!P::moves) {
    round(from);
  } else {
    P own = from;
    if constexpr (P::pulls) {
      bool wanted = true;
      while (wanted && own.refill()) {
        own.settle(o);
        wanted = round(own);
      }
    } else {
      own.settle(o);
      round(own);
    }
  }
}

/* As reduce_objects; leaf(producer, optional<A> &, begin, end) adds positions. */
template <class A, class P, class Leaf, class Merge>
std::optional<A> reduce_rounds(const weft_opts *o, const P &from, Leaf &leaf,
                               Merge &merge) {
  std::optional<A> all;
  in_rounds(o, from, [&](const P &round) {
    auto part_leaf = [&](std::optional<A> &to, std::size_t begin, std::size_t end)
                         WEFT_HPP_LAMBDA { leaf(round, to, begin, end); };
    std::optional<A> part = reduce_objects<A>(o, round.size(), part_leaf, merge);
    if (part && all)
      merge(*all, std::move(*part));
    else if (part)
      all.emplace(std::move(*part));
    return true;
  });
  return all;
}

/* ---- loops and folds ---- */

template <class P, class F> void run_for_each(const weft_opts *o, const P &from, F &f) {
  in_rounds(o, from, [&](const P &round) {
    auto body = [&](std::size_t begin, std::size_t end) {
      auto sink = [&](typename P::item &&x) WEFT_HPP_LAMBDA {
        call(f, static_cast<typename P::item &&>(x));
        return false;
      };
      round.each(begin, end, sink);
    };
    for_blocks(o, round.size(), body);
    return true;
  });
}

/* Calls f with vectors of up to `most` items that follow each other. */
template <class P, class F>
void run_batches(const weft_opts *o, const P &from, std::size_t most, F &f) {
  using T = stored<typename P::item>;
  in_rounds(o, from, [&](const P &round) {
    auto body = [&](std::size_t begin, std::size_t end) {
      std::vector<T> batch;
      auto sink = [&](typename P::item &&x) WEFT_HPP_LAMBDA {
        batch.emplace_back(static_cast<typename P::item &&>(x));
        if (batch.size() >= most) {
          f(batch);
          batch.clear();
        }
        return false;
      };
      round.each(begin, end, sink);
      if (!batch.empty()) f(batch);
    };
    for_blocks(o, round.size(), body);
    return true;
  });
}

/* Each leaf folds into a copy of identity, which stays in a register if it can. */
template <class A, class P, class Step, class Merge>
std::optional<A> run_fold(const weft_opts *o, const P &from, const A &identity,
                          Step &step, Merge &merge) {
  auto leaf = [&](const P &round, std::optional<A> &to, std::size_t begin,
                  std::size_t end) WEFT_HPP_LAMBDA {
    A acc = to ? std::move(*to) : A(identity);
    auto sink = [&](typename P::item &&x) WEFT_HPP_LAMBDA {
      step(acc, static_cast<typename P::item &&>(x));
      return false;
    };
    round.each(begin, end, sink);
    to.emplace(std::move(acc));
  };
  return reduce_rounds<A>(o, from, leaf, merge);
}

/* For operations that have no identity: A is made of the first item. */
template <class A, class P, class Op>
std::optional<A> run_reduce(const weft_opts *o, const P &from, Op &op) {
  auto leaf = [&](const P &round, std::optional<A> &to, std::size_t begin,
                  std::size_t end) WEFT_HPP_LAMBDA {
    std::optional<A> acc = std::move(to);
    auto sink = [&](typename P::item &&x) WEFT_HPP_LAMBDA {
      if (acc)
        *acc = op(std::move(*acc), A(static_cast<typename P::item &&>(x)));
      else
        acc.emplace(static_cast<typename P::item &&>(x));
      return false;
    };
    round.each(begin, end, sink);
    to = std::move(acc);
  };
  auto merge = [&](A &to, A &&right) { to = op(std::move(to), std::move(right)); };
  return reduce_rounds<A>(o, from, leaf, merge);
}

/* ---- searches ---- */

/* An item for which the predicate holds, the beginning of its block, and (if indexed) its
 * position. T is the copy of the item that is kept, or `nothing` where nobody wants
 * one. */
template <class T> struct match {
  std::size_t block, position;
  T item;
};

/* Keeps x as the match. */
template <class T, class Item>
void keep_match(std::optional<match<T>> &to, std::size_t block, std::size_t position,
                Item &&x) {
  if constexpr (std::is_same_v<T, nothing>)
    to.emplace(match<T>{block, position, {}});
  else
    to.emplace(match<T>{block, position, T(std::forward<Item>(x))});
}

/* The first item in the order of positions. Stops all others soon. */
template <class T, class P, class Pred>
std::optional<match<T>> find_once(const weft_opts *o, const P &from, Pred &pred) {
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
            keep_match(here.result, begin, begin + passed,
                       static_cast<typename P::item &&>(x));
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

/* The last one: blocks come from the back, and each runs from its front to its end. */
template <class T, class P, class Pred>
std::optional<match<T>> find_last_once(const weft_opts *o, const P &from, Pred &pred) {
  struct frame {
    const P &from;
    Pred &pred;
    earliest first;
    std::optional<match<T>> result;

    static void run(std::size_t begin, std::size_t end, void *ctx) {
      frame &here = from_ctx<frame>(ctx);
      here.first.run(begin, [&] {
        const std::size_t n = here.from.size();
        std::optional<match<T>> last;
        auto sink = [&](typename P::item &&x) WEFT_HPP_LAMBDA {
          const plain<typename P::item> &seen = x;
          if (call(here.pred, seen))
            keep_match(last, begin, begin, static_cast<typename P::item &&>(x));
          return false;
        };
        here.from.each(n - end, n - begin, sink);
        if (last) here.first.settle(begin, [&] { here.result = std::move(last); });
      });
    }
  } in{from, pred, {}, {}};
  weft_for_with(o, from.size(), frame::run, &in);
  in.first.rethrow_if_caught();
  return std::move(in.result);
}

template <class T, class P, class Pred>
std::optional<match<T>> run_find(const weft_opts *o, const P &from, Pred &pred) {
  std::optional<match<T>> found;
  in_rounds(o, from, [&](const P &round) {
    found = find_once<T>(o, round, pred);
    return !found;
  });
  return found;
}

/* With pulled items each round may have a later match. */
template <class T, class P, class Pred>
std::optional<match<T>> run_find_last(const weft_opts *o, const P &from, Pred &pred) {
  std::optional<match<T>> found;
  in_rounds(o, from, [&](const P &round) {
    auto last = find_last_once<T>(o, round, pred);
    if (last) found = std::move(last);
    return true;
  });
  return found;
}

/* ---- vectors ---- */

/* The vectors that the leaves made, in their order. */
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
    auto leaf = [&](const P &round, std::optional<pieces<T>> &to, std::size_t begin,
                    std::size_t end) {
      std::vector<T> piece;
      auto sink = [&](typename P::item &&x) WEFT_HPP_LAMBDA {
        piece.emplace_back(static_cast<typename P::item &&>(x));
        return false;
      };
      round.each(begin, end, sink);
      if (!to) to.emplace();
      to->push_back(std::move(piece));
    };
    auto all = reduce_rounds<pieces<T>>(o, from, leaf, append_pieces<T>);
    return all ? concatenate(std::move(*all)) : std::vector<T>();
  }
}

/* Two vectors: place(first, second, item) puts an item into one of them, or parts of it
 * into both. */
template <class A, class B, class P, class Place>
auto run_sides(const weft_opts *o, const P &from, Place &place) {
  using sides = std::pair<pieces<A>, pieces<B>>;
  auto leaf = [&](const P &round, std::optional<sides> &to, std::size_t begin,
                  std::size_t end) {
    std::vector<A> first;
    std::vector<B> second;
    auto sink = [&](typename P::item &&x) WEFT_HPP_LAMBDA {
      place(first, second, static_cast<typename P::item &&>(x));
      return false;
    };
    round.each(begin, end, sink);
    if (!to) to.emplace();
    to->first.push_back(std::move(first));
    to->second.push_back(std::move(second));
  };
  auto merge = [](sides &to, sides &&right) {
    append_pieces(to.first, std::move(right.first));
    append_pieces(to.second, std::move(right.second));
  };
  auto all = reduce_rounds<sides>(o, from, leaf, merge);
  if (!all) all.emplace();
  return std::pair(concatenate(std::move(all->first)),
                   concatenate(std::move(all->second)));
}

/* The items for which the predicate holds, and the others. */
template <class P, class Pred>
auto run_partition(const weft_opts *o, const P &from, Pred &pred) {
  using T = stored<typename P::item>;
  auto place = [&](std::vector<T> &yes, std::vector<T> &no, typename P::item &&x) {
    const plain<typename P::item> &seen = x;
    (call(pred, seen) ? yes : no).emplace_back(static_cast<typename P::item &&>(x));
  };
  return run_sides<T, T>(o, from, place);
}

/* The first and the second parts of pairs. */
template <class P> auto run_unzip(const weft_opts *o, const P &from) {
  using A = typename stored<typename P::item>::first_type;
  using B = typename stored<typename P::item>::second_type;
  auto place = [](std::vector<A> &first, std::vector<B> &second, typename P::item &&x) {
    first.emplace_back(static_cast<first_part<typename P::item>>(x.first));
    second.emplace_back(static_cast<second_part<typename P::item>>(x.second));
  };
  return run_sides<A, B>(o, from, place);
}

/* ---- scans ---- */

/* Elements that can be copied as bytes go to the parallel scan of C; one thread does the
 * work for others. */
template <class From, class To, class T, class Op>
void scan_views(const weft_opts *o, From from, To to, const T &identity, bool inclusive,
                const Op &op) {
  using value = plain<element_of<To>>;
  constexpr bool right = std::is_invocable_r_v<value, Op &, value, element_of<From>>;
  static_assert(right, "weft: the operation of a scan must be callable as op(a, b)");
  if constexpr (right && expect_writable<To>() &&
                expect_shared<Op, value, element_of<From>>()) {
    const std::size_t n = shorter(from, to);
    if constexpr (same_bytes<From, To>) {
      struct frame {
        const Op &op;
        earliest failure;

        static void run(void *acc, const void *x, void *ctx) {
          frame &here = from_ctx<frame>(ctx);
          here.failure.run(0, [&] {
            value &sum = *static_cast<value *>(acc);
            sum = here.op(value(sum), *static_cast<const value *>(x));
          });
        }
      } in{op, {}};
      const value first = static_cast<value>(identity);
      weft_scan_with(o, to.first, from.first, n, sizeof(value), &first, inclusive,
                     frame::run, &in);
      in.failure.rethrow_if_caught();
    } else {
      value acc = static_cast<value>(identity);
      for (std::size_t i = 0; i < n; i++) {
        value next = op(value(acc), from[i]);
        to[i] = inclusive ? next : std::move(acc);
        acc = std::move(next);
      }
    }
  }
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
