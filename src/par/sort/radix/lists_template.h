/* par/sort/radix/lists_template.h - a template for AVX-512: sorts numbers by putting them
 * into short lists by their leading bits, and then as many lists at a time as a vector
 * has columns. lists.c includes it for numbers of 64 and of 32 bits.
 *
 * A list has at most LISTS_LENGTH elements (longer ones are sorted in another way). Each
 * becomes a column: element l of the vectors v[0], v[1]... A sorting network over the
 * vectors then sorts all columns at once, without a branch.
 *
 * The including file, which says what the CPU must have, defines LISTS_BITS (of a number,
 * 64 or 32), LISTS_COLUMNS (numbers in a vector, 8 or 16) and LISTS_EACH_ROW, which calls
 * LISTS_ROW for each of them; this file undefines them at its end.
 *
 * Made, in this order, to be found by their whole names:
 *
 *     lists_all64 lists_all32                      lists_decoded64 lists_decoded32
 *     lists_order_columns64 lists_order_columns32
 *     lists_keep64 lists_keep32                    lists_take64 lists_take32
 *     lists_turn64 lists_turn32                    lists_mask64 lists_mask32
 *     lists_load64 lists_load32                    lists_store64 lists_store32
 *     lists_sort_group64 lists_sort_group32        lists_range64 lists_range32
 *     lists_put64 lists_put32                      lists_leaf64 lists_leaf32
 *
 * and the types lists_key64, lists_key32, lists_decoding64, lists_decoding32.
 *
 * SPDX-License-Identifier: MIT */

#define LISTS_PASTED(a, b) a##b
#define LISTS_PASTE(a, b)  LISTS_PASTED(a, b)
#define LISTS(name)        LISTS_PASTE(lists_##name, LISTS_BITS)

/* The vector operation for numbers of this kind, and masks of its elements. */
#define LISTS_V(operation) LISTS_PASTE(_mm512_##operation, LISTS_BITS)
#define LISTS_MASK         LISTS_PASTE(__mmask, LISTS_COLUMNS)

typedef LISTS_PASTE(wf_bits, LISTS_BITS) LISTS(key);

/* A wf_coding, in all elements of a vector. */
typedef struct LISTS(decoding) {
  __m512i negative, always, offset;
} LISTS(decoding);

/* The lower bits of x, in all elements of a vector. */
static inline __m512i LISTS(all)(uint64_t x) {
  return LISTS_BITS == 64 ? _mm512_set1_epi64((long long)x)
                          : _mm512_set1_epi32((int)(uint32_t)x);
}

static inline __m512i LISTS(decoded)(__m512i x, const LISTS(decoding) * d) {
  x = LISTS_V(add_epi)(x, d->offset);
  __m512i turned = _mm512_andnot_si512(LISTS_V(srai_epi)(x, LISTS_BITS - 1), d->negative);
  return _mm512_xor_si512(x, _mm512_or_si512(turned, d->always));
}

/* ---- columns ---- */

#define LISTS_ORDER(i, j)                                                                \
  do {                                                                                   \
    __m512i low = LISTS_V(min_epu)(v[i], v[j]);                                          \
    v[j] = LISTS_V(max_epu)(v[i], v[j]);                                                 \
    v[i] = low;                                                                          \
  } while (0)

