/* weft_sort and weft_sort_stable guess what a comparator compares, and let it confirm
 * each step (src/par/sort/order/guess.c). Here are comparators that look at numbers of
 * all kinds, for which the guess must save calls; and comparators that are almost but not
 * quite like that, for which the result must still be theirs.
 *
 * SPDX-License-Identifier: MIT */
#include "par/sort/support.h"

#include "par/sort/order/order.h"

/* An element: a number of any kind at any place, the rest random, and at the end the
 * index at which it was. */
enum { ITEM_SIZE = 48, ITEM_NUMBERS = 40, SCRAP = 7 };

typedef struct item_order item_order;
typedef int item_compare(const char *a, const char *b, const item_order *order);

struct item_order {
  item_compare *compare;
  size_t offset;
  bool falls;
  unsigned long lie_from; /* calls after which the order contradicts itself, or 0 */
  atomic_ulong calls;
};

static uint32_t item_index(const void *item) {
  uint32_t index;
  memcpy(&index, (const char *)item + ITEM_SIZE - 4, 4);
  return index;
}

static int compare_items(const void *a, const void *b, void *ctx) {
  item_order *order = ctx;
  unsigned long call = atomic_fetch_add_explicit(&order->calls, 1, memory_order_relaxed);
  if (order->lie_from > 0 && call >= order->lie_from && call % SCRAP == 0) return -1;
  int result = order->compare((const char *)a + order->offset,
                              (const char *)b + order->offset, order);
  return order->falls ? -result : result;
}

/* With a branch, as most programs write it. */
#define COMPARE_AS(name, type)                                                           \
  static int name(const char *a, const char *b, const item_order *order) {               \
    type x, y;                                                                           \
    (void)order;                                                                         \
    memcpy(&x, a, sizeof x);                                                             \
    memcpy(&y, b, sizeof y);                                                             \
    if (x < y) return -1;                                                                \
    return x > y;                                                                        \
  }

COMPARE_AS(by_i64, int64_t)
COMPARE_AS(by_u64, uint64_t)
COMPARE_AS(by_f64, double)
COMPARE_AS(by_i32, int32_t)
COMPARE_AS(by_u32, uint32_t)
COMPARE_AS(by_f32, float)
COMPARE_AS(by_i16, int16_t)
COMPARE_AS(by_u8, uint8_t)

static int by_text(const char *a, const char *b, const item_order *order) {
  (void)order;
  return memcmp(a, b, 12);
}

/* ---- sorting, and what must be true then ---- */

static void check_items(char *base, size_t n, item_order *order, bool stable,
                        const char *what) {
  uint64_t contents = contents_of(base, n, ITEM_SIZE);
  atomic_store(&order->calls, 0);
  if (stable)
    weft_sort_stable(base, n, ITEM_SIZE, compare_items, order);
  else
    weft_sort(base, n, ITEM_SIZE, compare_items, order);
  unsigned long calls = atomic_load(&order->calls);
  CHECK_MSG(contents_of(base, n, ITEM_SIZE) == contents, "%s: %zu", what, n);
  CHECK_MSG((double)calls <= 4 * (double)n * log2_of(n), "%s: %lu comparisons for %zu",
            what, calls, n);
  atomic_store(&order->calls, calls);
  if (order->lie_from > 0) return;
  for (size_t i = 1; i < n; i++) {
    const char *at = base + i * ITEM_SIZE;
    int result =
        order->compare(at - ITEM_SIZE + order->offset, at + order->offset, order);
    if (order->falls) result = -result;
    bool good = result < 0 ||
                (result == 0 && (!stable || item_index(at - ITEM_SIZE) < item_index(at)));
    CHECK_MSG(good, "%s: element %zu of %zu", what, i, n);
    if (!good) return;
  }
}

static void fill_items(char *base, size_t n, uint64_t seed) {
  for (size_t i = 0; i < n; i++) {
    char *at = base + i * ITEM_SIZE;
    uint32_t index = (uint32_t)i;
    for (size_t k = 0; k < ITEM_SIZE; k += 8) {
      uint64_t random = harness_random(&seed);
      memcpy(at + k, &random, 8);
    }
    memcpy(at + ITEM_SIZE - 4, &index, 4);
  }
}

/* ---- numbers of all kinds ---- */

