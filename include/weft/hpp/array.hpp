/* weft/hpp/array.hpp - what moves or counts the elements of a range: fill, copy, reverse,
 * rotate, gather, scatter, stable_partition, unique, histogram, scans; and what compares:
 * min_index, max_index, equal, compare.
 *
 *     v.resize(weft::unique(v));
 *
 * Filters, counts and searches are sinks of weft::iter (weft/hpp/iter.hpp).
 *
 * Ranges, threads, cost and exceptions are those of loops (weft/hpp/loop.hpp). Arrays of
 * trivially copyable elements go to the calls of C; other elements are moved or copied
 * one by one. Indices are returned as in C, SIZE_MAX for none.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WEFT_HPP_ARRAY_HPP
#define WEFT_HPP_ARRAY_HPP

#include <weft/hpp/order.hpp>

WEFT_HPP_BEGIN

/* What all calls of this header share.
 *
 * Threads and cost: those of the calls of weft/array.h and weft/search.h: any; no grain
 * to choose. Exceptions: those of loops (weft/hpp/loop.hpp): the call throws what the
 * serial loop would have thrown. */

namespace detail {

/* Calls f(i) for each i below n, in blocks. */
template <class F>
WEFT_HPP_INLINE void for_indices(const weft_opts *o, std::size_t n, const F &f) {
  auto body = [&f](std::size_t i, std::size_t end) {
    for (; i < end; i++) f(i);
  };
  for_blocks(o, n, body);
}

template <class V>
void reverse_view(const weft_opts *o, V view, std::size_t first, std::size_t end) {
  for_indices(o, (end - first) / 2, [=](std::size_t i) {
    using std::swap;
    swap(view[first + i], view[end - 1 - i]);
  });
}

/* ---- elements that stay, and others ---- */

/* keep(i) for each element, by all threads; then the elements that stay come first, in
 * their order, and with `all` the others behind them. Returns how many stay. Until keep
 * has returned for all, nothing moves; an exception or a cancellation leaves the range as
 * it is (then the result is its length). */
template <class V, class Keep>
std::size_t compact(const weft_opts *o, V view, bool all, const Keep &keep) {
  using T = plain<element_of<V>>;
  static_assert(moves_safely<T>, "weft: the elements must be movable without exceptions");
  constexpr std::size_t chunk = 4096; /* elements that one thread counts and places */
  const std::size_t n = view.size(), chunks = n / chunk + (n % chunk != 0);
  std::vector<unsigned char> stays(n);
  std::vector<std::size_t> before(chunks + 1); /* that stay, in the chunks in front */
  const room<T> to(n);
  if (n == 0) return 0;
  if (to.data() == nullptr) no_memory();
  for_indices(o, n, [&, mask = stays.data()](std::size_t i) { mask[i] = keep(i); });
  if (o != nullptr && o->cancel != nullptr && weft_scope_cancelled(o->cancel)) return n;

  const options moving = without_cancel(o);
  auto end_of = [=](std::size_t k) { return (k + 1) * chunk < n ? (k + 1) * chunk : n; };
  for_indices(&moving, chunks, [&](std::size_t k) {
    std::size_t count = 0;
    for (std::size_t i = k * chunk; i < end_of(k); i++) count += stays[i];
    before[k + 1] = count;
  });
  for (std::size_t k = 0; k < chunks; k++) before[k + 1] += before[k];
  const std::size_t kept = before[chunks];
  T *const moved = to.data();
  for_indices(&moving, chunks, [&](std::size_t k) {
    T *next = moved + before[k], *other = moved + kept + (k * chunk - before[k]);
    for (std::size_t i = k * chunk; i < end_of(k); i++) {
      if (stays[i])
        ::new (static_cast<void *>(next++)) T(std::move(view[i]));
      else if (all)
        ::new (static_cast<void *>(other++)) T(std::move(view[i]));
    }
  });
  for_indices(&moving, all ? n : kept, [=](std::size_t i) {
    view[i] = std::move(moved[i]);
    moved[i].~T();
  });
  return kept;
}

/* ---- counting ---- */

[[noreturn]] WEFT_HPP_COLD inline void bad_key() {
#if defined(__cpp_exceptions)
  throw std::out_of_range("weft::histogram: a key is not below their number");
#else
  std::terminate();
#endif
}

template <class Key, class T>
WEFT_HPP_INLINE std::size_t checked_key(const Key &key, T &&x, std::size_t keys) {
  const std::size_t k = static_cast<std::size_t>(key(std::forward<T>(x)));
  if (WF_UNLIKELY(k >= keys)) bad_key();
  return k;
}

template <class T, class Key> struct histogram_frame {
  const T *first;
  std::size_t keys;
  const Key &key;
  earliest failure;

  static std::size_t run(const void *elem, void *ctx) {
    histogram_frame &here = from_ctx<histogram_frame>(ctx);
    const T *x = static_cast<const T *>(elem);
    std::size_t k = 0; /* of an element whose key throws: the counts are dropped */
    here.failure.run(static_cast<std::size_t>(x - here.first),
                     [&] { k = checked_key(here.key, *x, here.keys); });
    return k;
  }
};

template <class V, class Key>
std::vector<std::size_t> histogram_view(const weft_opts *o, V view, std::size_t keys,
                                        const Key &key) {
  using counts = std::vector<std::size_t>;
  if (keys == 0) {
    if (view.size() > 0) bad_key();
    return {};
  }
  if constexpr (is_bytes<V>) {
    using T = plain<element_of<V>>;
    counts result(keys);
    histogram_frame<T, Key> in{view.first, keys, key, {}};
    weft_histogram_with(o, result.data(), keys, view.first, view.size(), sizeof(T),
                        in.run, &in);
    in.failure.rethrow_if_caught();
    return result;
  } else {
    auto leaf = [&](std::optional<counts> &to, std::size_t i, std::size_t end) {
      if (!to) to.emplace(keys);
      for (; i < end; i++) (*to)[checked_key(key, view[i], keys)]++;
    };
    auto merge = [&](counts &to, counts &&right) {
      for (std::size_t k = 0; k < keys; k++) to[k] += right[k];
    };
    return reduce_objects<counts>(o, view.size(), leaf, merge).value_or(counts(keys));
  }
}

/* The index of the first element that is before all others, in the order. */
template <class V, class Before>
std::size_t extreme_index(const weft_opts *o, V view, const Before &before) {
  auto first_of = [&](std::size_t i, std::size_t j) {
    return before(view[j], view[i]) ? j : i;
  };
  return reduce_view<std::size_t>(o, numbers<std::size_t>{0, view.size()}, first_of,
                                  identity())
      .value_or(SIZE_MAX);
}

} // namespace detail

