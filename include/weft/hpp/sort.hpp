/* weft/hpp/sort.hpp - weft::sort and weft::stable_sort. weft/hpp/order.hpp has what else
 * goes by an order: merge, nth_element, partial_sort, argsort, sort_by_key, is_sorted.
 *
 *     weft::sort(people, [](auto &a, auto &b) { return a.age < b.age; });
 *
 * SPDX-License-Identifier: MIT */
#ifndef WEFT_HPP_SORT_HPP
#define WEFT_HPP_SORT_HPP

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <weft/hpp/loop.hpp>

WEFT_HPP_BEGIN

/* What all calls of this header share.
 *
 * Threads: any, as weft_sort. Exceptions: what the order throws, the first in time; the
 * elements are then all there, in some order. Cost: that of weft/sort.h with the order
 * inlined; numbers are sorted by their bits (weft/sort_numbers.h). */

namespace detail {

/* ---- elements that can be copied as bytes: as WEFT_SORT ---- */

/* The context of the functions below. Once the order has thrown, the sort goes on with an
 * order in which all elements are equal, and so ends soon; the loops work with any order.
 * Each of their calls checks once whether the order has thrown, so that the loops contain
 * only the comparison. */
template <class T, class Less> struct sort_frame {
  const Less &less;
  earliest failure;

  static bool compare(const void *a, const void *b, void *ctx) {
    sort_frame &here = from_ctx<sort_frame>(ctx);
    return !here.failure.happened() && compare_now(a, b, ctx);
  }
  static bool compare_now(const void *a, const void *b, void *ctx) {
    sort_frame &here = from_ctx<sort_frame>(ctx);
    bool is_less = false;
    guarded(
        [&] {
          is_less = here.less(*static_cast<const T *>(a), *static_cast<const T *>(b));
        },
        [&] { here.failure.caught_at(0); });
    return is_less;
  }
  static bool all_equal(const void *, const void *, void *) {
    return false;
  }
  static bool is_over(void *ctx) {
    return from_ctx<sort_frame>(ctx).failure.happened();
  }

  static void sort(char *data, char *spare, size_t n, bool to_spare, void *ctx) {
    if (WF_UNLIKELY(is_over(ctx)))
      wf_leaf_sort(data, spare, n, to_spare, sizeof(T), all_equal, ctx);
    else
      wf_leaf_sort(data, spare, n, to_spare, sizeof(T), compare_now, ctx);
  }
  static void merge(char *dst, const char *a, size_t na, const char *b, size_t nb,
                    void *ctx) {
    if (WF_UNLIKELY(is_over(ctx)))
      wf_leaf_merge(dst, a, na, b, nb, sizeof(T), all_equal, ctx);
    else
      wf_leaf_merge(dst, a, na, b, nb, sizeof(T), compare_now, ctx);
  }
  static size_t run(const char *data, size_t n, bool *falls, void *ctx) {
    if (WF_UNLIKELY(is_over(ctx)))
      return wf_leaf_run(data, n, falls, sizeof(T), all_equal, ctx);
    return wf_leaf_run(data, n, falls, sizeof(T), compare_now, ctx);
  }
  static void classify(const char *data, size_t n, const wf_splitters *by, uint16_t *ids,
                       size_t *counts, void *ctx) {
    if (WF_UNLIKELY(is_over(ctx)))
      wf_leaf_classify(data, n, by, ids, counts, sizeof(T), all_equal, ctx);
    else
      wf_leaf_classify(data, n, by, ids, counts, sizeof(T), compare_now, ctx);
  }
  static void scatter(const char *data, size_t n, const uint16_t *ids, char **places,
                      void *ctx) {
    wf_leaf_scatter(data, n, ids, places, sizeof(T), ctx);
  }
  static size_t partition(char *data, size_t n, const char *pivot, bool or_equal,
                          void *ctx) {
    if (WF_UNLIKELY(is_over(ctx)))
      return wf_leaf_partition(data, n, pivot, or_equal, sizeof(T), all_equal, ctx);
    return wf_leaf_partition(data, n, pivot, or_equal, sizeof(T), compare_now, ctx);
  }
  static constexpr wf_sort_loops loops = {sizeof(T), compare,  sort,    merge,
                                          run,       classify, scatter, partition};
};

template <class T, class Less>
void sort_bytes(const weft_opts *o, T *a, std::size_t n, const Less &less, bool stable) {
  using frame = sort_frame<T, Less>;
  frame in{less, {}};
  wf_sort_by_loops(o, a, n, &frame::loops, &in, stable,
                   stable ? "weft::stable_sort" : "weft::sort");
  in.failure.rethrow_if_caught();
}

/* ---- other elements: their addresses are sorted, then each is moved twice ---- */

/* Options for moving elements, which must not be left undone. */
inline options without_cancel(const weft_opts *o) noexcept {
  options all = o != nullptr ? options(*o) : options();
  all.cancel = nullptr;
  return all;
}

template <class T>
constexpr bool moves_safely =
    std::is_nothrow_move_constructible_v<T> &&std::is_nothrow_move_assignable_v<T>;

/* Memory for n objects, which are not constructed. data() is NULL if there is none. */
template <class T> class room {
public:
  explicit room(std::size_t n)
      : memory_(n <= (SIZE_MAX - alignof(T)) / sizeof(T)
                    ? std::malloc(n * sizeof(T) + alignof(T))
                    : nullptr) {
    if (memory_ == nullptr) return;
    void *start = memory_;
    std::size_t left = n * sizeof(T) + alignof(T); /* malloc may align less */
    data_ = static_cast<T *>(std::align(alignof(T), n * sizeof(T), start, left));
  }
  room(const room &) = delete;
  room &operator=(const room &) = delete;
  ~room() {
    std::free(memory_);
  }
  T *data() const noexcept {
    return data_;
  }

private:
  void *memory_;
  T *data_ = nullptr;
};

/* Moves the element which(i) to i, for each i below n: away into the room, and back. */
template <class V, class T, class Which>
void permute(const weft_opts *o, V view, std::size_t n, const room<T> &to, Which which) {
  const options moving = without_cancel(o);
  T *const moved = to.data();
  auto away = [=](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; i++)
      ::new (static_cast<void *>(moved + i)) T(std::move(which(i)));
  };
  for_blocks(&moving, n, away);
  auto back = [=](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; i++) {
      view[i] = std::move(moved[i]);
      moved[i].~T();
    }
  };
  for_blocks(&moving, n, back);
}

