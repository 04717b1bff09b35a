/* weft/hpp/iter.hpp - weft::iter: lazy pipelines over ranges, fused into one parallel
 * loop.
 *
 *     double total = weft::iter(orders)
 *                        .filter([](const order &o) { return o.is_paid; })
 *                        .map([](const order &o) { return o.price; })
 *                        .sum();
 *
 * A pipeline is a source, stages, and a sink that runs it. Nothing happens before the
 * sink. It is a value that can be kept, copied and run any number of times; it refers to
 * the container of its source and owns its callables, which several threads call at the
 * same time, as const. Everything is a template: the loop of the sink has all stages
 * inlined, and is vectorised where a loop written by hand would be.
 *
 * Order: sinks that give items (collect, find_first, ...) give them in the order of the
 * source. Folds have the same bits for every number of threads.
 *
 * Exceptions: if a callable of any stage throws, blocks behind that item are not started
 * any more, blocks in front of it are, and the sink throws what the serial loop would
 * have thrown. What was made so far is destroyed.
 *
 * Behind zip and enumerate items are pairs; callables take the pair, or both parts as two
 * arguments.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WEFT_HPP_ITER_HPP
#define WEFT_HPP_ITER_HPP

#include <weft/hpp/iter_source.hpp>
#include <weft/hpp/sort.hpp>

WEFT_HPP_BEGIN

/* What all pipelines share.
 *
 * Serial: the loop that one would write by hand, for (auto &x : range) with the stages as
 * its body, unless the call says otherwise.
 *
 * Threads: any; a pipeline is a value, and several threads may run it at the same time.
 * Its callables are called on several threads at the same time, as const.
 *
 * Exceptions: if a callable of any stage throws, the sink throws what the serial loop
 * would have thrown. What was made so far is destroyed.
 *
 * Cost: building one takes nothing. The loop of the sink has all stages inlined, and is
 * vectorised where a loop written by hand would be; blocks are those of weft/loop.h. */

/* A pipeline: a source and stages, which a sink runs. P is a producer, see
 * weft/hpp/iter_stage.hpp; it is made by weft::iter and by the stages. */