typedef struct number_case {
  const char *name;
  item_compare *compare;
  size_t width;
} number_case;

static const number_case NUMBERS[] = {
    {"i64", by_i64, 8}, {"u64", by_u64, 8}, {"f64", by_f64, 8},
    {"i32", by_i32, 4}, {"u32", by_u32, 4}, {"f32", by_f32, 4},
    {"i16", by_i16, 2}, {"u8", by_u8, 1},   {"text", by_text, 12},
};

/* Floats: no bits that are not a number. */
static void make_numbers(char *base, size_t n, const number_case *number, size_t offset) {
  for (size_t i = 0; i < n; i++) {
    char *at = base + i * ITEM_SIZE + offset;
    int64_t bits;
    memcpy(&bits, base + i * ITEM_SIZE + ITEM_NUMBERS - 8, 8);
    double f64 = (double)bits / 1024;
    float f32 = (float)(bits >> 40) / 64;
    if (number->compare == by_f64) memcpy(at, &f64, sizeof f64);
    if (number->compare == by_f32) memcpy(at, &f32, sizeof f32);
  }
}

static void all_numbers(void *ctx) {
  size_t n = harness_slowdown() == 1 ? 30000 : 6000;
  char *base = array_of(n, ITEM_SIZE);
  (void)ctx;
  for (unsigned c = 0; c < sizeof NUMBERS / sizeof NUMBERS[0]; c++)
    for (int way = 0; way < 4; way++) {
      const number_case *number = &NUMBERS[c];
      size_t step = number->width == 12 ? 5 : number->width;
      item_order order = {.compare = number->compare, .falls = way % 2 == 1};
      order.offset = (harness_seed() + (unsigned)way) % 3 * step;
      fill_items(base, n, c + 1);
      make_numbers(base, n, number, order.offset);
      check_items(base, n, &order, way >= 2, number->name);
      /* With a guess: some calls to confirm it, and those that sort samples. Numbers of
       * one and two bytes repeat themselves, and are not all sorted by distribution. */
      if (number->width > 2 && wf_guess_allowed())
        CHECK_MSG(atomic_load(&order.calls) < 9 * n, "%s: %lu calls for %zu",
                  number->name, atomic_load(&order.calls), n);
    }
  free(base);
}

TEST(comparators_of_one_number_are_called_seldom) {
  in_each_pool(all_numbers, NULL);
}

/* Elements of all sizes, and all patterns of keys: with and without room for a word. */
static void all_sizes(void *ctx) {
  (void)ctx;
  for (size_t size = 1; size <= 128; size += size < 40 ? 1 : 11)
    for (int p = 0; p < PATTERNS; p++) {
      size_t n = 2000 + 37 * size;
      if (harness_slowdown() > 1 && ((size_t)p + size) % 7 != 0) continue;
      char *base = array_of(n, size);
      order_of order = {.size = size};
      fill_pattern(base, n, size, (pattern)p, size);
      uint64_t contents = contents_of(base, n, size);
      weft_sort_stable(base, n, size, compare_keys, &order);
      CHECK_MSG(is_in_order(base, n, size, true), "%zu bytes, %s", size,
                PATTERN_NAMES[p]);
      CHECK(contents_of(base, n, size) == contents);
      free(base);
    }
}

TEST(elements_of_all_sizes) {
  in_each_pool(all_sizes, NULL);
}

/* ---- almost a number ---- */

/* Only the upper bits count: the number that a sample shows is finer than the order. */
static int by_upper_bits(const char *a, const char *b, const item_order *order) {
  uint32_t x, y;
  (void)order;
  memcpy(&x, a, 4);
  memcpy(&y, b, 4);
  return (x >> 8 > y >> 8) - (x >> 8 < y >> 8);
}

/* A second number decides where the first ones are equal. */
static int by_two(const char *a, const char *b, const item_order *order) {
  int first = by_u32(a, b, order);
  return first != 0 ? first : by_i64(a + 8, b + 8, order);
}

/* Some numbers stand for "none", and come first. */
static int none_first(const char *a, const char *b, const item_order *order) {
  uint32_t x, y;
  memcpy(&x, a, 4);
  memcpy(&y, b, 4);
  bool no_x = x % 1024 == 1, no_y = y % 1024 == 1;
  if (no_x || no_y) return no_y - no_x;
  return by_u32(a, b, order);
}

