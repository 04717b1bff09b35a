/* weft/hpp/iter_stage.hpp - what weft::iter pipelines are made of: sources and stages.
 * Not API; see weft/hpp/iter.hpp.
 *
 * A producer is a value that knows
 *
 *     item         what it gives: a type or a reference
 *     indexed      does each position give exactly one item?
 *     size()       how many positions there are
 *     at(i)        the item at position i, if indexed
 *     each(begin, end, sink)   calls sink(item) for the items of positions [begin, end),
 * in their order, until the sink returns true; then it returns true
 *     moves        must a sink work on a copy of its own, which it settles?
 *     pulls        do positions come in rounds? then refill() starts the next one
 *     settle(o)    finds out, for such a copy, where the sequence ends
 *
 * Stages hold the producer in front of them by value, so that a pipeline is one object,
 * and each() becomes one loop. Positions are what is shared among threads.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WEFT_HPP_ITER_STAGE_HPP
#define WEFT_HPP_ITER_STAGE_HPP

#include <optional>
#include <tuple>
#include <weft/hpp/range.hpp>

WEFT_HPP_BEGIN

template <class P> class iterator;

namespace detail {

/* ---- calls: f(item), or f(first, second) for a pair ---- */

template <class T> constexpr bool is_pair = false;
template <class A, class B> constexpr bool is_pair<std::pair<A, B>> = true;

/* How the parts of a pair reach a callable: the parts of a pair that stays where it is,
 * such as an element of a container, as lvalues; those of a temporary are moved. */
template <class T>
using first_part = std::conditional_t<std::is_lvalue_reference_v<T>,
                                      decltype((std::declval<T &>().first)),
                                      typename plain<T>::first_type &&>;
template <class T>
using second_part = std::conditional_t<std::is_lvalue_reference_v<T>,
                                       decltype((std::declval<T &>().second)),
                                       typename plain<T>::second_type &&>;

template <class F, class T> constexpr bool takes_whole = std::is_invocable_v<F &, T>;
template <class F, class T, bool = is_pair<plain<T>>> constexpr bool takes_parts = false;
template <class F, class T>
constexpr bool takes_parts<F, T, true> =
    std::is_invocable_v<F &, first_part<T>, second_part<T>>;
template <class F, class T> constexpr bool takes = takes_whole<F, T> || takes_parts<F, T>;

template <class F, class T> WEFT_HPP_INLINE decltype(auto) call(F &f, T &&item) {
  if constexpr (takes_whole<F, T>)
    return f(std::forward<T>(item));
  else
    return f(static_cast<first_part<T>>(item.first),
             static_cast<second_part<T>>(item.second));
}

template <class F, class T>
using called = decltype(call(std::declval<F &>(), std::declval<T>()));

/* What is kept of an item: a copy, of pairs of references too. */
template <class T> struct stored_of { using type = std::decay_t<T>; };
template <class A, class B> struct stored_of<std::pair<A, B>> {
  using type = std::pair<typename stored_of<A>::type, typename stored_of<B>::type>;
};
template <class T> using stored = typename stored_of<plain<T>>::type;

/* ---- producers that have nothing to settle, and those that pass it on ---- */

struct at_rest {
  static constexpr bool moves = false, pulls = false;
  void settle(const weft_opts *) {}
  bool refill() {
    return false;
  }
};

template <class P> struct behind {
  static constexpr bool moves = P::moves, pulls = P::pulls;
  P from;

  void settle(const weft_opts *o) {
    from.settle(o);
  }
  bool refill() {
    return from.refill();
  }
};

template <class P, class Q> struct behind_both {
  static_assert(!P::pulls && !Q::pulls,
                "weft::iter: what is pulled cannot be one of two sides");
  static constexpr bool moves = P::moves || Q::moves, pulls = false;
  P left;
  Q right;

  void settle(const weft_opts *o) {
    left.settle(o);
    right.settle(o);
  }
  bool refill() {
    return false;
  }
};

/* ---- sources ---- */

/* What gives items by at() gives ranges of them so. */
template <class P, class Sink>
WEFT_HPP_INLINE bool each_at(const P &p, std::size_t begin, std::size_t end, Sink &sink) {
  for (std::size_t i = begin; i < end; i++)
    if (sink(p.at(i))) return true;
  return false;
}

#define WEFT_HPP_EACH_BY_AT(P)                                                           \
  template <class Sink>                                                                  \
  WEFT_HPP_INLINE bool each(std::size_t begin, std::size_t end, Sink &sink) const {      \
    return each_at<P>(*this, begin, end, sink);                                          \
  }

