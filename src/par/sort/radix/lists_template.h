/* par/sort/radix/lists_template.h - a template for AVX-512: sorts numbers by putting them
 * into short lists by their distance from the lowest, and then as many lists at a time as
 * a vector has columns. lists.c includes it for numbers of 64 and of 32 bits.
 *
 * Each list has a row of memory for LISTS_LENGTH elements, so that nothing is counted
 * before; the few that find it full are kept apart. A row becomes a column: element l of
 * the vectors v[0], v[1]... A sorting network over the vectors then sorts all columns at
 * once, without a branch.
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
 *     lists_turn64 lists_turn32                    lists_range64 lists_range32
 *     lists_insert64 lists_insert32                lists_put64 lists_put32
 *     lists_mask64 lists_mask32                    lists_load64 lists_load32
 *     lists_store64 lists_store32                  lists_store_long64 lists_store_long32
 *     lists_sort_group64 lists_sort_group32        lists_leaf64 lists_leaf32
 *
 * and the types lists_key64, lists_key32, lists_decoding64, lists_decoding32,
 * lists_table64, lists_table32.
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

/* Lists under way: list l has counts[l] keys, the first LISTS_LENGTH of them in its row.
 * Those that found their row full are the rest, in ascending order once all are there. */
typedef struct LISTS(table) {
  LISTS(key) low;
  unsigned shift;  /* which leaves 32 bits of a distance from `low`, */
  uint64_t factor; /* whose product with this has the number of the list above 32 bits */
  uint16_t *counts;
  LISTS(key) * rows;
  unsigned rest_count, rest_most;
  LISTS(key) rest[LISTS_REST];
} LISTS(table);

_Static_assert(LISTS_LENGTH + LISTS_REST <= UINT16_MAX, "a list can be counted");

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

/* Puts `key` where it belongs among the `count` sorted ones before. */
static inline void LISTS(insert)(LISTS(key) * sorted, unsigned count, LISTS(key) key) {
  for (; count > 0 && sorted[count - 1] > key; count--) sorted[count] = sorted[count - 1];
  sorted[count] = key;
}

/* Puts the keys into lists, by their distance from the lowest one. False if too many find
 * their row full: they are not spread evenly. */
static bool LISTS(put)(LISTS(table) * t, const LISTS(key) * from, size_t n) {
  const LISTS(key) low = t->low;
  const unsigned shift = t->shift;
  const uint64_t factor = t->factor;
  uint16_t *counts = t->counts;
  LISTS(key) *rows = t->rows;
  for (size_t i = 0; i < n; i++) {
    LISTS(key) key = from[i];
    size_t l = (size_t)(((LISTS(key))(key - low) >> shift) * factor >> 32);
    unsigned count = counts[l]++;
    if (WF_LIKELY(count < LISTS_LENGTH))
      rows[l * LISTS_LENGTH + count] = key;
    else if (t->rest_count < t->rest_most)
      LISTS(insert)(t->rest, t->rest_count++, key);
    else
      return false;
  }
  return true;
}

/* The first elements of a row, as a mask. */
static inline unsigned LISTS(mask)(unsigned count) {
  return (1u << (count < LISTS_LENGTH ? count : LISTS_LENGTH)) - 1;
}

/* What the mask leaves out becomes the highest key. */
static inline __m512i LISTS(load)(unsigned mask, const LISTS(key) * from) {
  return LISTS_V(mask_loadu_epi)(_mm512_set1_epi32(-1), (LISTS_MASK)mask, from);
}

static inline void LISTS(store)(LISTS(key) * to, unsigned mask, __m512i x) {
  LISTS_V(mask_storeu_epi)(to, (LISTS_MASK)mask, x);
}

/* A full row, sorted, with what belongs to its list of the rest; decoded. */
static void LISTS(store_long)(LISTS(key) * to, __m512i row, __m512i row_end,
                              const LISTS(key) * rest, unsigned more,
                              const wf_coding *coding) {
  LISTS(key) all[LISTS_LENGTH + LISTS_REST];
  _mm512_storeu_si512(all, row);
  if (LISTS_COLUMNS == 8) _mm512_storeu_si512(all + 8, row_end);
  for (unsigned i = 0; i < more; i++) LISTS(insert)(all, LISTS_LENGTH + i, rest[i]);
  for (unsigned i = 0; i < LISTS_LENGTH + more; i++)
    to[i] = LISTS_PASTE(wf_decode_u, LISTS_BITS)(coding, all[i]);
}

