/* weft/detail/sort_leaf.h - the inner loops of sorting. Not API.
 *
 * They are written once, for elements of any size and any order, and inlined into small
 * functions where both are constants: by WEFT_SORT in the user's program, by the library
 * for comparators. The library sorts with a table of these functions, wf_sort_loops; it
 * calls one for hundreds of elements at a time. Each call works for its own thread.
 *
 * Where a comparison can be turned into an address, the loops have no branch that depends
 * on the order of elements; on random data each such branch would cost more than all the
 * rest. None of them trusts the order: whatever `less` returns, they stay inside their
 * arrays, and what comes out is what went in.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WEFT_DETAIL_SORT_LEAF_H
#define WEFT_DETAIL_SORT_LEAF_H

#include <string.h>
#include <weft/base.h>

#ifdef __cplusplus
extern "C" {
#endif

WF_C_BEGIN

/* Larger elements are not moved by the loops here; the library sorts their indices
 * instead. A choice: it keeps the copies in a frame small. */
enum { WF_SORT_LARGEST = 128 };

typedef bool wf_less_fn(const void *a, const void *b, void *ctx);

/* What divides an array into buckets: 2^levels - 1 splitters in ascending order, at
 * `sorted`, and the same in the order of a search tree (the root at 1, the children of i
 * at 2i and 2i + 1), at `tree`. Bucket b has the elements that are not less than b of
 * them. If has_equal, there are also buckets for elements that equal a splitter: 2b for
 * those between two splitters, 2b - 1 for those that equal the lower one. */
typedef struct wf_splitters {
  const char *tree;
  const char *sorted;
  unsigned levels;
  bool has_equal;
} wf_splitters;

/* The loops for one type and order; `ctx` is that of the order. */
typedef struct wf_sort_loops {
  size_t size;
  wf_less_fn *less;
  /* Sorts, stable; the result is in data, or in spare if to_spare. */
  void (*sort)(char *data, char *spare, size_t n, bool to_spare, void *ctx);
  /* Merges two sorted arrays, stable; dst overlaps neither. */
  void (*merge)(char *dst, const char *a, size_t na, const char *b, size_t nb, void *ctx);
  /* How many elements at the front ascend, or (*falls) strictly descend. */
  size_t (*run)(const char *data, size_t n, bool *falls, void *ctx);
  /* Writes the bucket of each element to ids, and adds to the counts of buckets. */
  void (*classify)(const char *data, size_t n, const wf_splitters *by, uint16_t *ids,
                   size_t *counts, void *ctx);
  /* Copies each element to the place of its bucket, which then moves on by one. */
  void (*scatter)(const char *data, size_t n, const uint16_t *ids, char **places,
                  void *ctx);
  /* Moves the elements that come before the pivot (or_equal: or equal it) to the front,
   * and returns how many they are. */
  size_t (*partition)(char *data, size_t n, const char *pivot, bool or_equal, void *ctx);
} wf_sort_loops;

#define WF_LEAF_UNLIKELY(condition) __builtin_expect(!!(condition), 0)
#define WF_LEAF                     static inline __attribute__((always_inline))

#if defined(__clang__)
#define WF_UNROLLED _Pragma("clang loop unroll(full)")
#define WF_UNROLLED_MAYBE
#else
#define WF_UNROLLED       _Pragma("GCC unroll 8")
#define WF_UNROLLED_MAYBE _Pragma("GCC unroll 8")
#endif

/* mask ? b : a, never as a branch; the mask is 0 or all ones. */
WF_LEAF const char *wf_leaf_pick_by(uintptr_t mask, const char *a, const char *b) {
  return (const char *)((uintptr_t)a ^ (((uintptr_t)a ^ (uintptr_t)b) & mask));
}

WF_LEAF const char *wf_leaf_pick(bool second, const char *a, const char *b) {
  return wf_leaf_pick_by(0 - (uintptr_t)second, a, b);
}

/* ---- runs ---- */

WF_LEAF size_t wf_leaf_run(const char *data, size_t n, bool *falls, size_t size,
                           wf_less_fn *less, void *ctx) {
  const char *at = data + size;
  size_t i = 2;
  *falls = false;
  if (n < 2) return n;
  *falls = less(at, data, ctx);
  at += size;
  if (*falls)
    for (; i < n && less(at, at - size, ctx); i++) at += size;
  else
    for (; i < n && !less(at, at - size, ctx); i++) at += size;
  return i;
}