template <class P> class iterator {
public:
  using item = typename P::item;              /* what callables get */
  using value = detail::stored<item>;         /* what is kept of it */
  static constexpr bool indexed = P::indexed; /* is the number of items known? */

  explicit iterator(P producer, const options &o = options())
      : producer_(std::move(producer)), options_(o) {}

  /* What makes the items; for the stages themselves. */
  const P &producer() const noexcept {
    return producer_;
  }
  /* How many items there are: of an indexed pipeline. */
  std::size_t size() const {
    static_assert(
        indexed,
        "weft::iter: behind filter, flat_map and take_while the length is not known; "
        "use count()");
    return producer_.size();
  }

  /* The options that the sink runs with. */
  iterator with(const options &o) const {
    return iterator(producer_, o);
  }

  /* ---- stages ---- */

  /* f(x) instead of x. */
  template <class F> auto map(F f) const {
    expect_callable<const F>();
    if constexpr (detail::takes<const F, item>)
      return then(detail::mapped<P, F>{{producer_}, std::move(f)});
  }
  /* f(x) is called, x goes on. */
  template <class F> auto inspect(F f) const {
    expect_callable<const F, const detail::plain<item> &>();
    if constexpr (detail::takes<const F, const detail::plain<item> &>)
      return then(detail::inspected<P, F>{{producer_}, std::move(f)});
  }
  /* Only items for which the predicate holds. */
  template <class F> auto filter(F keep) const {
    expect_callable<const F, const detail::plain<item> &>();
    if constexpr (detail::takes<const F, const detail::plain<item> &>)
      return then(detail::filtered<P, F>{{producer_}, std::move(keep)});
  }
  /* f(x) is a std::optional: its value, if it has one. */
  template <class F> auto filter_map(F f) const {
    expect_callable<const F>();
    if constexpr (detail::takes<const F, item>)
      return then(detail::filter_mapped<P, F>{{producer_}, std::move(f)});
  }
  /* f(x) is a range or a pipeline: all of its items. One thread goes through each. */
  template <class F> auto flat_map(F f) const {
    expect_callable<const F>();
    if constexpr (detail::takes<const F, item>)
      return then(detail::flattened<P, F>{{producer_}, std::move(f)});
  }
  /* The items in front of the first one for which the predicate does not hold. To find
   * that one, the stages in front run once more up to there; the items behind it are not
   * looked at again. */
  template <class F> auto take_while(F holds) const {
    expect_callable<const F, const detail::plain<item> &>();
    if constexpr (detail::takes<const F, const detail::plain<item> &>)
      return then(detail::ended<P, F>{{producer_}, std::move(holds)});
  }
  /* Vectors of `length` neighbours; the last one may be shorter. A length of 0 counts as
   * 1. */
  auto chunk(std::size_t length) const {
    expect_indexed();
    return then(detail::chunked<P>{{producer_}, length == 0 ? 1 : length});
  }
  /* Pairs of the index and x. */
  auto enumerate() const {
    expect_indexed();
    return then(detail::enumerated<P>{{producer_}});
  }
  /* Pairs of x and the item of the other at the same index; the shorter one decides. The
   * other is a range or a pipeline. */
  template <class R> auto zip(R &&other) const;
  /* All of this, then all of the other. */
  template <class R> auto chain(R &&other) const;
  /* One of this, one of the other, and so on; then what is left of the longer. */
  template <class R> auto interleave(R &&other) const;

  /* The first n items; all but the first n. */
  auto take(std::size_t n) const {
    return pick(0, 1, n < size() ? n : size());
  }
  auto skip(std::size_t n) const {
    const std::size_t first = n < size() ? n : size();
    return pick(first, 1, size() - first);
  }
  /* Items 0, n, 2 * n, ...; an n of 0 counts as 1. */
  auto step(std::size_t n) const {
    const std::size_t by = n == 0 ? 1 : n;
    return pick(0, by, size() / by + (size() % by != 0));
  }
  auto step_by(std::size_t by) const {
    return step(by);
  }
  /* The last one first. */
  auto reverse() const {
    return pick(size() - 1, SIZE_MAX, size());
  }
  auto rev() const {
    return reverse();
  }

  /* ---- sinks ---- */

  /* for (x : items) f(x); */
  template <class F> void for_each(F &&f) const {
    expect_callable<const std::remove_reference_t<F>>();
    if constexpr (detail::takes<const std::remove_reference_t<F>, item>)
      detail::run_for_each(&options_, producer_, std::as_const(f));
  }
  /* f(v) for vectors of at most `most` neighbours; f may change them. */
  template <class F> void each_batch(F &&f, std::size_t most = 1024) const {
    static_assert(std::is_invocable_v<F &, std::vector<value> &>,
                  "weft::iter: the function must be callable as f(std::vector<value> &)");
    if constexpr (detail::expect_shared<F, std::vector<value> &>())
      detail::run_batches(&options_, producer_, most, std::as_const(f));
  }
  template <class F> void for_each_batch(F &&f, std::size_t most = 1024) const {
    each_batch(f, most);
  }
  /* T acc = start; for (x : items) acc = op(acc, x); with an associative op, in which
   * start is used once. */
  template <class T, class Op> T reduce(T start, Op &&op) const {
    static_assert(std::is_invocable_r_v<T, Op &, T, T>,
                  "weft::iter: the operation must be callable as op(T, T), a T");
    if constexpr (detail::expect_shared<Op, T, T>()) {
      auto all = detail::run_reduce<T>(&options_, producer_, std::as_const(op));
      if (all) return std::as_const(op)(std::move(start), std::move(*all));
    }
    return start;
  }
  /* A acc = identity; for (x : items) step(acc, x); each part starts from a copy of
   * identity, and merge(A &, A &&) combines neighbours. */
  template <class A, class Step, class Merge>
  A fold(A identity, Step &&step, Merge &&merge) const {
    static_assert(std::is_invocable_v<Step &, A &, item> &&
                      std::is_invocable_v<Merge &, A &, A>,
                  "weft::iter: fold needs step(A &, item) and merge(A &, A &&)");
    if constexpr (detail::expect_shared<Step, A &, item>() &&
                  detail::expect_shared<Merge, A &, A>()) {
      auto all = detail::run_fold<A>(&options_, producer_, identity, std::as_const(step),
                                     std::as_const(merge));
      if (all) return std::move(*all);
    }
    return identity;
  }
  /* The sum, starting from 0; of integers in 64 bits, of floats as double. */
  auto sum() const {
    using T = typename detail::sum_type<value>::type;
    auto step = [](T &to, item &&x) { to = static_cast<T>(to + static_cast<T>(x)); };
    auto merge = [](T &to, T &&right) { to = static_cast<T>(to + right); };
    return detail::run_fold<T>(&options_, producer_, T(), step, merge).value_or(T());
  }
  /* The number of items; where it is known, no callable runs. */
  std::size_t count() const {
    if constexpr (indexed) {
      return producer_.size();
    } else {
      auto step = [](std::size_t &to, item &&) { to++; };
      auto merge = [](std::size_t &to, std::size_t right) { to += right; };
      return detail::run_fold<std::size_t>(&options_, producer_, 0, step, merge)
          .value_or(0);
    }
  }
  /* The least, or the greatest, or nothing; the first of equal ones. */
  template <class Less = std::less<>> std::optional<value> min(Less less = Less()) const {
    auto op = [&less = std::as_const(less)](value &&a, value &&b) {
      return less(b, a) ? std::move(b) : std::move(a);
    };
    return detail::run_reduce<value>(&options_, producer_, op);
  }
  template <class Less = std::less<>> std::optional<value> max(Less less = Less()) const {
    auto op = [&less = std::as_const(less)](value &&a, value &&b) {
      return less(a, b) ? std::move(b) : std::move(a);
    };
    return detail::run_reduce<value>(&options_, producer_, op);
  }

  /* A vector of all items, in order. */
  std::vector<value> collect() const {
    return detail::run_collect(&options_, producer_);
  }
  /* All items at the end of a vector. */
  void append_to(std::vector<value> &to) const {
    std::vector<value> all = collect();
    to.insert(to.end(), std::make_move_iterator(all.begin()),
              std::make_move_iterator(all.end()));
  }
  /* value acc = identity; for (x : items) out.push_back(acc = op(acc, x)); with an
   * associative op; exclusive_scan keeps acc as it is before x. */
  template <class Op>
  std::vector<value> inclusive_scan(const value &identity, Op &&op) const {
    return scanned(identity, true, op);
  }
  template <class Op>
  std::vector<value> exclusive_scan(const value &identity, Op &&op) const {
    return scanned(identity, false, op);
  }
  /* The same, sorted. */
  template <class Less = std::less<>>
  std::vector<value> sorted(Less less = Less()) const {
    std::vector<value> all = collect();
    detail::sort_range(&options_, all, less, false);
    return all;
  }
  /* Item i goes to to[i], as long as there are both. Returns the number of items. */
  template <class R> std::size_t copy_to(R &&to) const {
    detail::expect_range<R>();
    const auto view = detail::view_of(to);
    if constexpr (indexed) {
      auto body = [&](std::size_t begin, std::size_t end) {
        const auto v = view;
        for (std::size_t i = begin; i < end; i++) v[i] = producer_.at(i);
      };
      detail::for_blocks(&options_, view.size() < size() ? view.size() : size(), body);
      return size();
    } else {
      std::vector<value> all = collect();
      for (std::size_t i = 0; i < all.size() && i < view.size(); i++)
        view[i] = std::move(all[i]);
      return all.size();
    }
  }
  /* Two vectors: the items for which the predicate holds, and the others. */
  template <class F> auto partition(F &&pred) const {
    if constexpr (expect_predicate<F>())
      return detail::run_partition(&options_, producer_, std::as_const(pred));
  }

  /* Of pairs: a vector of the first parts, and one of the second. */
  auto unzip() const {
    static_assert(detail::is_pair<value>, "weft::iter: unzip is for pairs");
    if constexpr (detail::is_pair<value>) return detail::run_unzip(&options_, producer_);
  }

  /* The first item for which the predicate holds, or nothing; the last one, which is
   * searched from the back; any. All stop early. */
  template <class F> std::optional<value> find_first(F &&pred) const {
    return found<value, false>(pred);
  }
  template <class F> std::optional<value> find_last(F &&pred) const {
    return found<value, true>(pred);
  }
  template <class F> std::optional<value> find_any(F &&pred) const {
    return found<value, false>(pred);
  }
  /* The index of the first, or SIZE_MAX. */
  template <class F> std::size_t position(F &&pred) const {
    expect_indexed();
    if constexpr (expect_predicate<F>()) {
      auto match = detail::run_find<nothing>(&options_, producer_, std::as_const(pred));
      if (match) return match->position;
    }
    return SIZE_MAX;
  }
  template <class F> bool any(F &&pred) const {
    return found<nothing, false>(pred).has_value();
  }
  template <class F> bool all(F &&pred) const {
    if constexpr (expect_predicate<F>()) {
      auto fails = [&](const detail::plain<item> &x) {
        return !detail::call(std::as_const(pred), x);
      };
      return !detail::run_find<nothing>(&options_, producer_, fails).has_value();
    }
    return false;
  }
  template <class F> bool none(F &&pred) const {
    return !any(std::forward<F>(pred));
  }

private:
  template <class T, bool last, class F> std::optional<T> found(const F &pred) const {
    if constexpr (expect_predicate<F>()) {
      std::optional<detail::match<T>> match;
      if constexpr (last)
        match = detail::run_find_last<T>(&options_, producer_, pred);
      else
        match = detail::run_find<T>(&options_, producer_, pred);
      if (match) return std::move(match->item);
    }
    return std::nullopt;
  }
  template <class Op>
  std::vector<value> scanned(const value &identity, bool inclusive, Op &op) const {
    static_assert(std::is_invocable_r_v<value, Op &, value, const value &>,
                  "weft::iter: the operation must be callable as op(value, value)");
    std::vector<value> all = collect();
    const auto view = detail::view_of(all);
    detail::scan_views(&options_, view, view, identity, inclusive, std::as_const(op));
    return all;
  }
  template <class Q> iterator<Q> then(Q stage) const {
    return iterator<Q>(std::move(stage), options_);
  }
  auto pick(std::size_t first, std::size_t step, std::size_t n) const {
    return then(detail::picked<P>{{producer_}, first, step, n});
  }
  template <class F, class T = item> static constexpr void expect_callable() {
    static_assert(detail::takes<F, T>,
                  "weft::iter: the function must be callable as f(item), "
                  "also if it is const (no mutable lambdas)");
  }
  template <class F> static constexpr bool expect_predicate() {
    expect_callable<const std::remove_reference_t<F>, const detail::plain<item> &>();
    return detail::takes<const std::remove_reference_t<F>, const detail::plain<item> &>;
  }
  static constexpr void expect_indexed() {
    static_assert(indexed,
                  "weft::iter: not after filter and flat_map, where the index of an "
                  "item is not known");
  }

  P producer_;
  options options_;
};

