/* par/array/move.c - the calls that only move elements: fill, copy, reverse, rotate,
 * gather, scatter.
 *
 * Elements are bytes; for the usual sizes the loops are compiled with the size as a
 * constant, so that moving one is a load and a store.
 *
 * SPDX-License-Identifier: MIT */
#include "array.h"

#include <string.h>
#include <weft/array.h>
#include <weft/detail/kernel.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#if defined(__GNUC__)
#define MOVE_INLINE inline __attribute__((always_inline))
#else
#define MOVE_INLINE inline
#endif

/* Runs a loop of n elements that may be cut into blocks of 16 KiB. */
static void move_loop(weft_opts *opts, size_t n, size_t size, weft_range_fn *body,
                      void *ctx) {
  wf_loop loop = {body, ctx, NULL};
  wf_array_min_len(opts, size);
  wf_loop_run(opts, n, &loop);
}

/* ---- past the caches ---- */

#if defined(__SSE2__)

void wf_copy_past(char *dst, const char *src, size_t bytes) {
  size_t head = (0 - (uintptr_t)dst) % 16;
  if (bytes < 256) head = bytes;
  memcpy(dst, src, head);
  for (size_t left = (bytes - head) / 64; left > 0; left--, head += 64) {
    const __m128i *from = (const __m128i *)(const void *)(src + head);
    __m128i *to = (__m128i *)(void *)(dst + head);
    __m128i a = _mm_loadu_si128(from), b = _mm_loadu_si128(from + 1);
    __m128i c = _mm_loadu_si128(from + 2), d = _mm_loadu_si128(from + 3);
    _mm_stream_si128(to, a);
    _mm_stream_si128(to + 1, b);
    _mm_stream_si128(to + 2, c);
    _mm_stream_si128(to + 3, d);
  }
  memcpy(dst + head, src + head, bytes - head);
  _mm_sfence(); /* such stores are not ordered by what publishes the others */
}

#else

void wf_copy_past(char *dst, const char *src, size_t bytes) {
  memcpy(dst, src, bytes);
}

#endif

/* ---- copy ---- */

typedef struct move_job {
  char *dst;
  const char *src;
  const size_t *index;
  size_t size;
  bool past_caches;
} move_job;

static void copy_block(size_t begin, size_t end, void *ctx) {
  const move_job *m = (const move_job *)ctx;
  char *to = m->dst + begin * m->size;
  const char *from = m->src + begin * m->size;
  if (m->past_caches)
    wf_copy_past(to, from, (end - begin) * m->size);
  else
    memcpy(to, from, (end - begin) * m->size);
}

void weft_copy_with(const weft_opts *o, void *dst, const void *src, size_t n,
                    size_t size) {
  weft_opts opts;
  move_job m = {(char *)dst, (const char *)src, NULL, size, n * size >= WF_PAST_CACHES};
  wf_array_check(dst == NULL || src == NULL, false, n, size, "weft_copy");
  wf_par_options(&opts, o, "weft_copy");
  if (n > 0) move_loop(&opts, n, size, copy_block, &m);
}

void weft_copy(void *dst, const void *src, size_t n, size_t size) {
  weft_copy_with(NULL, dst, src, n, size);
}

/* ---- fill ---- */

static void fill_bytes(size_t begin, size_t end, void *ctx) {
  const move_job *m = (const move_job *)ctx;
  memset(m->dst + begin * m->size, (unsigned char)*m->src, (end - begin) * m->size);
}

/* What is filled already is copied on: twice as much each time, but only as much as stays
 * in the first cache. */
static void fill_block(size_t begin, size_t end, void *ctx) {
  enum { MOST = 8 << 10 };
  const move_job *m = (const move_job *)ctx;
  char *to = m->dst + begin * m->size;
  size_t left = (end - begin - 1) * m->size, filled = m->size, most = m->size;
  memcpy(to, m->src, m->size);
  while (most <= MOST / 2) most *= 2;
  while (left > 0) {
    size_t bytes = filled < most ? filled : most;
    if (bytes > left) bytes = left;
    if (m->past_caches && filled >= most)
      wf_copy_past(to + filled, to, bytes);
    else
      memcpy(to + filled, to, bytes);
    filled += bytes;
    left -= bytes;
  }
}