/* Sets all elements of a container to one value.
 *
 * Replaces
 *
 *     for (auto &x : range) x = value;
 *
 * weft_fill. */
template <class R, class T> void fill(const options &o, R &&range, const T &value) {
  if constexpr (detail::expect_container<R>()) {
    auto view = detail::view_of(range);
    if constexpr (detail::expect_writable<decltype(view)>())
      detail::for_indices(&o, view.size(),
                          [=, &value](std::size_t i) { view[i] = value; });
  }
}

template <class R, class T, std::enable_if_t<!detail::is_options<R>, int> = 0>
void fill(R &&range, const T &value) {
  weft::fill(options(), range, value);
}

/* Copies the elements of one container to another.
 *
 * Replaces
 *
 *     for (std::size_t i = 0; i < from.size(); i++) to[i] = from[i];
 *
 * Meaning: the shorter of the two decides. The ranges must not overlap. weft_copy. */
template <class R, class To> void copy(const options &o, R &&from, To &&to) {
  if constexpr (detail::expect_container<R>() && detail::expect_container<To>()) {
    auto a = detail::view_of(from);
    auto b = detail::view_of(to);
    if constexpr (detail::expect_writable<decltype(b)>()) {
      if constexpr (detail::same_bytes<decltype(a), decltype(b)>)
        weft_copy_with(&o, b.first, a.first, detail::shorter(a, b), sizeof(*b.first));
      else
        detail::for_indices(&o, detail::shorter(a, b),
                            [=](std::size_t i) { b[i] = a[i]; });
    }
  }
}