/* Batcher's network for 16 (odd-even merge sort), layer by layer. */
__attribute__((always_inline)) static inline void LISTS(order_columns)(__m512i *v) {
  /* clang-format off */
  LISTS_ORDER(0, 1); LISTS_ORDER(2, 3); LISTS_ORDER(4, 5); LISTS_ORDER(6, 7); LISTS_ORDER(8, 9); LISTS_ORDER(10, 11); LISTS_ORDER(12, 13); LISTS_ORDER(14, 15);
  LISTS_ORDER(0, 2); LISTS_ORDER(1, 3); LISTS_ORDER(4, 6); LISTS_ORDER(5, 7); LISTS_ORDER(8, 10); LISTS_ORDER(9, 11); LISTS_ORDER(12, 14); LISTS_ORDER(13, 15);
  LISTS_ORDER(1, 2); LISTS_ORDER(5, 6); LISTS_ORDER(9, 10); LISTS_ORDER(13, 14);
  LISTS_ORDER(0, 4); LISTS_ORDER(1, 5); LISTS_ORDER(2, 6); LISTS_ORDER(3, 7); LISTS_ORDER(8, 12); LISTS_ORDER(9, 13); LISTS_ORDER(10, 14); LISTS_ORDER(11, 15);
  LISTS_ORDER(2, 4); LISTS_ORDER(3, 5); LISTS_ORDER(10, 12); LISTS_ORDER(11, 13);
  LISTS_ORDER(1, 2); LISTS_ORDER(3, 4); LISTS_ORDER(5, 6); LISTS_ORDER(9, 10); LISTS_ORDER(11, 12); LISTS_ORDER(13, 14);
  LISTS_ORDER(0, 8); LISTS_ORDER(1, 9); LISTS_ORDER(2, 10); LISTS_ORDER(3, 11); LISTS_ORDER(4, 12); LISTS_ORDER(5, 13); LISTS_ORDER(6, 14); LISTS_ORDER(7, 15);
  LISTS_ORDER(4, 8); LISTS_ORDER(5, 9); LISTS_ORDER(6, 10); LISTS_ORDER(7, 11);
  LISTS_ORDER(2, 4); LISTS_ORDER(3, 5); LISTS_ORDER(6, 8); LISTS_ORDER(7, 9); LISTS_ORDER(10, 12); LISTS_ORDER(11, 13);
  LISTS_ORDER(1, 2); LISTS_ORDER(3, 4); LISTS_ORDER(5, 6); LISTS_ORDER(7, 8); LISTS_ORDER(9, 10); LISTS_ORDER(11, 12); LISTS_ORDER(13, 14);
  /* clang-format on */
}

#undef LISTS_ORDER

#define LISTS_EXCHANGE(i, j)                                                             \
  do {                                                                                   \
    __m512i first = LISTS_V(permutex2var_epi)(v[i], keep, v[j]);                         \
    v[j] = LISTS_V(permutex2var_epi)(v[i], take, v[j]);                                  \
    v[i] = first;                                                                        \
  } while (0)

/* Which elements of two vectors the first one gets, and which the second one, if those
 * that are `by` apart are exchanged; those of the second have numbers from LISTS_COLUMNS
 * on. */
#define LISTS_KEEP(l, by) (((l) & (by)) == 0 ? (l) : (l) - (by) + LISTS_COLUMNS)
#define LISTS_TAKE(l, by) (((l) & (by)) == 0 ? (l) + (by) : (l) + LISTS_COLUMNS)
#define LISTS_PICKS(which, by)                                                           \
  {                                                                                      \
    which(0, by), which(1, by), which(2, by), which(3, by), which(4, by), which(5, by),  \
        which(6, by), which(7, by), which(8, by), which(9, by), which(10, by),           \
        which(11, by), which(12, by), which(13, by), which(14, by), which(15, by)        \
  }

static const LISTS(key)
    LISTS(keep)[4][16] = {LISTS_PICKS(LISTS_KEEP, 1), LISTS_PICKS(LISTS_KEEP, 2),
                          LISTS_PICKS(LISTS_KEEP, 4), LISTS_PICKS(LISTS_KEEP, 8)};
static const LISTS(key)
    LISTS(take)[4][16] = {LISTS_PICKS(LISTS_TAKE, 1), LISTS_PICKS(LISTS_TAKE, 2),
                          LISTS_PICKS(LISTS_TAKE, 4), LISTS_PICKS(LISTS_TAKE, 8)};

#undef LISTS_KEEP
#undef LISTS_TAKE
#undef LISTS_PICKS

/* Turns rows into columns and back: exchanges bits of an element's number and its
 * vector's. Of vectors with 8 elements there are two squares. */