/* Brings elements into an order by one of their addresses: by_bytes(T **, n, less) sorts,
 * or selects from, the addresses. by_std(less) does the same to the elements themselves;
 * it runs where there is no memory. */
template <class V, class Less, class Bytes, class Std>
void order_objects(const weft_opts *o, V view, const Less &less, const Bytes &by_bytes,
                   const Std &by_std) {
  using T = plain<element_of<V>>;
  static_assert(moves_safely<T>,
                "weft::sort: the elements must be movable without exceptions");
  if constexpr (moves_safely<T>) {
    const std::size_t n = view.size();
    if (n < 2) return;
    const room<T *> addresses(n);
    const room<T> moved(n);
    if (addresses.data() == nullptr || moved.data() == nullptr) {
      by_std(less);
      return;
    }
    T **order = addresses.data();
    const options listing = without_cancel(o);
    auto list = [=](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; i++) order[i] = std::addressof(view[i]);
    };
    for_blocks(&listing, n, list);
    /* Cancelled or thrown: nothing has moved yet. */
    auto by_address = [&less](T *a, T *b) { return less(*a, *b); };
    by_bytes(order, n, by_address);
    permute(o, view, n, moved, [order](std::size_t i) -> T & { return *order[i]; });
  }
}

template <class V, class Less>
void sort_objects(const weft_opts *o, V view, const Less &less, bool stable) {
  auto by_bytes = [&](auto *order, std::size_t n, const auto &by_address) {
    sort_bytes(o, order, n, by_address, stable);
  };
  auto by_std = [&](const auto &by) {
    const auto last = view.first + static_cast<std::ptrdiff_t>(view.size());
    if (stable)
      std::stable_sort(view.first, last, by);
    else
      std::sort(view.first, last, by);
  };
  order_objects(o, view, less, by_bytes, by_std);
}

/* ---- numbers ---- */

template <class T>
constexpr bool is_number = (std::is_integral_v<T> &&
                            (sizeof(T) == 4 || sizeof(T) == 8)) ||
                           std::is_same_v<T, float> || std::is_same_v<T, double>;

template <class T, class Less>
constexpr bool is_less_of =
    std::is_same_v<Less, std::less<>> || std::is_same_v<Less, std::less<T>>;
template <class T, class Less>
constexpr bool is_greater_of =
    std::is_same_v<Less, std::greater<>> || std::is_same_v<Less, std::greater<T>>;

/* Calls f(pointer) with a pointer to the type of weft/numbers.h that has the same bits,
 * which may have another name: int64_t instead of long long. The empty statements keep
 * the compiler, which may see both sides when it links, from concluding that one cannot
 * be the other. */
template <class T, class F> decltype(auto) as_numbers(T *a, const F &f) {
  using plain_type = std::remove_const_t<T>;
  using number = std::conditional_t<
      std::is_floating_point_v<T>, plain_type,
      std::conditional_t<
          sizeof(T) == 4,
          std::conditional_t<std::is_signed_v<T>, std::int32_t, std::uint32_t>,
          std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>>;
  using pointer = std::conditional_t<std::is_const_v<T>, const number *, number *>;
  struct barrier {
    T *a;
    ~barrier() {
      __asm__ __volatile__("" : : "r"(a) : "memory");
    }
  } after{a};
  __asm__ __volatile__("" : : "r"(a) : "memory");
  return f(reinterpret_cast<pointer>(a));
}