template <class R, class To, std::enable_if_t<!detail::is_options<R>, int> = 0>
void copy(R &&from, To &&to) {
  weft::copy(options(), from, to);
}

/* Reverses the order of the elements.
 *
 * Replaces
 *
 *     std::reverse(range.begin(), range.end());
 *
 * weft_reverse. */
template <class R> void reverse(const options &o, R &&range) {
  if constexpr (detail::expect_container<R>()) {
    auto view = detail::view_of(range);
    if constexpr (detail::expect_writable<decltype(view)>()) {
      if constexpr (detail::is_bytes<decltype(view)>)
        weft_reverse_with(&o, view.first, view.count, sizeof(*view.first));
      else
        detail::reverse_view(&o, view, 0, view.size());
    }
  }
}

template <class R, std::enable_if_t<!detail::is_options<R>, int> = 0>
void reverse(R &&range) {
  weft::reverse(options(), range);
}

/* Exchanges the front and the back part of a container.
 *
 * Replaces
 *
 *     std::rotate(range.begin(), range.begin() + middle, range.end());
 *
 * Meaning: a middle behind the end counts as the end. weft_rotate. */
template <class R> void rotate(const options &o, R &&range, std::size_t middle) {
  if constexpr (detail::expect_container<R>()) {
    auto view = detail::view_of(range);
    if constexpr (detail::expect_writable<decltype(view)>()) {
      const std::size_t n = view.size(), at = middle < n ? middle : n;
      if constexpr (detail::is_bytes<decltype(view)>) {
        weft_rotate_with(&o, view.first, n, sizeof(*view.first), at);
      } else {
        detail::reverse_view(&o, view, 0, at);
        detail::reverse_view(&o, view, at, n);
        detail::reverse_view(&o, view, 0, n);
      }
    }
  }
}

template <class R, std::enable_if_t<!detail::is_options<R>, int> = 0>
void rotate(R &&range, std::size_t middle) {
  weft::rotate(options(), range, middle);
}

/* Collects elements by their indices.
 *
 * Replaces
 *
 *     for (std::size_t i = 0; i < index.size(); i++) to[i] = from[index[i]];
 *
 * Meaning: the shorter of index and to decides. weft_gather. */
template <class R, class I, class To>
void gather(const options &o, R &&from, I &&index, To &&to) {
  if constexpr (detail::expect_container<R>() && detail::expect_container<I>() &&
                detail::expect_container<To>()) {
    auto a = detail::view_of(from);
    auto at = detail::view_of(index);
    auto b = detail::view_of(to);
    if constexpr (detail::expect_writable<decltype(b)>())
      detail::for_indices(&o, detail::shorter(at, b), [=](std::size_t i) {
        b[i] = a[static_cast<std::size_t>(at[i])];
      });
  }
}

template <class R, class I, class To, std::enable_if_t<!detail::is_options<R>, int> = 0>
void gather(R &&from, I &&index, To &&to) {
  weft::gather(options(), from, index, to);
}

/* Writes elements to the places that indices name.
 *
 * Replaces
 *
 *     for (std::size_t i = 0; i < index.size(); i++) to[index[i]] = from[i];
 *
 * Meaning: the shorter of index and from decides. No index may occur twice.
 * weft_scatter. */