/* Sorts LISTS_COLUMNS lists from number l on into `result`, and returns the rest from
 * behind what belongs to them. */
static const LISTS(key) * LISTS(sort_group)(const LISTS(table) * t, size_t l,
                                            LISTS(key) * result, const LISTS(key) * rest,
                                            const wf_coding *coding) {
  __m512i v[16];
  const uint16_t *counts = t->counts + l;
  const LISTS(key) *rows = t->rows + l * LISTS_LENGTH;
  const LISTS(decoding) d = {LISTS(all)(coding->negative), LISTS(all)(coding->always),
                             LISTS(all)(coding->offset)};
#define LISTS_ROW(j)                                                                     \
  do {                                                                                   \
    unsigned mask = LISTS(mask)(counts[j]);                                              \
    v[j] = LISTS(load)(mask, rows + (j)*LISTS_LENGTH);                                   \
    if (LISTS_COLUMNS == 8)                                                              \
      v[(j + 8) % 16] = LISTS(load)(mask >> 8, rows + (j)*LISTS_LENGTH + 8);             \
  } while (0)
  LISTS_EACH_ROW
#undef LISTS_ROW
  LISTS(turn)(v);
  LISTS(order_columns)(v);
  LISTS(turn)(v);
#define LISTS_ROW(j)                                                                     \
  do {                                                                                   \
    unsigned count = counts[j], mask = LISTS(mask)(count);                               \
    __m512i row_end = v[(j + 8) % 16];                                                   \
    if (WF_LIKELY(count <= LISTS_LENGTH)) {                                              \
      LISTS(store)(result, mask, LISTS(decoded)(v[j], &d));                              \
      if (LISTS_COLUMNS == 8)                                                            \
        LISTS(store)(result + 8, mask >> 8, LISTS(decoded)(row_end, &d));                \
    } else {                                                                             \
      LISTS(store_long)(result, v[j], row_end, rest, count - LISTS_LENGTH, coding);      \
      rest += count - LISTS_LENGTH;                                                      \
    }                                                                                    \
    result += count;                                                                     \
  } while (0)
  LISTS_EACH_ROW
#undef LISTS_ROW
  return rest;
}

/* A member of wf_lists, see radix.h. */
static bool LISTS(leaf)(const LISTS(key) * src, void *slot, size_t n, LISTS(key) * result,
                        const wf_coding *coding) {
  const size_t lists = wf_lists_count(n);
  LISTS(table) t;
  LISTS(key) high;
  LISTS(range)(src, n, result, &t.low, &high);
  const uint64_t range = high - t.low;
  if (range < n / WF_LISTS_USUAL) return false;
  t.shift = range >> 32 == 0 ? 0 : 32 - (unsigned)__builtin_clzll(range);
  t.factor = ((uint64_t)lists << 32) / ((range >> t.shift) + 1);
  t.counts = (uint16_t *)slot;
  t.rows = (LISTS(key) *)(void *)((char *)slot + WF_LISTS_TABLE);
  t.rest_count = 0;
  t.rest_most = LISTS_REST_LEAST + (unsigned)n / LISTS_REST_PART;
  WF_ASSERT(t.rest_most <= LISTS_REST && lists <= WF_LISTS_TABLE / sizeof *t.counts);
  WF_ASSERT((range >> t.shift) * t.factor >> 32 < lists);
  memset(t.counts, 0, lists * sizeof *t.counts);
  if (!LISTS(put)(&t, src, n)) return false;
  const LISTS(key) *rest = t.rest, *begin = result;
  for (size_t l = 0; l < lists; l += LISTS_COLUMNS) {
    size_t keys = 0;
    for (unsigned j = 0; j < LISTS_COLUMNS; j++) keys += t.counts[l + j];
    if (keys != 0) rest = LISTS(sort_group)(&t, l, result, rest, coding);
    result += keys;
  }
  WF_ASSERT(result == begin + n && rest == t.rest + t.rest_count);
  (void)begin;
  return true;
}

#undef LISTS_PASTED
#undef LISTS_PASTE
#undef LISTS
#undef LISTS_V
#undef LISTS_MASK
#undef LISTS_BITS
#undef LISTS_COLUMNS
#undef LISTS_EACH_ROW
