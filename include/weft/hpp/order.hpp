/* weft/hpp/order.hpp - what goes by an order, besides weft::sort: merge, nth_element,
 * partial_sort, argsort, sort_by_key, is_sorted.
 *
 *     weft::nth_element(v, v.size() / 2);
 *     double median = v[v.size() / 2];
 *
 * What weft/hpp/sort.hpp says about orders, elements, exceptions and memory holds here
 * too; without an order all of them go by <.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WEFT_HPP_ORDER_HPP
#define WEFT_HPP_ORDER_HPP

#include <weft/hpp/iter.hpp>
#include <weft/hpp/sort.hpp>

WEFT_HPP_BEGIN

namespace detail {

/* The context of a comparator for C. Once the order has thrown, all elements are equal.
 */
template <class T, class Less> struct compare_frame {
  const Less &less;
  earliest failure;

  static int compare(const void *a, const void *b, void *ctx) {
    compare_frame &here = from_ctx<compare_frame>(ctx);
    int result = 0;
    if (here.failure.happened()) return result;
    guarded(
        [&] {
          const T &x = *static_cast<const T *>(a), &y = *static_cast<const T *>(b);
          result = here.less(x, y) ? -1 : here.less(y, x) ? 1 : 0;
        },
        [&] { here.failure.caught_at(0); });
    return result;
  }
};

/* nth_element, or partial_sort of the first k elements, of an array. */
template <class T, class Less>
void select_bytes(const weft_opts *o, T *a, std::size_t n, std::size_t k, bool sorted,
                  const Less &less) {
  compare_frame<T, Less> in{less, {}};
  if (sorted)
    weft_partial_sort_with(o, a, n, sizeof(T), k, in.compare, &in);
  else
    weft_nth_element_with(o, a, n, sizeof(T), k, in.compare, &in);
  in.failure.rethrow_if_caught();
}

template <class V, class Less>
void select_view(const weft_opts *o, V view, std::size_t k, bool sorted,
                 const Less &less) {
  if constexpr (expect_sortable<V, Less>()) {
    const std::size_t n = view.size();
    if constexpr (sorts_numbers<V, Less>) {
      as_numbers(view.first, [&](auto *a) {
        if (sorted)
          weft_partial_sort_of_with(o, a, n, k);
        else
          weft_nth_element_of_with(o, a, n, k);
      });
    } else if constexpr (sorts_bytes<V, Less>) {
      select_bytes(o, view.first, n, k, sorted, less);
    } else {
      if (!sorted && k >= n) return;
      auto by_bytes = [&](auto *order, std::size_t count, const auto &by_address) {
        select_bytes(o, order, count, k, sorted, by_address);
      };
      auto by_std = [&](const auto &by) {
        const auto first = view.first, last = first + static_cast<std::ptrdiff_t>(n),
                   middle = first + static_cast<std::ptrdiff_t>(k < n ? k : n);
        if (sorted)
          std::partial_sort(first, middle, last, by);
        else
          std::nth_element(first, middle, last, by);
      };
      order_objects(o, view, less, by_bytes, by_std);
    }
  }
}

template <class V, class Less>
std::vector<std::size_t> argsort_view(const weft_opts *o, V view, std::size_t n,
                                      const Less &less) {
  std::vector<std::size_t> order(n);
  /* A stable order must not tell -0 from +0, so floats go by their order. */
  if constexpr (sorts_numbers<V, Less> && std::is_integral_v<plain<element_of<V>>>) {
    as_numbers(view.first, [&](auto *a) { weft_argsort_of_with(o, order.data(), a, n); });
  } else {
    const options listing = without_cancel(o);
    auto list = [first = order.data()](std::size_t i, std::size_t end) {
      for (; i < end; i++) first[i] = i;
    };
    for_blocks(&listing, n, list);
    auto by_index = [view, &less](std::size_t i, std::size_t j) {
      return less(view[i], view[j]);
    };
    sort_bytes(o, order.data(), n, by_index, true);
  }
  return order;
}