/* ---- sources ---- */

/* A source: a container, an array, or the numbers [0, n). Items are references to the
 * elements, or numbers; a pipeline stays as it is. The container must outlive the
 * pipeline: temporary ones are refused. */
template <class R> auto iter(R &&range) {
  if constexpr (detail::is_iterator<detail::plain<R>>) {
    return detail::plain<R>(std::forward<R>(range));
  } else {
    static_assert(detail::is_range<R>, "weft::iter: not a range: give a container with "
                                       "random access, an array, or a number");
    static_assert(detail::is_index<R> || std::is_lvalue_reference_v<R>,
                  "weft::iter: the container is a temporary; give it a name");
    if constexpr (detail::is_range<R>) {
      using view = decltype(detail::view_of(range));
      return iterator<detail::source<view>>({{}, detail::view_of(range)});
    }
  }
}

/* A source: what is between two iterators, or the numbers from first to before last. */
template <class It> auto iter(It first, It last) {
  static_assert(detail::is_bound<It>, "weft::iter: the iterators need random access");
  using view = decltype(detail::view_between(first, last));
  return iterator<detail::source<view>>({{}, detail::view_between(first, last)});
}

/* A source: parts of a container of one length. Items are slices (data(), size(),
 * begin(), end()) of `length` elements, the last may be shorter. A length of 0 counts
 * as 1. */
