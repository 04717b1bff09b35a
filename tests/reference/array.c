/* reference/array.c - examples of weft/array.h and weft/search.h.
 *
 * SPDX-License-Identifier: MIT */
#include <string.h>
#include <weft.h>

#include "example.h"

/* example: weft_map */
static void square(void *out, const void *in, size_t index, void *ctx) {
  int x = *(const int *)in;
  (void)index, (void)ctx;
  *(long *)out = (long)x * x;
}

EXAMPLE(array_map) {
  int a[4] = {1, 2, 3, 4};
  long squares[4];
  weft_map(squares, sizeof *squares, a, 4, sizeof *a, square, NULL);
  assert(squares[3] == 16);
}

/* example: weft_try_map */
static int reciprocal(void *out, const void *in, size_t index, void *ctx) {
  double x = *(const double *)in;
  (void)index, (void)ctx;
  if (x == 0) return WEFT_EINVAL;
  *(double *)out = 1 / x;
  return 0;
}

EXAMPLE(array_try_map) {
  double a[3] = {1, 2, 4}, to[3];
  assert(weft_try_map(to, sizeof *to, a, 3, sizeof *a, reciprocal, NULL) == 0);
  assert(to[2] == 0.25);
  a[1] = 0;
  assert(weft_try_map(to, sizeof *to, a, 3, sizeof *a, reciprocal, NULL) == WEFT_EINVAL);
}

/* example: weft_filter, weft_count, weft_partition */
static bool is_even(const void *elem, void *ctx) {
  (void)ctx;
  return *(const int *)elem % 2 == 0;
}

EXAMPLE(array_filter) {
  int a[6] = {1, 2, 3, 4, 5, 6}, even[6];
  size_t kept = weft_filter(even, a, 6, sizeof *a, is_even, NULL);
  assert(kept == 3 && even[0] == 2 && even[2] == 6);
  assert(weft_count(a, 6, sizeof *a, is_even, NULL) == 3);

  size_t split = weft_partition(a, 6, sizeof *a, is_even, NULL); /* 2 4 6 1 3 5 */
  assert(split == 3 && a[0] == 2 && a[3] == 1);
}

/* example: weft_unique */
static int by_value(const void *a, const void *b, void *ctx) {
  int x = *(const int *)a, y = *(const int *)b;
  (void)ctx;
  return (x > y) - (x < y);
}

EXAMPLE(array_unique) {
  int a[6] = {1, 1, 2, 2, 2, 3};
  size_t kept = weft_unique(a, 6, sizeof *a, by_value, NULL);
  assert(kept == 3 && a[2] == 3);
}

/* example: weft_histogram */
static size_t byte_of(const void *elem, void *ctx) {
  (void)ctx;
  return *(const unsigned char *)elem;
}

EXAMPLE(array_histogram) {
  const char *text = "to be or not to be";
  size_t counts[256];
  weft_histogram(counts, 256, text, strlen(text), 1, byte_of, NULL);
  assert(counts['o'] == 4 && counts['x'] == 0);
}

/* example: weft_fill, weft_copy */
EXAMPLE(array_fill_and_copy) {
  struct point {
    double x, y;
  } from[100], to[100], origin = {1, 2};
  weft_fill(from, 100, sizeof *from, &origin);
  weft_copy(to, from, 100, sizeof *to);
  assert(to[99].y == 2);
}

/* example: weft_reverse, weft_rotate */
EXAMPLE(array_reverse_and_rotate) {
  int a[5] = {0, 1, 2, 3, 4};
  weft_reverse(a, 5, sizeof *a); /* 4 3 2 1 0 */
  assert(a[0] == 4);
  weft_rotate(a, 5, sizeof *a, 2); /* 2 1 0 4 3: what was at index 2 comes first */
  assert(a[0] == 2 && a[3] == 4);
}

/* example: weft_gather, weft_scatter */
EXAMPLE(array_gather_and_scatter) {
  size_t index[3] = {2, 0, 1};
  char letters[3] = {'a', 'b', 'c'}, to[3], back[3];
  weft_gather(to, letters, index, 3, 1); /* to[i] = letters[index[i]] */
  assert(memcmp(to, "cab", 3) == 0);
  weft_scatter(back, to, index, 3, 1); /* back[index[i]] = to[i] */
  assert(memcmp(back, letters, 3) == 0);
}

/* example: weft_find_first, weft_find_last, weft_find_any */
static bool is_negative(const void *elem, void *ctx) {
  (void)ctx;
  return *(const double *)elem < 0;
}

EXAMPLE(search_find) {
  double a[1000] = {0};
  assert(weft_find_first(a, 1000, sizeof *a, is_negative, NULL) == SIZE_MAX); /* none */
  a[300] = a[700] = -1;
  assert(weft_find_first(a, 1000, sizeof *a, is_negative, NULL) == 300);
  assert(weft_find_last(a, 1000, sizeof *a, is_negative, NULL) == 700);
  size_t some = weft_find_any(a, 1000, sizeof *a, is_negative, NULL);
  assert(some == 300 || some == 700);
}

/* example: weft_any, weft_all, weft_none */
static bool is_above(const void *elem, void *ctx) {
  return *(const int *)elem > *(const int *)ctx;
}

EXAMPLE(search_any) {
  int a[4] = {1, 5, 2, 8}, limit = 4;
  assert(weft_any(a, 4, sizeof *a, is_above, &limit));
  assert(!weft_all(a, 4, sizeof *a, is_above, &limit));
  limit = 10;
  assert(weft_none(a, 4, sizeof *a, is_above, &limit));
}

/* example: weft_min_index, weft_max_index */
static int by_length(const void *a, const void *b, void *ctx) {
  size_t x = strlen(*(const char *const *)a), y = strlen(*(const char *const *)b);
  (void)ctx;
  return (x > y) - (x < y);
}

EXAMPLE(search_min_index) {
  const char *words[] = {"warp", "weft", "shuttle", "a"};
  assert(weft_min_index(words, 4, sizeof *words, by_length, NULL) == 3);
  assert(weft_max_index(words, 4, sizeof *words, by_length, NULL) == 2);
}

/* example: weft_equal, weft_equal_by, weft_compare */
static int ignoring_case(const void *a, const void *b, void *ctx) {
  (void)ctx;
  return (*(const char *)a | 32) - (*(const char *)b | 32);
}

EXAMPLE(search_compare) {
  assert(weft_equal("weft", "weft", 4, 1));
  assert(!weft_equal("weft", "WEFT", 4, 1));
  assert(weft_equal_by("weft", "WEFT", 4, 1, ignoring_case, NULL));
  assert(weft_compare("warp", 4, "Weft", 4, 1, ignoring_case, NULL) < 0);
}
