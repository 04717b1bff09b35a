/* par/base/bytes.h - moving elements whose type is not known here: copy, swap, reverse,
 * rotate, permute, and copies that go past the caches.
 *
 * All functions run on the calling thread and move what they are given; elements lie
 * side by side, `size` bytes each, at any alignment. Parallel calls made of them are
 * weft_copy_with, weft_reverse_with and so on, which other files of src/par call as
 * programs do.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_PAR_BYTES_H
#define WF_PAR_BYTES_H

#include "../../core/assert.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/* A function that is always inlined, so that sizes that its callers know are constants
 * and a memcpy becomes a move. */
#define WF_INLINE static inline __attribute__((always_inline))

/* For functions that call a program's function for each element: their loops begin where
 * a cache line does. Such a loop that lies across two lines takes up to a fifth longer
 * (weft_filter of 4-byte elements: 1.64 instead of 1.36 ns each, AMD Zen 4, gcc 12), and
 * where it lies would depend on the code in front of it. */
#if defined(__GNUC__) && !defined(__clang__)
#define WF_ALIGN_LOOPS __attribute__((optimize("align-loops=64")))
#else
#define WF_ALIGN_LOOPS
#endif

/* Calls fn(..., size) with the size as a constant where it is one of the usual ones; fn
 * should be WF_INLINE. */
#define WF_BY_SIZE(size, fn, ...)                                                        \
  ((size) == 1    ? fn(__VA_ARGS__, 1)                                                   \
   : (size) == 2  ? fn(__VA_ARGS__, 2)                                                   \
   : (size) == 4  ? fn(__VA_ARGS__, 4)                                                   \
   : (size) == 8  ? fn(__VA_ARGS__, 8)                                                   \
   : (size) == 16 ? fn(__VA_ARGS__, 16)                                                  \
                  : fn(__VA_ARGS__, size))

/* Copies one element; a plain move for the usual sizes. `to` and `from` are apart. */
static inline void wf_copy_element(void *to, const void *from, size_t size) {
  if (size == 8)
    memcpy(to, from, 8);
  else if (size == 4)
    memcpy(to, from, 4);
  else if (size == 16)
    memcpy(to, from, 16);
  else
    memcpy(to, from, size);
}

/* Copies element index[i] of `src` to place i of `dst`, for i in [begin, end). */
void wf_gather(char *dst, const char *src, const size_t *index, size_t begin, size_t end,
               size_t size);

/* Exchanges the bytes at a and b, which are apart or the same. */
void wf_swap_bytes(char *a, char *b, size_t bytes);

/* Exchanges each element i of [begin, end) with element n - 1 - i, where
 * begin <= end <= n / 2: the ranges that make up [0, n / 2) reverse all n elements, in
 * any order. */
void wf_reverse_part(char *base, size_t n, size_t size, size_t begin, size_t end);

/* Exchanges the parts [0, middle) and [middle, n), middle <= n; both keep their order.
 * Needs no memory but a little stack. */
void wf_rotate(char *base, size_t n, size_t size, size_t middle);

/* Element i becomes what element order[i] was; `order` has each index below n once, and
 * is as before when the call returns. Needs no memory: it follows the cycles of the order
 * and marks what is done in `order` itself. n <= SIZE_MAX / 2. */
void wf_permute_by_cycles(char *base, size_t n, size_t size, size_t *order);

/* ---- past the caches ---- */

/* Plain stores read a line of memory into the caches before they overwrite it. Stores
 * that go past the caches do not, which halves the traffic of arrays that are in no cache
 * (80 MB by weft_copy: 10 ms instead of 20,
 * docs/investigations/streams-past-the-caches.md) but is slower for those that are. So it
 * depends on how many bytes a call writes, and on what for:
 *
 * - results that the program may read next should stay in the last cache while they fit:
 *   32 MiB, the last-level cache of the CPU that copies were measured on.
 * - scratch memory of sorts is read once, much later, and beside other arrays of that
 *   size: from 4 MiB on it pays (scatter 106 -> 55 ms of CPU time; below, 10 % slower,
 *   docs/investigations/sorting-scalars.md). */
enum { WF_PAST_CACHES_RESULT = 32 << 20, WF_PAST_CACHES_SCRATCH = 4 << 20 };

/* Writes `bytes`, a multiple of 64, past the caches where the CPU has such stores. `to`
 * is a multiple of 16. wf_write_past_end must follow before the thread publishes them. */
static inline void wf_write_past(void *to, const void *from, size_t bytes) {
  WF_ASSERT(bytes % 64 == 0 && (uintptr_t)to % 16 == 0);
#if defined(__SSE2__)
  __m128i *dst = (__m128i *)to;
  const __m128i *src = (const __m128i *)from;
  for (size_t left = bytes / 64; left > 0; left--, dst += 4, src += 4) {
    __m128i a = _mm_loadu_si128(src), b = _mm_loadu_si128(src + 1);
    __m128i c = _mm_loadu_si128(src + 2), d = _mm_loadu_si128(src + 3);
    _mm_stream_si128(dst, a);
    _mm_stream_si128(dst + 1, b);
    _mm_stream_si128(dst + 2, c);
    _mm_stream_si128(dst + 3, d);
  }
#else
  memcpy(to, from, bytes);
#endif
}

/* Orders what wf_write_past has written before the thread's next stores. The fence is
 * needed: what publishes ordinary stores does not order those that go past the caches. */
static inline void wf_write_past_end(void) {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

/* memcpy by stores past the caches, and complete for others when it returns. */
void wf_copy_past(char *to, const char *from, size_t bytes);

/* memcpy, past the caches if `past`. The arrays do not overlap. */
static inline void wf_copy_bytes(char *to, const char *from, size_t bytes, bool past) {
  if (past)
    wf_copy_past(to, from, bytes);
  else
    memcpy(to, from, bytes);
}

#endif