/* ---- small blocks ---- */

/* Four elements from src, sorted, to dst; they must not overlap. Five comparisons: two
 * pairs, then the least and the greatest, then the two that are left. Among equals the
 * order of the names is that of the elements: a, b, c, d. */
WF_LEAF void wf_leaf_four(char *dst, const char *src, size_t size, wf_less_fn *less,
                          void *ctx) {
  const char *v1 = src + size, *v2 = v1 + size, *v3 = v2 + size;
  bool swap_low = less(v1, src, ctx), swap_high = less(v3, v2, ctx);
  const char *a = wf_leaf_pick(swap_low, src, v1), *b = wf_leaf_pick(swap_low, v1, src);
  const char *c = wf_leaf_pick(swap_high, v2, v3), *d = wf_leaf_pick(swap_high, v3, v2);
  bool c_first = less(c, a, ctx), b_last = less(d, b, ctx);
  const char *left = wf_leaf_pick(c_first, wf_leaf_pick(b_last, b, c), a);
  const char *right = wf_leaf_pick(b_last, wf_leaf_pick(c_first, c, b), d);
  bool swap_mid = less(right, left, ctx);
  memcpy(dst, wf_leaf_pick(c_first, a, c), size);
  memcpy(dst + size, wf_leaf_pick(swap_mid, left, right), size);
  memcpy(dst + 2 * size, wf_leaf_pick(swap_mid, right, left), size);
  memcpy(dst + 3 * size, wf_leaf_pick(b_last, d, b), size);
}

/* Fewer than four elements, by insertion. */
WF_LEAF void wf_leaf_few(char *dst, const char *src, size_t n, size_t size,
                         wf_less_fn *less, void *ctx) {
  for (size_t i = 0; i < n; i++) {
    const char *next = src + i * size;
    char *to = dst + i * size;
    for (; to != dst && less(next, to - size, ctx); to -= size)
      memcpy(to, to - size, size);
    memcpy(to, next, size);
  }
}

/* Sorts each four elements of src, and the rest, to dst, which may be src. */
WF_LEAF void wf_leaf_fours(char *dst, const char *src, size_t n, size_t size,
                           wf_less_fn *less, void *ctx) {
  unsigned char copy[4 * WF_SORT_LARGEST] __attribute__((aligned(64)));
  bool in_place = dst == src;
  /* Is never called for larger elements; this avoids a warning of gcc -O0. */
  const size_t four = size <= WF_SORT_LARGEST ? 4 * size : 0;
  for (; n >= 4; n -= 4, dst += 4 * size, src += 4 * size) {
    const char *from = in_place ? (const char *)memcpy(copy, src, four) : src;
    wf_leaf_four(dst, from, size, less, ctx);
  }
  wf_leaf_few(dst, in_place ? (const char *)memcpy(copy, src, n * size) : src, n, size,
              less, ctx);
}

/* ---- merging ---- */

/* Merges from the front only. */
WF_LEAF void wf_leaf_merge_up(char *dst, const char *a, const char *a_end, const char *b,
                              const char *b_end, size_t size, wf_less_fn *less,
                              void *ctx) {
  while (a != a_end && b != b_end) {
    bool right = less(b, a, ctx);
    size_t step =
        (size_t)right * size; /* arithmetic, so that it does not become a branch */
    memcpy(dst, wf_leaf_pick(right, a, b), size);
    dst += size;
    b += step;
    a += size - step;
  }
  if (a != a_end) memcpy(dst, a, (size_t)(a_end - a));
  if (b != b_end) memcpy(dst, b, (size_t)(b_end - b));
}

/* Merges from both ends at once: two chains of dependent loads instead of one. As many
 * steps as the shorter array has elements need no check for an end; what is left is
 * merged from the front. If the two ends crossed, because the order contradicts itself,
 * everything is merged once more from the front. */