/* What an order must be for elements of the type; checks it for a call. */
template <class V, class Less> constexpr bool expect_order() {
  using T = plain<element_of<V>>;
  constexpr bool right = std::is_invocable_r_v<bool, Less &, const T &, const T &> ||
                         std::is_invocable_r_v<bool, Less &, T &, T &>;
  static_assert(right, "weft::sort: the order must be callable as less(a, b), a bool");
  if constexpr (!right)
    return false;
  else if constexpr (std::is_invocable_v<Less &, const T &, const T &>)
    return expect_shared<Less, const T &, const T &>();
  else
    return expect_shared<Less, T &, T &>();
}

/* The same, for calls that move the elements. */
template <class V, class Less> constexpr bool expect_sortable() {
  static_assert(!std::is_const_v<std::remove_reference_t<element_of<V>>>,
                "weft::sort: the elements are const");
  static_assert(!has_proxies<V>,
                "weft::sort: not std::vector<bool>, whose elements share bytes");
  return expect_order<V, Less>() && !has_proxies<V> &&
         !std::is_const_v<std::remove_reference_t<element_of<V>>>;
}

/* Are elements sorted as bytes? Then the order is called for copies, too. */
template <class V, class Less>
constexpr bool sorts_bytes =
    is_bytes<V> &&std::is_invocable_v<const Less &, const plain<element_of<V>> &,
                                      const plain<element_of<V>> &>;

/* Is it an array of numbers in their natural order? */
template <class V, class Less>
constexpr bool sorts_numbers = is_bytes<V> &&is_number<plain<element_of<V>>>
    &&is_less_of<plain<element_of<V>>, Less>;

template <class V, class Less>
void sort_view(const weft_opts *o, V view, const Less &less, bool stable) {
  using T = plain<element_of<V>>;
  if constexpr (expect_sortable<V, Less>()) {
    constexpr bool is_down = is_greater_of<T, Less> && is_bytes<V> && is_number<T>;
    if constexpr (sorts_numbers<V, Less> || is_down) {
      /* A stable sort must not exchange -0 and +0, which are equal here. */
      if (std::is_floating_point_v<T> && stable) {
        sort_bytes(o, view.first, view.count, less, true);
        return;
      }
      as_numbers(view.first, [&](auto *a) { weft_sort_of_with(o, a, view.count); });
      if (is_down) weft_reverse(view.first, view.count, sizeof(T));
    } else if constexpr (sorts_bytes<V, Less>) {
      sort_bytes(o, view.first, view.count, less, stable);
    } else {
      sort_objects(o, view, less, stable);
    }
  }
}

template <class R, class Less>
void sort_range(const weft_opts *o, R &range, const Less &less, bool stable) {
  if constexpr (expect_container<R>()) sort_view(o, view_of(range), less, stable);
}

} // namespace detail

/* Sorts a container.
 *
 * Replaces
 *
 *     std::sort(range.begin(), range.end(), less);
 *
 * Meaning: sorts a container or array with random access; equal elements in any order.
 * Without an order, by <. Numbers of 4 and 8 bytes with std::less or std::greater are
 * sorted by their bits (weft/sort_numbers.h: NaNs come last, or first with std::greater).
 * Elements that are trivially copyable are sorted by loops with the order inlined, as by
 * WEFT_SORT. For other elements their addresses are sorted, and each element is moved
 * twice. The order is called on several threads at the same time (no mutable lambdas),
 * and also for copies of trivially copyable elements.
 *
 * Exceptions: if the order throws, comparisons that other threads have begun end, and
 * most others are not made; the call throws the exception that was caught first. The
 * range then has the same elements in some order; if they are not trivially copyable, in
 * the order from before. The same holds after a cancellation.
 *
 * Memory: as weft_sort; for elements that are not trivially copyable that of the range
 * and a pointer for each. Without it std::sort does the work. */
template <class R, class Less = std::less<>,
          std::enable_if_t<!detail::is_options<R>, int> = 0>
void sort(R &&range, Less &&less = Less()) {
  detail::sort_range(nullptr, range, less, false);
}

template <class R, class Less = std::less<>>
void sort(const options &o, R &&range, Less &&less = Less()) {
  detail::sort_range(&o, range, less, false);
}

/* Sorts a container; equal elements keep their order.
 *
 * Replaces
 *
 *     std::stable_sort(range.begin(), range.end(), less);
 *
 * Meaning: as sort, and equal elements keep their order. */
template <class R, class Less = std::less<>,
          std::enable_if_t<!detail::is_options<R>, int> = 0>
void stable_sort(R &&range, Less &&less = Less()) {
  detail::sort_range(nullptr, range, less, true);
}

template <class R, class Less = std::less<>>
void stable_sort(const options &o, R &&range, Less &&less = Less()) {
  detail::sort_range(&o, range, less, true);
}

WEFT_HPP_END

#endif