template <class V> struct source : at_rest {
  using item = element_of<V>;
  static constexpr bool indexed = true;
  V view;

  std::size_t size() const {
    return view.size();
  }
  WEFT_HPP_INLINE item at(std::size_t i) const {
    return view[i];
  }
  WEFT_HPP_EACH_BY_AT(source)
};

/* Some elements in a row, as what std::span is from C++20 on. */
template <class T> class slice {
public:
  slice(T *first, std::size_t count) noexcept : first_(first), count_(count) {}
  T *begin() const noexcept {
    return first_;
  }
  T *end() const noexcept {
    return first_ + count_;
  }
  T *data() const noexcept {
    return first_;
  }
  std::size_t size() const noexcept {
    return count_;
  }
  T &operator[](std::size_t i) const noexcept {
    return first_[i];
  }

private:
  T *first_;
  std::size_t count_;
};

/* Slices of an array: every `step` elements one of up to `length`. Chunks and windows. */
template <class T> struct slices : at_rest {
  using item = slice<T>;
  static constexpr bool indexed = true;
  T *first;
  std::size_t count, elements, step, length;

  std::size_t size() const {
    return count;
  }
  WEFT_HPP_INLINE item at(std::size_t i) const {
    const std::size_t left = elements - i * step;
    return item(first + i * step, left < length ? left : length);
  }
  WEFT_HPP_EACH_BY_AT(slices)
};

/* ---- stages that keep positions ---- */

template <class P, class F> struct mapped : behind<P> {
  using item = called<const F, typename P::item>;
  static constexpr bool indexed = P::indexed;
  F f;

  std::size_t size() const {
    return this->from.size();
  }
  WEFT_HPP_INLINE item at(std::size_t i) const {
    return call(f, this->from.at(i));
  }
  template <class Sink>
  WEFT_HPP_INLINE bool each(std::size_t begin, std::size_t end, Sink &sink) const {
    auto next = [&](typename P::item &&x) WEFT_HPP_LAMBDA {
      return sink(call(f, static_cast<typename P::item &&>(x)));
    };
    return this->from.each(begin, end, next);
  }
};

template <class P, class F> struct inspected : behind<P> {
  using item = typename P::item;
  static constexpr bool indexed = P::indexed;
  F f;

  std::size_t size() const {
    return this->from.size();
  }
  WEFT_HPP_INLINE item at(std::size_t i) const {
    item &&x = this->from.at(i);
    call(f, static_cast<const plain<item> &>(x));
    return static_cast<item &&>(x);
  }
  template <class Sink>
  WEFT_HPP_INLINE bool each(std::size_t begin, std::size_t end, Sink &sink) const {
    auto next = [&](item &&x) WEFT_HPP_LAMBDA {
      call(f, static_cast<const plain<item> &>(x));
      return sink(static_cast<item &&>(x));
    };
    return this->from.each(begin, end, next);
  }
};

template <class P> struct enumerated : behind<P> {
  using item = std::pair<std::size_t, typename P::item>;
  static constexpr bool indexed = true;

  std::size_t size() const {
    return this->from.size();
  }
  WEFT_HPP_INLINE item at(std::size_t i) const {
    return item(i, this->from.at(i));
  }
  WEFT_HPP_EACH_BY_AT(enumerated)
};

template <class P, class Q> struct zipped : behind_both<P, Q> {
  using item = std::pair<typename P::item, typename Q::item>;
  static constexpr bool indexed = true;

  std::size_t size() const {
    return this->left.size() < this->right.size() ? this->left.size()
                                                  : this->right.size();
  }
  WEFT_HPP_INLINE item at(std::size_t i) const {
    return item(this->left.at(i), this->right.at(i));
  }
  WEFT_HPP_EACH_BY_AT(zipped)
};

/* Positions first, first + step, ... (or backwards: step is then -1 as a size_t). */
template <class P> struct picked : behind<P> {
  using item = typename P::item;
  static constexpr bool indexed = true;
  std::size_t first, step, count;

  std::size_t size() const {
    return count;
  }
  WEFT_HPP_INLINE item at(std::size_t i) const {
    return this->from.at(first + i * step);
  }
  WEFT_HPP_EACH_BY_AT(picked)
};

/* What two producers together give: the same references if both do. */
template <class P, class Q>
using item_of_both =
    std::conditional_t<std::is_same_v<typename P::item, typename Q::item>,
                       typename P::item,
                       std::common_type_t<typename P::item, typename Q::item>>;

template <class P, class Q> struct interleaved : behind_both<P, Q> {
  using item = item_of_both<P, Q>;
  static constexpr bool indexed = true;

  std::size_t size() const {
    return this->left.size() + this->right.size();
  }
  WEFT_HPP_INLINE item at(std::size_t i) const {
    const std::size_t n = this->left.size(), m = this->right.size(), both = n < m ? n : m;
    const bool is_left = i < 2 * both ? i % 2 == 0 : n > m;
    const std::size_t k = i < 2 * both ? i / 2 : i - both;
    return is_left ? static_cast<item>(this->left.at(k))
                   : static_cast<item>(this->right.at(k));
  }
  WEFT_HPP_EACH_BY_AT(interleaved)
};

