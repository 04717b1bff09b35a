/* harness/stats.h - statistics of a few noisy numbers.
 *
 * SPDX-License-Identifier: MIT */
#ifndef BENCH_HARNESS_STATS_H
#define BENCH_HARNESS_STATS_H

#include <stddef.h>

/* The value below which a share q of the numbers lies, between two of them in proportion;
 * q is 0 for the smallest, 0.5 for the median, 1 for the largest. NAN if there are none.
 * The numbers need not be sorted and stay as they are. */
double quantile(const double *values, size_t count, double q);
/* One of the numbers: at least 100 - percent of a hundred are as large as it, or, for a
 * percent above 50, at least percent of a hundred are as small. So 5 of twenty numbers is
 * the one that 19 of them reach, and of fewer than 20 the smallest. */
double ranked(const double *values, size_t count, double percent);
double median(const double *values, size_t count);
double smallest(const double *values, size_t count);

/* How far the middle half of the numbers lies apart, as a share of their median. */
double spread(const double *values, size_t count);

/* The test of Mann and Whitney (the rank-sum test of Wilcoxon). It asks only which of two
 * numbers is larger, never by how much, so one round that the machine disturbed counts
 * as one round. */
typedef struct rank_test {
  double u;       /* pairs in which a is larger than b; a tie is half of one */
  double greater; /* P(u is this large or larger), if both come from one distribution */
  double less;    /* the same for this small or smaller */
  double differ;  /* two-sided: how likely so large a difference is by chance */
} rank_test;

/* Exact for up to 20 numbers on each side without ties, else by the normal distribution
 * with the corrections for ties and continuity. Without numbers everything is 1. */
rank_test mann_whitney(const double *a, size_t a_count, const double *b, size_t b_count);

#endif
