/* par/sort/order/guess.c - sorts with a comparator that looks at a number, by guessing
 * where that number is.
 *
 * A call of a comparator takes some nanoseconds, and many comparators have a branch that
 * is predicted wrongly every second time. But most of them compare one member of a
 * struct. If some member, read as a number, puts a sorted sample into exactly the order
 * in which the comparator has put it, then this member is probably the key. From then on
 * it says where an element belongs, and the comparator only confirms that:
 *
 *     bucket    not less than the splitter in front, and less than the one behind
 *     leaf      each element is not less than the one in front of it
 *
 * These are a few calls for each element instead of log n, and they nearly always give
 * the same answer. What the comparator does not confirm is done again without the guess.
 * So the result is the same with any guess, stable too; a bad one costs time only. Each
 * round of sample.c looks at its own sample, and goes on without the guess if it does not
 * fit.
 *
 * Called by sample.c. Reads elements of the caller's part of the array, and writes its
 * buckets or its leaf.
 *
 * SPDX-License-Identifier: MIT */
#include "order.h"

/* ---- keys ---- */

/* The numbers that are tried: width in bytes, and what is done to the bits, moved to the
 * top of a word, so that words are in the order of these numbers: all bits of `by_sign`
 * change if the highest one is set, then those of `flip` change. */
typedef struct guess_kind {
  unsigned char width;
  bool is_text; /* bytes, the first one counts most */
  uint64_t by_sign, flip;
} guess_kind;

#define GUESS_TOP ((uint64_t)1 << 63)

static const guess_kind guess_kinds[] = {
    {8, false, 0, GUESS_TOP},             /* int64_t */
    {8, false, 0, 0},                     /* uint64_t */
    {8, false, GUESS_TOP - 1, GUESS_TOP}, /* double */
    {4, false, 0, GUESS_TOP},
    {4, false, 0, 0},
    {4, false, GUESS_TOP - 1, GUESS_TOP}, /* float */
    {8, true, 0, 0},                      /* the beginning of a text */
    {2, false, 0, GUESS_TOP},
    {2, false, 0, 0},
    {1, false, 0, GUESS_TOP},
    {1, false, 0, 0},
};

/* The eight bytes at a text as a number. */
WF_INLINE uint64_t text_word(uint64_t word) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  return word;
#else
  return __builtin_bswap64(word);
#endif
}

/* One loop for each width; GCC and clang turn the copies into plain loads. */
WF_INLINE void keys_of_width(const wf_guess *g, const char *at, size_t n, size_t size,
                             uint64_t *keys, size_t width, bool is_text) {
  const uint64_t by_sign = g->by_sign, flip = g->flip;
  for (size_t i = 0; i < n; i++, at += size) {
    uint64_t word = 0;
    if (width == 8) {
      memcpy(&word, at, 8);
      if (is_text) word = text_word(word);
    } else if (width == 4) {
      uint32_t part;
      memcpy(&part, at, 4);
      word = (uint64_t)part << 32;
    } else if (width == 2) {
      uint16_t part;
      memcpy(&part, at, 2);
      word = (uint64_t)part << 48;
    } else {
      word = (uint64_t)(unsigned char)*at << 56;
    }
    keys[i] = word ^ ((0 - (word >> 63)) & by_sign) ^ flip;
  }
}

/* The keys of n elements, as the guess has them. */
WF_INLINE void guess_keys(const wf_guess *g, const char *data, size_t n, size_t size,
                          uint64_t *keys) {
  const char *at = data + g->offset;
  if (g->width == 8 && !g->is_text)
    keys_of_width(g, at, n, size, keys, 8, false);
  else if (g->width == 8)
    keys_of_width(g, at, n, size, keys, 8, true);
  else if (g->width == 4)
    keys_of_width(g, at, n, size, keys, 4, false);
  else if (g->width == 2)
    keys_of_width(g, at, n, size, keys, 2, false);
  else
    keys_of_width(g, at, n, size, keys, 1, false);
}

/* ---- finding the guess ---- */

enum {
  GUESS_STEPS_LEAST = 12, /* different elements that a sample must have: a choice; it is
                             one chance in 12! that an unrelated number fits */
  GUESS_PART = 64         /* keys that are made at a time */
};