template <class K, class P, class Less>
void sort_views_by_key(const weft_opts *o, K keys, P payload, const Less &less) {
  using T = plain<element_of<K>>;
  using U = plain<element_of<P>>;
  if constexpr (expect_sortable<K, Less>()) {
    const std::size_t n = keys.size() < payload.size() ? keys.size() : payload.size();
    if constexpr (sorts_numbers<K, Less> && std::is_integral_v<T> && is_bytes<P>) {
      as_numbers(keys.first, [&](auto *a) {
        weft_sort_by_key_of_with(o, a, n, payload.first, sizeof(U));
      });
    } else if constexpr (sorts_bytes<K, Less> && is_bytes<P>) {
      compare_frame<T, Less> in{less, {}};
      weft_sort_by_key_with(o, keys.first, n, sizeof(T), payload.first, sizeof(U),
                            in.compare, &in);
      in.failure.rethrow_if_caught();
    } else {
      static_assert(moves_safely<T> && moves_safely<U>,
                    "weft::sort_by_key: the elements must be movable without exceptions");
      const room<T> keys_moved(n);
      const room<U> payload_moved(n);
      if (n == 0) return;
      if (keys_moved.data() == nullptr || payload_moved.data() == nullptr) no_memory();
      /* Cancelled or thrown: nothing has moved yet. */
      const std::vector<std::size_t> order = argsort_view(o, keys, n, less);
      const std::size_t *at = order.data();
      permute(o, keys, n, keys_moved, [=](std::size_t i) -> T & { return keys[at[i]]; });
      permute(o, payload, n, payload_moved,
              [=](std::size_t i) -> U & { return payload[at[i]]; });
    }
  }
}

/* How many of the first k merged elements come from a: those of a in front of equal ones
 * of b. */
template <class A, class B, class Less>
std::size_t merge_split(const A &a, const B &b, std::size_t k, const Less &less) {
  std::size_t low = k > b.size() ? k - b.size() : 0;
  std::size_t high = k < a.size() ? k : a.size();
  while (low < high) {
    const std::size_t i = low + (high - low) / 2;
    if (less(b[k - i - 1], a[i]))
      high = i;
    else
      low = i + 1;
  }
  return low;
}

template <class A, class B, class To, class Less>
void merge_views(const weft_opts *o, A a, B b, To to, const Less &less) {
  static_assert(!has_proxies<To>,
                "weft::merge: not into std::vector<bool>, whose elements share bytes");
  if constexpr (expect_order<A, Less>() && !has_proxies<To>) {
    auto body = [=, &less](std::size_t k, std::size_t end) {
      std::size_t i = merge_split(a, b, k, less), j = k - i;
      for (; k < end; k++) {
        if (j == b.size() || (i < a.size() && !less(b[j], a[i])))
          to[k] = a[i++];
        else
          to[k] = b[j++];
      }
    };
    const std::size_t n = a.size() + b.size();
    for_blocks(o, n < to.size() ? n : to.size(), body);
  }
}

} // namespace detail

/* Puts one element where sorting would put it.
 *
 * Replaces
 *
 *     std::nth_element(range.begin(), range.begin() + nth, range.end(), less);
 *
 * Meaning: range[nth] becomes the element that sorting would put there; none in front of
 * it is greater, and none behind it is less. Nothing happens if nth is not below the
 * length. weft_nth_element. */
template <class R, class Less = std::less<>>
void nth_element(const options &o, R &&range, std::size_t nth, Less &&less = Less()) {
  if constexpr (detail::expect_container<R>())
    detail::select_view(&o, detail::view_of(range), nth, false, less);
}

template <class R, class Less = std::less<>,
          std::enable_if_t<!detail::is_options<R>, int> = 0>
void nth_element(R &&range, std::size_t nth, Less &&less = Less()) {
  weft::nth_element(options(), range, nth, std::forward<Less>(less));
}

/* Sorts only the front of a container.
 *
 * Replaces
 *
 *     std::partial_sort(range.begin(), range.begin() + k, range.end(), less);
 *
 * Meaning: the k least elements come to the front, in order; the others in any order. If
 * k is not below the length, all are sorted. weft_partial_sort. */
template <class R, class Less = std::less<>>
void partial_sort(const options &o, R &&range, std::size_t k, Less &&less = Less()) {
  if constexpr (detail::expect_container<R>())
    detail::select_view(&o, detail::view_of(range), k, true, less);
}

template <class R, class Less = std::less<>,
          std::enable_if_t<!detail::is_options<R>, int> = 0>
void partial_sort(R &&range, std::size_t k, Less &&less = Less()) {
  weft::partial_sort(options(), range, k, std::forward<Less>(less));
}

