/* weft/typed_sort.h - typed functions (weft/typed_function.h) for sorting, with the order
 * inlined into their loops.
 *
 *     struct item { uint64_t key; double x, y, z; };
 *
 *     static inline bool item_less(const struct item *a, const struct item *b,
 *                                  void *ctx) {
 *       (void)ctx;
 *       return a->key < b->key;
 *     }
 *     WEFT_SORT(sort_items, struct item, item_less)
 *
 *     sort_items(items, n, NULL);
 *
 * SPDX-License-Identifier: MIT */
#ifndef WEFT_TYPED_SORT_H
#define WEFT_TYPED_SORT_H

#include <weft/detail/sort_leaf.h>
#include <weft/opts.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The sort behind WEFT_SORT. Not API. */
WEFT_API void wf_sort_by_loops(const weft_opts *o, void *base, size_t n,
                               const wf_sort_loops *loops, void *ctx, bool stable,
                               const char *call);

/* Behind WEFT_SORT_BY_KEY: the two arrays, and what the macro knows of their types, which
 * is the order of pairs (their first member is the key) and the loops that copy between
 * arrays and pairs. Not API. */
typedef struct wf_pair_arrays {
  void *keys;
  size_t key_size;
  void *payload;
  size_t payload_size, n;
} wf_pair_arrays;

typedef struct wf_pair_loops {
  const wf_sort_loops *sort;
  void (*pack)(const wf_pair_arrays *arrays, void *pairs, size_t begin, size_t end);
  void (*unpack)(const wf_pair_arrays *arrays, void *pairs, size_t begin, size_t end);
} wf_pair_loops;

WEFT_API void wf_sort_pairs(const weft_opts *o, const wf_pair_arrays *arrays,
                            const wf_pair_loops *loops, void *ctx, const char *call);

/* Makes functions that sort an array of one type.
 *
 * Replaces
 *
 *     qsort_r(a, n, sizeof(T), compare, ctx);
 *
 * Meaning: defines
 *
 *     static void NAME(T *a, size_t n, void *ctx);         equal elements in any order
 *     static void NAME_stable(T *a, size_t n, void *ctx);  equal elements keep theirs
 *
 * and their twins with options, NAME_with and NAME_stable_with. `less` is a function or
 * macro bool less(const T *a, const T *b, void *ctx): does *a come before *b? It takes
 * pointers, not values as the predicate of WEFT_FILTER does, because an order usually
 * looks at a part of each element only, the key, and should not copy the rest; so it also
 * has the form of a comparator. One expression without && and || is best: the compiler
 * turns it into code without branches. T may be any complete type that memcpy can copy.
 *
 * Threads, errors and cost: those of weft/sort.h. No comparison is a call through a
 * pointer, which makes the sort up to four times as fast as weft_sort where that cannot
 * guess what the comparator compares. Compile with -O2 or more. */
