/* par/base/bytes.c - moves elements whose type is not known here. Called by the array
 * calls, compaction and the sorts; each call works for its own thread on memory that is
 * the caller's.
 *
 * SPDX-License-Identifier: MIT */
#include "bytes.h"

#include <weft/detail/typed_function.h>

/* ---- gather ---- */

WF_INLINE void gather_sized(char *dst, const char *src, const size_t *index, size_t begin,
                            size_t end, size_t size) {
  for (size_t i = begin; i < end; i++)
    memcpy(dst + i * size, src + index[i] * size, size);
}

void wf_gather(char *dst, const char *src, const size_t *index, size_t begin, size_t end,
               size_t size) {
  WF_BY_SIZE(size, gather_sized, dst, src, index, begin, end);
}

/* ---- swap ---- */

/* At most 64 bytes, which are a constant. */
WF_INLINE void swap_sized(char *a, char *b, size_t bytes) {
  char kept[64];
  memcpy(kept, a, bytes);
  memcpy(a, b, bytes);
  memcpy(b, kept, bytes);
}

WF_INLINE void swap_any(char *a, char *b, size_t bytes) {
  size_t at = 0;
  for (; bytes - at >= 64; at += 64) swap_sized(a + at, b + at, 64);
  for (; bytes - at >= 8; at += 8) swap_sized(a + at, b + at, 8);
  for (; at < bytes; at++) swap_sized(a + at, b + at, 1);
}

void wf_swap_bytes(char *a, char *b, size_t bytes) {
  swap_any(a, b, bytes);
}

/* ---- reverse ---- */

/* Arrays of any type are moved as words. */
typedef uint16_t __attribute__((may_alias)) word16;
typedef uint32_t __attribute__((may_alias)) word32;
typedef uint64_t __attribute__((may_alias)) word64;

/* Makes reverse_word16, reverse_word32 and reverse_word64, for aligned words. */
#define REVERSE_OF(type)                                                                 \
  WF_SIMD static void reverse_##type(char *base, size_t n, size_t begin, size_t end) {   \
    type *low = (type *)(void *)base + begin, *high = (type *)(void *)base + (n - end);  \
    size_t count = end - begin;                                                          \
    WF_INDEPENDENT                                                                       \
    for (size_t i = 0; i < count; i++) {                                                 \
      type x = low[i];                                                                   \
      low[i] = high[count - 1 - i];                                                      \
      high[count - 1 - i] = x;                                                           \
    }                                                                                    \
  }
REVERSE_OF(word16)
REVERSE_OF(word32)
REVERSE_OF(word64)
#undef REVERSE_OF

/* The size is a constant, and not more than 64. */
WF_INLINE void reverse_sized(char *low, char *high, size_t count, size_t size) {
  for (; count > 0; count--, low += size, high -= size) swap_sized(low, high, size);
}

static void reverse_bytes(char *low, char *high, size_t count) {
  for (; count >= 8; count -= 8, low += 8, high -= 8) {
    uint64_t x, y;
    memcpy(&x, low, 8);
    memcpy(&y, high - 7, 8);
    x = __builtin_bswap64(x);
    y = __builtin_bswap64(y);
    memcpy(low, &y, 8);
    memcpy(high - 7, &x, 8);
  }
  reverse_sized(low, high, count, 1);
}

void wf_reverse_part(char *base, size_t n, size_t size, size_t begin, size_t end) {
  WF_ASSERT(begin <= end && end <= n / 2);
  if (begin == end) return;
  char *low = base + begin * size, *high = base + (n - 1 - begin) * size;
  const bool aligned = (uintptr_t)base % size == 0;
  if (size == 1)
    reverse_bytes(low, high, end - begin);
  else if (size == 2 && aligned)
    reverse_word16(base, n, begin, end);
  else if (size == 4 && aligned)
    reverse_word32(base, n, begin, end);
  else if (size == 8 && aligned)
    reverse_word64(base, n, begin, end);
  else if (size == 12)
    reverse_sized(low, high, end - begin, 12);
  else if (size == 16)
    reverse_sized(low, high, end - begin, 16);
  else if (size == 24)
    reverse_sized(low, high, end - begin, 24);
  else if (size == 32)
    reverse_sized(low, high, end - begin, 32);
  else
    for (size_t left = end - begin; left > 0; left--, low += size, high -= size)
      swap_any(low, high, size);
}

/* ---- rotate ---- */

/* A part of up to this many bytes waits on the stack while the other one moves. A choice:
 * some elements of any usual size, and little stack. */
enum { ROTATE_BYTES = 256 };

/* `left` and `right` are bytes; the smaller is at most ROTATE_BYTES. */
static void rotate_by_copy(char *base, size_t left, size_t right) {
  char kept[ROTATE_BYTES];
  if (left <= right) {
    memcpy(kept, base, left);
    memmove(base, base + left, right);
    memcpy(base + right, kept, left);
  } else {
    memcpy(kept, base + left, right);
    memmove(base + right, base, left);
    memcpy(base, kept, right);
  }
}

/* Both parts reversed, and then the whole. */
void wf_rotate(char *base, size_t n, size_t size, size_t middle) {
  WF_ASSERT(middle <= n);
  size_t left = middle * size, right = (n - middle) * size;
  if (left == 0 || right == 0) return;
  if (left <= ROTATE_BYTES || right <= ROTATE_BYTES) {
    rotate_by_copy(base, left, right);
    return;
  }
  wf_reverse_part(base, middle, size, 0, middle / 2);
  wf_reverse_part(base + left, n - middle, size, 0, (n - middle) / 2);
  wf_reverse_part(base, n, size, 0, n / 2);
}

/* ---- permute ---- */

/* A place that is done is marked by turning over its bits, which no index below n has. */
void wf_permute_by_cycles(char *base, size_t n, size_t size, size_t *order) {
  WF_ASSERT(n <= SIZE_MAX / 2);
  for (size_t start = 0; start < n; start++) {
    if (order[start] >= n) continue;
    size_t at = start;
    while (order[at] != start) {
      size_t from = order[at];
      WF_ASSERT(from < n);
      wf_swap_bytes(base + at * size, base + from * size, size);
      order[at] = ~from;
      at = from;
    }
    order[at] = ~start;
  }
  for (size_t i = 0; i < n; i++) order[i] = ~order[i];
}

/* ---- past the caches ---- */

/* Below this the two ends, which are copied as usual, are too much of it. A choice. */
enum { PAST_BYTES_MIN = 256 };

void wf_copy_past(char *to, const char *from, size_t bytes) {
  if (bytes < PAST_BYTES_MIN) {
    memcpy(to, from, bytes);
    return;
  }
  size_t head = (0 - (uintptr_t)to) % 16, lines = (bytes - head) / 64 * 64;
  memcpy(to, from, head);
  wf_write_past(to + head, from + head, lines);
  memcpy(to + head + lines, from + head + lines, bytes - head - lines);
  wf_write_past_end();
}