void weft_fill_with(const weft_opts *o, void *base, size_t n, size_t size,
                    const void *value) {
  weft_opts opts;
  move_job m = {(char *)base, (const char *)value, NULL, size,
                n * size >= WF_PAST_CACHES};
  wf_array_check(base == NULL, false, n, size, "weft_fill");
  if (value == NULL && n > 0) wf_fatal("weft_fill", "the value is NULL");
  wf_par_options(&opts, o, "weft_fill");
  if (n == 0) return;
  bool is_one_byte = memcmp(m.src, m.src + 1, size - 1) == 0;
  move_loop(&opts, n, size, is_one_byte ? fill_bytes : fill_block, &m);
}

void weft_fill(void *base, size_t n, size_t size, const void *value) {
  weft_fill_with(NULL, base, n, size, value);
}

/* ---- gather and scatter ---- */

static MOVE_INLINE void gather_sized(const move_job *m, size_t begin, size_t end,
                                     size_t size) {
  for (size_t i = begin; i < end; i++)
    memcpy(m->dst + i * size, m->src + m->index[i] * size, size);
}

static void gather_block(size_t begin, size_t end, void *ctx) {
  const move_job m = *(const move_job *)ctx;
  switch (m.size) {
  case 1:
    gather_sized(&m, begin, end, 1);
    break;
  case 2:
    gather_sized(&m, begin, end, 2);
    break;
  case 4:
    gather_sized(&m, begin, end, 4);
    break;
  case 8:
    gather_sized(&m, begin, end, 8);
    break;
  case 16:
    gather_sized(&m, begin, end, 16);
    break;
  default:
    gather_sized(&m, begin, end, m.size);
  }
}

static MOVE_INLINE void scatter_sized(const move_job *m, size_t begin, size_t end,
                                      size_t size) {
  for (size_t i = begin; i < end; i++)
    memcpy(m->dst + m->index[i] * size, m->src + i * size, size);
}

static void scatter_block(size_t begin, size_t end, void *ctx) {
  const move_job m = *(const move_job *)ctx;
  switch (m.size) {
  case 1:
    scatter_sized(&m, begin, end, 1);
    break;
  case 2:
    scatter_sized(&m, begin, end, 2);
    break;
  case 4:
    scatter_sized(&m, begin, end, 4);
    break;
  case 8:
    scatter_sized(&m, begin, end, 8);
    break;
  case 16:
    scatter_sized(&m, begin, end, 16);
    break;
  default:
    scatter_sized(&m, begin, end, m.size);
  }
}

static void move_by_index(const weft_opts *o, const char *call, size_t n,
                          weft_range_fn *body, move_job *m) {
  weft_opts opts;
  wf_array_check(m->dst == NULL || m->src == NULL, false, n, m->size, call);
  if (n > 0 && m->index == NULL) wf_fatal(call, "the index is NULL");
  wf_par_options(&opts, o, call);
  if (n > 0) move_loop(&opts, n, m->size, body, m);
}

void weft_gather_with(const weft_opts *o, void *dst, const void *src, const size_t *index,
                      size_t n, size_t size) {
  move_job m = {(char *)dst, (const char *)src, index, size, false};
  move_by_index(o, "weft_gather", n, gather_block, &m);
}

void weft_gather(void *dst, const void *src, const size_t *index, size_t n, size_t size) {
  weft_gather_with(NULL, dst, src, index, n, size);
}

void weft_scatter_with(const weft_opts *o, void *dst, const void *src,
                       const size_t *index, size_t n, size_t size) {
  move_job m = {(char *)dst, (const char *)src, index, size, false};
  move_by_index(o, "weft_scatter", n, scatter_block, &m);
}

void weft_scatter(void *dst, const void *src, const size_t *index, size_t n,
                  size_t size) {
  weft_scatter_with(NULL, dst, src, index, n, size);
}