/* Do the keys of the sorted sample ascend exactly where the comparator finds a step? */
static bool keys_fit(const wf_guess *g, const char *sample, size_t n, size_t size,
                     const bool *is_step) {
  uint64_t keys[GUESS_PART];
  for (size_t i = 0; i + 1 < n; i += GUESS_PART - 1) {
    size_t count = n - i < GUESS_PART ? n - i : GUESS_PART;
    /* Most numbers are refused by the first few elements. */
    if (i == 0 && count > 4) {
      guess_keys(g, sample, 4, size, keys);
      for (size_t j = 0; j < 3; j++)
        if (keys[j] > keys[j + 1] || (keys[j] < keys[j + 1]) != is_step[j]) return false;
    }
    guess_keys(g, sample + i * size, count, size, keys);
    for (size_t j = 0; j + 1 < count; j++) {
      if (keys[j] > keys[j + 1]) return false;
      if ((keys[j] < keys[j + 1]) != is_step[i + j]) return false;
    }
  }
  return true;
}

/* Tries one kind of number at all places of an element. */
static bool find_kind(wf_guess *g, const guess_kind *kind, const char *sample, size_t n,
                      size_t size, const bool *is_step) {
  size_t step = kind->is_text ? 1 : kind->width;
  *g = (wf_guess){.width = kind->width, .is_text = kind->is_text};
  g->by_sign = kind->by_sign;
  for (size_t at = 0; at + kind->width <= size; at += step) {
    g->offset = (unsigned char)at;
    g->flip = kind->flip;
    if (keys_fit(g, sample, n, size, is_step)) return true;
    g->flip = ~kind->flip; /* descending */
    if (keys_fit(g, sample, n, size, is_step)) return true;
  }
  return false;
}

wf_guess wf_guess_next(const wf_sorter *s, const wf_guess *before, const char *sample,
                       size_t n) {
  bool is_step[WF_SAMPLE_MOST];
  size_t steps = 0;
  wf_guess g = *before;
  WF_ASSERT(n >= 1 && n <= WF_SAMPLE_MOST && s->size <= WF_SORT_LARGEST);
  if (!s->may_guess || (before->is_made && before->width == 0)) return g;
  for (size_t i = 0; i + 1 < n; i++) {
    is_step[i] = wf_sorter_less(s, sample + i * s->size, sample + (i + 1) * s->size);
    steps += is_step[i];
  }
  if (before->is_made) {
    if (!keys_fit(before, sample, n, s->size, is_step)) g.width = 0;
    return g;
  }
  size_t kinds = sizeof guess_kinds / sizeof guess_kinds[0];
  bool found = false;
  for (size_t k = 0; k < kinds && !found && steps >= GUESS_STEPS_LEAST; k++)
    found = find_kind(&g, &guess_kinds[k], sample, n, s->size, is_step);
  if (!found) g.width = 0;
  g.is_made = true;
  return g;
}

/* ---- buckets ---- */

static inline int guess_compare(const wf_sorter *s, const char *a, const char *b) {
  const wf_by_cmp *by = (const wf_by_cmp *)s->ctx;
  return by->cmp(a, b, by->ctx);
}

/* The bucket by the comparator alone: down the tree. */
static size_t bucket_by_tree(const wf_sorter *s, const wf_splitters *by,
                             const char *element) {
  size_t at = 1;
  for (unsigned level = 0; level < by->levels; level++)
    at = 2 * at + !wf_sorter_less(s, element, by->tree + at * s->size);
  return at - ((size_t)1 << by->levels);
}

/* The number of the bucket, as wf_leaf_classify gives it, if the guess is `bucket`. */
WF_INLINE size_t confirm_bucket(const wf_sorter *s, const wf_splitters *by,
                                const char *element, size_t bucket) {
  const size_t last = ((size_t)1 << by->levels) - 1, size = s->size;
  const char *upper = by->sorted + bucket * size;
  int to_lower = bucket == 0 ? 1 : guess_compare(s, element, upper - size);
  bool fits = to_lower >= 0 && (bucket == last || guess_compare(s, element, upper) < 0);
  if (WF_UNLIKELY(!fits)) {
    bucket = bucket_by_tree(s, by, element);
    to_lower = 1;
    if (bucket > 0 && by->has_equal)
      to_lower = wf_sorter_less(s, by->sorted + (bucket - 1) * size, element);
  }
  return by->has_equal ? 2 * bucket - (bucket != 0 && to_lower == 0) : bucket;
}