WF_LEAF void wf_leaf_merge(char *dst, const char *a, size_t na, const char *b, size_t nb,
                           size_t size, wf_less_fn *less, void *ctx) {
  const char *low_a = a, *low_b = b;
  const char *high_a = a + na * size, *high_b = b + nb * size; /* ends */
  char *low = dst, *high = dst + (na + nb) * size;
  for (size_t i = na < nb ? na : nb; i > 0; i--) {
    uintptr_t right = 0 - (uintptr_t)less(low_b, low_a, ctx); /* a mask, no branch */
    size_t step = right & size;
    memcpy(low, wf_leaf_pick_by(right, low_a, low_b), size);
    low += size;
    low_b += step;
    low_a += size - step;

    uintptr_t left = 0 - (uintptr_t)less(high_b - size, high_a - size, ctx);
    size_t step_down = left & size;
    high -= size;
    memcpy(high, wf_leaf_pick_by(left, high_b, high_a) - size, size);
    high_a -= step_down;
    high_b -= size - step_down;
  }
  if (WF_LEAF_UNLIKELY(low_a > high_a || low_b > high_b))
    wf_leaf_merge_up(dst, a, a + na * size, b, b + nb * size, size, less, ctx);
  else
    wf_leaf_merge_up(low, low_a, high_a, low_b, high_b, size, less, ctx);
}

/* Merges the first `half` elements at src with the others to dst. */
WF_LEAF void wf_leaf_merge_pair(char *dst, const char *src, size_t half, size_t n,
                                size_t size, wf_less_fn *less, void *ctx) {
  const char *b = src + half * size;
  if (n <= half || (half >= 16 && !less(b, b - size, ctx)))
    memcpy(dst, src, n * size);
  else
    wf_leaf_merge(dst, src, half, b, n - half, size, less, ctx);
}

/* ---- sorting ---- */

/* Bottom-up merge sort, from blocks of four, to and fro between data and spare; meant for
 * arrays that fit into a cache. Ordered ones are only read. */
WF_LEAF void wf_leaf_sort(char *data, char *spare, size_t n, bool to_spare, size_t size,
                          wf_less_fn *less, void *ctx) {
  bool falls;
  if (size > WF_SORT_LARGEST) return; /* never called then: nothing is compiled */
  if (wf_leaf_run(data, n, &falls, size, less, ctx) == n && !falls) {
    if (to_spare) memcpy(spare, data, n * size);
    return;
  }
  bool is_odd = false;
  for (size_t width = 4; width < n; width *= 2) is_odd = !is_odd;
  char *from = is_odd != to_spare ? spare : data, *to = is_odd != to_spare ? data : spare;
  wf_leaf_fours(from, data, n, size, less, ctx);
  for (size_t width = 4; width < n; width *= 2) {
    for (size_t i = 0; i < n; i += 2 * width) {
      size_t count = n - i < 2 * width ? n - i : 2 * width;
      wf_leaf_merge_pair(to + i * size, from + i * size, width, count, size, less, ctx);
    }
    char *other = from;
    from = to;
    to = other;
  }
}

/* ---- buckets ---- */

/* The bucket of one element whose way down the tree has ended at `at`. */
WF_LEAF size_t wf_leaf_bucket(const char *element, size_t at, const wf_splitters *by,
                              size_t size, wf_less_fn *less, void *ctx) {
  size_t bucket = at - ((size_t)1 << by->levels);
  if (!by->has_equal) return bucket;
  const char *lower = by->sorted + (bucket - (bucket != 0)) * size;
  bool is_equal = (bucket != 0) & !less(lower, element, ctx);
  return 2 * bucket - is_equal;
}

/* Eight at a time go down the tree: each way is a chain of dependent loads, and the CPU
 * follows all of them at once. */
