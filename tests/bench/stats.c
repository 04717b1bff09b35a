/* Median, spread and the test of Mann and Whitney, against values worked out by hand and
 * from tables.
 *
 * SPDX-License-Identifier: MIT */
#include <bench/harness/stats.h>
#include <harness/harness.h>
#include <math.h>

static bool near(double a, double b) {
  return fabs(a - b) < 1e-9;
}

TEST(the_median_is_the_middle_or_between_the_two) {
  const double odd[] = {5, 1, 9}, even[] = {4, 1, 3, 100};
  CHECK(near(median(odd, 3), 5));
  CHECK(near(median(even, 4), 3.5));
  CHECK(near(median(odd, 1), 5));
  CHECK(isnan(median(odd, 0)));
  CHECK(near(odd[0], 5) && near(odd[1], 1) && near(odd[2], 9)); /* as they were */
}

TEST(quantiles_lie_between_neighbours) {
  const double values[] = {40, 10, 30, 20, 50};
  CHECK(near(quantile(values, 5, 0), 10));
  CHECK(near(quantile(values, 5, 1), 50));
  CHECK(near(quantile(values, 5, 0.25), 20));
  CHECK(near(quantile(values, 5, 0.9), 46));
  CHECK(near(smallest(values, 5), 10));
}

TEST(spread_is_the_middle_half_over_the_median) {
  const double values[] = {40, 10, 30, 20, 50}, same[] = {7, 7, 7}, zero[] = {0, 0, 1};
  CHECK(near(spread(values, 5), 20.0 / 30.0));
  CHECK(near(spread(same, 3), 0));
  CHECK(near(spread(zero, 3), 0)); /* a share of nothing */
  CHECK(near(spread(values, 0), 0));
}

TEST(separated_numbers_are_as_unlikely_as_can_be) {
  const double low[] = {1, 2, 3}, high[] = {10, 11, 12};
  rank_test test = mann_whitney(low, 3, high, 3);
  /* 6! / (3! 3!) = 20 orders, one of them this one */
  CHECK(near(test.u, 0));
  CHECK(near(test.less, 1.0 / 20));
  CHECK(near(test.greater, 1));
  CHECK(near(test.differ, 2.0 / 20));
  test = mann_whitney(high, 3, low, 3);
  CHECK(near(test.u, 9));
  CHECK(near(test.greater, 1.0 / 20));
}

/* The critical value for 9 and 9 numbers, two-sided at 0.05, is 17 in every table. */
TEST(nine_rounds_against_nine_agree_with_the_tables) {
  double a[9], b[9];
  for (int i = 0; i < 9; i++) {
    a[i] = i;
    b[i] = 100 + i;
  }
  CHECK(near(mann_whitney(a, 9, b, 9).differ, 2.0 / 48620)); /* 18 over 9 orders */
  /* Moves two of a above all of b but one, and so on, until u is 17, then 18. */
  a[8] = 107.5; /* above 8 of b: u = 8 */
  a[7] = 107.6; /* u = 16 */
  a[6] = 100.5; /* u = 17 */
  rank_test test = mann_whitney(a, 9, b, 9);
  CHECK(near(test.u, 17));
  CHECK_MSG(test.differ <= 0.05, "p of u = 17 is %f", test.differ);
  a[5] = 100.6;
  test = mann_whitney(a, 9, b, 9);
  CHECK(near(test.u, 18));
  CHECK_MSG(test.differ > 0.05, "p of u = 18 is %f", test.differ);
}

/* Counts all orders of 3 and 4 numbers and compares every tail. */
TEST(exact_tails_are_those_of_counting) {
  int counts[13] = {0}, total = 0;
  for (unsigned set = 0; set < 1u << 7; set++) {
    if (__builtin_popcount(set) != 3) continue;
    int u = 0;
    for (int i = 0; i < 7; i++)
      for (int k = 0; k < i; k++) u += (set >> i & 1) && !(set >> k & 1);
    counts[u]++;
    total++;
  }
  for (unsigned set = 0; set < 1u << 7; set++) {
    if (__builtin_popcount(set) != 3) continue;
    double a[3], b[4];
    int a_count = 0, b_count = 0;
    for (int i = 0; i < 7; i++)
      if (set >> i & 1)
        a[a_count++] = i;
      else
        b[b_count++] = i;
    rank_test test = mann_whitney(a, 3, b, 4);
    int less = 0, greater = 0;
    for (int u = 0; u <= 12; u++) {
      if (u <= (int)test.u) less += counts[u];
      if (u >= (int)test.u) greater += counts[u];
    }
    CHECK(near(test.less, (double)less / total));
    CHECK(near(test.greater, (double)greater / total));
  }
}

/* 12 and 12 numbers are counted exactly; the same with one tie goes by the normal
 * distribution, which must be close. */
TEST(the_normal_distribution_is_close_to_counting) {
  double a[12], b[12];
  for (int i = 0; i < 12; i++) {
    a[i] = 2 * i;
    b[i] = 2 * i + 5;
  }
  rank_test exact = mann_whitney(a, 12, b, 12);
  a[0] = a[1] = 0; /* a tie within a, below all of b: u stays */
  rank_test normal = mann_whitney(a, 12, b, 12);
  CHECK(near(exact.u, normal.u));
  CHECK_MSG(fabs(exact.differ - normal.differ) < 0.01, "%f and %f", exact.differ,
            normal.differ);
  CHECK(!near(exact.differ, normal.differ));
}

TEST(ties_count_half_and_equal_numbers_say_nothing) {
  const double same[] = {3, 3, 3, 3}, other[] = {3, 4};
  rank_test test = mann_whitney(same, 4, same, 4);
  CHECK(near(test.u, 8));
  CHECK(near(test.differ, 1));
  CHECK(near(mann_whitney(same, 1, other, 2).u, 0.5));
}

/* By hand: u = 2.5; three twos, two threes and two fours make the variance
 * 16 / 12 (9 - 36 / 56); the tail begins 5 below the mean, by the half of continuity. */
TEST(ties_make_the_variance_smaller) {
  const double a[] = {1, 2, 2, 3}, b[] = {2, 3, 4, 4};
  rank_test test = mann_whitney(a, 4, b, 4);
  CHECK(near(test.u, 2.5));
  CHECK_MSG(fabs(test.less - 0.0670846) < 1e-6, "%f", test.less);
}

TEST(nothing_to_compare_says_nothing) {
  const double one[] = {1};
  rank_test test = mann_whitney(one, 1, one, 0);
  CHECK(near(test.differ, 1) && near(test.less, 1) && near(test.greater, 1));
}

TEST(many_numbers_do_not_overflow) {
  double a[200], b[300];
  for (int i = 0; i < 200; i++) a[i] = i;
  for (int i = 0; i < 300; i++) b[i] = i + 0.5;
  rank_test test = mann_whitney(a, 200, b, 300);
  CHECK(test.less < 1e-6 && test.less >= 0);
  CHECK(test.greater > 0.999);
}
