/* tests/par/sort/support.h - what the tests of sorting share: elements of any size whose
 * order and origin can be read from them, patterns, and comparators of all kinds.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_PAR_SORT_SUPPORT_H
#define TESTS_PAR_SORT_SUPPORT_H

#include "par/support.h"

/* ---- elements ---- */

/* Elements of at least 8 bytes: a key of 4 bytes, the index at which the element was, and
 * bytes that follow from both. Smaller ones are all key. */
static inline bool has_index(size_t size) {
  return size >= 8;
}

static inline uint32_t key_of(const void *element, size_t size) {
  uint32_t key = 0;
  memcpy(&key, element, size < 4 ? size : 4);
  return key;
}

static inline uint32_t index_of(const void *element) {
  uint32_t index;
  memcpy(&index, (const char *)element + 4, 4);
  return index;
}

static inline void make_element(void *element, size_t size, uint32_t key,
                                uint32_t index) {
  memcpy(element, &key, size < 4 ? size : 4);
  if (has_index(size)) memcpy((char *)element + 4, &index, 4);
  if (size > 8)
    memset((char *)element + 8, (int)((key * 31 + index * 17) % 251), size - 8);
  else if (size > 4 && size < 8)
    memset((char *)element + 4, (int)(key % 251), size - 4);
}

/* A number that no change of order changes, and any other change does. */
static inline uint64_t contents_of(const void *base, size_t n, size_t size) {
  const char *at = base;
  size_t step = size > 256 ? size / 16 : 8; /* large elements: some words of each */
  uint64_t sum = 0;
  for (size_t i = 0; i < n; i++, at += size) {
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t k = 0; k < size; k += step) {
      uint64_t word = 0;
      memcpy(&word, at + k, size - k < 8 ? size - k : 8);
      hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
      hash ^= hash >> 31;
    }
    sum += hash ^ hash >> 29;
  }
  return sum;
}

/* ---- patterns ---- */

#define PATTERN_LIST(ENTRY)                                                              \
  ENTRY(random)                                                                          \
  ENTRY(few)                                                                             \
  ENTRY(equal)                                                                           \
  ENTRY(sorted)                                                                          \
  ENTRY(reversed)                                                                        \
  ENTRY(organ_pipe)                                                                      \
  ENTRY(saw)                                                                             \
  ENTRY(random_tail)                                                                     \
  ENTRY(one_wrong)                                                                       \
  ENTRY(steps_down)                                                                      \
  ENTRY(two_values)                                                                      \
  ENTRY(mostly_one)                                                                      \
  ENTRY(skewed)                                                                          \
  ENTRY(interleaved)

typedef enum pattern {
#define PATTERN_ENUM(name) PATTERN_##name,
  PATTERN_LIST(PATTERN_ENUM)
#undef PATTERN_ENUM
      PATTERNS
} pattern;

static const char *const PATTERN_NAMES[PATTERNS] = {
#define PATTERN_NAME(name) #name,
    PATTERN_LIST(PATTERN_NAME)
#undef PATTERN_NAME
};

static inline uint32_t pattern_key(pattern p, size_t i, size_t n, uint64_t *random) {
  uint32_t at = (uint32_t)i, count = (uint32_t)n;
  uint32_t drawn = (uint32_t)(harness_random(random) >> 32);
  switch (p) {
  case PATTERN_random:
    return drawn;
  case PATTERN_few:
    return drawn % 8;
  case PATTERN_equal:
    return 7;
  case PATTERN_sorted:
    return at;
  case PATTERN_reversed:
    return count - at;
  case PATTERN_organ_pipe:
    return at < count / 2 ? at : count - at;
  case PATTERN_saw:
    return at % 1000;
  case PATTERN_random_tail:
    return at < count - count / 50 ? at : drawn % count;
  case PATTERN_one_wrong:
    return i + 1 == n ? 0 : at;
  case PATTERN_steps_down:
    return (count - at) / 100;
  case PATTERN_two_values:
    return drawn % 2;
  case PATTERN_mostly_one:
    return drawn % 16 == 0 ? drawn : 5;
  case PATTERN_skewed: /* each key half as often as the one below; some hardly ever */
    if (drawn >> 20 <= 2) return drawn % 100;
    return 100 + 100 * (uint32_t)__builtin_ctz(drawn | 1u << 20) + (drawn >> 20) / 4090;
  case PATTERN_interleaved:
    return at % 2 == 0 ? at : count - at;
  default:
    return 0;
  }
}

static inline void fill_pattern(void *base, size_t n, size_t size, pattern p,
                                uint64_t seed) {
  for (size_t i = 0; i < n; i++)
    make_element((char *)base + i * size, size, pattern_key(p, i, n, &seed), (uint32_t)i);
}

/* ---- comparators ---- */

/* ctx of those that need it. */
typedef struct order_of {
  size_t size;
  atomic_ulong calls;
  unsigned long cancel_at; /* the call that cancels the scope */
  weft_scope *scope;
  atomic_uint active, most_active; /* threads in the comparator */
} order_of;

static inline int compare_keys(const void *a, const void *b, void *ctx) {
  size_t size = ((const order_of *)ctx)->size;
  uint32_t x = key_of(a, size), y = key_of(b, size);
  return (x > y) - (x < y);
}

static inline int compare_counting(const void *a, const void *b, void *ctx) {
  atomic_fetch_add(&((order_of *)ctx)->calls, 1);
  return compare_keys(a, b, ctx);
}

static inline int compare_cancelling(const void *a, const void *b, void *ctx) {
  order_of *order = ctx;
  if (atomic_fetch_add(&order->calls, 1) == order->cancel_at)
    weft_scope_cancel(order->scope, 1);
  return compare_keys(a, b, ctx);
}

static inline int compare_watching(const void *a, const void *b, void *ctx) {
  order_of *order = ctx;
  unsigned now = atomic_fetch_add(&order->active, 1) + 1;
  unsigned most = atomic_load(&order->most_active);
  while (now > most && !atomic_compare_exchange_weak(&order->most_active, &most, now)) {
  }
  int result = compare_keys(a, b, ctx);
  atomic_fetch_sub(&order->active, 1);
  return result;
}

/* Orders that contradict themselves. */
static inline int compare_nonsense(const void *a, const void *b, void *ctx) {
  order_of *order = ctx;
  uint64_t state = atomic_fetch_add(&order->calls, 1) * 0x9E3779B97F4A7C15u;
  (void)a;
  (void)b;
  return (int)(harness_random(&state) % 3) - 1;
}

static inline int always_less(const void *a, const void *b, void *ctx) {
  (void)a;
  (void)b;
  (void)ctx;
  return -1;
}

static inline int always_greater(const void *a, const void *b, void *ctx) {
  return -always_less(a, b, ctx);
}

/* ---- checks ---- */

/* Ascending keys; equal ones, if stable, in the order of their indices. */
static inline bool is_in_order(const void *base, size_t n, size_t size, bool stable) {
  const char *at = base;
  for (size_t i = 1; i < n; i++, at += size) {
    uint32_t a = key_of(at, size), b = key_of(at + size, size);
    if (a > b) return false;
    if (stable && has_index(size) && a == b && index_of(at) > index_of(at + size))
      return false;
  }
  return true;
}

static inline double log2_of(size_t n) {
  double bits = 0;
  for (; n > 1; n /= 2) bits++;
  return bits + 1;
}

#endif