WF_LEAF void wf_leaf_classify(const char *data, size_t n, const wf_splitters *by,
                              uint16_t *ids, size_t *counts, size_t size,
                              wf_less_fn *less, void *ctx) {
  const wf_splitters s = *by;
  size_t i = 0;
  for (; i + 8 <= n; i += 8, data += 8 * size) {
    size_t at[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    for (unsigned level = 0; level < s.levels; level++) {
      WF_UNROLLED for (size_t j = 0; j < 8; j++) {
        /* In this form it becomes one subtraction with borrow (classify 23 -> 21 ms,
         * docs/investigations/sorting-records.md). */
        at[j] = 2 * at[j] + 1 - less(data + j * size, s.tree + at[j] * size, ctx);
      }
    }
    WF_UNROLLED for (size_t j = 0; j < 8; j++) {
      size_t bucket = wf_leaf_bucket(data + j * size, at[j], &s, size, less, ctx);
      ids[i + j] = (uint16_t)bucket;
      counts[bucket]++;
    }
  }
  for (; i < n; i++, data += size) {
    size_t at = 1;
    for (unsigned level = 0; level < s.levels; level++)
      at = 2 * at + !less(data, s.tree + at * size, ctx);
    size_t bucket = wf_leaf_bucket(data, at, &s, size, less, ctx);
    ids[i] = (uint16_t)bucket;
    counts[bucket]++;
  }
}

/* Bytes ahead of a place that are fetched: the line after the next one. Hundreds of
 * places are too many for the prefetchers of CPUs; without it scattering takes more than
 * twice as long. */
enum { WF_SORT_AHEAD = 160 };

WF_LEAF void wf_leaf_scatter(const char *data, size_t n, const uint16_t *ids,
                             char **places, size_t size, void *ctx) {
  (void)ctx;
  for (size_t i = 0; i < n; i++, data += size) {
    size_t id = ids[i];
    char *place = places[id];
    places[id] = place + size;
    __builtin_prefetch(place + WF_SORT_AHEAD, 1);
    memcpy(place, data, size);
  }
}

/* ---- partition ---- */

/* Exchanges up to 16 bytes of two elements, which may be the same element. */
WF_LEAF void wf_leaf_swap_part(char *a, char *b, size_t bytes) {
  unsigned char of_a[16], of_b[16];
  memcpy(of_a, a, bytes);
  memcpy(of_b, b, bytes);
  memcpy(a, of_b, bytes);
  memcpy(b, of_a, bytes);
}

/* In parts of 16, 8 and 4 bytes, which compilers keep in registers. */
WF_LEAF void wf_leaf_swap(char *a, char *b, size_t size) {
  size_t done = 0;
  WF_UNROLLED_MAYBE for (; done + 16 <= size; done += 16)
      wf_leaf_swap_part(a + done, b + done, 16);
  if (size & 8) wf_leaf_swap_part(a + done, b + done, 8);
  done += size & 8;
  if (size & 4) wf_leaf_swap_part(a + done, b + done, 4);
  done += size & 4;
  for (; done < size; done++) wf_leaf_swap_part(a + done, b + done, 1);
}

/* Does the element belong in front of the border? */
WF_LEAF bool wf_leaf_in_front(const char *at, const char *pivot, bool or_equal,
                              wf_less_fn *less, void *ctx) {
  return or_equal ? !less(pivot, at, ctx) : less(at, pivot, ctx);
}

/* A few elements: each is swapped with the first one of the rear part, and the border
 * moves on or not. Returns the border. */
WF_LEAF char *wf_leaf_partition_few(char *data, const char *end, const char *pivot,
                                    bool or_equal, size_t size, wf_less_fn *less,
                                    void *ctx) {
  char *border = data;
  for (char *at = data; at != end; at += size) {
    bool is_front = wf_leaf_in_front(at, pivot, or_equal, less, ctx);
    wf_leaf_swap(at, border, size);
    border += (size_t)is_front * size;
  }
  return border;
}

/* From both ends, block by block: first it lists the elements of a block that belong to
 * the other side, then it exchanges as many of them as both sides have. No branch depends
 * on a comparison, and what is in its place stays there. Blocks of 128, so that a number
 * within one is a byte: 1.43 -> 0.86 ns per element compared with one swap for each
 * (docs/investigations/sorting-records.md); after BlockQuicksort by Edelkamp and Weiss.
 */
WF_LEAF size_t wf_leaf_partition_by(char *data, size_t n, const char *pivot,
                                    bool or_equal, size_t size, wf_less_fn *less,
                                    void *ctx) {
  enum { BLOCK = 128 };
  unsigned char low[BLOCK], high[BLOCK];
  size_t low_count = 0, high_count = 0, low_at = 0, high_at = 0;
  char *front = data, *end = data + n * size;
  while ((size_t)(end - front) >= 2 * BLOCK * size) {
    if (low_count == 0) {
      const char *at = front;
      for (size_t i = low_at = 0; i < BLOCK; i++, at += size) {
        low[low_count] = (unsigned char)i;
        low_count += !wf_leaf_in_front(at, pivot, or_equal, less, ctx);
      }
    }
    if (high_count == 0) {
      const char *at = end - size;
      for (size_t i = high_at = 0; i < BLOCK; i++, at -= size) {
        high[high_count] = (unsigned char)i;
        high_count += wf_leaf_in_front(at, pivot, or_equal, less, ctx);
      }
    }
    size_t count = low_count < high_count ? low_count : high_count;
    for (size_t i = 0; i < count; i++)
      wf_leaf_swap(front + low[low_at + i] * size, end - (high[high_at + i] + 1u) * size,
                   size);
    low_count -= count;
    low_at += count;
    high_count -= count;
    high_at += count;
    if (low_count == 0) front += BLOCK * size;
    if (high_count == 0) end -= BLOCK * size;
  }
  front = wf_leaf_partition_few(front, end, pivot, or_equal, size, less, ctx);
  return (size_t)(front - data) / size;
}

/* Moves what is less than the pivot (or_equal: what the pivot is not less than) to the
 * front, in place, and returns how many they are. */
WF_LEAF size_t wf_leaf_partition(char *data, size_t n, const char *pivot, bool or_equal,
                                 size_t size, wf_less_fn *less, void *ctx) {
  return or_equal ? wf_leaf_partition_by(data, n, pivot, true, size, less, ctx)
                  : wf_leaf_partition_by(data, n, pivot, false, size, less, ctx);
}

/* ---- the loops for one type and order: functions NAME_sort_, NAME_merge_, NAME_run_,
 * NAME_classify_, NAME_scatter_, NAME_partition_, and the table NAME_loops_ ---- */

/* TABLE_SIZE is the size of an element, or 0; `bytes` is the size and may refer to ctx.
 */
#define WF_SORT_LOOPS(NAME, TABLE_SIZE, bytes, less)                                     \
  WF_SORT_ORDERING(NAME, bytes, less)                                                    \
  WF_SORT_DIVIDING(NAME, bytes, less)                                                    \
  static const wf_sort_loops NAME##_loops_ = {TABLE_SIZE,      less,                     \
                                              NAME##_sort_,    NAME##_merge_,            \
                                              NAME##_run_,     NAME##_classify_,         \
                                              NAME##_scatter_, NAME##_partition_};

#define WF_SORT_ORDERING(NAME, bytes, less)                                              \
  WF_SORT_LEAF(                                                                          \
      NAME, void, (void), sort,                                                          \
      (char *wf_data, char *wf_spare, size_t wf_n, bool wf_to_spare, void *ctx),         \
      (wf_data, wf_spare, wf_n, wf_to_spare, bytes, less, ctx))                          \
  WF_SORT_LEAF(NAME, void, (void), merge,                                                \
               (char *wf_dst, const char *wf_a, size_t wf_na, const char *wf_b,          \
                size_t wf_nb, void *ctx),                                                \
               (wf_dst, wf_a, wf_na, wf_b, wf_nb, bytes, less, ctx))                     \
  WF_SORT_LEAF(NAME, size_t, return, run,                                                \
               (const char *wf_data, size_t wf_n, bool *wf_falls, void *ctx),            \
               (wf_data, wf_n, wf_falls, bytes, less, ctx))

#define WF_SORT_DIVIDING(NAME, bytes, less)                                              \
  WF_SORT_LEAF(NAME, void, (void), classify,                                             \
               (const char *wf_data, size_t wf_n, const wf_splitters *wf_by,             \
                uint16_t *wf_ids, size_t *wf_counts, void *ctx),                         \
               (wf_data, wf_n, wf_by, wf_ids, wf_counts, bytes, less, ctx))              \
  WF_SORT_LEAF(NAME, void, (void), scatter,                                              \
               (const char *wf_data, size_t wf_n, const uint16_t *wf_ids,                \
                char **wf_places, void *ctx),                                            \
               (wf_data, wf_n, wf_ids, wf_places, bytes, ctx))                           \
  WF_SORT_LEAF(                                                                          \
      NAME, size_t, return, partition,                                                   \
      (char *wf_data, size_t wf_n, const char *wf_pivot, bool wf_or_equal, void *ctx),   \
      (wf_data, wf_n, wf_pivot, wf_or_equal, bytes, less, ctx))

/* One of these functions: wf_leaf_KIND with size and order filled in. */
#define WF_SORT_LEAF(NAME, result, give, kind, parameters, arguments)                    \
  static result NAME##_##kind##_ parameters {                                            \
    give wf_leaf_##kind arguments;                                                       \
  }

WF_C_END

#ifdef __cplusplus
}
#endif

#endif