template <class R, class I, class To>
void scatter(const options &o, R &&from, I &&index, To &&to) {
  if constexpr (detail::expect_container<R>() && detail::expect_container<I>() &&
                detail::expect_container<To>()) {
    auto a = detail::view_of(from);
    auto at = detail::view_of(index);
    auto b = detail::view_of(to);
    if constexpr (detail::expect_writable<decltype(b)>())
      detail::for_indices(&o, detail::shorter(at, a), [=](std::size_t i) {
        b[static_cast<std::size_t>(at[i])] = a[i];
      });
  }
}

template <class R, class I, class To, std::enable_if_t<!detail::is_options<R>, int> = 0>
void scatter(R &&from, I &&index, To &&to) {
  weft::scatter(options(), from, index, to);
}

/* Moves the elements for which a predicate holds to the front.
 *
 * Replaces
 *
 *     return std::stable_partition(range.begin(), range.end(), pred) - range.begin();
 *
 * Meaning: elements for which pred(element) holds come first; both kinds keep their
 * order. Returns how many come first. weft_partition.
 *
 * Exceptions, cancellation: the range stays as it is; after a cancellation the result is
 * its length. Memory: that of the range and a byte for each element; without it
 * std::bad_alloc is thrown. */
template <class R, class Pred>
std::size_t stable_partition(const options &o, R &&range, Pred &&pred) {
  if constexpr (detail::expect_container<R>()) {
    auto view = detail::view_of(range);
    using element = detail::element_of<decltype(view)>;
    constexpr bool right = std::is_invocable_r_v<bool, Pred &, element>;
    static_assert(right, "weft::stable_partition: the predicate must be callable as "
                         "pred(element), a bool");
    if constexpr (right && detail::expect_writable<decltype(view)>() &&
                  detail::expect_shared<Pred, element>())
      return detail::compact(&o, view, true,
                             [view, &pred = std::as_const(pred)](std::size_t i) -> bool {
                               return pred(view[i]);
                             });
  }
  return 0;
}

template <class R, class Pred, std::enable_if_t<!detail::is_options<R>, int> = 0>
std::size_t stable_partition(R &&range, Pred &&pred) {
  return weft::stable_partition(options(), range, std::forward<Pred>(pred));
}

/* Removes elements that equal the one in front of them.
 *
 * Replaces
 *
 *     return std::unique(range.begin(), range.end(), equal) - range.begin();
 *
 * Meaning: of neighbours that are equal only the first is kept. Returns how many are
 * kept; the elements behind them have unspecified values. weft_unique. Exceptions and
 * memory as in stable_partition. */
template <class R, class Equal = std::equal_to<>>
std::size_t unique(const options &o, R &&range, Equal &&equal = Equal()) {
  if constexpr (detail::expect_container<R>()) {
    auto view = detail::view_of(range);
    using element = detail::element_of<decltype(view)>;
    constexpr bool right = std::is_invocable_r_v<bool, Equal &, element, element>;
    static_assert(right, "weft::unique: the function must be callable as equal(a, b), a "
                         "bool");
    if constexpr (right && detail::expect_writable<decltype(view)>() &&
                  detail::expect_shared<Equal, element, element>())
      return detail::compact(
          &o, view, false, [view, &equal = std::as_const(equal)](std::size_t i) -> bool {
            return i == 0 || !equal(view[i - 1], view[i]);
          });
  }
  return 0;
}

template <class R, class Equal = std::equal_to<>,
          std::enable_if_t<!detail::is_options<R>, int> = 0>
std::size_t unique(R &&range, Equal &&equal = Equal()) {
  return weft::unique(options(), range, std::forward<Equal>(equal));
}

/* Counts how many elements have each key.
 *
 * Replaces
 *
 *     std::vector<std::size_t> counts(keys);
 *     for (auto &x : range) counts.at(key(x))++;
 *     return counts;
 *
 * Meaning: weft_histogram. A key that is not below `keys` throws std::out_of_range. Key
 * functions get elements of arrays as const. */
