/* weft/hpp/iter_source.hpp - what else weft::iter pipelines are made of: texts, tiles,
 * ranges with a step, trees, serial sources, chunks of items, the end of a sequence. Not
 * API; see weft/hpp/iter.hpp.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WEFT_HPP_ITER_SOURCE_HPP
#define WEFT_HPP_ITER_SOURCE_HPP

#include <memory>
#include <optional>
#include <string_view>
#include <weft/hpp/iter_sink.hpp>
#include <weft/iter.h>

WEFT_HPP_BEGIN

namespace detail {

/* ---- sources ---- */

/* first, first + step, ...: unsigned, so that it wraps and comes out right. */
template <class N> struct stepped : at_rest {
  using item = N;
  static constexpr bool indexed = true;
  using natural = std::make_unsigned_t<N>;
  natural first, step;
  std::size_t count;

  std::size_t size() const {
    return count;
  }
  WEFT_HPP_INLINE item at(std::size_t i) const {
    return static_cast<N>(static_cast<natural>(
        first + static_cast<natural>(static_cast<natural>(i) * step)));
  }
  template <class Sink>
  WEFT_HPP_INLINE bool each(std::size_t begin, std::size_t end, Sink &sink) const {
    return each_at(*this, begin, end, sink);
  }
};

struct tiled : at_rest {
  using item = weft_tile;
  static constexpr bool indexed = true;
  std::size_t rows, cols, tile_rows, tile_cols, down, across;

  std::size_t size() const {
    return down * across;
  }
  WEFT_HPP_INLINE item at(std::size_t i) const {
    const std::size_t r = i / across * tile_rows, c = i % across * tile_cols;
    return {r, rows - r < tile_rows ? rows : r + tile_rows, c,
            cols - c < tile_cols ? cols : c + tile_cols};
  }
  template <class Sink>
  WEFT_HPP_INLINE bool each(std::size_t begin, std::size_t end, Sink &sink) const {
    return each_at(*this, begin, end, sink);
  }
};

/* Positions are those of the text; the lines that begin there. */
struct lined : at_rest {
  using item = std::string_view;
  static constexpr bool indexed = false;
  std::string_view text;

  std::size_t size() const {
    return text.size();
  }
  template <class Sink> bool each(std::size_t begin, std::size_t end, Sink &sink) const {
    if (begin > 0) { /* behind the next end of a line; one in front of `begin` counts */
      begin = text.find('\n', begin - 1);
      if (begin == std::string_view::npos) return false;
      begin++;
    }
    while (begin < end) {
      std::size_t next = text.find('\n', begin);
      if (next == std::string_view::npos) next = text.size();
      if (sink(text.substr(begin, next - begin))) return true;
      begin = next + 1;
    }
    return false;
  }
};

/* What a function splits: the leaves, which are found when a sink starts. The first
 * `apart` pieces are made level by level on one thread; then each of them is split to its
 * leaves by itself, from left to right. */
template <class T, class F> struct splitted {
  using item = const T &;
  static constexpr bool indexed = false, moves = true, pulls = false;
  enum : std::size_t { apart = 256 }; /* a choice: balanced among some ten threads */
  T whole;
  F split;
  std::vector<T> leaves;

  std::size_t size() const {
    return leaves.size();
  }
  template <class Sink>
  WEFT_HPP_INLINE bool each(std::size_t begin, std::size_t end, Sink &sink) const {
    for (std::size_t i = begin; i < end; i++)
      if (sink(leaves[i])) return true;
    return false;
  }
  bool refill() {
    return false;
  }
  void settle(const weft_opts *o) {
    std::vector<std::vector<T>> parts = first_parts();
    auto walk_some = [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; i++) parts[i] = leaves_of(std::move(parts[i]));
    };
    if (o != nullptr)
      for_blocks(o, parts.size(), walk_some);
    else /* inside a flat map: this thread alone */
      walk_some(0, parts.size());
    leaves.clear();
    for (std::vector<T> &part : parts)
      for (T &leaf : part) leaves.push_back(std::move(leaf));
  }

