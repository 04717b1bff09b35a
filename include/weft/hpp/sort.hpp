/* weft/hpp/sort.hpp - weft::sort and weft::stable_sort.
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

namespace detail {

/* ---- by a kernel: elements that can be copied as bytes ---- */

/* What the functions of a kernel are given. Once the order has thrown, the sort goes on
 * with an order in which all elements are equal, which soon comes to an end; the kernels
 * work with any order at all. That is asked once for each of their calls, so that the
 * loops have nothing but the comparison in them. */
template <class T, class Less> struct sort_frame {
  Less &less;
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
  static constexpr wf_sort_kernel kernel = {sizeof(T), compare,  sort,    merge,
                                            run,       classify, scatter, partition};
};

template <class T, class Less>
void sort_bytes(const weft_opts *o, T *a, std::size_t n, Less &less, bool stable) {
  using frame = sort_frame<T, Less>;
  frame in{less, {}};
  wf_sort_by_kernel(o, a, n, &frame::kernel, &in, stable,
                    stable ? "weft::stable_sort" : "weft::sort");
  in.failure.rethrow_if_caught();
}

/* ---- other elements: their addresses are sorted, then each is moved twice ---- */

struct free_memory {
  void operator()(void *memory) const noexcept {
    std::free(memory);
  }
};

template <class V, class Less>
void sort_objects(const weft_opts *o, V view, Less &less, bool stable) {
  using reference = element_of<V>;
  using T = plain<reference>;
  const std::size_t n = view.size();
  constexpr std::size_t spare = alignof(T); /* malloc's alignment may be less */
  const bool fits = n <= (SIZE_MAX - spare) / (sizeof(T) + sizeof(T *));
  std::unique_ptr<void, free_memory> memory(
      fits ? std::malloc(n * (sizeof(T) + sizeof(T *)) + spare) : nullptr);
  if (n < 2 || memory == nullptr) {
    if (stable)
      std::stable_sort(view.first, view.first + static_cast<std::ptrdiff_t>(n), less);
    else
      std::sort(view.first, view.first + static_cast<std::ptrdiff_t>(n), less);
    return;
  }
  T **order = static_cast<T **>(memory.get());
  void *room = order + n;
  std::size_t left = n * sizeof(T) + spare;
  T *moved = static_cast<T *>(std::align(alignof(T), n * sizeof(T), room, left));

  auto list = [=](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; i++) order[i] = std::addressof(view[i]);
  };
  for_blocks(nullptr, n, list);
  /* Cancelled or thrown: nothing has moved yet. */
  auto by_address = [&less](T *a, T *b) { return less(*a, *b); };
  sort_bytes(o, order, n, by_address, stable);
  auto away = [=](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; i++)
      ::new (static_cast<void *>(moved + i)) T(std::move(*order[i]));
  };
  for_blocks(nullptr, n, away);
  auto back = [=](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; i++) {
      view[i] = std::move(moved[i]);
      moved[i].~T();
    }
  };
  for_blocks(nullptr, n, back);
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

/* By the type with the same bits, which may have another name: long long as int64_t. The
 * empty statements keep the compiler, which may see both sides when it links, from
 * concluding that one cannot be the other. */
template <class T> void sort_numbers(const weft_opts *o, T *a, std::size_t n) {
  __asm__ __volatile__("" : : "r"(a) : "memory");
  if constexpr (std::is_floating_point_v<T>)
    weft_sort_of_with(o, a, n);
  else if constexpr (sizeof(T) == 4 && std::is_signed_v<T>)
    weft_sort_i32_with(o, reinterpret_cast<int32_t *>(a), n);
  else if constexpr (sizeof(T) == 4)
    weft_sort_u32_with(o, reinterpret_cast<uint32_t *>(a), n);
  else if constexpr (std::is_signed_v<T>)
    weft_sort_i64_with(o, reinterpret_cast<int64_t *>(a), n);
  else
    weft_sort_u64_with(o, reinterpret_cast<uint64_t *>(a), n);
  __asm__ __volatile__("" : : "r"(a) : "memory");
}

template <class V, class Less>
void sort_view(const weft_opts *o, V view, Less &less, bool stable) {
  using T = plain<element_of<V>>;
  constexpr bool right = std::is_invocable_r_v<bool, Less &, const T &, const T &> ||
                         std::is_invocable_r_v<bool, Less &, T &, T &>;
  static_assert(right, "weft::sort: the order must be callable as less(a, b), a bool");
  static_assert(!std::is_const_v<std::remove_reference_t<element_of<V>>>,
                "weft::sort: the elements are const");
  static_assert(!has_proxies<V>,
                "weft::sort: not std::vector<bool>, whose elements share bytes");
  if constexpr (right && !has_proxies<V>) {
    constexpr bool is_array = std::is_pointer_v<decltype(view.first)>;
    constexpr bool is_up = is_less_of<T, plain<Less>>,
                   is_down = is_greater_of<T, plain<Less>>;
    constexpr bool is_plain = std::is_trivially_copyable_v<T> &&
                              alignof(T) <= alignof(std::max_align_t) &&
                              std::is_invocable_r_v<bool, Less &, const T &, const T &>;
    if constexpr (is_array && is_number<T> && (is_up || is_down)) {
      /* A stable sort must not exchange -0 and +0, which are equal here. */
      if (std::is_floating_point_v<T> && stable) {
        sort_bytes(o, view.first, view.count, less, true);
        return;
      }
      sort_numbers(o, view.first, view.count);
      if (is_down) weft_reverse(view.first, view.count, sizeof(T));
    } else if constexpr (is_array && is_plain) {
      sort_bytes(o, view.first, view.count, less, stable);
    } else {
      static_assert(std::is_nothrow_move_constructible_v<T> &&
                        std::is_nothrow_move_assignable_v<T>,
                    "weft::sort: the elements must be movable without exceptions");
      sort_objects(o, view, less, stable);
    }
  }
}

template <class R, class Less>
void sort_range(const weft_opts *o, R &range, Less &less, bool stable) {
  expect_range<R>();
  if constexpr (is_range<R>) {
    static_assert(!is_index<R>, "weft::sort: give a container");
    if constexpr (!is_index<R>) sort_view(o, view_of(range), less, stable);
  }
}

} // namespace detail

/* Replaces
 *
 *     std::sort(range.begin(), range.end(), less);
 *
 * Meaning: sorts a container or array with random access; equal elements in any order.
 * Without an order, by <. Numbers of 4 and 8 bytes by std::less or std::greater are
 * sorted by their bits (weft/sort_numbers.h: NaNs come last, or first with std::greater);
 * elements that are trivially copyable by loops into which the order is inlined, as those
 * of WEFT_SORT. Of others the addresses are sorted, and each element is moved twice. The
 * order is called on several threads at the same time, and for copies of trivially
 * copyable elements.
 *
 * Exceptions: if the order throws, the comparisons that other threads have begun end and
 * most others are not made; the call throws the exception that was caught first. The
 * range then has the same elements in some order; if they are not trivially copyable, in
 * the order from before. The same holds after a cancellation.
 *
 * Memory: as weft_sort, and for elements that are not trivially copyable that of the
 * range and a pointer for each; where there is none, std::sort does the work. */
template <class R, class Less = std::less<>,
          std::enable_if_t<!detail::is_options<R>, int> = 0>
void sort(R &&range, Less &&less = Less()) {
  detail::sort_range(nullptr, range, less, false);
}

template <class R, class Less = std::less<>>
void sort(const options &o, R &&range, Less &&less = Less()) {
  detail::sort_range(&o, range, less, false);
}

/* Replaces
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