template <class P, class Q> struct chained : behind_both<P, Q> {
  using item = item_of_both<P, Q>;
  static constexpr bool indexed = P::indexed && Q::indexed;

  std::size_t size() const {
    return this->left.size() + this->right.size();
  }
  WEFT_HPP_INLINE item at(std::size_t i) const {
    const std::size_t n = this->left.size();
    return i < n ? static_cast<item>(this->left.at(i))
                 : static_cast<item>(this->right.at(i - n));
  }
  template <class Sink>
  WEFT_HPP_INLINE bool each(std::size_t begin, std::size_t end, Sink &sink) const {
    const std::size_t n = this->left.size();
    auto next = [&](auto &&x) WEFT_HPP_LAMBDA {
      return sink(static_cast<item>(std::forward<decltype(x)>(x)));
    };
    if (begin < n && this->left.each(begin, end < n ? end : n, next)) return true;
    return end > n && this->right.each(begin > n ? begin - n : 0, end - n, next);
  }
};

/* ---- stages after which a position gives any number of items ---- */

template <class P, class F> struct filtered : behind<P> {
  using item = typename P::item;
  static constexpr bool indexed = false;
  F keep;

  std::size_t size() const {
    return this->from.size();
  }
  template <class Sink>
  WEFT_HPP_INLINE bool each(std::size_t begin, std::size_t end, Sink &sink) const {
    auto next = [&](item &&x) WEFT_HPP_LAMBDA {
      const plain<item> &seen = x;
      return call(keep, seen) && sink(static_cast<item &&>(x));
    };
    return this->from.each(begin, end, next);
  }
};

/* What f gives is a std::optional. */
template <class P, class F> struct filter_mapped : behind<P> {
  using given = called<const F, typename P::item>;
  /* What is in an optional that stays where it is stays there. */
  using item = std::conditional_t<std::is_lvalue_reference_v<given>,
                                  decltype(*std::declval<given>()),
                                  typename plain<given>::value_type>;
  static constexpr bool indexed = false;
  F f;

  std::size_t size() const {
    return this->from.size();
  }
  template <class Sink>
  WEFT_HPP_INLINE bool each(std::size_t begin, std::size_t end, Sink &sink) const {
    auto next = [&](typename P::item &&x) WEFT_HPP_LAMBDA {
      given &&some = call(f, static_cast<typename P::item &&>(x));
      return some && sink(static_cast<item &&>(*some));
    };
    return this->from.each(begin, end, next);
  }
};

template <class T> constexpr bool is_iterator = false;
template <class P> constexpr bool is_iterator<iterator<P>> = true;

template <class R, class = void> struct inner_item {
  using type = decltype(*std::begin(std::declval<R &>()));
};
template <class R> struct inner_item<R, std::enable_if_t<is_iterator<plain<R>>>> {
  using type = typename plain<R>::item;
};

/* All items of a pipeline, by one thread. */
template <class P, class Sink> bool each_of(const P &from, Sink &sink) {
  if constexpr (P::moves) {
    P own = from;
    bool stopped = false, more = !P::pulls || own.refill();
    while (more && !stopped) {
      own.settle(nullptr);
      stopped = own.each(0, own.size(), sink);
      more = P::pulls && own.refill();
    }
    return stopped;
  } else {
    return from.each(0, from.size(), sink);
  }
}

/* f(x) is a range or another pipeline, whose items follow one by one. */
template <class P, class F> struct flattened : behind<P> {
  using inner = called<const F, typename P::item>;
  using item = typename inner_item<std::remove_reference_t<inner>>::type;
  static constexpr bool indexed = false;
  F f;

  std::size_t size() const {
    return this->from.size();
  }
  template <class Sink>
  WEFT_HPP_INLINE bool each(std::size_t begin, std::size_t end, Sink &sink) const {
    auto next = [&](typename P::item &&x) WEFT_HPP_LAMBDA {
      inner &&given = call(f, static_cast<typename P::item &&>(x));
      if constexpr (is_iterator<plain<inner>>) {
        return each_of(given.producer(), sink);
      } else {
        for (auto &&y : given)
          if (sink(static_cast<decltype(y) &&>(y))) return true;
        return false;
      }
    };
    return this->from.each(begin, end, next);
  }
};

#undef WEFT_HPP_EACH_BY_AT

} // namespace detail

WEFT_HPP_END

#endif
