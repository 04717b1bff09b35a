/* par/fold/simd_compact.h - a template, included by simd.c for AVX2 and AVX-512: makes
 * SIMD(compact_4) and SIMD(compact_8), which move the elements that stay side by side
 * without a store for each one. See wf_compact_fn in simd.h.
 *
 * The bytes that say which elements stay become bits, and a few bits at a time choose a
 * permutation of as many elements. All of these are stored. Those that do not stay are
 * overwritten by the next store, and no store goes past the n-th element, since of i
 * elements at most i were kept.
 *
 * SPDX-License-Identifier: MIT */

/* No include guard: the file is included several times. */

#if SIMD_BYTES == 64

/* Elements of one step. */
#define COMPACT_STEP(size) (64 / (size))

/* Compresses into a register and stores that: on some CPUs compressing straight to memory
 * takes very long. */
WF_INLINE size_t SIMD(compact_step)(char *to, const char *from, const unsigned char *keep,
                                    size_t size) {
  __m512i x = _mm512_loadu_si512(from);
  __m128i bytes;
  unsigned bits;
  if (size == 8) {
    bytes = _mm_loadl_epi64((const __m128i *)(const void *)keep);
    bits = _mm_test_epi8_mask(bytes, bytes);
    x = _mm512_maskz_compress_epi64((__mmask8)bits, x);
  } else {
    bytes = _mm_loadu_si128((const __m128i *)(const void *)keep);
    bits = _mm_test_epi8_mask(bytes, bytes);
    x = _mm512_maskz_compress_epi32((__mmask16)bits, x);
  }
  _mm512_storeu_si512(to, x);
  return (size_t)__builtin_popcount(bits);
}

#else

#define COMPACT_STEP(size) 32

/* For each value of four bits: the numbers of the elements that stay. */
#define COMPACT_ORDERS(AT)                                                               \
  AT(0, 0, 0, 0), AT(0, 0, 0, 0), AT(1, 0, 0, 0), AT(0, 1, 0, 0), AT(2, 0, 0, 0),        \
      AT(0, 2, 0, 0), AT(1, 2, 0, 0), AT(0, 1, 2, 0), AT(3, 0, 0, 0), AT(0, 3, 0, 0),    \
      AT(1, 3, 0, 0), AT(0, 1, 3, 0), AT(2, 3, 0, 0), AT(0, 2, 3, 0), AT(1, 2, 3, 0),    \
      AT(0, 1, 2, 3)
#define COMPACT_HALVES(i) 2 * (i), 2 * (i) + 1
#define COMPACT_BYTES(i)  4 * (i), 4 * (i) + 1, 4 * (i) + 2, 4 * (i) + 3
#define COMPACT_HALVES_OF(a, b, c, d)                                                    \
  { COMPACT_HALVES(a), COMPACT_HALVES(b), COMPACT_HALVES(c), COMPACT_HALVES(d) }
#define COMPACT_BYTES_OF(a, b, c, d)                                                     \
  { COMPACT_BYTES(a), COMPACT_BYTES(b), COMPACT_BYTES(c), COMPACT_BYTES(d) }

static const uint32_t SIMD(compact_halves)[16][8] = {COMPACT_ORDERS(COMPACT_HALVES_OF)};
static const uint8_t SIMD(compact_bytes)[16][16] = {COMPACT_ORDERS(COMPACT_BYTES_OF)};

#undef COMPACT_ORDERS
#undef COMPACT_HALVES
#undef COMPACT_BYTES
#undef COMPACT_HALVES_OF
#undef COMPACT_BYTES_OF

WF_INLINE void SIMD(compact_four)(char *to, const char *from, size_t bits, size_t size) {
  if (size == 8) {
    __m256i x = _mm256_loadu_si256((const __m256i *)(const void *)from), order;
    memcpy(&order, SIMD(compact_halves)[bits], sizeof order);
    x = _mm256_permutevar8x32_epi32(x, order);
    _mm256_storeu_si256((__m256i *)(void *)to, x);
  } else {
    __m128i x = _mm_loadu_si128((const __m128i *)(const void *)from), order;
    memcpy(&order, SIMD(compact_bytes)[bits], sizeof order);
    _mm_storeu_si128((__m128i *)(void *)to, _mm_shuffle_epi8(x, order));
  }
}

WF_INLINE size_t SIMD(compact_step)(char *to, const char *from, const unsigned char *keep,
                                    size_t size) {
  __m256i bytes = _mm256_loadu_si256((const __m256i *)(const void *)keep);
  uint32_t bits = (uint32_t)_mm256_movemask_epi8(_mm256_slli_epi16(bytes, 7));
  size_t kept = 0;
  for (size_t j = 0; j < 32; j += 4, bits >>= 4) {
    SIMD(compact_four)(to + kept * size, from + j * size, bits & 15, size);
    kept += (size_t)__builtin_popcount(bits & 15);
  }
  return kept;
}

#endif

#define COMPACT(size)                                                                    \
  static size_t SIMD(compact_##size)(void *dst, const void *src,                         \
                                     const unsigned char *keep, size_t n) {              \
    const char *from = (const char *)src;                                                \
    char *to = (char *)dst;                                                              \
    size_t i = 0;                                                                        \
    for (; n - i >= COMPACT_STEP(size); i += COMPACT_STEP(size))                         \
      to += SIMD(compact_step)(to, from + i * (size), keep + i, size) * (size);          \
    for (; i < n; i++) {                                                                 \
      memcpy(to, from + i * (size), size);                                               \
      to += keep[i] * (size_t)(size);                                                    \
    }                                                                                    \
    return (size_t)(to - (char *)dst) / (size);                                          \
  }
COMPACT(4)
COMPACT(8)

#undef COMPACT
#undef COMPACT_STEP