__attribute__((always_inline)) static inline void LISTS(turn)(__m512i *v) {
  __m512i keep = _mm512_loadu_si512(LISTS(keep)[0]),
          take = _mm512_loadu_si512(LISTS(take)[0]);
  /* clang-format off */
  LISTS_EXCHANGE(0, 1); LISTS_EXCHANGE(2, 3); LISTS_EXCHANGE(4, 5); LISTS_EXCHANGE(6, 7);
  LISTS_EXCHANGE(8, 9); LISTS_EXCHANGE(10, 11); LISTS_EXCHANGE(12, 13); LISTS_EXCHANGE(14, 15);
  keep = _mm512_loadu_si512(LISTS(keep)[1]), take = _mm512_loadu_si512(LISTS(take)[1]);
  LISTS_EXCHANGE(0, 2); LISTS_EXCHANGE(1, 3); LISTS_EXCHANGE(4, 6); LISTS_EXCHANGE(5, 7);
  LISTS_EXCHANGE(8, 10); LISTS_EXCHANGE(9, 11); LISTS_EXCHANGE(12, 14); LISTS_EXCHANGE(13, 15);
  keep = _mm512_loadu_si512(LISTS(keep)[2]), take = _mm512_loadu_si512(LISTS(take)[2]);
  LISTS_EXCHANGE(0, 4); LISTS_EXCHANGE(1, 5); LISTS_EXCHANGE(2, 6); LISTS_EXCHANGE(3, 7);
  LISTS_EXCHANGE(8, 12); LISTS_EXCHANGE(9, 13); LISTS_EXCHANGE(10, 14); LISTS_EXCHANGE(11, 15);
  if (LISTS_COLUMNS == 16) {
    keep = _mm512_loadu_si512(LISTS(keep)[3]), take = _mm512_loadu_si512(LISTS(take)[3]);
    LISTS_EXCHANGE(0, 8); LISTS_EXCHANGE(1, 9); LISTS_EXCHANGE(2, 10); LISTS_EXCHANGE(3, 11);
    LISTS_EXCHANGE(4, 12); LISTS_EXCHANGE(5, 13); LISTS_EXCHANGE(6, 14); LISTS_EXCHANGE(7, 15);
  }
  /* clang-format on */
}

#undef LISTS_EXCHANGE

/* ---- lists ---- */

/* A list of this length as a mask; none if it is too long. */
static inline unsigned LISTS(mask)(uint32_t length) {
  return length <= LISTS_LENGTH ? (1u << length) - 1 : 0;
}

/* What the mask leaves out becomes the highest key. */
static inline __m512i LISTS(load)(unsigned mask, const LISTS(key) * from) {
  return LISTS_V(mask_loadu_epi)(_mm512_set1_epi32(-1), (LISTS_MASK)mask, from);
}

static inline void LISTS(store)(LISTS(key) * to, unsigned mask, __m512i x) {
  LISTS_V(mask_storeu_epi)(to, (LISTS_MASK)mask, x);
}

/* Sorts LISTS_COLUMNS lists that follow each other; `ends` are their ends, the first
 * begins at `begin`. True if all were short enough. */
static bool LISTS(sort_group)(const LISTS(key) * from, const uint32_t *ends,
                              uint32_t begin, LISTS(key) * result,
                              const LISTS(decoding) * d) {
  __m512i v[16];
  uint32_t at = begin;
  bool all_short = true;
  const LISTS(decoding) decoding = *d;
#define LISTS_ROW(j)                                                                     \
  do {                                                                                   \
    unsigned mask = LISTS(mask)(ends[j] - at);                                           \
    all_short &= ends[j] - at <= LISTS_LENGTH;                                           \
    v[j] = LISTS(load)(mask, from + at);                                                 \
    if (LISTS_COLUMNS == 8) v[(j + 8) % 16] = LISTS(load)(mask >> 8, from + at + 8);     \
    at = ends[j];                                                                        \
  } while (0)
  LISTS_EACH_ROW
#undef LISTS_ROW
  LISTS(turn)(v);
  LISTS(order_columns)(v);
  LISTS(turn)(v);
  at = begin;
#define LISTS_ROW(j)                                                                     \
  do {                                                                                   \
    unsigned mask = LISTS(mask)(ends[j] - at);                                           \
    LISTS(store)(result + at, mask, LISTS(decoded)(v[j], &decoding));                    \
    if (LISTS_COLUMNS == 8) {                                                            \
      __m512i rest = v[(j + 8) % 16];                                                    \
      LISTS(store)(result + at + 8, mask >> 8, LISTS(decoded)(rest, &decoding));         \
    }                                                                                    \
    at = ends[j];                                                                        \
  } while (0)
  LISTS_EACH_ROW
#undef LISTS_ROW
  return all_short;
}

