/* Typed functions of weft/typed_function.h: for elements of several types and sizes the
 * same as serial code, with options, in place, and nothing written behind the result.
 *
 * SPDX-License-Identifier: MIT */
#include "par/array/typed_cases.h"

typedef struct wide {
  _Alignas(32) double key;
} wide;

typedef const char *text;

#define TYPED_TEST(name, T)                                                              \
  TEST(typed_functions_of_##name) {                                                      \
    uint64_t random = harness_seed();                                                    \
    open_pools();                                                                        \
    for (unsigned l = 0; l < LENGTHS_COUNT; l++)                                         \
      if (!is_too_large(4 * LENGTHS[l], sizeof(T))) name##_case(LENGTHS[l], &random);    \
    close_pools();                                                                       \
  }
TYPED_TYPES(TYPED_TEST)

/* ---- types that need care ---- */

static inline bool wide_is_big(wide x, void *ctx) {
  (void)ctx;
  return x.key > 0.5;
}
WEFT_FILTER(big_wide, wide, wide_is_big)

/* The buffers of a filter have the alignment that the compiler counts on. */
TEST(filters_of_aligned_elements) {
  const size_t n = 10007;
  wide *a = aligned_alloc(32, n * sizeof(wide)), *b = aligned_alloc(32, n * sizeof(wide));
  size_t count = 0, wrong = 0;
  REQUIRE(a != NULL && b != NULL);
  memset((void *)a, 0, n * sizeof(wide));
  for (size_t i = 0; i < n; i++) a[i].key = i % 3 == 0 ? 0.25 : (double)i;
  open_pools();
  FOR_POOLS(opts) {
    count = big_wide_with(&opts, b, a, n, NULL);
    for (size_t i = 0, k = 0; i < n; i++)
      if (i % 3 != 0) wrong += b[k++].key != (double)i;
  }
  CHECK_EQ(count, n - n / 3 - 1);
  CHECK_EQ(wrong, 0);
  close_pools();
  free(a);
  free(b);
}

/* A type with a qualifier and a star. */
static inline bool is_long(text x, void *ctx) {
  return strlen(x) > *(const size_t *)ctx;
}
WEFT_FILTER(long_texts, const char *, is_long)
WEFT_FIND(first_long_text, const char *, is_long)

TEST(typed_functions_of_pointers) {
  const char *words[] = {"a", "loom", "has", "a", "shuttle", "and", "warp"}, *kept[7];
  size_t length = 3;
  CHECK_EQ(long_texts(kept, words, 7, &length), 3);
  CHECK_STR_EQ(kept[0], "loom");
  CHECK_STR_EQ(kept[1], "shuttle");
  CHECK_STR_EQ(kept[2], "warp");
  CHECK_EQ(first_long_text(words, 7, &length), 1);
  length = 7;
  CHECK_EQ(first_long_text(words, 7, &length), SIZE_MAX);
  CHECK_EQ(long_texts(NULL, NULL, 0, NULL), 0);
  weft_shutdown();
}

/* ---- in place, by default ---- */

static inline double plus(double x, void *ctx) {
  return x + *(const double *)ctx;
}
WEFT_MAP(add_to_all, double, double, plus)

static inline bool is_odd(double x, void *ctx) {
  (void)ctx;
  return (size_t)x % 2 == 1;
}
WEFT_COUNT(count_odd, double, is_odd)

static void map_in_place(void *ctx) {
  const size_t n = 100003;
  double *a = array_of(n, sizeof *a), one = 1;
  size_t wrong = 0;
  (void)ctx;
  for (size_t i = 0; i < n; i++) a[i] = (double)i;
  add_to_all(a, a, n, &one);
  for (size_t i = 0; i < n; i++) wrong += a[i] != (double)(i + 1);
  CHECK_EQ(wrong, 0);
  CHECK_EQ(count_odd(a, n, NULL), 50002);
  free(a);
}

TEST(typed_functions_from_inside_and_from_outside) {
  in_each_pool(map_in_place, NULL);
  map_in_place(NULL);
  weft_shutdown();
}

/* A match in front of many elements. */
static inline bool is_seven(uint8_t x, void *ctx) {
  (void)ctx;
  return x == 7;
}
WEFT_FIND(find_seven, uint8_t, is_seven)

TEST(a_match_at_the_front_ends_the_search) {
  const size_t n = 64 << 20;
  uint8_t *a = calloc(n, 1);
  REQUIRE(a != NULL);
  open_pools();
  FOR_POOLS(opts) {
    for (size_t i = 0; i < 100; i++) {
      a[i * 7] = 7;
      CHECK_EQ(find_seven_with(&opts, a, n, NULL), i * 7);
      a[i * 7] = 0;
    }
  }
  close_pools();
  free(a);
}
