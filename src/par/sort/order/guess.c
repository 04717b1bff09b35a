/* par/sort/order/guess.c - sorts elements by a number in them, which is guessed, and lets
 * the order that the caller gave have the last word.
 *
 * A call of a comparator takes some nanoseconds, and many comparators have a branch that
 * is predicted wrongly every second time. But most of them compare one member of a
 * struct. If some member, read as a number, puts a sorted sample into exactly the order
 * in which the comparator has put it, then this member is probably the key. From then on
 * it says where an element belongs, and the comparator only confirms that:
 *
 *     stable    the bucket of each element: not less than the splitter in front, and less
 *               than the one behind. In a leaf each element: not less than the one in
 *               front of it, and not equal to it if the key has changed their order.
 *               What is not confirmed is done again without the guess, where it is.
 *     unstable  only the result: leaves, and the borders of buckets. If a border is
 * wrong, the array is sorted once more, without the guess.
 *
 * These are one to five calls for each element instead of log n, and they nearly always
 * give the same answer. The result is in order with any guess; a bad one costs time only.
 *
 * Called by sample.c. Reads elements of the caller's part of the array, and writes its
 * buckets or its leaf.
 *
 * SPDX-License-Identifier: MIT */
#include "order.h"

#include "../../../sys/sys.h"

/* ---- is it allowed? ---- */

/* The search for a key reads all bytes of elements and acts on them, also on padding and
 * members that the program has never written. That does no harm, but tools that watch for
 * it would report it as an error of the program. */
#if defined(__has_feature)
#if __has_feature(memory_sanitizer)
#define GUESS_IS_WATCHED 1
#endif
#endif
#ifndef GUESS_IS_WATCHED
#define GUESS_IS_WATCHED 0
#endif

/* valgrind runs a program with libraries of its own in front. */
static bool is_in_valgrind(void) {
  const char *libraries = wf_sys_variable("LD_PRELOAD");
  return libraries != NULL && strstr(libraries, "vgpreload") != NULL;
}

bool wf_guess_allowed(void) {
  enum { NOT_ASKED, ALLOWED, DENIED };
  static wf_word x_answer; /* NOT_ASKED at first */
  /* Relaxed: every thread that finds no answer finds the same one. */
  uintptr_t answer = wf_word_load_relaxed(&x_answer);
  if (answer == NOT_ASKED) {
    answer = GUESS_IS_WATCHED || is_in_valgrind() ? DENIED : ALLOWED;
    wf_word_store_relaxed(&x_answer, answer);
  }
  return answer == ALLOWED;
}

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
  GUESS_REPEATS = 16,     /* a sample of which this part equals others has many equal
                             elements, for which an inlined order is faster: a choice */
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

static bool try_offset(wf_guess *g, const guess_kind *kind, size_t offset,
                       const char *sample, size_t n, size_t size, const bool *is_step) {
  g->offset = (unsigned char)offset;
  g->flip = kind->flip;
  if (keys_fit(g, sample, n, size, is_step)) return true;
  g->flip = ~kind->flip; /* descending */
  return keys_fit(g, sample, n, size, is_step);
}

/* Tries one kind of number at all places of an element. Texts from the end: what they
 * have in common at their beginning says nothing. */
static bool find_kind(wf_guess *g, const guess_kind *kind, const char *sample, size_t n,
                      size_t size, const bool *is_step) {
  size_t step = kind->is_text ? 1 : kind->width, last = size - kind->width;
  *g = (wf_guess){.width = kind->width, .is_text = kind->is_text};
  g->by_sign = kind->by_sign;
  for (size_t at = 0; size >= kind->width && at <= last; at += step)
    if (try_offset(g, kind, kind->is_text ? last - at : at, sample, n, size, is_step))
      return true;
  return false;
}

/* Whether each element of the sorted sample is greater than the one in front of it;
 * returns how many are. */
static size_t find_steps(const wf_sorter *s, const char *sample, size_t n,
                         bool *is_step) {
  size_t steps = 0;
  for (size_t i = 0; i + 1 < n; i++) {
    const char *at = sample + i * s->size;
    is_step[i] = wf_sorter_less(s, at, at + s->size);
    steps += is_step[i];
  }
  return steps;
}