template <class R> auto chunks(R &range, std::size_t length) {
  static_assert(detail::is_contiguous<R>, "weft::chunks: give an array or a vector");
  auto *data = std::data(range);
  const std::size_t n = std::size(range), len = length == 0 ? 1 : length;
  using T = std::remove_reference_t<decltype(*data)>;
  return iterator<detail::slices<T>>({{}, data, n / len + (n % len != 0), n, len, len});
}

/* A source: all slices of `length` neighbours: [0, length), [1, length + 1), ... */
template <class R> auto windows(R &range, std::size_t length) {
  static_assert(detail::is_contiguous<R>, "weft::windows: give an array or a vector");
  auto *data = std::data(range);
  const std::size_t n = std::size(range), len = length == 0 ? 1 : length;
  using T = std::remove_reference_t<decltype(*data)>;
  return iterator<detail::slices<T>>({{}, data, n >= len ? n - len + 1 : 0, n, 1, len});
}

/* A source: the numbers first, first + step, ... up to before last. They go down to
 * before it if the step is negative; without overflow. A step of 0 counts as 1. */
template <class N> auto range(N first, N last, std::make_signed_t<N> step = 1) {
  static_assert(detail::is_index<N>, "weft::range: give integers");
  using natural = std::make_unsigned_t<N>;
  const bool down = step < 0;
  const natural by = down ? static_cast<natural>(natural(0) - static_cast<natural>(step))
                          : static_cast<natural>(step == 0 ? 1 : step);
  const N low = down ? last : first, high = down ? first : last;
  const natural apart =
      high > low
          ? static_cast<natural>(static_cast<natural>(high) - static_cast<natural>(low))
          : natural(0);
  const std::size_t n = static_cast<std::size_t>(apart / by) + (apart % by != 0);
  return iterator<detail::stepped<N>>({{},
                                       static_cast<natural>(first),
                                       static_cast<natural>(down ? natural(0) - by : by),
                                       n});
}