/* The lowest and the highest key. What will be written is fetched meanwhile. */
static void LISTS(range)(const LISTS(key) * a, size_t n, const LISTS(key) * result,
                         LISTS(key) * low, LISTS(key) * high) {
  __m512i lows = _mm512_set1_epi32(-1), highs = _mm512_setzero_si512();
  size_t i = 0;
  for (; i + LISTS_COLUMNS <= n; i += LISTS_COLUMNS) {
    __m512i keys = _mm512_loadu_si512(a + i);
    __builtin_prefetch(result + i, 1);
    lows = LISTS_V(min_epu)(lows, keys);
    highs = LISTS_V(max_epu)(highs, keys);
  }
  *low = LISTS_V(reduce_min_epu)(lows);
  *high = LISTS_V(reduce_max_epu)(highs);
  for (; i < n; i++) {
    if (a[i] < *low) *low = a[i];
    if (a[i] > *high) *high = a[i];
  }
}

/* Puts the keys into lists, by their distance from the lowest one. `ends` is all 0. */
static void LISTS(put)(LISTS(key) * to, const LISTS(key) * from, size_t n, uint32_t *ends,
                       unsigned lists, LISTS(key) low, unsigned shift) {
  uint32_t sum = 0;
  for (size_t i = 0; i < n; i++) ends[(LISTS(key))(from[i] - low) >> shift]++;
  for (unsigned l = 0; l < lists; l++) {
    uint32_t count = ends[l];
    ends[l] = sum;
    sum += count;
  }
  for (size_t i = 0; i < n; i++) {
    LISTS(key) e = from[i];
    to[ends[(LISTS(key))(e - low) >> shift]++] = e;
  }
}

/* A member of wf_lists, see radix.h. */
static void LISTS(leaf)(LISTS(key) * src, void *slot, size_t n, LISTS(key) * result,
                        const wf_coding *coding,
                        LISTS_PASTE(wf_other_leaf, LISTS_BITS) * other) {
  uint32_t *ends = (uint32_t *)slot;
  LISTS(key) *listed = (LISTS(key) *)(void *)((char *)slot + WF_LISTS_TABLE);
  LISTS(key) low, high;
  LISTS(range)(src, n, result, &low, &high);
  unsigned bits = LISTS_LEAST_BITS;
  while (n >> bits > LISTS_USUAL && bits < WF_LISTS_MOST_BITS) bits++;
  unsigned top = high == low ? 0 : 64 - (unsigned)__builtin_clzll(high - low);
  unsigned shift = top > bits ? top - bits : 0, lists = 1u << bits;
  WF_ASSERT(n <= UINT32_MAX && lists * sizeof *ends <= WF_LISTS_TABLE);
  WF_ASSERT(shift < 8 * sizeof low && (LISTS(key))(high - low) >> shift < lists);
  memset(ends, 0, lists * sizeof *ends);
  LISTS(put)(listed, src, n, ends, lists, low, shift);
  const LISTS(decoding) d = {LISTS(all)(coding->negative), LISTS(all)(coding->always),
                             LISTS(all)(coding->offset)};
  uint32_t begin = 0;
  for (unsigned l = 0; l < lists; l += LISTS_COLUMNS) {
    if (ends[l + LISTS_COLUMNS - 1] == begin) continue;
    bool done = LISTS(sort_group)(listed, ends + l, begin, result, &d);
    for (unsigned j = l; j < l + LISTS_COLUMNS; j++) {
      uint32_t length = ends[j] - begin;
      if (!done && length > LISTS_LENGTH)
        other(listed + begin, listed + begin, length, result + begin, coding);
      begin = ends[j];
    }
  }
  WF_ASSERT(begin == n);
}

#undef LISTS_PASTED
#undef LISTS_PASTE
#undef LISTS
#undef LISTS_V
#undef LISTS_MASK
#undef LISTS_BITS
#undef LISTS_COLUMNS
#undef LISTS_EACH_ROW