wf_guess wf_guess_next(const wf_sorter *s, const wf_guess *before, const char *sample,
                       size_t n) {
  bool is_step[WF_SAMPLE_MOST];
  size_t kinds = sizeof guess_kinds / sizeof guess_kinds[0];
  wf_guess g = *before;
  WF_ASSERT(n >= 1 && n <= WF_SAMPLE_MOST && s->size <= WF_SORT_LARGEST);
  if (s->guesses == WF_GUESS_NOTHING || (before->is_made && before->width == 0)) return g;
  size_t steps = find_steps(s, sample, n, is_step);
  bool fits = false;
  if (before->is_made)
    fits = keys_fit(before, sample, n, s->size, is_step);
  else
    for (size_t k = 0; k < kinds && !fits && steps >= GUESS_STEPS_LEAST; k++)
      fits = find_kind(&g, &guess_kinds[k], sample, n, s->size, is_step);
  g.is_made = true;
  g.repeats = steps < n - n / GUESS_REPEATS;
  if (!fits || (g.repeats && !s->by_cmp)) g.width = 0;
  g.is_trusted = g.width > 0 && s->guesses == WF_GUESS_TRUST;
  return g;
}

/* ---- slices ---- */

static inline bool word_less(const void *a, const void *b, void *ctx) {
  (void)ctx;
  return *(const uint64_t *)a < *(const uint64_t *)b;
}

/* The slice of a key: equal steps, the first for all below and the last for all above. */
WF_INLINE size_t slice_of(const wf_slices *by, uint64_t key) {
  uint64_t above = (key > by->low ? key : by->low) - by->low;
  uint64_t slice = above >> by->shift;
  return (size_t)(slice < by->count - 1 ? slice : by->count - 1);
}

bool wf_guess_slices(wf_slices *by, const uint64_t *keys, size_t n, size_t buckets) {
  uint64_t least = keys[0], most = keys[0];
  for (size_t i = 1; i < n; i++) {
    least = keys[i] < least ? keys[i] : least;
    most = keys[i] > most ? keys[i] : most;
  }
  by->count = WF_SLICES_EACH * buckets;
  by->shift = 0;
  while ((most - least) >> by->shift > by->count - 3) by->shift++;
  uint64_t step = (uint64_t)1 << by->shift;
  by->low = least > step ? least - step : 0;
  memset(by->bucket, 0, by->count * sizeof *by->bucket);
  for (size_t i = 0; i < n; i++)
    if (++by->bucket[slice_of(by, keys[i])] > WF_SLICE_FULL) return false;
  /* From counts to buckets. Half of the weight is even, which softens the chance that is
   * in a sample. */
  size_t sum = 0, all = n * WF_SLICES_EACH * buckets * 2;
  for (size_t i = 0; i < by->count; i++) {
    size_t met = by->bucket[i];
    by->bucket[i] = (uint16_t)(sum * buckets / all);
    sum += met * by->count + n;
  }
  WF_ASSERT(sum == all && by->bucket[by->count - 1] < buckets);
  return true;
}

void wf_guess_sample(const wf_sorter *s, const wf_guess *g, const char *sample,
                     uint64_t *keys, size_t n) {
  guess_keys(g, sample, n, s->size, keys);
}

