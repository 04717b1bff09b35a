/* harness/stats.c - medians, spreads and the rank test of Mann and Whitney, for the few
 * noisy numbers of a contestant.
 *
 * SPDX-License-Identifier: MIT */
#include "stats.h"
#include "text.h"
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

double quantile(const double *values, size_t count, double q) {
  if (count == 0) return NAN;
  double *sorted = must_realloc(NULL, count * sizeof *sorted);
  memcpy(sorted, values, count * sizeof *sorted);
  qsort(sorted, count, sizeof *sorted, compare);
  double place = q * (double)(count - 1);
  size_t low = (size_t)place;
  double result = sorted[low];
  if (low + 1 < count) result += (place - (double)low) * (sorted[low + 1] - sorted[low]);
  free(sorted);
  return result;
}

double ranked(const double *values, size_t count, double percent) {
  if (count == 0) return NAN;
  double place = percent / 100 * (double)count;
  size_t index = (size_t)(percent < 50 ? floor(place + 1e-9) : ceil(place - 1e-9) - 1);
  return quantile(values, count, count > 1 ? (double)index / (double)(count - 1) : 0);
}

double median(const double *values, size_t count) {
  return quantile(values, count, 0.5);
}

double smallest(const double *values, size_t count) {
  return quantile(values, count, 0);
}

double spread(const double *values, size_t count) {
  double middle = median(values, count);
  if (count == 0 || middle == 0) return 0;
  return fabs((quantile(values, count, 0.75) - quantile(values, count, 0.25)) / middle);
}

/* ---- Mann and Whitney ---- */

enum { EXACT_MOST = 20 };

/* ways[k]: in how many orders of a a's and b b's exactly k pairs have a behind b. The
 * last of all is an a, which is behind every b, or a b: ways(a, b, k) = ways(a - 1, b, k
 * - b) + ways(a, b - 1, k) */
static double *count_orders(size_t a_count, size_t b_count) {
  size_t width = a_count * b_count + 1;
  double *ways = must_realloc(NULL, (a_count + 1) * width * sizeof *ways);
  for (size_t i = 0; i < (a_count + 1) * width; i++) ways[i] = i % width == 0;
  /* ways has one line for each number of a's, all for the present number of b's. */
  for (size_t b = 1; b <= b_count; b++)
    for (size_t a = 1; a <= a_count; a++)
      for (size_t k = b; k < width; k++)
        ways[a * width + k] += ways[(a - 1) * width + k - b];
  memmove(ways, ways + a_count * width, width * sizeof *ways);
  return ways;
}

static void exact_tails(rank_test *test, size_t a_count, size_t b_count) {
  size_t most = a_count * b_count, u = (size_t)test->u;
  double *ways = count_orders(a_count, b_count), all = 0, less = 0, greater = 0;
  for (size_t k = 0; k <= most; k++) {
    all += ways[k];
    if (k <= u) less += ways[k];
    if (k >= u) greater += ways[k];
  }
  free(ways);
  test->less = less / all;
  test->greater = greater / all;
}

/* ties: the sum of t^3 - t over all groups of t equal numbers. */
static void normal_tails(rank_test *test, double a, double b, double ties) {
  double all = a + b;
  double variance = a * b / 12 * (all + 1 - ties / (all * (all - 1)));
  if (variance <= 0) return; /* all numbers are equal */
  double deviation = sqrt(2 * variance), off = test->u - a * b / 2;
  test->greater = erfc((off - 0.5) / deviation) / 2;
  test->less = erfc((-off - 0.5) / deviation) / 2;
}

static double sum_of_ties(const double *a, size_t a_count, const double *b,
                          size_t b_count) {
  size_t count = a_count + b_count;
  double *all = must_realloc(NULL, count * sizeof *all), sum = 0;
  memcpy(all, a, a_count * sizeof *all);
  memcpy(all + a_count, b, b_count * sizeof *all);
  qsort(all, count, sizeof *all, compare);
  for (size_t i = 0, next; i < count; i = next) {
    for (next = i + 1; next < count && all[next] == all[i];) next++;
    double t = (double)(next - i);
    sum += t * t * t - t;
  }
  free(all);
  return sum;
}

rank_test mann_whitney(const double *a, size_t a_count, const double *b, size_t b_count) {
  rank_test test = {0, 1, 1, 1};
  if (a_count == 0 || b_count == 0) return test;
  for (size_t i = 0; i < a_count; i++)
    for (size_t j = 0; j < b_count; j++)
      test.u += a[i] > b[j] ? 1 : a[i] == b[j] ? 0.5 : 0;
  double ties = sum_of_ties(a, a_count, b, b_count);
  if (ties == 0 && a_count <= EXACT_MOST && b_count <= EXACT_MOST)
    exact_tails(&test, a_count, b_count);
  else
    normal_tails(&test, (double)a_count, (double)b_count, ties);
  test.greater = fmin(test.greater, 1);
  test.less = fmin(test.less, 1);
  test.differ = fmin(1, 2 * fmin(test.greater, test.less));
  return test;
}