void wf_guess_classify(const wf_sorter *s, const wf_guess *g, const char *data, size_t n,
                       const wf_splitters *by, uint16_t *ids, size_t *counts) {
  enum { TOGETHER = 8 }; /* as in wf_leaf_classify */
  uint64_t tree[WF_SAMPLE_MOST / 2], keys[TOGETHER];
  const size_t size = s->size, leaves = (size_t)1 << by->levels;
  WF_ASSERT(leaves <= WF_SAMPLE_MOST / 2 && g->width > 0);
  guess_keys(g, by->tree + size, leaves - 1, size, tree + 1);
  for (size_t i = 0; i < n; i += TOGETHER, data += TOGETHER * size) {
    size_t count = n - i < TOGETHER ? n - i : TOGETHER;
    size_t at[TOGETHER] = {1, 1, 1, 1, 1, 1, 1, 1};
    if (WF_UNLIKELY(count < TOGETHER)) memset(keys, 0, sizeof keys);
    guess_keys(g, data, count, size, keys);
    for (unsigned level = 0; level < by->levels; level++) {
      WF_UNROLLED for (size_t j = 0; j < TOGETHER; j++) at[j] =
          2 * at[j] + 1 - (keys[j] < tree[at[j]]);
    }
    for (size_t j = 0; j < count; j++) {
      size_t bucket = confirm_bucket(s, by, data + j * size, at[j] - leaves);
      ids[i + j] = (uint16_t)bucket;
      counts[bucket]++;
    }
  }
}

/* ---- leaves ---- */

/* Elements of a leaf: their indices are bytes. */
enum { GUESS_LEAF = 256, GUESS_LEAF_LEAST = 8 };

static inline bool word_less(const void *a, const void *b, void *ctx) {
  (void)ctx;
  return *(const uint64_t *)a < *(const uint64_t *)b;
}

/* Sorts n words, through a second array. */
static void sort_words(uint64_t *words, uint64_t *spare, size_t n) {
  wf_leaf_sort((char *)words, (char *)spare, n, false, sizeof *words, word_less, NULL);
}

/* Words in the order of the keys, each with the index of its element in its lowest byte.
 * If the keys have too many bits, the lowest ones are left out: the comparator will
 * notice if they matter. */
static void keys_with_indices(uint64_t *keys, size_t n) {
  uint64_t least = keys[0], most = keys[0];
  for (size_t i = 1; i < n; i++) {
    least = keys[i] < least ? keys[i] : least;
    most = keys[i] > most ? keys[i] : most;
  }
  unsigned bits = most == least ? 0 : wf_log2((size_t)(most - least)) + 1;
  unsigned drop = bits > 56 ? bits - 56 : 0;
  for (size_t i = 0; i < n; i++) keys[i] = ((keys[i] - least) >> drop) << 8 | i;
}

WF_INLINE void gather_leaf_of(char *dst, const char *src, const uint64_t *words, size_t n,
                              size_t size) {
  for (size_t i = 0; i < n; i++)
    memcpy(dst + i * size, src + (words[i] & 0xff) * size, size);
}

static void gather_leaf(char *dst, const char *src, const uint64_t *words, size_t n,
                        size_t size) {
  if (size == 32)
    gather_leaf_of(dst, src, words, n, 32);
  else if (size == 24)
    gather_leaf_of(dst, src, words, n, 24);
  else
    WF_BY_SIZE(size, gather_leaf_of, dst, src, words, n);
}

/* Is the leaf in the order of the comparator, and equal elements in that of the indices?
 */
static bool confirm_leaf(const wf_sorter *s, const char *data, const uint64_t *words,
                         size_t n) {
  const char *at = data;
  for (size_t i = 1; i < n; i++, at += s->size) {
    int order = guess_compare(s, at, at + s->size);
    if (WF_LIKELY(order < 0)) continue;
    if (order > 0 || (words[i - 1] & 0xff) > (words[i] & 0xff)) return false;
  }
  return true;
}

void wf_guess_leaf(const wf_sorter *s, const wf_guess *g, char *data, char *spare,
                   size_t n, bool to_spare) {
  uint64_t words[GUESS_LEAF], second[GUESS_LEAF];
  WF_ASSERT(n <= GUESS_LEAF && g->width > 0);
  if (n >= GUESS_LEAF_LEAST) {
    guess_keys(g, data, n, s->size, words);
    keys_with_indices(words, n);
    sort_words(words, second, n);
    if (!to_spare) memcpy(spare, data, n * s->size);
    gather_leaf(to_spare ? spare : data, to_spare ? data : spare, words, n, s->size);
    if (confirm_leaf(s, to_spare ? spare : data, words, n)) return;
    if (!to_spare) memcpy(data, spare, n * s->size);
  }
  s->loops->sort(data, spare, n, to_spare, s->ctx);
}