#define WEFT_SORT(NAME, T, less)                                                         \
  static inline bool NAME##_less_(const void *wf_a, const void *wf_b, void *wf_ctx) {    \
    return less(WF_CAST(T const *, wf_a), WF_CAST(T const *, wf_b), wf_ctx);             \
  }                                                                                      \
  WF_SORT_LOOPS(NAME, sizeof(T), sizeof(T), NAME##_less_)                                \
  WF_SORT_FUNCTION(NAME, NAME, T, false)                                                 \
  WF_SORT_FUNCTION(NAME##_stable, NAME, T, true)

/* Makes a function that sorts keys together with other elements.
 *
 * Replaces
 *
 *     for (size_t i = 1; i < n; i++)
 *       for (size_t j = i; j > 0 && less(&keys[j], &keys[j - 1], ctx); j--) {
 *         swap(&keys[j], &keys[j - 1]);
 *         swap(&payload[j], &payload[j - 1]);
 *       }
 *
 * Meaning: weft_sort_by_key for keys of type K and payload of type P. Defines
 *
 *     static void NAME(K *keys, size_t n, P *payload, void *ctx);
 *
 * and NAME_with. `less` is that of WEFT_SORT, for two keys. Stable: equal keys keep their
 * order.
 *
 * Threads, errors and cost: those of weft/sort.h. It sorts pairs of a key and its payload
 * in scratch memory; without memory it does what weft_sort_by_key does. */
#define WEFT_SORT_BY_KEY(NAME, K, P, less)                                               \
  WF_SORT_PAIR(NAME, K, P)                                                               \
  static inline bool NAME##_less_(const void *wf_a, const void *wf_b, void *wf_ctx) {    \
    return less(WF_CAST(K const *, wf_a), WF_CAST(K const *, wf_b), wf_ctx);             \
  }                                                                                      \
  WF_SORT_LOOPS(NAME, sizeof(NAME##_pair_), sizeof(NAME##_pair_), NAME##_less_)          \
  __attribute__((unused)) static inline void NAME##_with(                                \
      const weft_opts *wf_opts, K *wf_k, size_t wf_n, P *wf_p, void *wf_ctx) {           \
    wf_pair_arrays wf_arrays = {wf_k, sizeof(K), wf_p, sizeof(P), wf_n};                 \
    wf_pair_loops wf_by = {&NAME##_loops_, NAME##_pack_, NAME##_unpack_};                \
    wf_sort_pairs(wf_opts, &wf_arrays, &wf_by, wf_ctx, #NAME);                           \
  }                                                                                      \
  __attribute__((unused)) static inline void NAME(K *wf_k, size_t wf_n, P *wf_p,         \
                                                  void *wf_ctx) {                        \
    NAME##_with(NULL, wf_k, wf_n, wf_p, wf_ctx);                                         \
  }

#define WF_SORT_FUNCTION(NAME, LOOPS, T, stable)                                         \
  __attribute__((unused)) static inline void NAME##_with(                                \
      const weft_opts *wf_opts, T *wf_a, size_t wf_n, void *wf_ctx) {                    \
    wf_sort_by_loops(wf_opts, wf_a, wf_n, &LOOPS##_loops_, wf_ctx, stable, #NAME);       \
  }                                                                                      \
  __attribute__((unused)) static inline void NAME(T *wf_a, size_t wf_n, void *wf_ctx) {  \
    NAME##_with(NULL, wf_a, wf_n, wf_ctx);                                               \
  }

#define WF_SORT_PAIR(NAME, K, P)                                                         \
  typedef struct NAME##_pair_ {                                                          \
    K wf_key;                                                                            \
    P wf_payload;                                                                        \
  } NAME##_pair_;                                                                        \
  WF_SORT_PAIR_LOOP(                                                                     \
      NAME##_pack_, NAME##_pair_, K, P,                                                  \
      (wf_pair[wf_i].wf_key = wf_k[wf_i], wf_pair[wf_i].wf_payload = wf_p[wf_i]))        \
  WF_SORT_PAIR_LOOP(                                                                     \
      NAME##_unpack_, NAME##_pair_, K, P,                                                \
      (wf_k[wf_i] = wf_pair[wf_i].wf_key, wf_p[wf_i] = wf_pair[wf_i].wf_payload))

#define WF_SORT_PAIR_LOOP(name, PAIR, K, P, move)                                        \
  static void name(const wf_pair_arrays *wf_arrays, void *wf_pairs, size_t wf_i,         \
                   size_t wf_end) {                                                      \
    PAIR *wf_pair = WF_CAST(PAIR *, wf_pairs);                                           \
    K *wf_k = WF_CAST(K *, wf_arrays->keys);                                             \
    P *wf_p = WF_CAST(P *, wf_arrays->payload);                                          \
    for (; wf_i < wf_end; wf_i++) move;                                                  \
  }

#ifdef __cplusplus
}
#endif

#endif