/* The upper half of all numbers comes before the lower half, and descends. */
static int in_two_parts(const char *a, const char *b, const item_order *order) {
  uint32_t x, y;
  memcpy(&x, a, 4);
  memcpy(&y, b, 4);
  bool high_x = x >> 31 != 0, high_y = y >> 31 != 0;
  if (high_x != high_y) return high_x ? -1 : 1;
  return high_x ? by_u32(b, a, order) : by_u32(a, b, order);
}

/* Not all numbers are different from those that look different. */
static int zeros_are_equal(const char *a, const char *b, const item_order *order) {
  return by_f64(a, b, order);
}

static void spread_out(char *base, size_t n, uint32_t kinds) {
  for (size_t i = 0; i < n; i++) {
    uint32_t number;
    memcpy(&number, base + i * ITEM_SIZE, 4);
    number = number % kinds * (UINT32_MAX / kinds);
    memcpy(base + i * ITEM_SIZE, &number, 4);
  }
}

static void put_zeros(char *base, size_t n) {
  for (size_t i = 0; i < n; i++) {
    double number = (double)(i * 7919 % n) - (double)n / 2;
    if (i % 50 == 0) number = i % 100 == 0 ? 0.0 : -0.0;
    memcpy(base + i * ITEM_SIZE, &number, sizeof number);
  }
}

static void all_almost(void *ctx) {
  static const struct {
    const char *name;
    item_compare *compare;
    uint32_t kinds; /* of the number, or 0: any */
  } CASES[] = {{"upper bits", by_upper_bits, 0},
               {"two", by_two, 0},
               {"two, 3000 kinds", by_two, 3000},
               {"two, 100 kinds", by_two, 100},
               {"none first", none_first, 0},
               {"two parts", in_two_parts, 0},
               {"upper bits, 5000", by_upper_bits, 5000},
               {"zeros", zeros_are_equal, 1}};
  (void)ctx;
  for (unsigned c = 0; c < sizeof CASES / sizeof CASES[0]; c++)
    for (int way = 0; way < 4; way++) {
      size_t n = (way < 2 ? 70000 : 3000) / harness_slowdown() + 300;
      char *base = array_of(n, ITEM_SIZE);
      item_order order = {.compare = CASES[c].compare, .falls = way % 2 == 1};
      fill_items(base, n, n + c);
      if (CASES[c].kinds == 1)
        put_zeros(base, n);
      else if (CASES[c].kinds > 1)
        spread_out(base, n, CASES[c].kinds);
      check_items(base, n, &order, true, CASES[c].name);
      fill_items(base, n, n + c);
      check_items(base, n, &order, false, CASES[c].name);
      free(base);
    }
}

TEST(comparators_that_are_almost_numbers) {
  in_each_pool(all_almost, NULL);
}

/* The guess is made, and then the order breaks: the elements must all still be there. */
static void all_lies(void *ctx) {
  size_t n = harness_slowdown() == 1 ? 20000 : 4000;
  char *base = array_of(n, ITEM_SIZE);
  (void)ctx;
  for (unsigned long from = 1; from < 8 * n; from += from / 2 + 1)
    for (int way = 0; way < 2; way++) {
      item_order order = {.compare = by_u64, .lie_from = from};
      fill_items(base, n, from);
      check_items(base, n, &order, way == 1, "lies");
    }
  free(base);
}

TEST(an_order_that_breaks_in_the_middle) {
  in_each_pool(all_lies, NULL);
}

/* ---- a number that fits the sample, and nothing else ---- */

/* At offset 0 a bait, at 8 the number that counts. Both are the same in the elements of
 * which the first sample will consist; elsewhere they have nothing to do with each other.
 */
static void set_bait(char *base, size_t n, size_t sample) {
  uint64_t *indices = (uint64_t *)(void *)array_of(n, 8);
  uint64_t *drawn = (uint64_t *)(void *)array_of(sample, 8);
  wf_sorter sorter = {.size = 8};
  for (size_t i = 0; i < n; i++) indices[i] = i;
  wf_sample_take(&sorter, (char *)drawn, sample, (char *)indices, n);
  for (size_t i = 0; i < sample; i++)
    memcpy(base + drawn[i] * ITEM_SIZE, base + drawn[i] * ITEM_SIZE + 8, 8);
  free(indices);
  free(drawn);
}