private:
  /* One piece each. */
  std::vector<std::vector<T>> first_parts() const {
    std::vector<std::vector<T>> parts(1), next;
    parts[0].push_back(whole);
    bool more = true;
    while (more && parts.size() < apart) {
      more = false;
      next.clear();
      for (std::vector<T> &part : parts) {
        std::optional<T> right = split(part.back());
        next.push_back(std::move(part));
        if (!right) continue;
        more = true;
        next.emplace_back();
        next.back().push_back(std::move(*right));
      }
      parts.swap(next);
    }
    return parts;
  }
  /* A list instead of a recursion: the depth is limited by memory only. */
  std::vector<T> leaves_of(std::vector<T> left) const {
    std::vector<T> found;
    while (!left.empty()) {
      std::optional<T> right = split(left.back());
      if (right) {
        std::swap(left.back(), *right);
        left.push_back(std::move(*right));
      } else {
        found.push_back(std::move(left.back()));
        left.pop_back();
      }
    }
    return found;
  }
};

/* What a function gives, one round after the other. */
template <class F> struct pulled {
  using value = typename plain<std::invoke_result_t<F &>>::value_type;
  using item = value &;
  static constexpr bool indexed = false, moves = true, pulls = true;
  enum : std::size_t { round_items = 4096 };

  struct state {
    F f;
    std::vector<value> items;
    bool ended = false;
  };
  std::shared_ptr<state> shared;

  std::size_t size() const {
    return shared->items.size();
  }
  template <class Sink>
  WEFT_HPP_INLINE bool each(std::size_t begin, std::size_t end, Sink &sink) const {
    for (std::size_t i = begin; i < end; i++)
      if (sink(shared->items[i])) return true;
    return false;
  }
  void settle(const weft_opts *) {}
  bool refill() {
    state &s = *shared;
    s.items.clear();
    while (!s.ended && s.items.size() < round_items) {
      auto next = s.f();
      if (next)
        s.items.push_back(std::move(*next));
      else
        s.ended = true;
    }
    return !s.items.empty();
  }
};

/* ---- stages ---- */

/* Vectors of `length` items in a row. */
template <class P> struct chunked : behind<P> {
  using item = std::vector<stored<typename P::item>>;
  static constexpr bool indexed = true;
  std::size_t length;

  std::size_t size() const {
    return this->from.size() / length + (this->from.size() % length != 0);
  }
  item at(std::size_t i) const {
    const std::size_t first = i * length, left = this->from.size() - first;
    const std::size_t count = left < length ? left : length;
    item all;
    all.reserve(count);
    for (std::size_t j = 0; j < count; j++) all.emplace_back(this->from.at(first + j));
    return all;
  }
  template <class Sink>
  WEFT_HPP_INLINE bool each(std::size_t begin, std::size_t end, Sink &sink) const {
    return each_at(*this, begin, end, sink);
  }
};

/* All in front of the first item that the predicate does not hold for. Where that is, is
 * found out when a sink starts: nothing behind it may be seen. If positions give any
 * number of items, the end may lie inside the last one. */
template <class P, class F> struct ended : behind<P> {
  using item = typename P::item;
  static constexpr bool indexed = false, moves = true;
  F holds;
  std::size_t count = 0;
  bool cut = false; /* the end was found */

  std::size_t size() const {
    return count;
  }
  void settle(const weft_opts *o) {
    this->from.settle(o);
    auto fails = [this](const plain<item> &x) { return !call(holds, x); };
    auto found = find_once<nothing>(o, this->from, fails);
    cut = found.has_value();
    count = this->from.size();
    if (!found) return;
    auto stop = [&](item &&x) { return fails(x); };
    count = P::indexed ? found->position : found->block;
    if constexpr (!P::indexed) {
      while (!this->from.each(count, count + 1, stop)) count++;
      count++;
    }
  }
  bool refill() {
    return !cut && this->from.refill();
  }
  template <class Sink>
  WEFT_HPP_INLINE bool each(std::size_t begin, std::size_t end, Sink &sink) const {
    if (P::indexed || !cut || end < count) return this->from.each(begin, end, sink);
    if (begin + 1 < end && this->from.each(begin, end - 1, sink)) return true;
    bool stopped = false;
    auto until_end = [&](item &&x) WEFT_HPP_LAMBDA {
      const plain<item> &seen = x;
      if (!call(holds, seen)) return true;
      stopped = sink(static_cast<item &&>(x));
      return stopped;
    };
    this->from.each(end - 1, end, until_end);
    return stopped;
  }
};

} // namespace detail

WEFT_HPP_END

#endif