/* The order in which the elements would be if they were sorted.
 *
 * Replaces
 *
 *     std::vector<std::size_t> order(range.size());
 *     std::iota(order.begin(), order.end(), 0);
 *     std::stable_sort(order.begin(), order.end(),
 *                      [&](auto i, auto j) { return less(range[i], range[j]); });
 *     return order;
 *
 * Meaning: the indices of the elements in their order; the range itself stays as it is.
 * Indices of equal elements ascend. weft_argsort. */
template <class R, class Less = std::less<>>
std::vector<std::size_t> argsort(const options &o, R &&range, Less &&less = Less()) {
  if constexpr (detail::expect_container<R>()) {
    auto view = detail::view_of(range);
    if constexpr (detail::expect_order<decltype(view), detail::plain<Less>>())
      return detail::argsort_view(&o, view, view.size(), std::as_const(less));
  }
  return {};
}

template <class R, class Less = std::less<>,
          std::enable_if_t<!detail::is_options<R>, int> = 0>
std::vector<std::size_t> argsort(R &&range, Less &&less = Less()) {
  return weft::argsort(options(), range, std::forward<Less>(less));
}

/* Sorts one container and moves the elements of another with it.
 *
 * Replaces
 *
 *     std::vector<std::size_t> order = weft::argsort(keys, less);
 *     // then both ranges become keys[order[0]], keys[order[1]], ...
 *
 * Meaning: sorts the keys, stable, and moves the elements of payload together with their
 * keys; the shorter of the two ranges decides how many. weft_sort_by_key.
 *
 * Memory: where elements are not trivially copyable, that of both ranges and an index for
 * each; without it std::bad_alloc is thrown. */
template <class K, class P, class Less = std::less<>,
          std::enable_if_t<detail::is_range<P>, int> = 0>
void sort_by_key(const options &o, K &&keys, P &&payload, Less &&less = Less()) {
  if constexpr (detail::expect_container<K>() && detail::expect_container<P>())
    detail::sort_views_by_key(&o, detail::view_of(keys), detail::view_of(payload), less);
}

template <class K, class P, class Less = std::less<>,
          std::enable_if_t<!detail::is_options<K>, int> = 0>
void sort_by_key(K &&keys, P &&payload, Less &&less = Less()) {
  weft::sort_by_key(options(), keys, payload, std::forward<Less>(less));
}

/* Merges two sorted containers into one.
 *
 * Replaces
 *
 *     std::merge(a.begin(), a.end(), b.begin(), b.end(), to.begin(), less);
 *
 * Meaning: `to` is a container that exists already and overlaps neither; it gets as many
 * elements as it has room for. Of equal elements those of a come first. Elements are
 * copied. weft_merge.
 *
 * Exceptions: those of the order, and of copying, as in loops. */
template <class A, class B, class To, class Less = std::less<>,
          std::enable_if_t<detail::is_range<To>, int> = 0>
void merge(const options &o, A &&a, B &&b, To &&to, Less &&less = Less()) {
  if constexpr (detail::expect_container<A>() && detail::expect_container<B>() &&
                detail::expect_container<To>())
    detail::merge_views(&o, detail::view_of(a), detail::view_of(b), detail::view_of(to),
                        less);
}

template <class A, class B, class To, class Less = std::less<>,
          std::enable_if_t<!detail::is_options<A>, int> = 0>
void merge(A &&a, B &&b, To &&to, Less &&less = Less()) {
  weft::merge(options(), a, b, to, std::forward<Less>(less));
}

/* Whether a container is sorted.
 *
 * Replaces
 *
 *     return std::is_sorted(range.begin(), range.end(), less);
 *
 * Meaning: the search stops soon after a pair in the wrong order was found.
 * weft_is_sorted. */
template <class R, class Less = std::less<>>
bool is_sorted(const options &o, R &&range, Less &&less = Less()) {
  if constexpr (detail::expect_container<R>()) {
    auto view = detail::view_of(range);
    if constexpr (detail::expect_order<decltype(view), detail::plain<Less>>()) {
      const std::size_t n = view.size();
      return n < 2 || iter(n - 1).with(o).none([&](std::size_t i) {
        return std::as_const(less)(view[i + 1], view[i]);
      });
    }
  }
  return true;
}

template <class R, class Less = std::less<>,
          std::enable_if_t<!detail::is_options<R>, int> = 0>
bool is_sorted(R &&range, Less &&less = Less()) {
  return weft::is_sorted(options(), range, std::forward<Less>(less));
}

WEFT_HPP_END

#endif