template <class R, class Key>
std::vector<std::size_t> histogram(const options &o, R &&range, std::size_t keys,
                                   Key &&key) {
  if constexpr (detail::expect_container<R>()) {
    auto view = detail::view_of(range);
    using element = const detail::plain<detail::element_of<decltype(view)>> &;
    constexpr bool right = std::is_invocable_r_v<std::size_t, Key &, element>;
    static_assert(right, "weft::histogram: the function must be callable as "
                         "key(element), a number");
    if constexpr (right && detail::expect_shared<Key, element>())
      return detail::histogram_view(&o, view, keys, std::as_const(key));
  }
  return {};
}

template <class R, class Key, std::enable_if_t<!detail::is_options<R>, int> = 0>
std::vector<std::size_t> histogram(R &&range, std::size_t keys, Key &&key) {
  return weft::histogram(options(), range, keys, std::forward<Key>(key));
}

/* Running results of an operation, each with its own element.
 *
 * Replaces
 *
 *     T acc = identity;
 *     for (std::size_t i = 0; i < from.size(); i++) to[i] = acc = op(acc, from[i]);
 *
 * and, for exclusive_scan, a loop that writes acc before it adds from[i].
 *
 * Meaning: weft_scan: op must be associative and need not commute; identity must not
 * change what it is combined with. The shorter of the two ranges decides; `to` may be
 * `from`. The same bits for every number of threads. Where elements are not trivially
 * copyable, or the two ranges have different ones, one thread does the work. */
template <class R, class To, class T, class Op = std::plus<>>
void inclusive_scan(const options &o, R &&from, To &&to, const T &identity,
                    Op &&op = Op()) {
  if constexpr (detail::expect_container<R>() && detail::expect_container<To>())
    detail::scan_views(&o, detail::view_of(from), detail::view_of(to), identity, true,
                       op);
}

template <class R, class To, class T, class Op = std::plus<>,
          std::enable_if_t<!detail::is_options<R>, int> = 0>
void inclusive_scan(R &&from, To &&to, const T &identity, Op &&op = Op()) {
  weft::inclusive_scan(options(), from, to, identity, std::forward<Op>(op));
}

/* Running results of an operation, each without its own element: weft_scan.
 *
 * Replaces
 *
 *     T acc = identity;
 *     for (std::size_t i = 0; i < from.size(); i++) {
 *       T next = op(acc, from[i]);
 *       to[i] = std::exchange(acc, next);
 *     }
 *
 * Meaning: as inclusive_scan. */
template <class R, class To, class T, class Op = std::plus<>>
void exclusive_scan(const options &o, R &&from, To &&to, const T &identity,
                    Op &&op = Op()) {
  if constexpr (detail::expect_container<R>() && detail::expect_container<To>())
    detail::scan_views(&o, detail::view_of(from), detail::view_of(to), identity, false,
                       op);
}

template <class R, class To, class T, class Op = std::plus<>,
          std::enable_if_t<!detail::is_options<R>, int> = 0>
void exclusive_scan(R &&from, To &&to, const T &identity, Op &&op = Op()) {
  weft::exclusive_scan(options(), from, to, identity, std::forward<Op>(op));
}

/* Where the least element is.
 *
 * Replaces
 *
 *     auto least = std::min_element(range.begin(), range.end(), less);
 *     return least == range.end() ? SIZE_MAX : least - range.begin();
 *
 * Meaning: the index of the first of the least elements; max_index: of the first of the
 * greatest ones. weft_min_index, weft_max_index. */
template <class R, class Less = std::less<>>
std::size_t min_index(const options &o, R &&range, Less &&less = Less()) {
  if constexpr (detail::expect_container<R>()) {
    auto view = detail::view_of(range);
    if constexpr (detail::expect_order<decltype(view), detail::plain<Less>>())
      return detail::extreme_index(&o, view, std::as_const(less));
  }
  return SIZE_MAX;
}