/* ---- reverse ---- */

typedef struct reverse_job {
  char *base;
  size_t n, size;
} reverse_job;

/* Arrays of any type are moved as words. */
typedef uint16_t __attribute__((may_alias)) word16;
typedef uint32_t __attribute__((may_alias)) word32;
typedef uint64_t __attribute__((may_alias)) word64;

/* Swaps elements [begin, end) with those at the same distance from the end. */
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
static MOVE_INLINE void reverse_sized(char *low, char *high, size_t count, size_t size) {
  char part[64];
  for (; count > 0; count--, low += size, high -= size) {
    memcpy(part, low, size);
    memcpy(low, high, size);
    memcpy(high, part, size);
  }
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

static void reverse_any(char *low, char *high, size_t count, size_t size) {
  enum { PART = 64 };
  for (; count > 0; count--, low += size, high -= size) {
    size_t at = 0;
    for (; size - at >= PART; at += PART) reverse_sized(low + at, high + at, 1, PART);
    for (; size - at >= 8; at += 8) reverse_sized(low + at, high + at, 1, 8);
    for (; at < size; at++) reverse_sized(low + at, high + at, 1, 1);
  }
}

static void reverse_block(size_t begin, size_t end, void *ctx) {
  const reverse_job *r = (const reverse_job *)ctx;
  char *low = r->base + begin * r->size, *high = r->base + (r->n - 1 - begin) * r->size;
  const bool aligned = (uintptr_t)r->base % r->size == 0;
  if (r->size == 1)
    reverse_bytes(low, high, end - begin);
  else if (r->size == 2 && aligned)
    reverse_word16(r->base, r->n, begin, end);
  else if (r->size == 4 && aligned)
    reverse_word32(r->base, r->n, begin, end);
  else if (r->size == 8 && aligned)
    reverse_word64(r->base, r->n, begin, end);
  else if (r->size == 12)
    reverse_sized(low, high, end - begin, 12);
  else if (r->size == 16)
    reverse_sized(low, high, end - begin, 16);
  else if (r->size == 24)
    reverse_sized(low, high, end - begin, 24);
  else if (r->size == 32)
    reverse_sized(low, high, end - begin, 32);
  else
    reverse_any(low, high, end - begin, r->size);
}

static void reverse_part(weft_opts *opts, char *base, size_t n, size_t size) {
  reverse_job r = {base, n, size};
  if (n > 1) move_loop(opts, n / 2, size, reverse_block, &r);
}

void weft_reverse_with(const weft_opts *o, void *base, size_t n, size_t size) {
  weft_opts opts;
  wf_array_check(base == NULL, false, n, size, "weft_reverse");
  wf_par_options(&opts, o, "weft_reverse");
  reverse_part(&opts, (char *)base, n, size);
}

void weft_reverse(void *base, size_t n, size_t size) {
  weft_reverse_with(NULL, base, n, size);
}

/* ---- rotate: both parts reversed, and then the whole ---- */

void weft_rotate_with(const weft_opts *o, void *base, size_t n, size_t size,
                      size_t middle) {
  weft_opts opts;
  char *first = (char *)base;
  wf_array_check(base == NULL, false, n, size, "weft_rotate");
  if (middle > n) wf_fatal("weft_rotate", "the middle is behind the end");
  wf_par_options(&opts, o, "weft_rotate");
  if (middle == 0 || middle == n) return;
  reverse_part(&opts, first, middle, size);
  reverse_part(&opts, first + middle * size, n - middle, size);
  reverse_part(&opts, first, n, size);
}

void weft_rotate(void *base, size_t n, size_t size, size_t middle) {
  weft_rotate_with(NULL, base, n, size, middle);
}

void wf_rotate_serial(char *base, size_t n, size_t size, size_t middle) {
  reverse_job parts[] = {
      {base, middle, size}, {base + middle * size, n - middle, size}, {base, n, size}};
  if (middle == 0 || middle == n) return;
  for (int i = 0; i < 3; i++) reverse_block(0, parts[i].n / 2, &parts[i]);
}

#undef MOVE_INLINE