static void all_baits(void *ctx) {
  size_t n = harness_slowdown() == 1 ? 100000 : 20000;
  char *base = array_of(n, ITEM_SIZE);
  (void)ctx;
  /* All sizes that a sample can have; one of them is that of the first round. */
  for (size_t sample = 64; sample <= WF_SAMPLE_MOST; sample *= 2)
    for (int way = 0; way < 2; way++) {
      item_order order = {.compare = by_u64, .offset = 8};
      fill_items(base, n, sample);
      set_bait(base, n, sample);
      check_items(base, n, &order, way == 1, "bait");
    }
  free(base);
}

TEST(a_number_that_fits_only_the_sample) {
  in_each_pool(all_baits, NULL);
}

/* A comparator that counts in the elements how often it saw them: another member than the
 * order looks at. */
static int compare_counting_uses(const void *a, const void *b, void *ctx) {
  ((unsigned char *)(uintptr_t)a)[ITEM_NUMBERS]++;
  ((unsigned char *)(uintptr_t)b)[ITEM_NUMBERS]++;
  return compare_items(a, b, ctx);
}

TEST(a_comparator_that_writes_to_its_elements) {
  size_t n = 30000 / harness_slowdown();
  char *base = array_of(n, ITEM_SIZE);
  bool *met = (bool *)array_of(n, sizeof(bool));
  item_order order = {.compare = by_u64};
  weft_opts alone = WEFT_OPTS_INIT;
  alone.max_workers = 1; /* copies of elements are compared by several threads */
  fill_items(base, n, 7);
  memset(met, 0, n * sizeof *met);
  weft_sort_with(&alone, base, n, ITEM_SIZE, compare_counting_uses, &order);
  for (size_t i = 0; i < n; i++) {
    const char *at = base + i * ITEM_SIZE;
    uint32_t index = item_index(at);
    CHECK(index < n && !met[index]);
    met[index < n ? index : 0] = true;
    if (i > 0) CHECK(by_u64(at - ITEM_SIZE, at, &order) <= 0);
  }
  free(met);
  free(base);
}

/* The bytes behind the key are never written: valgrind and MemorySanitizer must not
 * complain, so nothing of them may decide anything. */
TEST(elements_with_bytes_that_nobody_wrote) {
  size_t n = 20000 / harness_slowdown() + 3000;
  char *base = malloc(n * ITEM_SIZE);
  item_order order = {.compare = by_u32, .offset = 24};
  REQUIRE(base != NULL);
  uint64_t seed = 11;
  for (size_t i = 0; i < n; i++) {
    uint32_t key = (uint32_t)harness_random(&seed);
    memcpy(base + i * ITEM_SIZE + order.offset, &key, sizeof key);
  }
  weft_sort(base, n, ITEM_SIZE, compare_items, &order);
  for (size_t i = 1; i < n; i++) {
    const char *at = base + i * ITEM_SIZE + order.offset;
    CHECK(by_u32(at - ITEM_SIZE, at, &order) <= 0);
  }
  free(base);
}

/* Keys and payload are sorted as pairs: the guess is about pairs then. */
TEST(keys_with_payload) {
  size_t n = 20000 / harness_slowdown() + 1000;
  uint64_t *keys = (uint64_t *)(void *)array_of(n, 8), seed = harness_seed();
  uint32_t *payload = (uint32_t *)(void *)array_of(n, 4);
  item_order order = {.compare = by_u64};
  for (size_t i = 0; i < n; i++) {
    keys[i] = harness_random(&seed) % (n / 2) << 20;
    payload[i] = (uint32_t)i;
  }
  uint64_t *before = (uint64_t *)(void *)array_of(n, 8);
  memcpy(before, keys, n * 8);
  weft_sort_by_key(keys, n, 8, payload, 4, compare_items, &order);
  for (size_t i = 0; i < n; i++) {
    CHECK(keys[i] == before[payload[i]]);
    if (i > 0) CHECK(keys[i - 1] <= keys[i]);
    if (i > 0 && keys[i - 1] == keys[i]) CHECK(payload[i - 1] < payload[i]);
  }
  free(keys);
  free(payload);
  free(before);
}