/* A source: the tiles of a table, a weft_tile each: rows [r0, r1), columns [c0, c1). A
 * length of 0 means 32 rows, or all columns, as in weft_for_2d. */
inline auto tiles(std::size_t rows, std::size_t cols, std::size_t tile_rows,
                  std::size_t tile_cols) {
  const std::size_t r = wf_tile_rows(rows, tile_rows);
  const std::size_t c = wf_tile_cols(cols, tile_cols);
  return iterator<detail::tiled>(
      {{}, rows, cols, r, c, rows / r + (rows % r != 0), cols / c + (cols % c != 0)});
}

/* A source: the lines of a text, without the '\n', as std::string_view. */
inline auto lines(std::string_view text) {
  return iterator<detail::lined>({{}, text});
}

/* A source: the parts that f splits a whole into, from left to right. As weft_iter_split:
 * f(T &piece) leaves the left part in the piece and returns the right one, a
 * std::optional<T>; without a value the piece is a leaf. f may see a leaf twice, and must
 * decide the same again. The items are the leaves, const T &; flat_map gives what is in
 * them. Several threads call f, as const. T is a value that can be copied and moved.
 *
 *     struct interval { double from, to; };
 *     auto halve = [](interval &i) -> std::optional<interval> {
 *       if (i.to - i.from < 1e-3) return std::nullopt;
 *       interval right{(i.from + i.to) / 2, i.to};
 *       i.to = right.from;
 *       return right;
 *     };
 *     double area = weft::split(interval{0, 1}, halve).map(area_below).sum(); */
template <class T, class F> auto split(T whole, F f) {
  constexpr bool right = std::is_invocable_r_v<std::optional<T>, const F &, T &>;
  static_assert(right, "weft::split: f must be callable as f(piece), by several threads "
                       "at once, and return a std::optional of the piece's type");
  if constexpr (right)
    return iterator<detail::splitted<T, F>>({std::move(whole), std::move(f), {}});
}

/* A source: what f gives, one after the other.
 *
 * Serial: while (std::optional<T> x = f()) ... *x ...
 *
 * Items
 * are T &. f is called by one thread at a time; when there are some thousand items, or no
 * more, all threads work on them. Can be run once, since the copies of such a pipeline
 * share what f has given. If f throws, so does the sink, at once. */
template <class F> auto pull(F f) {
  static_assert(std::is_invocable_v<F &>, "weft::pull: f must be callable as f()");
  using state = typename detail::pulled<F>::state;
  return iterator<detail::pulled<F>>({std::make_shared<state>(state{std::move(f), {}})});
}

/* A source: one value, n times. */
template <class T> auto repeat(T value, std::size_t n) {
  return iter(n).map([value](std::size_t) { return value; });
}

template <class P> template <class R> auto iterator<P>::zip(R &&other) const {
  expect_indexed();
  auto right = iter(std::forward<R>(other));
  static_assert(decltype(right)::indexed,
                "weft::iter: zip after filter and flat_map has no "
                "indices to go by");
  using Q = detail::plain<decltype(right.producer())>;
  return then(detail::zipped<P, Q>{{producer_, right.producer()}});
}

template <class P> template <class R> auto iterator<P>::chain(R &&other) const {
  auto right = iter(std::forward<R>(other));
  using Q = detail::plain<decltype(right.producer())>;
  return then(detail::chained<P, Q>{{producer_, right.producer()}});
}

template <class P> template <class R> auto iterator<P>::interleave(R &&other) const {
  expect_indexed();
  auto right = iter(std::forward<R>(other));
  static_assert(decltype(right)::indexed, "weft::iter: interleave needs known lengths");
  using Q = detail::plain<decltype(right.producer())>;
  return then(detail::interleaved<P, Q>{{producer_, right.producer()}});
}

WEFT_HPP_END

#endif