template <class R, class Less = std::less<>,
          std::enable_if_t<!detail::is_options<R>, int> = 0>
std::size_t min_index(R &&range, Less &&less = Less()) {
  return weft::min_index(options(), range, std::forward<Less>(less));
}

/* Where the greatest element is: weft_max_index.
 *
 * Replaces
 *
 *     auto most = std::max_element(range.begin(), range.end(), less);
 *     return most == range.end() ? SIZE_MAX : most - range.begin();
 *
 * Meaning: the index of the first of the greatest elements. */
template <class R, class Less = std::less<>>
std::size_t max_index(const options &o, R &&range, Less &&less = Less()) {
  if constexpr (detail::expect_container<R>()) {
    auto view = detail::view_of(range);
    if constexpr (detail::expect_order<decltype(view), detail::plain<Less>>())
      return detail::extreme_index(&o, view, [&](const auto &a, const auto &b) {
        return std::as_const(less)(b, a);
      });
  }
  return SIZE_MAX;
}

template <class R, class Less = std::less<>,
          std::enable_if_t<!detail::is_options<R>, int> = 0>
std::size_t max_index(R &&range, Less &&less = Less()) {
  return weft::max_index(options(), range, std::forward<Less>(less));
}

/* Whether two containers are equal.
 *
 * Replaces
 *
 *     return std::equal(a.begin(), a.end(), b.begin(), b.end(), same);
 *
 * Meaning: the search stops soon after a pair that differs was found. weft_equal,
 * weft_equal_by. */
template <class A, class B, class Same = std::equal_to<>,
          std::enable_if_t<detail::is_range<B>, int> = 0>
bool equal(const options &o, A &&a, B &&b, Same &&same = Same()) {
  if constexpr (detail::expect_container<A>() && detail::expect_container<B>()) {
    auto x = detail::view_of(a);
    auto y = detail::view_of(b);
    return x.size() == y.size() && iter(x.size()).with(o).all([&](std::size_t i) {
      return static_cast<bool>(std::as_const(same)(x[i], y[i]));
    });
  } else {
    return false;
  }
}

template <class A, class B, class Same = std::equal_to<>,
          std::enable_if_t<!detail::is_options<A>, int> = 0>
bool equal(A &&a, B &&b, Same &&same = Same()) {
  return weft::equal(options(), a, b, std::forward<Same>(same));
}

/* Which of two containers comes first in the order of a dictionary.
 *
 * Replaces
 *
 *     if (std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(), less))
 *       return -1;
 *     return std::lexicographical_compare(b.begin(), b.end(), a.begin(), a.end(), less);
 *
 * Meaning: weft_compare: -1, 0 or 1, in the order of words in a dictionary. The search
 * stops soon after a pair that differs was found. */
template <class A, class B, class Less = std::less<>,
          std::enable_if_t<detail::is_range<B>, int> = 0>
int compare(const options &o, A &&a, B &&b, Less &&less = Less()) {
  if constexpr (detail::expect_container<A>() && detail::expect_container<B>()) {
    auto x = detail::view_of(a);
    auto y = detail::view_of(b);
    const auto &before = std::as_const(less);
    const std::size_t at =
        iter(detail::shorter(x, y)).with(o).position([&](std::size_t i) {
          return before(x[i], y[i]) || before(y[i], x[i]);
        });
    if (at != SIZE_MAX) return before(x[at], y[at]) ? -1 : 1;
    return x.size() < y.size() ? -1 : x.size() > y.size() ? 1 : 0;
  } else {
    return 0;
  }
}

template <class A, class B, class Less = std::less<>,
          std::enable_if_t<!detail::is_options<A>, int> = 0>
int compare(A &&a, B &&b, Less &&less = Less()) {
  return weft::compare(options(), a, b, std::forward<Less>(less));
}

WEFT_HPP_END

#endif
