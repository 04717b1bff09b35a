/* The programs of docs/guide/iterators.md, run: what they return is what serial code
 * gives. The build makes the header of the guide's blocks.
 *
 * SPDX-License-Identifier: MIT */
#include "guide_iterators.h"

#include "harness/harness.h"

#include <stdlib.h>

enum { N = 20000 };

static int64_t whole[N];
static double number[N], other[N];

static void fill(void) {
  uint64_t random = harness_seed();
  for (size_t i = 0; i < N; i++) {
    whole[i] = (int64_t)(harness_random(&random) >> 40);
    number[i] = (double)(harness_random(&random) % 2000) - 1000;
    other[i] = (double)(harness_random(&random) % 16);
  }
}

TEST(sums_and_products) {
  int64_t sum = 0;
  double expected = 0, largest = -1e9;
  fill();
  for (size_t i = 0; i < N; i++) {
    if (whole[i] % 2 == 0) sum += whole[i] * whole[i];
    expected += number[i] * other[i]; /* whole numbers: exact in any order */
    double y = number[i] * 3 + 0.5;
    if (y > largest) largest = y;
  }
  CHECK_EQ(sum_of_even_squares(whole, N), sum);
  CHECK_EQ(sum_of_even_squares_quickly(whole, N), sum);
  CHECK(dot(number, other, N) == expected);
  CHECK(largest_rescaled(number, N, 3, 0.5) == largest);
}

TEST(structs_and_lines) {
  struct numbered *out = calloc(N, sizeof *out);
  size_t n = 0, wrong = 0;
  REQUIRE(out != NULL);
  fill();
  size_t got = negatives(out, number, N);
  for (size_t i = 0; i < N; i++)
    if (number[i] < 0) {
      wrong += out[n].index != i || out[n].value != number[i];
      n++;
    }
  CHECK_EQ(got, n);
  CHECK_EQ(wrong, 0);
  free(out);
  const char *text = "one\ntwo\nonly\n\non";
  weft_buffer found = {NULL, 0, 0};
  CHECK_EQ(find_lines(&found, text, strlen(text), (struct word){"on", 2}), 0);
  CHECK_EQ(found.count, 3);
  CHECK(((const weft_line *)found.data)[1].text == text + 8);
  free(found.data);
}

TEST(flat_maps) {
  size_t divisors = 0;
  for (int64_t x = 1; x < 1000; x++)
    for (int64_t d = 1; d <= 30; d++) divisors += x % d == 0;
  CHECK_EQ(divisors_of_all_below(1000, 30), divisors);
  CHECK_EQ(pairs_below(1000), 1000 * 999 / 2);
}

TEST(contexts) {
  struct tally expected = {0, 0};
  fill();
  for (size_t i = 0; i < N; i++) number[i] < 10 ? expected.small++ : expected.large++;
  struct tally got = tally(number, N, 10);
  CHECK_EQ(got.small, expected.small);
  CHECK_EQ(got.large, expected.large);
}

TEST(a_file) {
  FILE *file = tmpfile();
  double sum = 0;
  REQUIRE(file != NULL);
  fill();
  for (size_t i = 0; i < N; i++) sum += number[i];
  REQUIRE(fwrite(number, sizeof(double), N, file) == N);
  rewind(file);
  CHECK(sum_of_file(file) == sum);
  fclose(file);
}

/* ---- sources of one's own ---- */

static struct tree nodes[N];

/* A tree of the numbers [begin, end), in order, now and then with one side only. */
static const struct tree *tree_of(size_t begin, size_t end) {
  if (begin == end) return NULL;
  size_t at = begin % 5 == 0 ? begin : begin + (end - begin) / 2;
  nodes[at] =
      (struct tree){tree_of(begin, at), tree_of(at + 1, end), number[at], end - begin};
  return &nodes[at];
}

TEST(sources_of_ones_own) {
  unsigned char bytes[N / 2 * 3] = {0};
  uint32_t latest = 0;
  double expected = 0;
  fill();
  for (size_t i = 0; i < N; i++) {
    uint32_t day = (uint32_t)(whole[i] % 4000);
    unsigned char *pair = bytes + i / 2 * 3;
    if (day > latest) latest = day;
    if (i % 2 == 0) {
      pair[0] = (unsigned char)day;
      pair[1] = (unsigned char)(day >> 8);
    } else {
      pair[1] |= (unsigned char)((day & 15) << 4);
      pair[2] = (unsigned char)(day >> 4);
    }
    expected += number[i]; /* whole numbers: exact in any order */
  }
  CHECK_EQ(latest_day((struct packed){bytes}, N), latest);
  CHECK(sum_of_tree(tree_of(0, N)) == expected);
  CHECK(sum_of_tree(NULL) == 0);
}