void wf_guess_sort_keys(uint64_t *keys, size_t n) {
  wf_leaf_sort((char *)keys, (char *)(keys + n), n, false, sizeof *keys, word_less, NULL);
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

/* The same if the guess is trusted, and the splitters are keys. */
WF_INLINE size_t bucket_of_key(const wf_splitters *by, uint64_t key, size_t bucket) {
  const uint64_t *sorted = (const uint64_t *)(const void *)by->sorted;
  if (!by->has_equal) return bucket;
  return 2 * bucket - ((bucket != 0) & (key == sorted[bucket - (bucket != 0)]));
}

/* Eight ways down a tree of keys at a time, as in wf_leaf_classify. */
enum { KEYS_TOGETHER = 8 };

WF_INLINE void down_the_tree(const uint64_t *tree, unsigned levels, const uint64_t *keys,
                             size_t *buckets) {
  size_t at[KEYS_TOGETHER] = {1, 1, 1, 1, 1, 1, 1, 1};
  for (unsigned level = 0; level < levels; level++) {
    WF_UNROLLED for (size_t j = 0; j < KEYS_TOGETHER; j++) at[j] =
        2 * at[j] + 1 - (keys[j] < tree[at[j]]);
  }
  WF_UNROLLED for (size_t j = 0; j < KEYS_TOGETHER; j++) buckets[j] =
      at[j] - ((size_t)1 << levels);
}

/* The buckets of up to GUESS_PART elements, by their keys alone. */
WF_INLINE void find_buckets(const uint64_t *tree, const wf_splitters *by,
                            const wf_slices *slices, const uint64_t *keys, size_t n,
                            size_t *buckets) {
  if (slices != NULL) {
    const wf_slices in = *slices;
    for (size_t i = 0; i < n; i++) buckets[i] = in.bucket[slice_of(&in, keys[i])];
    return;
  }
  for (size_t i = 0; i < n; i += KEYS_TOGETHER)
    down_the_tree(tree, by->levels, keys + i, buckets + i);
}

void wf_guess_classify(const wf_sorter *s, const wf_guess *g, const char *data, size_t n,
                       const wf_splitters *by, const wf_slices *slices, uint16_t *ids,
                       size_t *counts) {
  uint64_t tree_of_keys[WF_SAMPLE_MOST / 2], keys[GUESS_PART];
  const uint64_t *tree = (const uint64_t *)(const void *)by->tree;
  size_t buckets[GUESS_PART], size = s->size, leaves = (size_t)1 << by->levels, count;
  WF_ASSERT(leaves <= WF_SAMPLE_MOST / 2 && g->width > 0);
  if (!g->is_trusted) {
    guess_keys(g, by->tree + size, leaves - 1, size, tree_of_keys + 1);
    tree = tree_of_keys;
  }
  memset(keys, 0, sizeof keys); /* the last part may have fewer than eight */
  for (size_t i = 0; i < n; i += count, data += count * size, ids += count) {
    count = n - i < GUESS_PART ? n - i : GUESS_PART;
    guess_keys(g, data, count, size, keys);
    find_buckets(tree, by, slices, keys, count, buckets);
    if (!g->is_trusted)
      for (size_t j = 0; j < count; j++)
        buckets[j] = confirm_bucket(s, by, data + j * size, buckets[j]);
    else if (slices == NULL)
      for (size_t j = 0; j < count; j++)
        buckets[j] = bucket_of_key(by, keys[j], buckets[j]);
    for (size_t j = 0; j < count; j++) {
      ids[j] = (uint16_t)buckets[j];
      counts[buckets[j]]++;
    }
  }
}

/* ---- leaves ---- */

enum {
  GUESS_LEAF = 256,        /* elements of a leaf, at most: their indices are bytes */
  GUESS_NEAR_BYTES = 4096, /* of a leaf that is copied to the stack, which is in the first
                              cache, instead of the second array, which is not */
  GUESS_COUNTED = 96 /* of these ranks are counted: n steps for each four elements */
};

/* Four elements of 32 bits, which every CPU can compare at a time. */
typedef int32_t guess_vector __attribute__((vector_size(16), aligned(16)));

/* Words in the order of the keys, each with the index of its element in its lowest byte,
 * and below all others the filling that a last vector needs. The lowest bits of keys are
 * left out: the order will notice if they matter. */
static void words_of_keys(int32_t *words, const uint64_t *keys, size_t n) {
  uint64_t least = keys[0], most = keys[0];
  for (size_t i = 1; i < n; i++) {
    least = keys[i] < least ? keys[i] : least;
    most = keys[i] > most ? keys[i] : most;
  }
  unsigned bits = most == least ? 0 : 64 - (unsigned)__builtin_clzll(most - least);
  unsigned drop = bits > 24 ? bits - 24 : 0;
  for (size_t i = 0; i < n; i++)
    words[i] = (int32_t)((uint32_t)((keys[i] - least) >> drop << 8 | i) ^ 0x80000000u);
}

/* The rank of each word: how many are less. All differ. */
static void count_ranks(guess_vector *ranks, const guess_vector *words, size_t n) {
  const int32_t *each = (const int32_t *)words;
  for (size_t i = 0; i < n; i += 16) {
    const guess_vector *x = words + i / 4;
    guess_vector r0 = {0}, r1 = {0}, r2 = {0}, r3 = {0};
    for (size_t j = 0; j < n; j++) {
      guess_vector other = {each[j], each[j], each[j], each[j]};
      r0 -= x[0] > other;
      r1 -= x[1] > other;
      r2 -= x[2] > other;
      r3 -= x[3] > other;
    }
    ranks[i / 4] = r0;
    ranks[i / 4 + 1] = r1;
    ranks[i / 4 + 2] = r2;
    ranks[i / 4 + 3] = r3;
  }
}

static inline bool rank_less(const void *a, const void *b, void *ctx) {
  (void)ctx;
  return *(const int32_t *)a < *(const int32_t *)b;
}

/* The same by sorting: the word at place r has the index of the element of rank r. */
static void sort_ranks(int32_t *ranks, int32_t *words, size_t n) {
  int32_t spare[GUESS_LEAF];
  wf_leaf_sort((char *)words, (char *)spare, n, false, sizeof *words, rank_less, NULL);
  for (size_t r = 0; r < n; r++) ranks[words[r] & 0xff] = (int32_t)r;
}

WF_INLINE void place_leaf_of(char *dst, const char *src, const int32_t *ranks, size_t n,
                             size_t size) {
  for (size_t i = 0; i < n; i++)
    memcpy(dst + (size_t)(uint32_t)ranks[i] * size, src + i * size, size);
}

static void place_leaf(char *dst, const char *src, const int32_t *ranks, size_t n,
                       size_t size) {
  if (size == 32)
    place_leaf_of(dst, src, ranks, n, 32);
  else if (size == 24)
    place_leaf_of(dst, src, ranks, n, 24);
  else
    WF_BY_SIZE(size, place_leaf_of, dst, src, ranks, n);
}

/* Is the leaf in order? Stable: and equal elements in the order in which they were. */
static bool confirm_leaf(const wf_sorter *s, const char *data, const int32_t *ranks,
                         size_t n) {
  unsigned char was[GUESS_LEAF]; /* where the element of a rank was */
  const char *at = data;
  bool falls;
  if (s->guesses == WF_GUESS_TRUST)
    return s->loops->run(data, n, &falls, s->ctx) == n && !falls;
  for (size_t i = 0; i < n; i++) was[ranks[i]] = (unsigned char)i;
  for (size_t i = 1; i < n; i++, at += s->size) {
    int order = guess_compare(s, at, at + s->size);
    if (WF_LIKELY(order < 0)) continue;
    if (order > 0 || was[i - 1] > was[i]) return false;
  }
  return true;
}

bool wf_guess_leaf(const wf_sorter *s, const wf_guess *g, char *data, char *spare,
                   size_t n, bool to_spare) {
  enum { LEAST = 4, VECTORS = GUESS_LEAF / 4 };
  uint64_t keys[GUESS_LEAF];
  guess_vector words[VECTORS], ranks[VECTORS];
  WF_ASSERT(n <= GUESS_LEAF && g->width > 0);
  if (n >= LEAST) {
    guess_keys(g, data, n, s->size, keys);
    words_of_keys((int32_t *)words, keys, n);
    if (n <= GUESS_COUNTED) {
      size_t whole = (n + 15) / 16 * 16;
      memset((int32_t *)words + n, 0, (whole - n) * sizeof(int32_t));
      count_ranks(ranks, words, n);
    } else {
      sort_ranks((int32_t *)ranks, (int32_t *)words, n);
    }
    char copy[GUESS_NEAR_BYTES], *from = data, *to = spare;
    if (!to_spare) {
      from = n * s->size <= sizeof copy ? copy : spare;
      to = data;
      memcpy(from, data, n * s->size);
    }
    place_leaf(to, from, (const int32_t *)ranks, n, s->size);
    if (confirm_leaf(s, to, (const int32_t *)ranks, n)) return true;
    if (!to_spare) memcpy(data, from, n * s->size);
  }
  s->loops->sort(data, spare, n, to_spare, s->ctx);
  return n < LEAST;
}
